"""First messages: text for a model in a place where no session runs."""

from __future__ import annotations

from fateforger.constraints.credentials import redact_credentials
from fateforger.coordinator.door import CoordinatorPort
from fateforger.ports import Clock, Jobs
from fateforger.session.commands import InboxCommand, Opening
from fateforger.session.progress import ProgressCallback
from fateforger.slack import phrases
from fateforger.slack.arrivals import MessageSaid, Place
from fateforger.slack.asides import EphemeralMessages
from fateforger.slack.greeting import greeting_job
from fateforger.slack.presence import Handle

MOST_KEPT = 1_000


class OpenedThreads:
    """Threads that a first message has opened: replies there need no mention of the bot.

    Kept in memory; once the session runs it is no longer needed.
    """

    def __init__(self) -> None:
        self._threads: dict[tuple[str, str], None] = {}

    def is_addressed(self, said: MessageSaid) -> bool:
        """Check whether a message outside a session is meant for the bot. If so, its thread is remembered."""
        thread = (said.channel, said.thread_ts)
        if not (said.direct or said.mention or thread in self._threads):
            return False
        self._threads[thread] = None
        while len(self._threads) > MOST_KEPT:
            del self._threads[next(iter(self._threads))]
        return True


def build_opening(said: MessageSaid, place: Place, *, tz: str, clock: Clock) -> Opening:
    """Return the message as a queued command; ``place`` is where its answer may be shown."""
    text, withheld = redact_credentials(said.text)
    here = place == Place(said.channel, said.thread_ts)
    return Opening(
        command_id=said.command_id,
        user_id=said.user_id,
        at=clock.now(),
        channel=str(place.channel),
        thread_ts=place.thread_ts,
        heard_channel=None if here else said.channel,
        heard_thread_ts=None if here else said.thread_ts,
        tz=tz,
        text=text,
        addressed=said.direct or said.mention,
        withheld=withheld,
    )


def with_welcome(door: CoordinatorPort, jobs: Jobs, ephemeral: EphemeralMessages, clock: Clock) -> Handle:
    """Return a handler that also welcomes a person whose first message begins no session.

    A person who wrote where others read is told that the answer is in their direct messages.
    """

    async def handle(command: InboxCommand, tell: ProgressCallback) -> None:
        if not isinstance(command, Opening):
            await door.handle(command, tell)
        elif not await door.on_opening(command):
            await jobs.enqueue(greeting_job(command), now=clock.now())
        elif command.is_moved and command.addressed:
            # At the top of the channel: Slack may not show an ephemeral message in a thread without replies.
            await ephemeral.send_ephemeral(command.user_id, Place(command.heard_channel), phrases.ANSWERED_ELSEWHERE)

    return handle
