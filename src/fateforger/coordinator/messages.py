"""Messages of a session after a turn: the card of its stage, and its first message if its line changed."""

from __future__ import annotations

from fateforger.coordinator.besides import build_side_messages
from fateforger.session.cards import Card, Feedback
from fateforger.session.model import Outgoing, Session
from fateforger.session.questions import mark_shown
from fateforger.stages import TimeboxingStage
from fateforger.turn.present import left_card, root_card, root_line, stage_card
from fateforger.values import replace

ROOT = "root"
ASKING = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})
"""Stages with cards that ask the open questions."""


def find_slot(session: Session) -> str:
    """Return the slot of the session's stage."""
    return f"stage:{session.stage.number}"


def build_messages(before: Session | None, after: Session, cause: str) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the messages, the first message first, and the session that records its line and the asked questions.

    After a change of stage, the previous card becomes one line about its outcome.
    """
    messages: list[Outgoing] = []
    line = root_line(after)
    if line != after.root_line:
        messages.append(_build_message(after, f"{cause}:root", ROOT, root_card(after)))
        after = replace(after, root_line=line)
    card = _build_message(after, f"{cause}:card", find_slot(after), stage_card(after))
    if after.stage in ASKING:
        after = mark_shown(after)
    if before is not None and before.stage is not after.stage:
        farewell = left_card(after, before.stage)
        card = replace(card, retire=(find_slot(before),), farewell=farewell)
    messages.append(card)
    messages += build_side_messages(before, after, cause)
    return after, tuple(messages)


def add_rating(messages: tuple[Outgoing, ...], turn: str, prompts: tuple[str, ...]) -> tuple[Outgoing, ...]:
    """Return the messages of a turn; the card asks for a rating if a model contributed to it."""
    if not prompts:
        return messages
    thumbs = Feedback(turn=turn, prompts=prompts)
    return tuple(
        replace(message, card=replace(message.card, parts=(*message.card.parts, thumbs)))
        if message.id == f"{turn}:card"
        else message
        for message in messages
    )


def build_only_side_messages(before: Session, after: Session, cause: str) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the messages of a view next to the plan. The card of the stage and its notice do not change."""
    after = replace(after, notice=before.notice)
    return after, build_side_messages(before, after, cause)


def build_ephemeral(session: Session, cause: str, card: Card, *, to: str) -> Outgoing:
    """Return a card that only one person sees."""
    return replace(_build_message(session, f"{cause}:aside", f"aside:{cause}", card), ephemeral_to=to)


def _build_message(session: Session, message_id: str, slot: str, card: Card) -> Outgoing:
    return Outgoing(id=message_id, session_id=session.id, channel=session.channel, slot=slot, card=card)
