"""Add pictures to messages that are already posted. No reply ever waits for one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fateforger.errors import FateforgerError
from fateforger.ports import Outbox
from fateforger.session.model import Outgoing
from fateforger.slack.calling import MessageTooLong, SlackCallError, SlackLoginError, TransientSlackError
from fateforger.slack.files import lacks_scope
from fateforger.slack.pictures import Pictures
from fateforger.slack.poster import Poster
from fateforger.slack.turnstile import KeyedLocks

log = logging.getLogger(__name__)

PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each try. Slack needs a moment before a message can show a new file."""
PUT_SECONDS = 3.0
"""Time that a message may delay the next one of its session while its picture is added."""


class PictureUpdater:
    """Adds the latest picture of each session.

    ``turns`` is shared with the sender, so that an older card never replaces a newer one. A picture that cannot be
    shown is left out and logged; if Slack rejects it, it is not tried again.
    """

    def __init__(
        self,
        pictures: Pictures,
        poster: Poster,
        outbox: Outbox,
        turns: KeyedLocks,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pictures = pictures
        self._poster = poster
        self._outbox = outbox
        self._turns = turns
        self._sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def add_pictures(self, item: Outgoing) -> None:
        """Add the picture of a posted message, if it has one that is not uploaded yet."""
        if item.ephemeral_to is not None or not self._pictures.missing(item.card):
            return
        earlier = self._tasks.get(item.session_id)
        if earlier is not None:
            earlier.cancel()
        task = asyncio.create_task(self._upload_and_show(item), name=f"picture of {item.id}")
        self._tasks[item.session_id] = task
        task.add_done_callback(lambda done, session_id=item.session_id: self._on_done(session_id, done))  # type: ignore[misc]  # mypy cannot infer a lambda with a default

    async def close(self) -> None:
        """Stop; pending pictures come with the next card."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_done(self, session_id: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(session_id) is task:
            del self._tasks[session_id]
        if not task.cancelled() and task.exception() is not None:
            log.error("a picture failed", exc_info=task.exception())

    async def _upload_and_show(self, item: Outgoing) -> None:
        why = ""
        for pause in PAUSES:
            await self._sleep(pause)
            try:
                for picture in self._pictures.missing(item.card):
                    await self._pictures.upload(picture)
                await self._add_to_message(item)
            except SlackLoginError as trouble:
                if lacks_scope(trouble):
                    self._pictures.switch_off()
                    return
                why = str(trouble)
                break
            except MessageTooLong as trouble:
                why = str(trouble)
            except TransientSlackError as trouble:
                why = str(trouble)
                await self._sleep(trouble.retry_after or 0.0)
            except (SlackCallError, FateforgerError) as trouble:
                self._pictures.give_up(item.card)
                why = str(trouble)
                break
            else:
                return
        log.warning("the message %s stays without its picture: %s", item.id, why)

    async def _add_to_message(self, item: Outgoing) -> None:
        """Put the picture into the message, if it still shows this card."""
        async with self._turns.turn(item.session_id):
            shown = await self._outbox.find_shown(item.session_id, item.slot)
            where = await self._outbox.slot(item.session_id, item.slot)
            if where is None or shown is None or shown.id != item.id:
                return
            try:
                async with asyncio.timeout(PUT_SECONDS):
                    await self._poster.add_pictures(
                        where, item.card, session=item.session_id, v=item.id, beside=item.beside
                    )
            except TimeoutError as error:
                raise TransientSlackError("Slack is slow", unsure=True) from error
