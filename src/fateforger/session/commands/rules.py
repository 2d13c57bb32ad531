"""Commands about the person's rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationError

from fateforger.errors import BadInput
from fateforger.limits import MAX_QUERIES, MAX_QUERY_CHARS
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.retrieval import RuleFilter
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.forms import (
    CardAction,
    Click,
    Fields,
    read_target,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import Value

ConstraintVerdict = Literal["accept", "decline", "archive", "restore", "set_aside", "use_again"]
"""Judgment of a constraint: right, not wanted, over, or wanted again; or (not) counting in this session."""


class RuleStatement(SessionCommandBase):
    """Statement about a rule. Outside of any plan, questions about it are asked in ``channel``, if known."""

    channel: str = ""


class RememberConstraint(RuleStatement):
    """Remember a new constraint, optionally in place of the one with the uid ``supersedes``."""

    forms = ("rule_new", "rule_said", "rule_day", "routine")
    kind: Literal["remember_constraint"] = "remember_constraint"
    record: ConstraintRecord
    supersedes: str | None = None


class ReviseConstraint(RuleStatement):
    """Replace a constraint's record; its uid stays.

    ``seen`` is the ``seq`` of the version that was edited. If there is a newer one by now, nothing is done. With
    ``renewed`` the person said for how long it is kept from now on.
    """

    forms = ("rule",)
    kind: Literal["revise_constraint"] = "revise_constraint"
    uid: str
    record: ConstraintRecord
    seen: int | None = None
    renewed: bool = False


class SetPolicy(SessionCommandBase):
    """Set how days are planned.

    ``records`` are settings; one with a uid changes that constraint. ``withdrawn`` are those that no longer count.
    """

    forms = ("policy",)
    kind: Literal["set_policy"] = "set_policy"
    records: tuple[ConstraintRecord, ...] = ()
    withdrawn: tuple[str, ...] = ()


_VERDICTS: Mapping[ConstraintVerdict, str] = {
    "accept": mark_message("Confirm"),
    "decline": mark_message("Decline"),
    "archive": mark_message("Archive"),
    "restore": mark_message("Restore"),
    "set_aside": mark_message("Not for this day"),
    "use_again": mark_message("Use it for this day again"),
}


def format_rule_target(seq: int, uid: str) -> str:
    """Return the target of a control: a rule, and its version when it was shown."""
    return f"{seq} {uid}"


def parse_rule_target(target: str) -> tuple[int, str]:
    """Return the version and the rule of a control's target. Raises :class:`BadInput`."""
    seq, _blank, uid = target.partition(" ")
    if not seq.isdecimal() or not uid:
        raise BadInput(_("I don't know that rule any more; please look at the list again."))
    return int(seq), uid


def _read_verdict(verdict: ConstraintVerdict, click: Click) -> Fields:
    seen, uid = parse_rule_target(click.target)
    return {"uid": uid, "verdict": verdict, "seen": seen}


class JudgeConstraint(SessionCommandBase):
    """Judge one constraint.

    ``seen`` is as in :class:`ReviseConstraint`.
    """

    verdicts: ClassVar[Mapping[ConstraintVerdict, CardAction]] = {
        verdict: CardAction(f"memory.{verdict}", label, partial(_read_verdict, verdict))
        for verdict, label in _VERDICTS.items()
    }
    kind: Literal["judge_constraint"] = "judge_constraint"
    uid: str
    verdict: ConstraintVerdict
    reason: str | None = None
    seen: int | None = None


class RuleAnswer(SessionCommandBase):
    """An answer that a control of a card outside of any plan gives, too.

    ``channel``, ``thread_ts`` and ``ts`` tell where it is answered then: in place of the card ``ts``, if that is known.
    """

    channel: str = ""
    thread_ts: str | None = None
    ts: str | None = None


class RuleChoice(Value):
    """Two rules, and the one that counts; ``None`` keeps both."""

    uids: tuple[str, str]
    keep: str | None = None


def _read_settled(click: Click) -> Fields:
    try:
        return RuleChoice.model_validate_json(click.target).model_dump()
    except ValidationError:
        raise BadInput(_("I can't tell any more which rules that was about; please open your rules again.")) from None


class SettleConstraints(RuleAnswer):
    """Choose between two constraints that contradict, replace, or repeat each other.

    ``keep`` is the one that counts; ``None`` keeps both.
    """

    action: ClassVar = CardAction("memory.keep", read=_read_settled)
    kind: Literal["settle_constraints"] = "settle_constraints"
    uids: tuple[str, str]
    keep: str | None = None


def _read_allowed(click: Click) -> Fields:
    seen, _blank, uid = click.target.partition(" ")
    return {"uid": uid, "seen": seen}


class AllowMeetings(SessionCommandBase):
    """Allow, for this day, the meetings that break a constraint; the constraint still counts for everything else.

    ``seen`` is the token of the meetings that were shown. If there are others by now, nothing is done.
    """

    action: ClassVar = CardAction("memory.allow", "Just this once is fine", _read_allowed)
    kind: Literal["allow_meetings"] = "allow_meetings"
    uid: str
    seen: str


class ConfirmKept(SessionCommandBase):
    """Answer that the plan keeps the rules that a held write asks about; ``seen`` is the token of that question."""

    action: ClassVar = CardAction("rules.kept", "Yes, it does", read_target("seen"))
    kind: Literal["confirm_kept"] = "confirm_kept"
    seen: str


class UndoMemory(RuleAnswer):
    """Undo what a command wrote into memory; ``write`` is its id."""

    action: ClassVar = CardAction("undo_memory", "Undo", read_target("write"))
    kind: Literal["undo_memory"] = "undo_memory"
    write: str


OUTSIDE_ACTIONS = frozenset({SettleConstraints.action.id, UndoMemory.action.id})
"""Actions of cards outside of any plan, whose answer replaces the card."""


class ShowMemory(SessionCommandBase):
    """Show the constraints of the person.

    ``uids``, ``search`` and ``filter`` restrict the list to these constraints, to matches of the words, and to what the
    filter admits. ``more`` lists more of it.
    """

    action: ClassVar = CardAction("show_memory", "Your rules")
    is_view = True
    kind: Literal["show_memory"] = "show_memory"
    more: bool = False
    uids: tuple[str, ...] = ()
    search: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)], ...], Field(max_length=MAX_QUERIES)
    ] = ()
    filter: RuleFilter | None = None


class HideMemory(SessionCommandBase):
    action: ClassVar = CardAction("hide_memory", "Close")
    is_view = True
    kind: Literal["hide_memory"] = "hide_memory"


class AddExtracted(Value):
    """Constraints that were extracted from a reply in the background.

    It queues with the person's commands, but does not count as activity of theirs. ``of`` is the reply's id, and
    ``at`` its instant. ``question`` is an open question about it, ``trouble`` the reason it could not be read, and
    ``unread`` its words.
    ``contradicts`` are two constraints in memory of which the first, the newer one, may replace the second; with
    ``repeats`` because it says the same in other words.
    """

    kind: Literal["understood"] = "understood"
    command_id: str
    session_id: str
    of: str
    at: datetime
    records: tuple[ConstraintRecord, ...] = ()
    contradicts: tuple[str, str] | None = None
    repeats: bool = False
    question: str | None = None
    trouble: str | None = None
    unread: str = ""


class AskToReplace(Value):
    """Ask, outside of any plan, whether a constraint replaces an older one that it contradicts, or repeats, in meaning.

    ``uids`` name both, the newer one first. The question goes to the place where the newer one was told.
    """

    kind: Literal["ask_to_replace"] = "ask_to_replace"
    command_id: str
    user_id: str
    at: datetime
    uids: tuple[str, str]
    repeats: bool = False
    channel: str
    thread_ts: str | None = None
    ts: None = None
    session_id: Literal[""] = ""


RuleCommand = (
    RememberConstraint
    | ReviseConstraint
    | SetPolicy
    | JudgeConstraint
    | SettleConstraints
    | AllowMeetings
    | ConfirmKept
    | UndoMemory
    | ShowMemory
    | HideMemory
)
