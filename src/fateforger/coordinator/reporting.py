"""Report a write in counts and sentences (S51, S85)."""

from __future__ import annotations

from collections.abc import Collection

from fateforger.commit.result import SyncResult
from fateforger.journal.model import OpRecord, OpState
from fateforger.plan import zone
from fateforger.session.model import SyncReport
from fateforger.sync.conflicts import phrase_questions
from fateforger.sync.model import WRITES, OwnedId, Verb
from fateforger.values import replace

MOST_NAMED = 12
UNCHANGED = "unchanged"
LOOKING = "I keep looking, and say so here once I know."
_OPEN = frozenset(OpState) - {OpState.APPLIED, OpState.SKIPPED, OpState.INFLIGHT}
_SHOWN = frozenset({Verb.CREATE, Verb.UPDATE})


def build_report(result: SyncResult) -> SyncReport:
    """Return the report of a submit or an undo. For a partial one it says exactly what is on the calendar now."""
    standing = {Verb.NOOP, Verb.ADOPT}
    report = SyncReport(
        status="changed",
        created=result.created,
        updated=result.updated,
        deleted=result.deleted,
        unchanged=sum(op.verb in standing for op in result.plan.ops),
        sentences=_select_sentences(result),
    )
    match result.status:
        case "partial" | "paused":
            return _report_partial(report, result)
        case other:
            return replace(report, status=other)


def _report_partial(report: SyncReport, result: SyncResult) -> SyncReport:
    """Report the blocks that are written, missing or unknown, each with its name and time."""
    done, unsure = _list_blocks(result, {OpState.APPLIED}), _list_blocks(result, {OpState.INFLIGHT}, WRITES)
    if not (done or unsure or report.deleted):
        return replace(report, status="failed", sentences=report.sentences[1:])
    missing = _list_blocks(result, _OPEN)
    lines = (
        (f"On your calendar now: {_join_names(done)}.",) if done else (),
        (f"I do not know yet whether this arrived: {_join_names(unsure)}. {LOOKING}",) if unsure else (),
        (f"Not there yet: {_join_names(missing)}.",) if missing else (),
    )
    sentences = (*(sentence for line in lines for sentence in line), *report.sentences[1:])
    return replace(report, status="partial", unsure=bool(unsure), sentences=sentences)


def _select_sentences(result: SyncResult) -> tuple[str, ...]:
    """Return the sentences of the engine, the summary first.

    Overlaps with meetings and open questions are left out, because the card shows them as long as they exist. Blocks
    that are linked to an event of the person are added.
    """
    if result.transaction is not None and result.transaction.kind == "undo":
        return result.sentences
    shown_by_the_card = {*result.plan.warnings, *phrase_questions(result.plan)}
    linked = [op.reason for op in result.plan.ops if op.verb is Verb.NOOP and not OwnedId.is_one(op.event_id)]
    return (*(s for s in result.sentences if s not in shown_by_the_card), *linked)


def format_counts(report: SyncReport) -> str:
    """Return the counts that are not zero, like ``2 created, 1 updated``; ``unchanged`` if all are zero."""
    named = (("created", report.created), ("updated", report.updated), ("deleted", report.deleted))
    return ", ".join(f"{count} {what}" for what, count in named if count) or UNCHANGED


def _list_blocks(result: SyncResult, states: Collection[OpState], verbs: Collection[Verb] = _SHOWN) -> list[str]:
    """Return the created or updated blocks that ended in one of the states, with their times."""
    last = {r.op.key: r for t in result.transactions for r in t.records if r.op.verb in verbs}
    return [_format_block(record, result.plan.tz) for record in last.values() if record.state in states]


def _format_block(record: OpRecord, tz: str) -> str:
    fields = record.op.after
    if fields is None:
        return f"“{record.op.summary}”"
    local = zone(tz)
    return f"“{fields.summary}” {fields.start.astimezone(local):%H:%M}–{fields.end.astimezone(local):%H:%M}"


def _join_names(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
