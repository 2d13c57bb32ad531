"""Calendar writes on cards: their history, the preview of the next one (S212), and conflicts (S201)."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.calendar.conflicts import phrase_question as in_words
from fateforger.calendar.history import HistoryRow
from fateforger.planning.timing import zone
from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.commands.plan import (
    HideHistory,
    HidePreview,
    RedoWrite,
    ResolveConflict,
    ShowHistory,
    ShowPreview,
    UndoWrite,
)
from fateforger.session.conflicts import open_questions, question_target, question_token
from fateforger.session.edits import writes_at_once
from fateforger.session.messages import MOST_LISTED, HistoryView, PreviewView
from fateforger.session.model import Session
from fateforger.session.pending import conflict_buttons
from fateforger.text import count_rest, format_day, join_sentences, label_text, mark_message, ngettext
from fateforger.text import gettext as _
from fateforger.ui.card_parts import paragraphs

NO_HISTORY = mark_message("Nothing has been written to your calendar for this day yet.")
UNDO_HINT = mark_message(
    "Undo takes back that change and every later one. What you changed on your calendar yourself stays."
)
HISTORY_MOVED = mark_message("History: further down in this thread.")


def history_card(session: Session, view: HistoryView) -> Card:
    """Return the card, newest write first. Writes that are no longer in effect take one line."""
    title = _("What I wrote for {day}", day=format_day(session.date))
    rows = [_history_row(row, view, session) for row in view.rows] or [Prose(text=_(NO_HISTORY))]
    return Card(
        text=label_text(title, f"{_count_entries(view.total)}."),
        parts=(
            Heading(text=title),
            *((Prose(text="\n".join(plain(line, 600) for line in view.lines)), Divider()) if view.lines else ()),
            *rows,
            *_older_history(view),
            *((Note(text=_(UNDO_HINT)),) if any(row.button for row in view.rows) else ()),
            Controls(items=(*_more_history(view), HideHistory.action.button())),
        ),
    )


def closed_history_card(session: Session, view: HistoryView) -> Card:
    line = _("History of {day}: {entries}.", day=format_day(session.date), entries=_count_entries(view.total))
    return Card(text=line, parts=(Note(text=line),))


def moved_history_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=_(HISTORY_MOVED), parts=(Note(text=_(HISTORY_MOVED)),))


def _history_row(row: HistoryRow, view: HistoryView, session: Session) -> Part:
    when = _write_time(row, view.rows[0], session)
    if row.standing in {"undone", "done again", "nothing"}:
        return Note(text=f"{when} · {row.title} · {row.deeds} · {row.state}")
    lines = [f"**{when} · {row.title}** · {row.state}" if row.standing != "done" else f"**{when} · {row.title}**"]
    lines += [plain(row.said, 300)] if row.said else [_list_named(row)] if row.named else []
    lines.append(f"_{row.deeds}_")
    return Prose(text="\n".join(lines), control=_undo_button(row, view, when))


def _list_named(row: HistoryRow) -> str:
    more = (ngettext("and {count} more", "and {count} more", row.more),) if row.more else ()
    return "\n".join((*(plain(op, 120) for op in row.named), *more))


def _undo_button(row: HistoryRow, view: HistoryView, when: str) -> Button | None:
    if row.button is None:
        return None
    undo = row.button == "undo"
    action = UndoWrite.action if undo else RedoWrite.action
    question = (
        _("Undo “{title}” of {when}? {warning}", title=row.title, when=when, warning=row.warning)
        if undo
        else _("Restore “{title}” of {when}? {warning}", title=row.title, when=when, warning=row.warning)
    )
    return action.button(f"{row.transaction} {view.newest}", confirm=question if row.warning else None)


def _write_time(row: HistoryRow, newest: HistoryRow, session: Session) -> str:
    """Format the local time, with the day if it differs from that of the newest row."""
    local = row.at.astimezone(zone(session.tz))
    same_day = local.date() == newest.at.astimezone(zone(session.tz)).date()
    return f"{local:%H:%M}" if same_day else f"{format_day(local.date())}, {local:%H:%M}"


def _older_history(view: HistoryView) -> tuple[Part, ...]:
    older = view.total - len(view.rows)
    if older <= 0:
        return ()
    before = _("{entries} before these.", entries=_count_entries(older))
    rest = "" if len(view.rows) < MOST_LISTED else _("The command fateforger sync history lists them all.")
    return (Note(text=join_sentences(before, rest)),)


def _more_history(view: HistoryView) -> tuple[Button, ...]:
    if len(view.rows) >= min(view.total, MOST_LISTED):
        return ()
    return (ShowHistory.show_older.button(),)


def _count_entries(number: int) -> str:
    return ngettext("{count} entry", "{count} entries", number) if number else _("no entries")


SHOW_PREVIEW = ShowPreview.action.constant()
PREVIEW_AGAIN = ShowPreview.action.constant(mark_message("Preview again"))
NOTHING_TO_WRITE = mark_message("Nothing: your calendar shows this plan already.")
NOTHING_NOW = mark_message("Nothing, as things stand.")
PREVIEW_MOVED = mark_message("Preview: further down in this thread.")


def is_preview_offered(session: Session) -> bool:
    """Check whether there may be something to write.

    That is not the case if each change is written at once and has been, or if the plan is empty.
    """
    if not (session.sync.written or (session.planning.plan and session.planning.plan.events)):
        return False
    waiting = session.sync.problem is not None or not writes_at_once(session)
    return waiting or session.sync.written is None or any(not step.transactions for step in session.sync.refine_undo)


def preview_card(session: Session, view: PreviewView) -> Card:
    """Return the card: writes, what is left alone, notes, and safety checks that need confirmation."""
    day, when = format_day(session.date), _preview_time(session, view)
    if view.stale:
        line = _("Preview of {when}: out of date, because something changed since.", when=when)
        return Card(text=line, parts=(Prose(text=line, control=PREVIEW_AGAIN.localize()),))
    title, counts = _("What would be written for {day}", day=day), view.counts or _("nothing")
    return Card(
        text=label_text(title, f"{view.problem or counts}."),
        parts=(
            Heading(text=title),
            *_preview_words(view),
            Note(text=_("This is only a preview: nothing has been written. Your calendar as of {when}.", when=when)),
            Controls(items=(PREVIEW_AGAIN.localize(), HidePreview.action.button())),
        ),
    )


def closed_preview_card(session: Session, view: PreviewView) -> Card:
    line = _("Preview of {preview_time}, closed.", preview_time=_preview_time(session, view))
    return Card(text=line, parts=(Note(text=line),))


def moved_preview_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=_(PREVIEW_MOVED), parts=(Note(text=_(PREVIEW_MOVED)),))


def _preview_words(view: PreviewView) -> tuple[Part, ...]:
    if view.problem is not None:
        return (Prose(text=f"⚠️ {plain(view.problem, 600)}"),)
    return (
        *paragraphs(
            _format_list(f"**{view.counts}**", view.todo)
            if view.todo
            else _(NOTHING_NOW)
            if view.notes
            else _(NOTHING_TO_WRITE)
        ),
        *(paragraphs(_format_list(_("**Left alone**"), view.left)) if view.left else ()),
        *(paragraphs("\n".join(plain(note, 400) for note in view.notes)) if view.notes else ()),
        *(Prose(text=_("⚠️ {brake} I ask before I write that.", brake=plain(brake, 600))) for brake in view.brakes),
    )


def _format_list(head: str, lines: Sequence[str]) -> str:
    return "\n".join((head, *(f"- {plain(line, 300)}" for line in lines)))


def _preview_time(session: Session, view: PreviewView) -> str:
    return f"{view.at.astimezone(zone(session.tz)):%H:%M}"


MOST_ASKED = 5
"""Questions with buttons of their own; the others are answered together, or follow once these are answered."""
STAYS = mark_message("Until you choose, your calendar stays as it is; everything else goes on as usual.")


def questions(session: Session) -> tuple[Part, ...]:
    """Return a line and buttons for each open question, and a closing note; nothing if there are none."""
    waiting = open_questions(session)
    if not waiting:
        return ()
    parts: list[Part] = [Prose(text=f"**{_head(len(waiting))}**")]
    for question in waiting[:MOST_ASKED]:
        sentence = in_words(question.conflict, session.date, zone(session.tz))
        both = conflict_buttons(question, question_target(question))
        parts += [Prose(text=plain(sentence, 600)), Controls(items=both)]
    if (more := len(waiting) - MOST_ASKED) > 0:
        parts.append(Prose(text=count_rest(more)))
    if len(waiting) > 1:
        every = question_token(waiting)
        calendar = ResolveConflict.keep_calendar.button(every, label=_("Keep calendar for all"))
        plan = ResolveConflict.keep_plan.button(every, label=_("Keep plan for all"))
        parts.append(Controls(items=(calendar, plan)))
    return (*parts, Note(text=_(STAYS)))


def questions_words(session: Session) -> str:
    """Return the number of open questions, for notifications and screen readers; empty if there are none."""
    count = len(open_questions(session))
    return ngettext("{count} question to answer.", "{count} questions to answer.", count) if count else ""


def _head(count: int) -> str:
    return ngettext(
        "Your calendar and the plan disagree. Which one do you keep?",
        "Your calendar and the plan disagree in {count} places. Which one do you keep?",
        count,
    )
