"""Jobs for cards that belong to no session: each is posted once, or replaces an existing message."""

from __future__ import annotations

from fateforger.ports import NewJob
from fateforger.session.cards import Card

NOTIFICATION_LANE = "letter"


def build_notification_job(
    card: Card, *, v: str, channel: str, thread_ts: str | None = None, ts: str | None = None, beside: bool = False
) -> NewJob:
    """Return the job that brings a card to a person.

    ``v`` identifies the card: the same ``v`` is delivered once. ``ts`` is the message that the card replaces. With
    ``beside`` the card does not count as the newest message of its thread.
    """
    payload = {
        "v": v,
        "channel": channel,
        "thread_ts": thread_ts,
        "ts": ts,
        "beside": beside,
        "card": card.model_dump(mode="json"),
    }
    return NewJob(lane=NOTIFICATION_LANE, key=f"{channel} {thread_ts}", dedupe=v, payload=payload)
