"""Card of the day's history: each write with its time and command, and a button if it can be undone."""

from __future__ import annotations

from fateforger.journal.rows import HistoryRow
from fateforger.plan import zone
from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.session.views import MOST_LISTED, HistoryView

SHOW = Button(label="History", action="show_history")
NOTHING = "Nothing has been written to your calendar for this day yet."
HINT = "Undo takes back a write and what came after it. What you changed on your calendar yourself stays yours."
MOVED = "History: further down in this thread."


def card(session: Session, view: HistoryView) -> Card:
    """Return the card, newest write first. Writes that are no longer in effect take one line."""
    title = f"What I wrote for {day_words(session.date)}"
    rows = [_row(row, view, session) for row in view.rows] or [Prose(text=NOTHING)]
    return Card(
        text=f"{title}: {_count(view.total)}.",
        parts=(
            Heading(text=title),
            *((Prose(text="\n".join(plain(line, 600) for line in view.lines)), Divider()) if view.lines else ()),
            *rows,
            *_older(view),
            *((Note(text=HINT),) if any(row.button for row in view.rows) else ()),
            Controls(items=(*_more(view), Button(label="Close history", action="hide_history"))),
        ),
    )


def closed_card(session: Session, view: HistoryView) -> Card:
    """Return the card after it was closed."""
    line = f"History of {day_words(session.date)}: {_count(view.total)}."
    return Card(text=line, parts=(Note(text=line),))


def moved_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=MOVED, parts=(Note(text=MOVED),))


def _row(row: HistoryRow, view: HistoryView, session: Session) -> Part:
    when = _when(row, view.rows[0], session)
    if row.standing in {"undone", "done again", "nothing"}:
        return Note(text=f"{when} · {row.title} · {row.deeds} · {row.state}")
    lines = [f"**{when} · {row.title}** · {row.state}" if row.standing != "done" else f"**{when} · {row.title}**"]
    lines += [plain(row.said, 300)] if row.said else [_list_named(row)] if row.named else []
    lines.append(f"_{row.deeds}_")
    return Prose(text="\n".join(lines), control=_button(row, view, when))


def _list_named(row: HistoryRow) -> str:
    more = (f"and {row.more} more",) if row.more else ()
    return "\n".join((*(plain(op, 120) for op in row.named), *more))


def _button(row: HistoryRow, view: HistoryView, when: str) -> Button | None:
    if row.button is None:
        return None
    label = "Undo" if row.button == "undo" else "Restore"
    question = f"{label} “{row.title}” of {when}? {row.warning}" if row.warning else None
    return Button(
        label=label, action=f"{row.button}_write", target=f"{row.transaction} {view.newest}", confirm=question
    )


def _when(row: HistoryRow, newest: HistoryRow, session: Session) -> str:
    """Format the local time, with the day if it differs from that of the newest row."""
    local = row.at.astimezone(zone(session.tz))
    same_day = local.date() == newest.at.astimezone(zone(session.tz)).date()
    return f"{local:%H:%M}" if same_day else f"{day_words(local.date())}, {local:%H:%M}"


def _older(view: HistoryView) -> tuple[Part, ...]:
    older = view.total - len(view.rows)
    if older <= 0:
        return ()
    rest = "" if len(view.rows) < MOST_LISTED else " The command fateforger sync history lists them all."
    return (Note(text=f"{_count(older)} before these.{rest}"),)


def _more(view: HistoryView) -> tuple[Button, ...]:
    if len(view.rows) >= min(view.total, MOST_LISTED):
        return ()
    return (Button(label="Show older", action="show_older_history"),)


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number or 'no'} entries"
