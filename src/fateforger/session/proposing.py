"""What somebody else's proposal would change, found out without changing anything. Pure."""

from __future__ import annotations

from datetime import datetime

from fateforger.constraints import ConstraintRecord, Version
from fateforger.constraints.kinds import Scope, Status
from fateforger.errors import BadInput
from fateforger.ops import Patch
from fateforger.session.commands import ApplyPatch
from fateforger.session.days import local_today
from fateforger.session.edits import Edited, edited
from fateforger.session.knowledge import Memory, Taken
from fateforger.session.model import Session, SessionStatus
from fateforger.session.remembering import remembered
from fateforger.stages import TimeboxingStage

_CHANGED_IN = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


def patched(session: Session, patch: Patch, *, at: datetime) -> Edited:
    """What a patch would make of the plan of a session, with the moves that make room. Raises ``UserError`` when it
    cannot be applied, or changes nothing."""
    if session.status is SessionStatus.CANCELLED:
        raise BadInput("That session has ended; a plan is changed while its session is open.")
    if session.stage not in _CHANGED_IN:
        heading = session.stage.heading
        raise BadInput(f"The session is at the step “{heading}”; its plan can be changed from Refine on.")
    command = ApplyPatch(command_id="", user_id=session.user_id, at=at, session_id=session.id, patch=patch)
    result = edited(session, command)
    if not result.changed:
        raise BadInput("That changes nothing; the plan is like that already.")
    return result


def proposable(record: ConstraintRecord) -> ConstraintRecord:
    """The record as it would be written once the person has approved it, which confirms it. Raises ``BadInput`` for
    one that is for a single session, or that names itself or others."""
    if "scope" not in record.model_fields_set:
        record = record.model_copy(update={"scope": Scope.PROFILE})
    if record.scope is Scope.SESSION:
        raise BadInput(
            "A constraint for one session only belongs into its thread; give it the scope profile or datespan.",
            where="constraint_record.scope",
        )
    if record.lifecycle.uid is not None or record.lifecycle.supersedes_uids:
        raise BadInput(
            "Leave out uid and supersedes_uids; to put it in the place of another one, name that in replaces.",
            where="constraint_record.lifecycle",
        )
    if record.status is Status.DECLINED:
        raise BadInput("It would be declined from the start; leave out its status.", where="constraint_record.status")
    return record.model_copy(update={"status": Status.LOCKED, "confidence": None})


def remembering(
    record: ConstraintRecord,
    replaces: str | None,
    *,
    versions: tuple[Version, ...],
    user_id: str,
    tz: str,
    at: datetime,
) -> Taken:
    """What a constraint would do to a person's others, outside of any session. Raises ``BadInput`` when what it is to
    replace is not there, is out of force, or when there is a secret in it."""
    memory = Memory(user_id=user_id, session_id=None, day=local_today(at, tz), at=at, versions=versions, tz=tz)
    if replaces is not None and memory.existing(replaces).retired:
        raise BadInput("What it is to replace is out of force already; leave that out.", where="replaces")
    taken = remembered(Taken(memory), record, supersedes=replaces)
    if not taken.versions:
        raise BadInput("That changes nothing; the person told me that already.")
    return taken
