"""What the planner shall remember of a person, and what it knows."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import ConstraintRecord
from fateforger.session.commands.envelope import InSession

Verdict = Literal["accept", "decline", "archive", "restore", "set_aside", "use_again"]
"""What a person can say about a constraint: that it is right, not wanted, over, wanted again; that it does not count in
this session, or that it does after all."""


class RememberConstraint(InSession):
    """A new constraint, also in the place of the one with the uid ``supersedes``."""

    kind: Literal["remember_constraint"] = "remember_constraint"
    record: ConstraintRecord
    supersedes: str | None = None


class ReviseConstraint(InSession):
    """A constraint as it shall be from now on; its uid stays. ``seen`` is the ``seq`` of the version that was changed:
    when there is a newer one by now, nothing is done."""

    kind: Literal["revise_constraint"] = "revise_constraint"
    uid: str
    record: ConstraintRecord
    seen: int | None = None


class JudgeConstraint(InSession):
    """A word about one constraint. ``seen`` as in :class:`ReviseConstraint`."""

    kind: Literal["judge_constraint"] = "judge_constraint"
    uid: str
    verdict: Verdict
    reason: str | None = None
    seen: int | None = None


class SettleConstraints(InSession):
    """Which of two constraints counts that contradict, replace or repeat each other; ``None``: both."""

    kind: Literal["settle_constraints"] = "settle_constraints"
    uids: tuple[str, str]
    keep: str | None = None


class UndoMemory(InSession):
    """Take back what a command wrote into memory; ``write`` is its id."""

    kind: Literal["undo_memory"] = "undo_memory"
    write: str


class ShowMemory(InSession):
    """What is known of the person, or only these constraints and what is found by the words of ``search``; ``more``
    lists more of it."""

    kind: Literal["show_memory"] = "show_memory"
    more: bool = False
    uids: tuple[str, ...] = ()
    search: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=8)] = ()


class HideMemory(InSession):
    kind: Literal["hide_memory"] = "hide_memory"


class Understood(BaseModel):
    """What there is to remember in a reply, as it was read in the background. It waits its turn among the person's
    commands, and does not count as a sign of life of theirs. ``of`` is the reply's id and ``at`` when it was written;
    ``question`` is what was unclear, ``trouble`` why it could not be read."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["understood"] = "understood"
    command_id: str
    session_id: str
    of: str
    at: datetime
    records: tuple[ConstraintRecord, ...] = ()
    question: str | None = None
    trouble: str | None = None
