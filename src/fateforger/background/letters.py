"""Cards that belong to no session, on their way: each is posted once, or shown in place of one that is there."""

from __future__ import annotations

from fateforger.ports import NewJob
from fateforger.session.cards import Card

LETTER_LANE = "letter"


def letter(
    card: Card, *, v: str, channel: str, thread_ts: str | None = None, ts: str | None = None, beside: bool = False
) -> NewJob:
    """The job of bringing a card to a person. ``v`` is its name: the same one is brought once. ``ts`` is the message
    that it takes the place of; ``beside`` means that it does not count as the newest of its thread."""
    payload = {
        "v": v,
        "channel": channel,
        "thread_ts": thread_ts,
        "ts": ts,
        "beside": beside,
        "card": card.model_dump(mode="json"),
    }
    return NewJob(lane=LETTER_LANE, key=f"{channel} {thread_ts}", dedupe=v, payload=payload)
