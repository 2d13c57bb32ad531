"""Apply the result of an effect to the session. Pure: equal inputs give equal sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.commit.result import SyncResult
from fateforger.coordinator.mirroring import after_writing
from fateforger.coordinator.reporting import UNCHANGED, counts_words, report_of
from fateforger.coordinator.standing import standing_as, with_plan
from fateforger.errors import ConfirmationNeeded
from fateforger.journal import Transaction
from fateforger.session.model import Notice, RefineUpdate, Session, SyncReport, Written
from fateforger.session.questions import asked, open_questions, settled
from fateforger.stages import TimeboxingStage
from fateforger.sync import mirror
from fateforger.turn.nodes.refine import taken_back

FOUND_OUT = "Your calendar answers again: now I know what arrived."
WAITING = "It is in your plan, but not on your calendar yet."
_BROKEN = frozenset({"partial", "failed"})


def submitted(session: Session, result: SyncResult) -> Session:
    """Return the session after a full or partial submit.

    The person's changes in the calendar flow back into the plan (S242). Changes of Stage 4 that are written one by one
    can be undone one by one.
    """
    report = report_of(result)
    ids = tuple(t.id for t in result.transactions if t.undoable)
    changes: dict[str, object] = {
        "snapshot": after_writing(session.snapshot, result),
        "last_sync": report,
        "written": _plus(session.written, report),
        "problem": " ".join(report.sentences) if report.status in _BROKEN else None,
        "brakes": (),
    }
    if ids and session.calendar_write != "commit":
        changes["refine_undo"] = signed(session, ids)
    elif ids and unsigned(session):
        changes["refine_undo"] = (*session.refine_undo[:-1], _joined(unsigned(session), ids))
    session = with_plan(session, None if session.plan is None else mirror(session.plan, result.plan))
    session = session.model_copy(update=changes)
    if session.snapshot is not None:
        left = asked(session.questions, result.plan, session.snapshot)
        session = settled(session.model_copy(update={"questions": left}))
    return session if session.stage is TimeboxingStage.REVIEW_COMMIT else _told(session, report)


def found_out(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session once the fate of the latest write's unanswered calls is known.

    ``history`` is the history of the day, the newest first. An undo has to be repeated by the person, as announced,
    regardless of its result.
    """
    if result is None or result.transaction is None or result.transaction.kind == "undo":
        report = None if session.last_sync is None else session.last_sync.model_copy(update={"unsure": False})
        return session.model_copy(update={"last_sync": report})
    report = report_of(result)
    changes: dict[str, object] = {
        "snapshot": after_writing(session.snapshot, result),
        "last_sync": report,
        "written": standing_as(session, history, replaced=False).written,
        "problem": " ".join(report.sentences) if report.status in _BROKEN else None,
        "notice": Notice(lines=(FOUND_OUT,)),
    }
    if result.transaction.undoable and unsigned(session):
        changes["refine_undo"] = (
            *session.refine_undo[: -len(unsigned(session))],
            _joined(unsigned(session), (result.transaction.id,)),
        )
    return settled(session.model_copy(update=changes))


def stopped(session: Session, needed: ConfirmationNeeded) -> Session:
    """Return the session after a submit that needs confirmation. Nothing was written; a retry confirms it."""
    return not_submitted(session, (needed.message,)).model_copy(update={"brakes": needed.reasons})


def not_submitted(session: Session, sentences: tuple[str, ...]) -> Session:
    """Return the session after a submit that could not begin. Nothing was written."""
    session = session.model_copy(update={"problem": " ".join(sentences), "brakes": ()})
    if session.stage is TimeboxingStage.REVIEW_COMMIT:
        return session.model_copy(update={"last_sync": SyncReport(status="failed", sentences=sentences)})
    return _saying(session, WAITING)


def group_undone(session: Session, result: SyncResult) -> Session:
    """Return the session after an undo of a whole write group: the plan is kept, and the next write opens a new group.

    After a partial undo the group is kept, so that Undo can be pressed again.
    """
    report = report_of(result)
    shown = after_writing(session.snapshot, result)
    session = session.model_copy(update={"snapshot": shown, "last_sync": report, "problem": None, "brakes": ()})
    if report.status in _BROKEN:
        return refused(session, ("I could not take all of it back; press Undo again in a moment.", *report.sentences))
    return _off_the_calendar(session, report.sentences)


def group_gone(session: Session, why: str) -> Session:
    """Return the session if another command has already undone the whole group."""
    return _off_the_calendar(session, (why,))


def _off_the_calendar(session: Session, sentences: tuple[str, ...]) -> Session:
    steps = tuple(step.model_copy(update={"transactions": ()}) for step in session.refine_undo)
    lines = (*sentences, "Your plan is still here: change it, or commit it again.")
    return settled(
        session.model_copy(
            update={"write_group": None, "written": None, "refine_undo": steps, "notice": Notice(lines=lines)}
        )
    )


def update_undone(session: Session, result: SyncResult | None, history: Sequence[Transaction]) -> Session:
    """Return the session after its last change of Stage 4 was undone, with the plan from before that change (S240).

    ``result`` is ``None`` if another command had undone the write already. ``history`` is the history of the day, the
    newest first.
    """
    if result is None:
        return _saying(settled(_update_gone(session, None, session.written)))
    report = report_of(result)
    session = session.model_copy(update={"snapshot": after_writing(session.snapshot, result)})
    sentences = report.sentences[1:]
    if report.status in _BROKEN:
        return refused(session, ("I could not take all of the last change back on your calendar.", *sentences))
    written = standing_as(session, history, replaced=False).written
    counts = counts_words(report)
    done = () if counts == UNCHANGED else (f"Calendar: {counts}.",)
    return _saying(settled(_update_gone(session, report, written)), *done, *sentences)


def _update_gone(session: Session, report: SyncReport | None, written: Written | None) -> Session:
    changes = {"last_sync": report, "written": written, "problem": None, "brakes": ()}
    return taken_back(session).model_copy(update=changes)


def refused(session: Session, lines: Iterable[str]) -> Session:
    """Return the unchanged session with a refusal message."""
    return session.model_copy(update={"notice": Notice(lines=tuple(lines), refused=True)})


def signed(session: Session, transactions: tuple[str, ...]) -> tuple[RefineUpdate, ...]:
    """Return the changes of Stage 4, with the last one tied to the transactions that wrote it.

    Several pending changes become one, because they can only be undone together. The completion of an interrupted write
    belongs to the change that began it.
    """
    steps = session.refine_undo
    if joined := waiting(steps):
        return (*steps[: -len(joined)], _joined(joined, transactions))
    if not steps or session.problem is None:
        return steps
    return (*steps[:-1], steps[-1].model_copy(update={"transactions": (*steps[-1].transactions, *transactions)}))


def _joined(steps: tuple[RefineUpdate, ...], transactions: tuple[str, ...]) -> RefineUpdate:
    return steps[0].model_copy(
        update={
            "transactions": transactions,
            "sentence": " ".join(step.sentence for step in steps),
            "answered": tuple(question for step in steps for question in step.answered),
            "facts_before": next((s.facts_before for s in steps if s.facts_before is not None), None),
        }
    )


def unsigned(session: Session) -> tuple[RefineUpdate, ...]:
    """Return the changes that a write of Stage 4 writes, and that are undone with it: the pending ones.

    If changes wait for the commit, this is only the last one, which could not wait.
    """
    if session.calendar_write != "commit":
        return waiting(session.refine_undo)
    if session.stage is not TimeboxingStage.REFINE:
        return ()
    return waiting(session.refine_undo)[-1:]


def waiting(steps: tuple[RefineUpdate, ...]) -> tuple[RefineUpdate, ...]:
    """Return the latest changes, as far as they are not written yet."""
    count = 0
    while count < len(steps) and not (steps[-1 - count].transactions or steps[-1 - count].local):
        count += 1
    return steps[len(steps) - count :]


def _told(session: Session, report: SyncReport) -> Session:
    """Add the changes to the calendar to the notice of Stage 4 (S51). Errors are shown as the problem instead."""
    still = "nothing to write" if open_questions(session) else "unchanged, it shows this already"
    counts = still if report.status == "unchanged" else counts_words(report)
    notes = () if session.problem is not None else report.sentences[1:]
    return _saying(session, f"Calendar: {counts}.", *notes)


def _saying(session: Session, *lines: str) -> Session:
    said = () if session.notice is None else session.notice.lines
    return session.model_copy(update={"notice": Notice(lines=tuple(dict.fromkeys((*said, *lines))))})


def _plus(written: Written | None, report: SyncReport) -> Written | None:
    if not (report.created or report.updated or report.deleted):
        return written
    before = written or Written()
    return Written(
        created=before.created + report.created,
        updated=before.updated + report.updated,
        deleted=before.deleted + report.deleted,
    )
