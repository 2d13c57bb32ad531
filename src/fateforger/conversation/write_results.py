"""Results of calendar writes: a report in sentences, and the session that they leave. Pure (S51, S85)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from fateforger.calendar.adoption import adopt_changes
from fateforger.calendar.conflicts import phrase_questions
from fateforger.calendar.model import WRITES, Verb, format_clock
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import OpRecord, OpState, Transaction
from fateforger.conversation.calendar_reads import predict_day
from fateforger.conversation.plan_nodes import undo_last_change
from fateforger.conversation.turn_values import keep_edits
from fateforger.errors import ConfirmationNeeded
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.session.conflicts import open_questions, settle_questions, update_questions
from fateforger.session.messages import SyncReport, format_writes
from fateforger.session.model import Facts, RefineUpdate, Session, WriteCounts
from fateforger.session.overview import overview
from fateforger.session.stages import MOST_UNDO, TimeboxingStage
from fateforger.text import gettext as _
from fateforger.text import join_sentences, join_words, mark_message, quote_title
from fateforger.values import replace

MOST_NAMED = 12
UNKNOWN = mark_message("I do not know yet whether this arrived: {blocks}.")
LOOKING = mark_message("I keep looking, and say so here once I know.")
NOT_ALL = mark_message("I could not take all of it back.")
AGAIN = mark_message("Please press the same button again in a moment.")
"""Buttons of several names undo."""
AGAIN_THEN = mark_message("Once that is put right, press the same button again.")
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
        headline=result.headline,
        details=_select_details(result),
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
        return replace(report, status="failed", headline="")
    missing = _list_blocks(result, _OPEN)
    lines = (
        (_("On your calendar now: {blocks}.", blocks=join_words(done, MOST_NAMED)),) if done else (),
        (join_sentences(_(UNKNOWN, blocks=join_words(unsure, MOST_NAMED)), _(LOOKING)),) if unsure else (),
        (_("Not there yet: {blocks}.", blocks=join_words(missing, MOST_NAMED)),) if missing else (),
    )
    details = (*(sentence for line in lines for sentence in line), *report.details)
    return replace(report, status="partial", unsure=bool(unsure), headline="", details=details)


def _select_details(result: SyncResult) -> tuple[str, ...]:
    """Return the details of the engine.

    Overlaps with meetings and open questions are left out, because the card shows them as long as they exist.
    """
    if result.transaction is not None and result.transaction.kind == "undo":
        return result.details
    shown_by_the_card = {*result.plan.warnings, *phrase_questions(result.plan)} - {*result.plan.linked}
    return tuple(s for s in result.details if s not in shown_by_the_card)


def format_counts(report: SyncReport) -> str:
    """Return the counts that are not zero, like ``2 created, 1 updated``; ``unchanged`` if all are zero."""
    return format_writes(report.created, report.updated, report.deleted)


def describe_part_undo(result: SyncResult) -> tuple[str, ...]:
    """Return sentences about an undo that is not whole: what is wrong, and what to do."""
    refused = any(r.state is OpState.FAILED for t in result.transactions for r in t.records)
    return (_(NOT_ALL), *build_report(result).sentences, _(AGAIN_THEN if refused else AGAIN))


def _list_blocks(result: SyncResult, states: Collection[OpState], verbs: Collection[Verb] = _SHOWN) -> list[str]:
    """Return the created or updated blocks that ended in one of the states, with their times."""
    last = {r.op.key: r for t in result.transactions for r in t.records if r.op.verb in verbs}
    return [_format_block(record, result.plan.tz) for record in last.values() if record.state in states]


def _format_block(record: OpRecord, tz: str) -> str:
    fields = record.op.after
    if fields is None:
        return quote_title(record.op.summary)
    return f"{quote_title(fields.summary)} {format_clock(fields.start, fields.end, zone(tz))}"


def dump_facts(facts: Facts | None) -> dict[str, Any]:
    """Return the journal's context for the facts before a write, which is stored next to the plan before it."""
    return {} if facts is None else {"facts_before": facts.model_dump(mode="json")}


def load_facts(transaction: Transaction) -> Facts | None:
    """Return the facts that :func:`dump_facts` stored in a transaction."""
    kept = transaction.context.get("facts_before")
    return None if kept is None else Facts.model_validate(kept)


def with_plan(session: Session, plan: TBPlan | None) -> Session:
    """Return the session with another plan, if there is one, and with its overview updated."""
    if plan is None or plan == session.planning.plan:
        return session
    session = session.with_planning(plan=plan)
    return session.with_planning(overview=overview(session))


def derive_writes(session: Session, history: Sequence[Transaction], *, replaced: bool) -> Session:
    """Return the session with its write group, write counts and undoable changes derived from ``history``.

    ``history`` is the history of the day, the newest first. With ``replaced`` the plan is another one now, so its
    unwritten changes are gone.
    """
    own = [t for t in reversed(history) if t.kind == "submit" and t.undoable and t.context.get("session") == session.id]
    group = own[-1].group if own else None
    grouped = [t for t in own if t.group == group]
    # Undo takes off what is on the calendar that is connected now, which the latest write went to.
    written = _count_writes([t for t in grouped if t.calendar == own[-1].calendar]) or _count_writes(grouped)
    return session.with_sync(
        write_group=group, written=written, refine_undo=_derive_changes(session, own, replaced=replaced)
    )


def _derive_changes(session: Session, own: Sequence[Transaction], *, replaced: bool) -> tuple[RefineUpdate, ...]:
    """Return the changes with all writes in effect, the redone ones, and finally the pending ones.

    A change that was pending because its write had been undone is not pending any more once that is in effect again.
    """
    standing = {t.id for t in own}
    kept = [s for s in session.sync.refine_undo if s.transactions and standing >= set(s.transactions)]
    known = {transaction: step for step in kept for transaction in step.transactions}
    steps: list[RefineUpdate] = []
    for transaction in own:
        step = known.get(transaction.id) or _restore_change(transaction)
        if step is not None:
            if step not in steps:
                steps.append(step)
        elif steps and transaction.context.get("deed") == "retry":
            steps[-1] = replace(steps[-1], transactions=(*steps[-1].transactions, transaction.id))
    there = [(step.plan_before, step.sentence) for step in steps]
    pending = () if replaced else (step for step in session.sync.refine_undo if not step.transactions)
    waiting = [step for step in pending if (step.plan_before, step.sentence) not in there]
    return (*steps, *waiting)[-MOST_UNDO:]


def _restore_change(transaction: Transaction) -> RefineUpdate | None:
    before = transaction.context.get("plan_before")
    if before is None:
        return None
    return RefineUpdate(
        plan_before=TBPlan.model_validate(before),
        transactions=(transaction.id,),
        sentence=str(transaction.context.get("said", "")),
        facts_before=load_facts(transaction),
        placed=tuple(transaction.context.get("placed", ())),
        set_aside=tuple(transaction.context.get("set_aside", ())),
    )


def _count_writes(transactions: Sequence[Transaction]) -> WriteCounts | None:
    done = [r.op.verb for t in transactions for r in t.records if r.state is OpState.APPLIED]
    written = WriteCounts(
        created=done.count(Verb.CREATE), updated=done.count(Verb.UPDATE), deleted=done.count(Verb.DELETE)
    )
    return None if written == WriteCounts() else written


FOUND_OUT = mark_message("Your calendar answers again: now I know what arrived.")
WAITING = mark_message("It is in your plan, but not on your calendar yet.")
_BROKEN = frozenset({"partial", "failed"})


def apply_submit(session: Session, result: SyncResult) -> Session:
    """Return the session after a full or partial submit.

    The person's changes in the calendar flow back into the plan (S242). Changes of Stage 4 that are written one by one
    can be undone one by one.
    """
    report = build_report(result)
    ids = tuple(t.id for t in result.transactions if t.undoable)
    steps = session.sync.refine_undo
    if ids and session.options.calendar_write != "commit":
        steps = attach_transactions(session, ids)
    elif ids and find_changes_to_write(session):
        steps = (*steps[:-1], _merge_changes(find_changes_to_write(session), ids))
    elif report.status == "unchanged" and not open_questions(session):
        # The calendar has it already, or keeps what is the person's: nothing of it waits to be written.
        waiting = find_pending_changes(steps)
        steps = (*steps[: len(steps) - len(waiting)], *(replace(step, local=True) for step in waiting))
    plan = session.planning.plan
    session = with_plan(session, None if plan is None else adopt_changes(plan, result.plan.adopted))
    session = predict_day(session, result).with_sync(
        last_sync=report,
        written=_add_written(session.sync.written, report),
        problem=_describe_problem(report),
        brakes=(),
        refine_undo=steps,
    )
    session = keep_edits(session, result.plan.adopted)
    if session.day.snapshot is not None:
        left = update_questions(session.sync.questions, result.plan, session.day.snapshot)
        session = settle_questions(session.with_sync(questions=left))
    return session if session.stage is TimeboxingStage.REVIEW_COMMIT else _add_counts(session, result, report)


def apply_found_result(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session once the fate of the latest write's unanswered calls is known.

    ``history`` is the history of the day, the newest first. An undo has to be repeated by the person, as announced,
    regardless of its result.
    """
    if result is None or result.transaction is None or result.transaction.kind == "undo":
        report = None if session.sync.last_sync is None else replace(session.sync.last_sync, unsure=False)
        return session.with_sync(last_sync=report)
    report = build_report(result)
    steps, waiting = session.sync.refine_undo, find_changes_to_write(session)
    if result.transaction.undoable and waiting:
        steps = (*steps[: -len(waiting)], _merge_changes(waiting, (result.transaction.id,)))
    session = predict_day(session, result).with_sync(
        last_sync=report,
        written=derive_writes(session, history, replaced=False).sync.written,
        problem=_describe_problem(report),
        refine_undo=steps,
    )
    return settle_questions(session.with_notice(_(FOUND_OUT)))


def _describe_problem(report: SyncReport) -> str | None:
    return " ".join(report.sentences) if report.status in _BROKEN else None


def require_confirmation(session: Session, needed: ConfirmationNeeded) -> Session:
    """Return the session after a submit that needs confirmation. Nothing was written; a retry confirms it."""
    return apply_failed_submit(session, (needed.message,)).with_sync(brakes=needed.reasons)


def apply_failed_submit(session: Session, sentences: tuple[str, ...]) -> Session:
    """Return the session after a submit that could not begin. Nothing was written."""
    session = session.with_sync(problem=" ".join(sentences), brakes=())
    if session.stage is TimeboxingStage.REVIEW_COMMIT:
        return session.with_sync(last_sync=SyncReport(status="failed", details=sentences))
    return session.say(_(WAITING))


def apply_group_undo(session: Session, result: SyncResult) -> Session:
    """Return the session after an undo of a whole write group: the plan is kept, and the next write opens a new group.

    After a partial undo the group is kept, so that Undo can be pressed again.
    """
    report = build_report(result)
    session = predict_day(session, result).with_sync(last_sync=report, problem=None, brakes=())
    if report.status in _BROKEN:
        return session.refuse(*describe_part_undo(result))
    return _clear_writes(session, report.sentences)


def apply_missing_group(session: Session, why: str) -> Session:
    """Return the session if another command has already undone the whole group."""
    return _clear_writes(session, (why,))


def _clear_writes(session: Session, sentences: tuple[str, ...]) -> Session:
    steps = tuple(replace(step, transactions=()) for step in session.sync.refine_undo)
    lines = (*sentences, _("Your plan is still here: change it, or commit it again."), *session.notice_lines)
    return settle_questions(session.with_sync(write_group=None, written=None, refine_undo=steps).with_notice(*lines))


def apply_update_undo(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session after its last change of Stage 4 was undone, with the plan from before that change (S240).

    ``result`` is ``None`` if another command had undone the write already. ``history`` is the history of the day, the
    newest first.
    """
    if result is None:
        return settle_questions(_drop_update(session, None, session.sync.written))
    report = build_report(result)
    session = predict_day(session, result)
    if report.status in _BROKEN:
        return session.refuse(*describe_part_undo(result))
    written = derive_writes(session, history, replaced=False).sync.written
    counts = format_counts(report)
    done = (_("Calendar: {counts}.", counts=counts),) if report.has_writes else ()
    return settle_questions(_drop_update(session, report, written)).say(*done, *report.details)


def _drop_update(session: Session, report: SyncReport | None, written: WriteCounts | None) -> Session:
    return undo_last_change(session).with_sync(last_sync=report, written=written, problem=None, brakes=())


def attach_transactions(session: Session, transactions: tuple[str, ...]) -> tuple[RefineUpdate, ...]:
    """Return the changes of Stage 4, with the last one tied to the transactions that wrote it.

    Several pending changes become one, because they can only be undone together. The completion of an interrupted write
    belongs to the change that began it.
    """
    steps = session.sync.refine_undo
    if joined := find_pending_changes(steps):
        return (*steps[: -len(joined)], _merge_changes(joined, transactions))
    if not steps or session.sync.problem is None:
        return steps
    return (*steps[:-1], replace(steps[-1], transactions=(*steps[-1].transactions, *transactions)))


def _merge_changes(steps: tuple[RefineUpdate, ...], transactions: tuple[str, ...]) -> RefineUpdate:
    return replace(
        steps[0],
        transactions=transactions,
        sentence=" ".join(step.sentence for step in steps),
        answered=tuple(question for step in steps for question in step.answered),
        facts_before=next((s.facts_before for s in steps if s.facts_before is not None), None),
        placed=tuple(dict.fromkeys(key for step in steps for key in step.placed)),
        set_aside=tuple(dict.fromkeys(uid for step in steps for uid in step.set_aside)),
    )


def find_changes_to_write(session: Session) -> tuple[RefineUpdate, ...]:
    """Return the changes that a write of Stage 4 writes, and that are undone with it: the pending ones.

    If changes wait for the commit, this is only the last one, which could not wait.
    """
    if session.options.calendar_write != "commit":
        return find_pending_changes(session.sync.refine_undo)
    if session.stage is not TimeboxingStage.REFINE:
        return ()
    return find_pending_changes(session.sync.refine_undo)[-1:]


def find_pending_changes(steps: tuple[RefineUpdate, ...]) -> tuple[RefineUpdate, ...]:
    """Return the latest changes, as far as they are not written yet."""
    count = 0
    while count < len(steps) and not (steps[-1 - count].transactions or steps[-1 - count].local):
        count += 1
    return steps[len(steps) - count :]


def _add_counts(session: Session, result: SyncResult, report: SyncReport) -> Session:
    """Add the changes to the calendar to the notice of Stage 4 (S51). Errors are shown as the problem instead."""
    left = any(op.verb is Verb.RELEASE for op in result.plan.ops)
    still = _("nothing to write") if left or open_questions(session) else _("unchanged, it shows this already")
    counts = still if report.status == "unchanged" else format_counts(report)
    notes = () if session.sync.problem is not None else report.details
    return session.say(_("Calendar: {counts}.", counts=counts), *notes)


def _add_written(written: WriteCounts | None, report: SyncReport) -> WriteCounts | None:
    if not report.has_writes:
        return written
    before = written or WriteCounts()
    return WriteCounts(
        created=before.created + report.created,
        updated=before.updated + report.updated,
        deleted=before.deleted + report.deleted,
    )
