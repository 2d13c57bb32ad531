"""Results of a submit, an undo or a recovery, in sentences: what was done, what was kept, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from fateforger.calendar.adoption import describe_changes
from fateforger.calendar.conflicts import phrase_questions
from fateforger.calendar.event import find_missing_extras
from fateforger.calendar.execution import ExecutionResult
from fateforger.calendar.model import WRITES, SyncPlan, Verb, describe_missing, list_titles
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.calendar.undo import ALONG, describe_late
from fateforger.planning.timing import zone
from fateforger.text import count_blocks, format_date, join_words, label_text, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
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
UP_TO_DATE = mark_message("Your calendar is already up to date.")
NOTHING_ELSE = mark_message("Apart from what is yours to choose, your calendar is up to date.")
_STATUS: dict[TxState, SyncStatus] = {TxState.PARTIAL: "partial", TxState.PAUSED: "paused"}


def report_unchanged(plan: SyncPlan) -> SyncResult:
    """Return the result when there was nothing to do."""
    headline = _(NOTHING_ELSE if phrase_questions(plan) else UP_TO_DATE)
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
    done = _describe_done(result, status, redone=transaction.context.get("deed") == "redo")
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


_DEEDS = (
    (
        mark_message("added {blocks}"),
        mark_message("I added {blocks} to your calendar."),
    ),
    (
        mark_message("changed {blocks}"),
        mark_message("I changed {blocks} on your calendar."),
    ),
    (
        mark_message("removed {blocks}"),
        mark_message("I removed {blocks} from your calendar."),
    ),
)
"""Changes of blocks: as one of several, and alone."""


def _describe_done(result: SyncResult, status: SyncStatus, *, redone: bool) -> str:
    if status == "unchanged":
        return _(UP_TO_DATE)
    undone = status == "undone"
    deeds = [
        (count_blocks(count), part, alone)
        for count, (part, alone) in zip((result.created, result.updated, result.deleted), _DEEDS, strict=True)
        if count
    ]
    if not deeds and not undone:
        return _("Nothing was written to your calendar.")
    if not deeds:
        again = _("Done again; there was nothing left to change.")
        return again if redone else _("Taken back; there was nothing left to change.")
    blocks, _part, alone = deeds[0]
    said = _(alone, blocks=blocks)
    if len(deeds) > 1:
        said = _(
            "I {deeds} on your calendar.", deeds=join_words(_(part, blocks=blocks) for blocks, part, _alone in deeds)
        )
    if not undone:
        return said
    return _("Done again: {what}", what=said) if redone else _("Taken back: {what}", what=said)


_FINISHED = (
    mark_message("Finished the write that began at {time} and was interrupted."),
    mark_message("Finished the undo that began at {time} and was interrupted."),
)
_WENT_ON = (
    mark_message("Went on with the write that began at {time} and was interrupted."),
    mark_message("Went on with the undo that began at {time} and was interrupted."),
)


def mark_finished(result: SyncResult, begun: Transaction, now: datetime) -> SyncResult:
    """Add a sentence that the command had been interrupted before its result was seen."""
    local = zone(begun.tz)
    at = begun.created_at.astimezone(local)
    when = f"{at:%H:%M}"
    if at.date() != now.astimezone(local).date():
        when = _("{time} on {day}", time=when, day=format_date(at.date()))
    finished = result.status not in {"partial", "paused"}
    form = (_WENT_ON, _FINISHED)[finished][begun.kind == "undo"]
    sentence = _(form, time=when)
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
    return [along] if along and undo.state in {TxState.COMMITTED, TxState.UNDONE} else []


def _describe_waiting(carried: ExecutionResult) -> list[str]:
    if carried.paused is None:
        return []
    open_ops = [r for r in carried.transaction.records if not r.state.is_settled and r.op.verb in WRITES]
    return [
        ngettext(
            "{count} change is still waiting: {reason}. Nothing is lost; try again and I go on where I stopped.",
            "{count} changes are still waiting: {reason}. Nothing is lost; try again and I go on where I stopped.",
            len(open_ops),
            reason=carried.paused.rstrip("."),
        )
    ]


def _describe_not_done(records: Sequence[OpRecord]) -> list[str]:
    """Return a sentence for each reason an op did not go as decided; postponed deletions share one."""
    why: dict[str, list[str]] = {}
    for record in records:
        if record.state in {OpState.CONFLICT, OpState.FAILED} or (record.state is OpState.SKIPPED and record.error):
            if record.op.verb is Verb.DELETE and record.state is OpState.SKIPPED:
                continue
            why.setdefault(record.error, []).append(record.op.summary)
    sentences = [label_text(list_titles(titles), _(reason)) for reason, titles in why.items()]
    put_off = [r.op.summary for r in records if r.op.verb is Verb.DELETE and r.state is OpState.SKIPPED]
    if put_off:
        titles = list_titles(put_off)
        sentences.append(_("I did not remove {titles}, because something else could not be written.", titles=titles))
    given_up = [r.op.summary for r in records if r.state is OpState.SUPERSEDED and r.op.verb in WRITES]
    if given_up:
        titles = list_titles(given_up)
        sentences.append(
            ngettext(
                "{titles} had to wait and was given up; plan again and I take it from there.",
                "{titles} had to wait and were given up; plan again and I take it from there.",
                len(given_up),
                titles=titles,
            )
        )
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
                _(
                    "{title} is back, but {missing}. Your calendar does not let me write that.",
                    title=title,
                    missing=describe_missing(missing),
                )
            )
    return sentences


def _describe_decision(plan: SyncPlan, *, undo: bool = False) -> list[str]:
    """Return sentences about the decision: the person's own changes, skipped and linked events, warnings.

    An undo lists the events it left in its warnings.
    """
    left = [] if undo else [op for op in plan.ops if op.verb is Verb.RELEASE]
    left += plan.skipped
    sentences = [label_text(quote_title(op.summary), op.reason) for op in left[:_MOST_LEFT]]
    if more := len(left) - len(sentences):
        sentences.append(ngettext("{count} more was left alone, too.", "{count} more were left alone, too.", more))
    changes = describe_changes(plan, zone(plan.tz))
    return [*dict.fromkeys((*changes, *phrase_questions(plan), *sentences, *plan.linked, *plan.warnings))]
