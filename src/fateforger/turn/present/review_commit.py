"""Card of Stage 5: the committed plan."""

from __future__ import annotations

from fateforger.session.cards import Button, Card, Controls, Heading, Note, Part, plain
from fateforger.session.days import day_words
from fateforger.session.model import Session, SyncReport
from fateforger.session.overview import overview
from fateforger.session.pending import GO_AHEAD, write_question
from fateforger.session.pictured import picture
from fateforger.stages import Move
from fateforger.turn.present import history
from fateforger.turn.present.commitment import commitment
from fateforger.turn.present.parts import move_row, paragraphs, quality_note, show_notice, warnings
from fateforger.turn.present.questions import questions, questions_words
from fateforger.turn.present.replanning import build_progress_controls, offer_refit
from fateforger.turn.present.rules import rules

UNWRITTEN = "Nothing of it has been written, and your plan is safe here."
STILL_THERE = "Nothing was written this time; what is there from before is still there, and your plan is safe here."


def card(session: Session) -> Card:
    """Return the card: summary, day, and possible moves, or exactly what went wrong."""
    report = session.last_sync or SyncReport(status="unchanged")
    day = day_words(session.date)
    title = {
        "changed": f"{day} is on your calendar",
        "unchanged": f"{day} is on your calendar",
        "partial": f"I do not know yet how much of {day} is on your calendar"
        if report.unsure
        else f"Only a part of {day} is on your calendar",
        "failed": f"{day} is not on your calendar yet" if session.written is None else f"{day} was not committed",
        "undone": f"{day} is off your calendar again",
    }[report.status]
    done = report.status in {"changed", "unchanged"}
    order = (
        *(() if done else ((Move.RETRY, GO_AHEAD if session.brakes else None),)),
        (Move.UNDO_SYNC, None),
        (Move.BACK, "Back to refine"),
        (Move.REDO, None),
        (Move.CANCEL, "Close" if done else None),
    )
    return Card(
        text=f"{title}.{questions_words(session)}",
        parts=(
            Heading(text=title),
            *show_notice(session),
            *_report(session, report),
            *(commitment(session) if done else ()),
            *questions(session),
            *((*warnings(session), *offer_refit(session)) if done else ()),
            *_since(session, report),
            *picture(session),
            *paragraphs(overview(session)),
            *(build_progress_controls(session) if done else ()),
            *(quality_note(session.quality, done=True) if done else ()),
            *rules(session),
            Controls(items=(*move_row(session, order, *_build_refusal(session)).items, history.SHOW)),
        ),
    )


def _build_refusal(session: Session) -> tuple[Button, ...]:
    """Return the no to a write that stopped for confirmation."""
    question = write_question(session)
    return () if question is None or question.no is None else (question.no.button(),)


def _report(session: Session, report: SyncReport) -> tuple[Part, ...]:
    """Return the counts, then sentences worth knowing (S51, S85)."""
    if report.status == "failed":
        head, sentences = f"⚠️ {UNWRITTEN if session.written is None else STILL_THERE}", report.sentences
    elif report.status == "partial":
        known = ", as far as I know" if report.unsure else ""
        head, sentences = f"**{counts_words(report)}{known}**", report.sentences
    else:
        # The first sentence only repeats the counts.
        head, sentences = f"**{counts_words(report)}**", report.sentences[1:]
    return tuple(paragraphs("\n".join((head, *(f"- {plain(s, 400)}" for s in sentences)))))


def _since(session: Session, report: SyncReport) -> tuple[Part, ...]:
    """Return what earlier changes wrote if this commit was not the first write; Undo covers all of it."""
    written = session.written
    if written is None or (written.created, written.updated, written.deleted) == _counts(report):
        return ()
    words = f"{written.created} created, {written.updated} updated, {written.deleted} deleted"
    return (Note(text=f"Since you began: {words}. Undo takes all of it back."),)


def _counts(report: SyncReport) -> tuple[int, int, int]:
    return report.created, report.updated, report.deleted


def counts_words(report: SyncReport) -> str:
    """Format counts, such as ``4 created, 1 updated, 0 deleted, 2 unchanged``."""
    counts = (
        f"{report.created} created, {report.updated} updated, {report.deleted} deleted, {report.unchanged} unchanged"
    )
    return f"Already up to date: {counts}" if report.status == "unchanged" else counts
