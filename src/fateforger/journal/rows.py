"""The history of a day for a person: what was written when, by which click, and what can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, assert_never

from pydantic import BaseModel, ConfigDict

from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.journal.standing import UndoScope, find_undo_scope, is_in_effect, is_listed, is_redo, list_undone
from fateforger.plan import zone
from fateforger.sync.model import WRITES
from fateforger.sync.sentences import describe_counts, describe_op

MOST_NAMED = 3
LATE = "Removed what arrived late"
NOTHING_LEFT = "there was nothing left to change"
_NOT_DONE = frozenset({OpState.CONFLICT, OpState.FAILED, OpState.SUPERSEDED})

ClickKind = Literal["change", "retry", "commit", "undo_update", "undo_group", "door"]
"""The click behind a transaction, from its context (``deed``)."""
Standing = Literal["done", "partly", "waiting", "under way", "undone", "done again", "nothing"]


class HistoryRow(BaseModel):
    """One write or undo of a day.

    ``title`` names the click, ``said`` its subject; ``deeds`` are its counts in words and ``named`` a few of its ops.
    ``button`` is the available action; it also undoes ``gone`` further writes, and redoes ``again``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    transaction: str
    at: datetime
    title: str
    said: str = ""
    deeds: str
    named: tuple[str, ...] = ()
    more: int = 0
    """The number of ops that are not named."""
    standing: Standing
    button: Literal["undo", "redo"] | None = None
    gone: int = 0
    again: int = 0

    @property
    def state(self) -> str:
        """The standing in words."""
        match self.standing:
            case "done" | "done again" | "under way":
                return self.standing
            case "partly":
                return "partly done"
            case "waiting":
                return "waiting to go on"
            case "undone":
                return "taken back"
            case "nothing":
                return "nothing was written"
            case _:
                assert_never(self.standing)

    @property
    def warning(self) -> str | None:
        """The further effects of the button, as a sentence; ``None`` if there are none."""
        parts = []
        if self.gone:
            parts.append(f"takes back the {count_writes(self.gone)} after it")
        if self.again:
            parts.append(f"does {count_writes(self.again)} again")
        return f"This also {' and '.join(parts)}." if parts else None


def build_rows(history: Sequence[Transaction], *, session: str | None = None) -> tuple[HistoryRow, ...]:
    """Return the rows of one day. ``history`` is the whole of it, the newest first.

    A submit without writes is left out. Rows of another session than ``session`` say so.
    """
    known = {t.id: t for t in history}
    return tuple(_build_row(t, history, redo=is_redo(t, known), session=session) for t in history if is_listed(t))


def _build_row(t: Transaction, history: Sequence[Transaction], *, redo: bool, session: str | None) -> HistoryRow:
    writes = [r for r in t.records if r.op.verb in WRITES]
    done = [r for r in writes if r.state is OpState.APPLIED]
    tz = zone(t.tz)
    named = tuple(describe_op(r.op, tz, done=True) for r in done[:MOST_NAMED])
    button = _choose_button(t, redo=redo)
    way = None if button is None else find_undo_scope(history, t)
    return HistoryRow(
        transaction=t.id,
        at=t.created_at,
        title=_build_title(t, redo=redo, session=session),
        said=str(t.context.get("said", "")),
        deeds=_describe_counts(writes, done),
        named=named,
        more=len(done) - len(named),
        standing=_find_standing(t, done),
        button=button,
        gone=0 if way is None else len(way.gone - way.asked),
        again=0 if way is None else _count_redone(t, way),
    )


def _build_title(t: Transaction, *, redo: bool, session: str | None) -> str:
    other = t.context.get("session")
    whose = "" if session is None or other in {None, session} else ", in another thread"
    if t.kind == "undo":
        names = {"undo_update": "Undo last update", "late": LATE}
        deed = "Restore" if redo else names.get(t.context.get("deed", ""), "Undo")
        if deed == LATE:
            return deed
    else:
        names = {"change": "Your change", "retry": "Try again", "commit": "Commit"}
        deed = names.get(t.context.get("deed", ""), "Commit" if t.context.get("commit") else "")
    if not deed:
        return "Written from the command line" if other is None else f"Your change{whose}"
    return f"{deed} from the command line" if other is None else f"{deed}{whose}"


def _describe_counts(writes: Sequence[OpRecord], done: Sequence[OpRecord]) -> str:
    if not writes:
        return NOTHING_LEFT
    parts = [describe_counts(r.op for r in done)] if done else []
    missing = sum(r.state in _NOT_DONE or (r.state is OpState.SKIPPED and bool(r.error)) for r in writes)
    waiting = sum(not r.state.is_settled for r in writes)
    parts += [f"{missing} not done"] if missing else []
    parts += [f"{waiting} still waiting"] if waiting else []
    return ", ".join(parts) or "nothing written"


def _find_standing(t: Transaction, done: Sequence[OpRecord]) -> Standing:
    match t.state:
        case TxState.APPLYING:
            return "under way"
        case TxState.PAUSED:
            return "waiting"
        case TxState.UNDONE:
            return "undone" if t.kind == "submit" else "done again"
        case TxState.COMMITTED | TxState.PARTIAL if not done:
            return "nothing"
        case TxState.COMMITTED:
            return "done"
        case TxState.PARTIAL:
            return "partly"
        case _:
            assert_never(t.state)


def _choose_button(t: Transaction, *, redo: bool) -> Literal["undo", "redo"] | None:
    """Return the action for a transaction. A redo has none: the writes it redid have their own rows."""
    if t.kind == "submit":
        return "undo" if is_in_effect(t) else None
    return "redo" if t.undoable and not redo and t.context.get("deed") != "late" else None


def _count_redone(t: Transaction, way: UndoScope) -> int:
    """Return the number of redone writes other than those this very undo had undone."""
    return len(way.again - set(list_undone(t)))


def count_writes(count: int, which: str = "") -> str:
    """Count writes in words, of a kind: ``2 later writes``."""
    return f"{count} {which} {'write' if count == 1 else 'writes'}".replace("  ", " ")
