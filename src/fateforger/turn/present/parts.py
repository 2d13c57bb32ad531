"""Parts that several cards share."""

from __future__ import annotations

from collections.abc import Iterable

from fateforger.quality import Quality
from fateforger.session.cards import Button, Control, Controls, Note, Part, Prose, plain
from fateforger.session.gates import gate
from fateforger.session.model import Session, Unplaced
from fateforger.session.moves import offered, seen
from fateforger.session.overview import collisions
from fateforger.stages import Move

LABELS: dict[Move, str] = {
    Move.PROCEED: "Proceed",
    Move.BACK: "Back",
    Move.REDO: "Redo",
    Move.CANCEL: "Cancel",
    Move.UNDO_LAST_UPDATE: "Undo last update",
    Move.UNDO_SYNC: "Undo",
    Move.RETRY: "Try again",
}
KEEPS = "Your calendar keeps what is on it now. End this session?"
_LONGEST = 2_800
_MOST_NAMED = 3
_BEST = 4
"""Characters of one paragraph; Slack takes 3,000."""


def move_button(session: Session, move: Move, label: str | None = None, *, primary: bool = False) -> Button:
    """The button of a move. It carries which card it belongs to, and asks before it leaves written blocks behind."""
    confirm = KEEPS if move is Move.CANCEL and session.written is not None else None
    style = "primary" if primary else "danger" if move is Move.UNDO_SYNC else "default"
    return Button(
        label=label or LABELS[move], action=move.value, target=seen(session, move), style=style, confirm=confirm
    )


def move_row(session: Session, order: Iterable[tuple[Move, str | None]], *extra: Control) -> Controls:
    """The moves that the session offers now, in the given order, the way forward highlighted; then other controls."""
    possible = offered(session)
    moves = [
        move_button(session, move, label, primary=move is Move.PROCEED) for move, label in order if move in possible
    ]
    return Controls(items=(*moves[:1], *extra, *moves[1:]) if moves else extra)


def said(session: Session) -> tuple[Part, ...]:
    """What the last turn has to say. A refusal comes in full size, news in small print."""
    notice = session.notice
    if notice is None:
        return ()
    lines = tuple(plain(line, 600) for line in notice.lines)
    if notice.refused:
        return (Prose(text="\n".join(f"⚠️ {line}" if at == 0 else line for at, line in enumerate(lines))),)
    return (Prose(text="\n".join(lines)),)


def missing(session: Session) -> tuple[Part, ...]:
    """What the stage still needs, before anything else (S61); nothing when a refusal says so already."""
    standing = gate(session)
    if standing.ready or (session.notice is not None and session.notice.refused):
        return ()
    return tuple(Prose(text=plain(line, 600)) for line in standing.missing)


def paragraphs(text: str) -> tuple[Prose, ...]:
    """A long text as paragraphs that fit, split between lines."""
    chunks: list[str] = [""]
    for line in text.split("\n"):
        if chunks[-1] and len(chunks[-1]) + len(line) > _LONGEST:
            chunks.append("")
        chunks[-1] += f"\n{line}" if chunks[-1] else line
    return tuple(Prose(text=chunk) for chunk in chunks if chunk)


def warnings(session: Session) -> tuple[Part, ...]:
    """Blocks that run into meetings: allowed, but said."""
    hits = collisions(session)
    lines = [
        f"⚠️ “{plain(block.event.name)}” runs into “{plain(meeting.title)}”, {meeting.start:%H:%M}–{meeting.end:%H:%M}."
        for block, meeting in hits[:5]
    ]
    if len(hits) > 5:
        lines.append(f"⚠️ {len(hits) - 5} more blocks run into meetings.")
    return (Prose(text="\n".join(lines)),) if lines else ()


def left_out(unplaced: tuple[Unplaced, ...], *, also: bool = False) -> tuple[Part, ...]:
    """What did not fit, and why; without a heading when there is more of it above."""
    if not unplaced:
        return ()
    lines = "\n".join(f"- {plain(u.title)}: {plain(u.reason, 200)}" for u in unplaced)
    return paragraphs(lines if also else f"**Did not fit**\n{lines}")


def quality_note(quality: Quality | None, *, done: bool = False) -> tuple[Part, ...]:
    """The level and the next step; advice, never a hurdle (S50). Once it is ``done``, nobody is told to commit it."""
    if quality is None:
        return ()
    step = "" if done and quality.level == _BEST else f" {plain(quality.next_step, 200)}"
    return (Note(text=f"Quality {quality.level} of 4, {quality.label}.{step}"),)


def unread_note(session: Session) -> tuple[Part, ...]:
    """A plan that was made without knowing the calendar, or all of it, says so."""
    if session.snapshot is not None and session.snapshot_error is None:
        return left_out_note(session)
    if session.snapshot_error is not None:
        text = f"⚠️ I could not read your calendar just now: {plain(session.snapshot_error, 300)}"
    else:
        text = "⚠️ Your calendar has not answered yet."
    tail = (
        " Meetings may be missing here; Redo looks again." if session.snapshot is None else " This is as I last saw it."
    )
    return (Prose(text=text + tail),)


def left_out_note(session: Session) -> tuple[Part, ...]:
    """Events of the calendar that could not be worked out are named; the day is planned without them."""
    titles = () if session.snapshot is None else session.snapshot.left_out
    if not titles:
        return ()
    named = [f"“{plain(title, 80)}”" for title in titles[:_MOST_NAMED]]
    more = [f"{len(titles) - _MOST_NAMED} more"] if len(titles) > _MOST_NAMED else []
    *first, last = [*named, *more]
    subject = f"{', '.join(first)} and {last}" if first else last
    one = len(titles) == 1
    text = (
        f"⚠️ {subject} {'repeats' if one else 'repeat'} too often, or in a way that I could not work out in time."
        f" So {'it is' if one else 'they are'} not in this plan. A simpler rule on your calendar mends that."
    )
    return (Prose(text=text),)
