"""Posts scheduled messages when their time has come."""

import asyncio

from localslack.conversations import Conversations
from localslack.store.store import Store
from localslack.timestamps import Timestamps

LONGEST_NAP_SECONDS = 60.0
"""The clock may jump (a test's, or a laptop that slept), so the box looks at least this often."""


class Postbox:
    """One timer for the soonest message; each posting is one transaction, so none is posted twice."""

    def __init__(self, clock: Timestamps, store: Store, conversations: Conversations) -> None:
        self._clock = clock
        self._store = store
        self._conversations = conversations
        self._timer: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        """Post what is due and set the timer for the rest."""
        # Set first, so that a posting that fails (a full disk) is tried again.
        self._sleep(LONGEST_NAP_SECONDS)
        now = self._clock.seconds()
        for message in self._store.schedule.all():
            if message.post_at > now:
                self._sleep(min(float(message.post_at - now), LONGEST_NAP_SECONDS))
                return
            channel = self._store.channels.get(message.channel)
            with self._store.database.transaction():
                if self._store.schedule.remove(message.id, message.channel) and channel is not None:
                    self._conversations.post(channel, message.body["fields"], message.body["thread_ts"])
        self.close()

    def _sleep(self, seconds: float) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
