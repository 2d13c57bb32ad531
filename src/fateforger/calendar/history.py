"""History of a day: the transactions in effect, the scope of an undo, and ops in words, worded nowhere else.

An undo ends the effect of its targets; undoing the undo restores it. This module decides, from the day's whole history,
how to go back to before a transaction:

    the transaction | what is undone, the newest first
    ----------------+--------------------------------------------------------------------------------
    a submit        | it, and every later submit in effect, even if it wrote nothing and only changed our records; what
                    | was undone before stays undone. Later undos that were partial are included, since their targets
                    | are still in effect
    an undo         | everything after it and the undo itself, so that the day is as it was before it; undos among
                    | that are included even if they had nothing to write, since their targets are not in effect

A command that was interrupted and repeated may have several transactions, which share its cause: going back to before
one of them goes back to before the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never
from zoneinfo import ZoneInfo

from fateforger.calendar.adoption import describe_changes
from fateforger.calendar.conflicts import phrase_questions
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import WRITES, SyncOp, SyncPlan, Verb, format_clock
from fateforger.calendar.transactions import UNDOES, OpRecord, OpState, Transaction, TxState, judge_transaction
from fateforger.errors import InternalError
from fateforger.planning.timing import zone
from fateforger.text import format_day, join_sentences, join_words, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import Value

_PLANNED: Mapping[str, Callable[[int], str]] = {
    "added": lambda n: ngettext("{count} to add", "{count} to add", n),
    "moved": lambda n: ngettext("{count} to move", "{count} to move", n),
    "changed": lambda n: ngettext("{count} to change", "{count} to change", n),
    "removed": lambda n: ngettext("{count} to remove", "{count} to remove", n),
}
_DONE: Mapping[str, Callable[[int], str]] = {
    "added": lambda n: ngettext("{count} added", "{count} added", n),
    "moved": lambda n: ngettext("{count} moved", "{count} moved", n),
    "changed": lambda n: ngettext("{count} changed", "{count} changed", n),
    "removed": lambda n: ngettext("{count} removed", "{count} removed", n),
}
_CREATE = mark_message("Add {title} {time}"), mark_message("Added {title} {time}")
_DELETE = mark_message("Remove {title} {time}"), mark_message("Removed {title} {time}")
_RENAME = mark_message("Rename {title} to {name}"), mark_message("Renamed {title} to {name}")
_MOVE = mark_message("Move {title} from {was} to {time}"), mark_message("Moved {title} from {was} to {time}")
_RESIZE = mark_message("Change {title} from {was} to {time}"), mark_message("Changed {title} from {was} to {time}")
_GIVE = mark_message("Give {title} {gifts}"), mark_message("Gave {title} {gifts}")
_MOVE_TOO = mark_message("move it from {was} to {time}"), mark_message("moved it from {was} to {time}")
_RESIZE_TOO = mark_message("change it from {was} to {time}"), mark_message("changed it from {was} to {time}")
_GIVE_TOO = mark_message("give it {gifts}"), mark_message("gave it {gifts}")
"""Writes to do, and done. Those called ``TOO`` follow another part of the same update."""


@dataclass(frozen=True, slots=True)
class PlanWords:
    """A sync plan in words.

    ``todo`` are its writes, ``left`` the events it leaves alone, with reasons. ``notes`` are the person's own changes,
    questions and warnings; ``brakes`` need to be confirmed first.
    """

    counts: str
    todo: tuple[str, ...]
    left: tuple[str, ...]
    notes: tuple[str, ...]
    brakes: tuple[str, ...]


def describe_plan(plan: SyncPlan) -> PlanWords:
    """Describe what a sync plan would do."""
    tz = zone(plan.tz)
    left = [*(op for op in plan.ops if op.verb is Verb.RELEASE), *plan.skipped]
    return PlanWords(
        counts=describe_counts(plan.writes, planned=True),
        todo=tuple(describe_op(op, tz) for op in plan.writes),
        left=tuple(describe_op(op, tz) for op in left),
        notes=tuple(
            dict.fromkeys((*describe_changes(plan, tz), *phrase_questions(plan), *plan.linked, *plan.warnings))
        ),
        brakes=tuple(brake.sentence for brake in plan.brakes),
    )


def describe_op(op: SyncOp, tz: ZoneInfo, *, done: bool = False) -> str:
    """Return ``Add “Deep work” 09:00–10:30``, or ``Added ...`` once it is ``done``."""
    title = quote_title(op.summary)
    match op.verb:
        case Verb.CREATE:
            return _(_CREATE[done], title=title, time=_format_time(op, tz))
        case Verb.UPDATE:
            return _describe_update(op, tz, done=done)
        case Verb.DELETE:
            return _(_DELETE[done], title=title, time=_format_time(op, tz))
        case Verb.SKIP | Verb.RELEASE | Verb.NOOP | Verb.ADOPT | Verb.FORGET:
            if not op.reason:
                return _("Leave {title} alone", title=title)
            return _("Leave {title} alone: {reason}", title=title, reason=op.reason)
        case _:
            assert_never(op.verb)


def describe_counts(ops: Iterable[SyncOp], *, planned: bool = False) -> str:
    """Return ``1 added, 2 moved``, or ``1 to add, 2 to move``; an empty text for no writes."""
    kinds = [classify_write(op) for op in ops if op.verb in WRITES]
    count_kind = _PLANNED if planned else _DONE
    return ", ".join(count(kinds.count(kind)) for kind, count in count_kind.items() if kind in kinds)


def classify_write(write: SyncOp) -> str:
    """Return the kind of a write as people count it: an update that changes a time is a move."""
    match write.verb:
        case Verb.CREATE:
            return "added"
        case Verb.DELETE:
            return "removed"
        case _:
            return "moved" if write.changes.keys() & {"start", "end"} else "changed"


def _format_time(op: SyncOp, tz: ZoneInfo) -> str:
    if op.after is not None:
        return format_clock(op.after.start, op.after.end, tz)
    start, end = _get_times(op.before)
    return format_clock(start, end, tz)


def _describe_update(op: SyncOp, tz: ZoneInfo, *, done: bool) -> str:
    """Describe an update, the title first, because the rest refers to the block by its name."""
    if op.before is None or op.after is None:
        raise InternalError(f"Update {op.op_id} does not know what it changes.")
    named = quote_title(op.before.summary)
    phrases: list[str] = []
    if "summary" in op.changes:
        phrases.append(_(_RENAME[done], title=named, name=quote_title(op.after.summary)))
    if op.changes.keys() & {"start", "end"}:
        (start, end), after = _get_times(op.before), op.after
        if after.end - after.start == end - start:
            form = _MOVE_TOO if phrases else _MOVE
            was, now = f"{start.astimezone(tz):%H:%M}", f"{after.start.astimezone(tz):%H:%M}"
        else:
            form, was = (_RESIZE_TOO if phrases else _RESIZE), format_clock(start, end, tz)
            now = format_clock(after.start, after.end, tz)
        days = [moment.astimezone(tz).date() for moment in (start, after.start)]
        if days[0] != days[1]:
            was, now = (
                _("{time} on {day}", time=time, day=format_day(day)) for time, day in zip((was, now), days, strict=True)
            )
        phrases.append(_(form[done], title=named, was=was, time=now))
    gifts = [_(words) for name, words in (("description", NEW_NOTES), ("color_id", OTHER_COLOR)) if name in op.changes]
    if gifts:
        given = join_words(gifts)
        phrases.append(_(_GIVE_TOO[done], gifts=given) if phrases else _(_GIVE[done], title=named, gifts=given))
    return join_words(phrases)


NEW_NOTES, OTHER_COLOR = mark_message("new notes"), mark_message("another color")


def _get_times(image: EventImage | None) -> tuple[datetime, datetime]:
    if image is None or not isinstance(image.start, datetime) or not isinstance(image.end, datetime):
        raise InternalError("A block of ours has a start and an end.")
    return image.start, image.end


@dataclass(frozen=True, slots=True)
class UndoScope:
    """The way back to before a transaction.

    ``targets`` are the transactions to undo, the newest first. ``gone`` are the submits that are no longer in effect
    then, ``again`` those that are in effect again. ``asked`` are all transactions of the same command.
    """

    targets: tuple[Transaction, ...]
    gone: frozenset[str]
    again: frozenset[str]
    asked: frozenset[str]


def list_undone(undo: Transaction) -> tuple[str, ...]:
    """Return the ids of the transactions that an undo undoes, the newest first; none for a submit."""
    several = tuple(undo.context.get(UNDOES, ()))
    return several or (() if undo.undoes is None else (undo.undoes,))


def is_redo(transaction: Transaction, known: Mapping[str, Transaction]) -> bool:
    """Check whether a transaction undoes an undo; the last of its targets decides."""
    targets = list_undone(transaction)
    found = known.get(targets[-1]) if targets else None
    return found is not None and found.kind == "undo"


def has_writes(transaction: Transaction) -> bool:
    """Check whether anything was to be written to the calendar; other transactions only update records."""
    return any(record.op.verb in WRITES for record in transaction.records)


def is_listed(transaction: Transaction) -> bool:
    """Check whether the history shows it: every write, and every undo, even one of a transaction without effect."""
    return transaction.kind == "undo" or has_writes(transaction)


def had_effect(transaction: Transaction) -> bool:
    """Check whether anything was written to the calendar."""
    return any(r.state is OpState.APPLIED and r.op.verb in WRITES for r in transaction.records)


def is_in_effect(transaction: Transaction) -> bool:
    """Check whether it can be undone, as far as is known while it may still be running."""
    return transaction.undoable or transaction.state in {TxState.APPLYING, TxState.PAUSED}


def simulate_undo(targets: Sequence[str], known: Mapping[str, Transaction]) -> dict[str, bool]:
    """Return whether each affected transaction is in effect once ``targets``, the newest first, are undone as a whole.

    ``known`` holds the targets and everything that undos among them undid.
    """
    after: dict[str, bool] = {}

    def take_back(transaction_id: str) -> None:
        after[transaction_id] = False
        for other in reversed(_list_ended(transaction_id, known)):
            put_back(other)

    def put_back(transaction_id: str) -> None:
        after[transaction_id] = True
        for other in _list_ended(transaction_id, known):
            take_back(other)

    for target in targets:
        take_back(target)
    return after


def find_undo_scope(history: Sequence[Transaction], transaction: Transaction) -> UndoScope:
    """Return the way to before ``transaction``. ``history`` is that of its day, the newest first, and contains it."""
    asked = [t for t in history if t.id == transaction.id or _is_same_command(t, transaction)]
    since = history[: [t.id for t in history].index(asked[-1].id) + 1]
    if transaction.kind == "submit":
        targets = tuple(t for t in since if _has_to_go(t))
    else:
        targets = tuple(t for t in since if t.kind == "undo" or _has_applied(t))
    after = simulate_undo([t.id for t in targets], {t.id: t for t in history})
    submits = [t for t in history if t.kind == "submit" and t.id in after]
    return UndoScope(
        targets,
        gone=frozenset(t.id for t in submits if is_in_effect(t) and not after[t.id]),
        again=frozenset(t.id for t in submits if had_effect(t) and not is_in_effect(t) and after[t.id]),
        asked=frozenset(t.id for t in asked),
    )


def _has_to_go(transaction: Transaction) -> bool:
    """Check whether an undo of an earlier write undoes a transaction, too."""
    if transaction.kind == "submit":
        return is_in_effect(transaction) or (transaction.state is not TxState.UNDONE and _has_applied(transaction))
    return transaction.state is TxState.PARTIAL and _has_applied(transaction) and bool(list_undone(transaction))


def _has_applied(transaction: Transaction) -> bool:
    """Check whether anything was written or recorded."""
    return any(record.state is OpState.APPLIED for record in transaction.records)


def _is_same_command(other: Transaction, transaction: Transaction) -> bool:
    """Check whether another transaction in effect belongs to the same command, which needed more than one."""
    return (other.cause, other.kind) == (transaction.cause, transaction.kind) and is_in_effect(other)


def _list_ended(transaction_id: str, known: Mapping[str, Transaction]) -> tuple[str, ...]:
    """Return what an undo ended: all that it undid, or none of it if it was partial."""
    found = known.get(transaction_id)
    return () if found is None or _is_partial(found) else list_undone(found)


def _is_partial(transaction: Transaction) -> bool:
    return TxState.PARTIAL in {transaction.state, judge_transaction(transaction)}


MOST_NAMED = 3
LATE = mark_message("Removed what arrived late")
NOTHING_LEFT = mark_message("there was nothing left to change")
_NOT_DONE = frozenset({OpState.CONFLICT, OpState.FAILED, OpState.SUPERSEDED})

Standing = Literal["done", "partly", "waiting", "under way", "undone", "done again", "nothing"]

_STANDING_WORDS: Mapping[Standing, str] = {
    "done": mark_message("done"),
    "partly": mark_message("partly done"),
    "waiting": mark_message("waiting to go on"),
    "under way": mark_message("under way"),
    "undone": mark_message("taken back"),
    "done again": mark_message("done again"),
    "nothing": mark_message("nothing was written"),
}


class HistoryRow(Value):
    """One write or undo of a day.

    ``title`` names the click, ``said`` its subject; ``deeds`` are its counts in words and ``named`` a few of its ops.
    ``button`` is the available action; it also undoes ``gone`` further writes, and redoes ``again``.
    """

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
        return _(_STANDING_WORDS[self.standing])

    @property
    def warning(self) -> str | None:
        """The further effects of the button, as a sentence; ``None`` if there are none."""
        gone = ngettext(
            "This also takes back the {count} write after it.",
            "This also takes back the {count} writes after it.",
            self.gone,
        )
        again = ngettext("This also does {count} write again.", "This also does {count} writes again.", self.again)
        return join_sentences(gone if self.gone else "", again if self.again else "") or None


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
        standing=_find_standing(t, done, redo=redo),
        button=button,
        gone=0 if way is None else len(way.gone - way.asked),
        again=0 if way is None else _count_redone(t, way),
    )


_TITLES = {
    "undo": mark_message("Undo"),
    "undo_update": mark_message("Undo last update"),
    "redo": mark_message("Restore"),
    "late": LATE,
    "change": mark_message("Your change"),
    "retry": mark_message("Try again"),
    "commit": mark_message("Plan committed"),
}


def _build_title(t: Transaction, *, redo: bool, session: str | None) -> str:
    other, deed = t.context.get("session"), t.context.get("deed", "")
    if t.kind == "undo":
        deed = "redo" if redo else deed if deed in {"undo_update", "late"} else "undo"
    elif deed not in {"change", "retry", "commit"}:
        deed = "commit" if t.context.get("commit") else "change"
        if other is None and deed == "change":
            return _("Written from the command line")
    title = _(_TITLES[deed])
    if deed == "late":
        return title
    if other is None:
        return _("{title} from the command line", title=title)
    return title if session is None or other == session else _("{title}, in another thread", title=title)


def _describe_counts(writes: Sequence[OpRecord], done: Sequence[OpRecord]) -> str:
    if not writes:
        return _(NOTHING_LEFT)
    parts = [describe_counts(r.op for r in done)] if done else []
    missing = sum(r.state in _NOT_DONE or (r.state is OpState.SKIPPED and bool(r.error)) for r in writes)
    waiting = sum(not r.state.is_settled for r in writes)
    parts += [ngettext("{count} not done", "{count} not done", missing)] if missing else []
    parts += [ngettext("{count} still waiting", "{count} still waiting", waiting)] if waiting else []
    return ", ".join(parts) or _("nothing written")


def _find_standing(t: Transaction, done: Sequence[OpRecord], *, redo: bool) -> Standing:
    match t.state:
        case TxState.APPLYING:
            return "under way"
        case TxState.PAUSED:
            return "waiting"
        case TxState.UNDONE if t.kind == "submit" or redo:
            return "undone"
        case TxState.UNDONE:
            return "partly" if _is_partial(t) else "done again"
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
