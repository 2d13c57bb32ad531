"""Trigger ids: what lets an app open a modal for the person who just did something."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from localslack.errors import SlackError

LIFETIME = timedelta(seconds=3)
_REMEMBERED = 1_000


@dataclass(frozen=True)
class Trigger:
    user: str
    issued: datetime
    used: bool = False


class Triggers:
    """Short-lived and for one use; not stored, because none outlives a restart."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._triggers: dict[str, Trigger] = {}

    def issue(self, user: str) -> str:
        trigger_id = f"{len(self._triggers)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = Trigger(user, self._now())
        if len(self._triggers) > _REMEMBERED:
            del self._triggers[next(iter(self._triggers))]
        return trigger_id

    def redeem(self, trigger_id: str) -> str:
        """Spend the trigger and return whose it is; raises `SlackError` with the code Slack would give."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._now() - trigger.issued > LIFETIME:
            raise SlackError("expired_trigger_id")
        self._triggers[trigger_id] = Trigger(trigger.user, trigger.issued, used=True)
        return trigger.user
