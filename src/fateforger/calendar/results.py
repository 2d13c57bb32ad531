"""Results of a submit, an undo or a recovery, in sentences: what was done, what was kept, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from fateforger.calendar.adoption import describe_changes
from fateforger.calendar.comparison import describe_missing, list_titles
from fateforger.calendar.conflicts import phrase_questions
from fateforger.calendar.event import find_missing_extras
from fateforger.calendar.execution import ExecutionResult
from fateforger.calendar.late_creates import describe_late
from fateforger.calendar.model import WRITES, SyncPlan, Verb
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.calendar.undo import ALONG
from fateforger.planning.timing import zone
from fateforger.text import format_count, join_words, quote_title
from fateforger.values import replace

SyncStatus = Literal["unchanged", "changed", "undone", "partial", "paused"]


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a command.

    ``plan`` is the decision; ``transactions`` are the recorded transactions, the latest last: none if there was nothing
    to do, several if event ids turned out to be used up.

      - ``unchanged``: the calendar was up to date, nothing was written;
      - ``changed``, ``undone``: all of the decision is done, apart from what the person changed meanwhile;
      - ``partial``: a part could not be done, as the sentences say; it can be undone;
      - ``paused``: the rest waits; the same command again, a new one or ``recover`` continues it.

    The ``headline`` tells the person what was done, the ``details`` what was kept and why.
    """

    status: SyncStatus
    plan: SyncPlan
    transactions: tuple[Transaction, ...] = ()
    headline: str = ""
    details: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The headline and the details."""
        return (self.headline, *self.details) if self.headline else self.details

    @property
    def transaction(self) -> Transaction | None:
        """The latest transaction."""
        return self.transactions[-1] if self.transactions else None

    @property
    def created(self) -> int:
        """Blocks added to the calendar."""
        return self._count_applied(Verb.CREATE)

    @property
    def updated(self) -> int:
        """Blocks changed on the calendar."""
        return self._count_applied(Verb.UPDATE)

    @property
    def deleted(self) -> int:
        """Blocks removed from the calendar."""
        return self._count_applied(Verb.DELETE)

    def _count_applied(self, verb: Verb) -> int:
        records = [record for transaction in self.transactions for record in transaction.records]
        return sum(1 for record in records if record.op.verb is verb and record.state is OpState.APPLIED)


_MOST_LEFT = 5
UP_TO_DATE = "Your calendar is already up to date."
NOTHING_ELSE = "Apart from what is yours to choose, your calendar is up to date."
_STATUS: dict[TxState, SyncStatus] = {TxState.PARTIAL: "partial", TxState.PAUSED: "paused"}


def report_unchanged(plan: SyncPlan) -> SyncResult:
    """Return the result when there was nothing to do."""
    headline = NOTHING_ELSE if phrase_questions(plan) else UP_TO_DATE
    return SyncResult("unchanged", plan, (), headline, tuple(_describe_decision(plan)))


def build_result(rounds: Sequence[ExecutionResult]) -> SyncResult:
    """Return the result of one or more rounds of one command; the last one decides."""
    last = rounds[-1]
    transaction = last.transaction
    whole: SyncStatus = "undone" if transaction.kind == "undo" else "changed"
    status = _STATUS.get(transaction.state, whole)
    plan = transaction.plan
    result = SyncResult(status, plan, tuple(carried.transaction for carried in rounds))
    if status == "changed" and not (result.created or result.updated or result.deleted):
        status = "unchanged"
    prefix = "Done again: " if transaction.context.get("deed") == "redo" else "Taken back: "
    done = _describe_done(result, status, prefix if status == "undone" else "")
    records = transaction.records
    along = [sentence for carried in rounds for sentence in _describe_along(carried.transaction)]
    details = (
        *along,
        *_describe_waiting(last),
        *_describe_not_done(records),
        *_describe_not_restored(records),
        *last.notes,
        *_describe_decision(plan, undo=transaction.kind == "undo"),
    )
    return SyncResult(status, plan, result.transactions, done, details)


def _describe_done(result: SyncResult, status: SyncStatus, prefix: str) -> str:
    deeds = [
        (f"{verb} {format_count(count, 'block')}", where)
        for verb, count, where in (
            ("added", result.created, "to"),
            ("changed", result.updated, "on"),
            ("removed", result.deleted, "from"),
        )
        if count
    ]
    if status == "unchanged":
        return UP_TO_DATE
    if not deeds:
        return (
            f"{prefix.removesuffix(': ')}; there was nothing left to change."
            if status == "undone"
            else "Nothing was written to your calendar."
        )
    words = join_words(deed for deed, _ in deeds)
    where = deeds[0][1] if len(deeds) == 1 else "on"
    return f"{prefix}I {words} {where} your calendar."


def mark_finished(result: SyncResult, begun: Transaction, now: datetime) -> SyncResult:
    """Add a sentence that the command had been interrupted before its result was seen."""
    local = zone(begun.tz)
    at = begun.created_at.astimezone(local)
    when = f"{at:%H:%M}" if at.date() == now.astimezone(local).date() else f"{at:%H:%M on %Y-%m-%d}"
    what = "undo" if begun.kind == "undo" else "write"
    deed = "Went on with" if result.status in {"partial", "paused"} else "Finished"
    sentence = f"{deed} the {what} that began at {when} and was interrupted."
    return replace(result, headline=sentence, details=result.sentences)


def add_late(result: SyncResult, late: Sequence[ExecutionResult]) -> SyncResult:
    """Add sentences about late creates."""
    sentences = [sentence for carried in late for sentence in describe_late(carried)]
    return replace(result, details=(*result.details, *sentences))


def build_late_result(late: Sequence[ExecutionResult]) -> SyncResult:
    """Return the result of a command that only removed late creates."""
    result = build_result(late)
    return add_late(replace(result, details=()), late)


def _describe_along(undo: Transaction) -> list[str]:
    """Say what a finished undo undid beyond the request."""
    along = undo.context.get(ALONG)
    return [f"This also {along}."] if along and undo.state in {TxState.COMMITTED, TxState.UNDONE} else []


def _describe_waiting(carried: ExecutionResult) -> list[str]:
    if carried.paused is None:
        return []
    open_ops = [r for r in carried.transaction.records if not r.state.is_settled and r.op.verb in WRITES]
    rest = f"{format_count(len(open_ops), 'change is', 'changes are')} still waiting"
    return [f"{rest}: {carried.paused.rstrip('.')}. Nothing is lost; try again and I go on where I stopped."]


def _describe_not_done(records: Sequence[OpRecord]) -> list[str]:
    """Return a sentence for each reason an op did not go as decided; postponed deletions share one."""
    why: dict[str, list[str]] = {}
    for record in records:
        if record.state in {OpState.CONFLICT, OpState.FAILED} or (record.state is OpState.SKIPPED and record.error):
            if record.op.verb is Verb.DELETE and record.state is OpState.SKIPPED:
                continue
            why.setdefault(record.error, []).append(record.op.summary)
    sentences = [f"{list_titles(titles)}: {reason}" for reason, titles in why.items()]
    put_off = [r.op.summary for r in records if r.op.verb is Verb.DELETE and r.state is OpState.SKIPPED]
    if put_off:
        sentences.append(f"I did not remove {list_titles(put_off)}, because something else could not be written.")
    given_up = [r.op.summary for r in records if r.state is OpState.SUPERSEDED and r.op.verb in WRITES]
    if given_up:
        sentences.append(f"{list_titles(given_up)} had to wait and was given up; plan again and I take it from there.")
    return sentences


def _describe_not_restored(records: Sequence[OpRecord]) -> list[str]:
    """Return a sentence for each event that was recreated without all of the person's additions."""
    sentences: list[str] = []
    for record in records:
        wanted, seen = record.op.extras, record.observed
        if wanted is None or seen is None or record.state is not OpState.APPLIED:
            continue
        if missing := find_missing_extras(wanted, seen.extras):
            title = quote_title(record.op.summary)
            sentences.append(
                f"{title} is back, but {describe_missing(missing)}. Your calendar does not let me write that."
            )
    return sentences


def _describe_decision(plan: SyncPlan, *, undo: bool = False) -> list[str]:
    """Return sentences about the decision: the person's own changes, skipped events, warnings.

    An undo lists the events it left in its warnings.
    """
    left = [] if undo else [op for op in plan.ops if op.verb is Verb.RELEASE]
    left += [op for op in plan.ops if op.verb is Verb.SKIP and op.before is not None]
    sentences = [f"{quote_title(op.summary)}: {op.reason}" for op in left[:_MOST_LEFT]]
    if more := len(left) - len(sentences):
        sentences.append(f"{more} more were left alone, too.")
    return [*describe_changes(plan, zone(plan.tz)), *phrase_questions(plan), *sentences, *plan.warnings]
