"""Commands about the constraints that the planner remembers of a person."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import ConstraintRecord
from fateforger.session.commands.envelope import SessionCommandBase

ConstraintVerdict = Literal["accept", "decline", "archive", "restore", "set_aside", "use_again"]
"""Judgment of a constraint: right, not wanted, over, or wanted again; or (not) counting in this session."""


class RememberConstraint(SessionCommandBase):
    """Remember a new constraint, optionally in place of the one with the uid ``supersedes``."""

    kind: Literal["remember_constraint"] = "remember_constraint"
    record: ConstraintRecord
    supersedes: str | None = None


class ReviseConstraint(SessionCommandBase):
    """Replace a constraint's record; its uid stays.

    ``seen`` is the ``seq`` of the version that was edited. If there is a newer one by now, nothing is done.
    """

    kind: Literal["revise_constraint"] = "revise_constraint"
    uid: str
    record: ConstraintRecord
    seen: int | None = None


class JudgeConstraint(SessionCommandBase):
    """Judge one constraint.

    ``seen`` is as in :class:`ReviseConstraint`.
    """

    kind: Literal["judge_constraint"] = "judge_constraint"
    uid: str
    verdict: ConstraintVerdict
    reason: str | None = None
    seen: int | None = None


class SettleConstraints(SessionCommandBase):
    """Choose between two constraints that contradict, replace, or repeat each other.

    ``keep`` is the one that counts; ``None`` keeps both.
    """

    kind: Literal["settle_constraints"] = "settle_constraints"
    uids: tuple[str, str]
    keep: str | None = None


class UndoMemory(SessionCommandBase):
    """Undo what a command wrote into memory; ``write`` is its id."""

    kind: Literal["undo_memory"] = "undo_memory"
    write: str


class ShowMemory(SessionCommandBase):
    """Show the constraints of the person.

    ``uids`` and ``search`` restrict the list to these constraints and to matches of the words. ``more`` lists more of
    it.
    """

    kind: Literal["show_memory"] = "show_memory"
    more: bool = False
    uids: tuple[str, ...] = ()
    search: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=8)] = ()


class HideMemory(SessionCommandBase):
    kind: Literal["hide_memory"] = "hide_memory"


class AddExtracted(BaseModel):
    """Constraints that were extracted from a reply in the background.

    It queues with the person's commands, but does not count as activity of theirs. ``of`` is the reply's id, and
    ``at`` its instant. ``question`` is an open question about it, ``trouble`` the reason it could not be read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["understood"] = "understood"
    command_id: str
    session_id: str
    of: str
    at: datetime
    records: tuple[ConstraintRecord, ...] = ()
    question: str | None = None
    trouble: str | None = None
