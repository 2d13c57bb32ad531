"""Apply the result of an effect to the session. Pure: equal inputs give equal sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.commit.result import SyncResult
from fateforger.coordinator.mirroring import predict_snapshot
from fateforger.coordinator.reporting import UNCHANGED, build_report, format_counts
from fateforger.coordinator.standing import derive_writes, with_plan
from fateforger.errors import ConfirmationNeeded
from fateforger.journal import Transaction
from fateforger.session.model import Notice, RefineUpdate, Session, SyncReport, WriteCounts
from fateforger.session.questions import open_questions, settle_questions, update_questions
from fateforger.stages import TimeboxingStage
from fateforger.sync import adopt_all
from fateforger.turn.nodes.refine import undo_last_change
from fateforger.values import replace

FOUND_OUT = "Your calendar answers again: now I know what arrived."
WAITING = "It is in your plan, but not on your calendar yet."
_BROKEN = frozenset({"partial", "failed"})


def apply_submit(session: Session, result: SyncResult) -> Session:
    """Return the session after a full or partial submit.

    The person's changes in the calendar flow back into the plan (S242). Changes of Stage 4 that are written one by one
    can be undone one by one.
    """
    report = build_report(result)
    ids = tuple(t.id for t in result.transactions if t.undoable)
    changes: dict[str, object] = {
        "snapshot": predict_snapshot(session.snapshot, result),
        "last_sync": report,
        "written": _add_written(session.written, report),
        "problem": " ".join(report.sentences) if report.status in _BROKEN else None,
        "brakes": (),
    }
    if ids and session.calendar_write != "commit":
        changes["refine_undo"] = attach_transactions(session, ids)
    elif ids and find_changes_to_write(session):
        changes["refine_undo"] = (*session.refine_undo[:-1], _merge_changes(find_changes_to_write(session), ids))
    session = with_plan(session, None if session.plan is None else adopt_all(session.plan, result.plan))
    session = session.model_copy(update=changes)
    if session.snapshot is not None:
        left = update_questions(session.questions, result.plan, session.snapshot)
        session = settle_questions(replace(session, questions=left))
    return session if session.stage is TimeboxingStage.REVIEW_COMMIT else _add_counts(session, report)


def apply_found_result(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session once the fate of the latest write's unanswered calls is known.

    ``history`` is the history of the day, the newest first. An undo has to be repeated by the person, as announced,
    regardless of its result.
    """
    if result is None or result.transaction is None or result.transaction.kind == "undo":
        report = None if session.last_sync is None else replace(session.last_sync, unsure=False)
        return replace(session, last_sync=report)
    report = build_report(result)
    changes: dict[str, object] = {
        "snapshot": predict_snapshot(session.snapshot, result),
        "last_sync": report,
        "written": derive_writes(session, history, replaced=False).written,
        "problem": " ".join(report.sentences) if report.status in _BROKEN else None,
        "notice": Notice(lines=(FOUND_OUT,)),
    }
    if result.transaction.undoable and find_changes_to_write(session):
        changes["refine_undo"] = (
            *session.refine_undo[: -len(find_changes_to_write(session))],
            _merge_changes(find_changes_to_write(session), (result.transaction.id,)),
        )
    return settle_questions(session.model_copy(update=changes))


def require_confirmation(session: Session, needed: ConfirmationNeeded) -> Session:
    """Return the session after a submit that needs confirmation. Nothing was written; a retry confirms it."""
    return replace(apply_failed_submit(session, (needed.message,)), brakes=needed.reasons)


def apply_failed_submit(session: Session, sentences: tuple[str, ...]) -> Session:
    """Return the session after a submit that could not begin. Nothing was written."""
    session = replace(session, problem=" ".join(sentences), brakes=())
    if session.stage is TimeboxingStage.REVIEW_COMMIT:
        return replace(session, last_sync=SyncReport(status="failed", sentences=sentences))
    return _add_lines(session, WAITING)


def apply_group_undo(session: Session, result: SyncResult) -> Session:
    """Return the session after an undo of a whole write group: the plan is kept, and the next write opens a new group.

    After a partial undo the group is kept, so that Undo can be pressed again.
    """
    report = build_report(result)
    shown = predict_snapshot(session.snapshot, result)
    session = replace(session, snapshot=shown, last_sync=report, problem=None, brakes=())
    if report.status in _BROKEN:
        return refuse(session, ("I could not take all of it back; press Undo again in a moment.", *report.sentences))
    return _clear_writes(session, report.sentences)


def apply_missing_group(session: Session, why: str) -> Session:
    """Return the session if another command has already undone the whole group."""
    return _clear_writes(session, (why,))


def _clear_writes(session: Session, sentences: tuple[str, ...]) -> Session:
    steps = tuple(replace(step, transactions=()) for step in session.refine_undo)
    lines = (*sentences, "Your plan is still here: change it, or commit it again.")
    return settle_questions(
        replace(session, write_group=None, written=None, refine_undo=steps, notice=Notice(lines=lines))
    )


def apply_update_undo(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session after its last change of Stage 4 was undone, with the plan from before that change (S240).

    ``result`` is ``None`` if another command had undone the write already. ``history`` is the history of the day, the
    newest first.
    """
    if result is None:
        return _add_lines(settle_questions(_drop_update(session, None, session.written)))
    report = build_report(result)
    session = replace(session, snapshot=predict_snapshot(session.snapshot, result))
    sentences = report.sentences[1:]
    if report.status in _BROKEN:
        return refuse(session, ("I could not take all of the last change back on your calendar.", *sentences))
    written = derive_writes(session, history, replaced=False).written
    counts = format_counts(report)
    done = () if counts == UNCHANGED else (f"Calendar: {counts}.",)
    return _add_lines(settle_questions(_drop_update(session, report, written)), *done, *sentences)


def _drop_update(session: Session, report: SyncReport | None, written: WriteCounts | None) -> Session:
    return replace(undo_last_change(session), last_sync=report, written=written, problem=None, brakes=())


def refuse(session: Session, lines: Iterable[str]) -> Session:
    """Return the unchanged session with a refusal message."""
    return replace(session, notice=Notice(lines=tuple(lines), refused=True))


def attach_transactions(session: Session, transactions: tuple[str, ...]) -> tuple[RefineUpdate, ...]:
    """Return the changes of Stage 4, with the last one tied to the transactions that wrote it.

    Several pending changes become one, because they can only be undone together. The completion of an interrupted write
    belongs to the change that began it.
    """
    steps = session.refine_undo
    if joined := find_pending_changes(steps):
        return (*steps[: -len(joined)], _merge_changes(joined, transactions))
    if not steps or session.problem is None:
        return steps
    return (*steps[:-1], replace(steps[-1], transactions=(*steps[-1].transactions, *transactions)))


def _merge_changes(steps: tuple[RefineUpdate, ...], transactions: tuple[str, ...]) -> RefineUpdate:
    return replace(
        steps[0],
        transactions=transactions,
        sentence=" ".join(step.sentence for step in steps),
        answered=tuple(question for step in steps for question in step.answered),
        facts_before=next((s.facts_before for s in steps if s.facts_before is not None), None),
    )


def find_changes_to_write(session: Session) -> tuple[RefineUpdate, ...]:
    """Return the changes that a write of Stage 4 writes, and that are undone with it: the pending ones.

    If changes wait for the commit, this is only the last one, which could not wait.
    """
    if session.calendar_write != "commit":
        return find_pending_changes(session.refine_undo)
    if session.stage is not TimeboxingStage.REFINE:
        return ()
    return find_pending_changes(session.refine_undo)[-1:]


def find_pending_changes(steps: tuple[RefineUpdate, ...]) -> tuple[RefineUpdate, ...]:
    """Return the latest changes, as far as they are not written yet."""
    count = 0
    while count < len(steps) and not (steps[-1 - count].transactions or steps[-1 - count].local):
        count += 1
    return steps[len(steps) - count :]


def _add_counts(session: Session, report: SyncReport) -> Session:
    """Add the changes to the calendar to the notice of Stage 4 (S51). Errors are shown as the problem instead."""
    still = "nothing to write" if open_questions(session) else "unchanged, it shows this already"
    counts = still if report.status == "unchanged" else format_counts(report)
    notes = () if session.problem is not None else report.sentences[1:]
    return _add_lines(session, f"Calendar: {counts}.", *notes)


def _add_lines(session: Session, *lines: str) -> Session:
    said = () if session.notice is None else session.notice.lines
    return replace(session, notice=Notice(lines=tuple(dict.fromkeys((*said, *lines)))))


def _add_written(written: WriteCounts | None, report: SyncReport) -> WriteCounts | None:
    if not (report.created or report.updated or report.deleted):
        return written
    before = written or WriteCounts()
    return WriteCounts(
        created=before.created + report.created,
        updated=before.updated + report.updated,
        deleted=before.deleted + report.deleted,
    )
