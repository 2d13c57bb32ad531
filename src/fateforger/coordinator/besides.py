"""The messages beside the plan: the history of the day and the preview, each in a slot of its own.

A click that opens one brings it to the end of the thread; any later change updates it where it is. When it is closed,
or was opened again further down, one line stays.
"""

from __future__ import annotations

from fateforger.session.cards import Card
from fateforger.session.model import Outgoing, Session
from fateforger.turn.present import history, preview

HISTORY = "history"
PREVIEW = "preview"


def beside(before: Session | None, after: Session, cause: str) -> tuple[Outgoing, ...]:
    """The messages beside the plan that became different with a command."""
    messages: list[Outgoing] = []
    old_history, old_preview = (None, None) if before is None else (before.history, before.preview)
    if after.history is not None and after.history != old_history:
        card = history.card(after, after.history)
        opened = old_history is None or old_history.asked != after.history.asked
        messages.append(_message(after, cause, HISTORY, card, moved=history.moved_card() if opened else None))
    elif after.history is None and old_history is not None:
        messages.append(_message(after, cause, HISTORY, history.closed_card(after, old_history)))
    if after.preview is not None and after.preview != old_preview:
        card = preview.card(after, after.preview)
        opened = old_preview is None or old_preview.asked != after.preview.asked
        messages.append(_message(after, cause, PREVIEW, card, moved=preview.moved_card() if opened else None))
    elif after.preview is None and old_preview is not None:
        messages.append(_message(after, cause, PREVIEW, preview.closed_card(after, old_preview)))
    return tuple(messages)


def _message(session: Session, cause: str, slot: str, card: Card, *, moved: Card | None = None) -> Outgoing:
    """``moved`` is what its message from before becomes, when it is to be at the end of the thread."""
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
