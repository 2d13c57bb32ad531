"""Status of a thread: Slack's own if available, otherwise a line under the current card."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.ports import Outbox
from fateforger.session.cards import Button, Card, Controls, Note
from fateforger.session.model import Outgoing
from fateforger.slack import phrases
from fateforger.slack.addresses import STOP
from fateforger.slack.calling import SlackCallError, SlackLoginError, TransientSlackError, call_slack
from fateforger.slack.poster import Poster
from fateforger.values import replace

log = logging.getLogger(__name__)


@dataclass
class Line:
    """Status of one thread.

    ``turns`` is the number of running turns in the thread. ``lit`` is true if Slack shows the status, or may; ``under``
    is the message that shows it instead.
    """

    channel: str
    thread_ts: str
    session_id: str | None
    turns: int = 0
    lit: bool = False
    under: Outgoing | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)


class StatusLines:
    """Shows and removes statuses.

    If Slack refuses a status, it is not tried again in that channel. Failures are only logged, because a status is
    cosmetic.
    """

    def __init__(self, client: AsyncWebClient, outbox: Outbox, poster: Poster) -> None:
        self._client = client
        self._outbox = outbox
        self._poster = poster
        self._without: set[str] = set()

    def has_stop(self, line: Line) -> bool:
        """Check whether Slack shows its own Stop button at the status, as it does in direct messages with an agent."""
        return line.channel.startswith("D") and line.channel not in self._without

    async def show(self, line: Line, words: str, *, stops: str | None) -> None:
        """Show a status. ``stops`` is the command that a Stop button would end, once it is time to offer one."""
        async with line.busy:
            if line.channel not in self._without:
                await self._say(line, phrases.to_status(words))
            without = line.channel in self._without
            if without or (stops is not None and not self.has_stop(line)):
                await self._under_the_card(line, words, stops)

    async def clear(self, line: Line) -> None:
        """Remove the status, unless another turn has begun in the thread."""
        async with line.busy:
            if line.turns:
                return
            if line.lit:
                await self._say(line, "")
            if line.under is not None:
                await self._off_the_card(line, line.under)

    async def _say(self, line: Line, words: str) -> None:
        try:
            await call_slack(
                self._client.assistant_threads_setStatus(
                    channel_id=line.channel, thread_ts=line.thread_ts, status=words
                )
            )
        except SlackLoginError as trouble:
            self._do_without(line, trouble)
        except TransientSlackError as trouble:
            log.info("a status in %s was not shown: %s", line.channel, trouble)
        except SlackCallError as trouble:
            self._do_without(line, trouble)
        else:
            line.lit = bool(words)

    def _do_without(self, line: Line, trouble: SlackCallError) -> None:
        log.info("Slack shows no status in %s (%s); a line under the card does", line.channel, trouble)
        self._without.add(line.channel)
        line.lit = False

    async def _under_the_card(self, line: Line, words: str, stops: str | None) -> None:
        if line.session_id is None:
            return
        shown = line.under or await self._outbox.latest(line.session_id)
        if shown is None:
            return
        line.under = shown
        parts = (*shown.card.parts, Note(text=phrases.to_card_line(words)))
        if stops is not None:
            parts = (*parts, Controls(items=(Button(label=phrases.STOP_LABEL, action=STOP, target=stops),)))
        await self._change(shown, replace(shown.card, parts=parts))

    async def _off_the_card(self, line: Line, under: Outgoing) -> None:
        """Remove the line from its card, unless a later card has replaced that already."""
        line.under = None
        stands = await self._outbox.find_shown(under.session_id, under.slot)
        if stands is not None and stands.id == under.id:
            await self._change(under, under.card)

    async def _change(self, shown: Outgoing, card: Card) -> None:
        where = await self._outbox.slot(shown.session_id, shown.slot)
        if where is None:
            return
        try:
            await self._poster.change(where, card, session=shown.session_id, v=shown.id, beside=shown.beside)
        except SlackCallError as trouble:
            log.info("a line under the card of %s was not shown: %s", shown.session_id, trouble)
