"""Messages next to the plan: the history of the day, the preview and the memory card, each in its own slot.

Opening one with a click posts it at the end of the thread; later changes update it in place. When it is closed, or
opened again further down, one line remains of the message.
"""

from __future__ import annotations

from fateforger.session.cards import Card
from fateforger.session.model import Outgoing, Session
from fateforger.turn.present import history, memory, preview

HISTORY = "history"
PREVIEW = "preview"
MEMORY = "memory"


def build_side_messages(before: Session | None, after: Session, cause: str) -> tuple[Outgoing, ...]:
    """Return the side messages that a command has changed."""
    shown = ((HISTORY, _build_history), (PREVIEW, _build_preview), (MEMORY, _build_memory))
    messages = ((slot, card(before, after)) for slot, card in shown)
    return tuple(_build_message(after, cause, slot, *found) for slot, found in messages if found is not None)


SideCard = tuple[Card, Card | None]
"""A card, and the replacement for its earlier message if the card moves to the end of the thread."""


def _build_history(before: Session | None, after: Session) -> SideCard | None:
    old, new = None if before is None else before.history, after.history
    if new == old:
        return None
    if new is None:
        return None if old is None else (history.closed_card(after, old), None)
    moved = history.moved_card() if old is None or old.asked != new.asked else None
    return history.card(after, new), moved


def _build_preview(before: Session | None, after: Session) -> SideCard | None:
    old, new = None if before is None else before.preview, after.preview
    if new == old:
        return None
    if new is None:
        return None if old is None else (preview.closed_card(after, old), None)
    moved = preview.moved_card() if old is None or old.asked != new.asked else None
    return preview.card(after, new), moved


def _build_memory(before: Session | None, after: Session) -> SideCard | None:
    """Return the memory card if it changed. It also depends on the session's recent notes and open decisions."""
    old, new = None if before is None else before.memory, after.memory
    if new is None:
        return None if old is None else (memory.closed_card(old), None)
    card = memory.card(after, new)
    if before is not None and old is not None and memory.card(before, old) == card and old.asked == new.asked:
        return None
    return card, memory.moved_card() if old is None or old.asked != new.asked else None


def _build_message(session: Session, cause: str, slot: str, card: Card, moved: Card | None) -> Outgoing:
    """Return the message. ``moved`` replaces its earlier version if the message moves to the end of the thread."""
    return Outgoing(
        id=f"{cause}:{slot}",
        session_id=session.id,
        channel=session.channel,
        slot=slot,
        card=card,
        retire=() if moved is None else (slot,),
        farewell=moved,
        stays=moved is None,
        beside=True,
    )
