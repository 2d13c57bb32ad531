"""Stage 5: what is on the calendar now."""

from __future__ import annotations

from fateforger.session.cards import Card, Heading, Part, plain
from fateforger.session.days import day_words
from fateforger.session.model import Session, SyncReport
from fateforger.session.overview import overview
from fateforger.stages import Move
from fateforger.turn.present.parts import move_row, paragraphs, quality_note, said, warnings

UNWRITTEN = "Nothing of it has been written, and your plan is safe here."


def card(session: Session) -> Card:
    """The summary, the day, and the ways on; or exactly what went wrong."""
    report = session.last_sync or SyncReport(status="unchanged")
    day = day_words(session.date)
    title = {
        "changed": f"{day} is on your calendar",
        "unchanged": f"{day} is on your calendar",
        "partial": f"Only a part of {day} is on your calendar",
        "failed": f"{day} is not on your calendar yet",
        "undone": f"{day} is off your calendar again",
    }[report.status]
    done = report.status in {"changed", "unchanged"}
    order = (
        *(() if done else ((Move.RETRY, "Yes, go ahead" if session.brakes else None),)),
        (Move.UNDO_SYNC, None),
        (Move.BACK, "Back to refine"),
        (Move.REDO, None),
        (Move.CANCEL, "Close" if done else None),
    )
    return Card(
        text=f"{title}.",
        parts=(
            Heading(text=title),
            *said(session),
            *_report(report),
            *paragraphs(overview(session)),
            *(warnings(session) if done else ()),
            *(quality_note(session.quality) if done else ()),
            move_row(session, order),
        ),
    )


def _report(report: SyncReport) -> tuple[Part, ...]:
    """Counts first, then sentence by sentence what is worth knowing (S51, S85)."""
    lines = [f"**{counts_words(report)}**"] if report.status != "failed" else [f"⚠️ {UNWRITTEN}"]
    lines += [f"- {plain(sentence, 400)}" for sentence in report.sentences]
    return tuple(paragraphs("\n".join(lines)))


def counts_words(report: SyncReport) -> str:
    """``4 created, 1 updated, 0 deleted, 2 unchanged``."""
    counts = (
        f"{report.created} created, {report.updated} updated, {report.deleted} deleted, {report.unchanged} unchanged"
    )
    return f"Already up to date: {counts}" if report.status == "unchanged" else counts
