"""Posted cards: sent, changed, shown to one person, and found again, with their pictures."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from fateforger.session.cards import Card, Feedback, Picture
from fateforger.session.store import Sent, ThreadMessages
from fateforger.slack.access import is_private
from fateforger.slack.blocks import COMPACT, MESSAGE, Rendered, Size, render, without_file
from fateforger.slack.client import (
    UPLOAD_SCOPE,
    CallRefused,
    MessageTooLong,
    NotInstalled,
    SlackLoginError,
    TransientSlackError,
    call_slack,
    upload,
)
from fateforger.slack.ids import FIRST, get_tenant
from fateforger.slack.limits import LimitedClient, MethodLimit, Pace
from fateforger.ui.picture_svg import draw

log = logging.getLogger(__name__)

NO_SCOPE = (
    f"Days are shown without pictures: the Slack app has no scope {UPLOAD_SCOPE}. Add it, as fateforger"
    " manifest prints it, and install the app again, or set FATEFORGER_PICTURE=off."
)
MAX_KEPT = 500


Render = Callable[[str], Awaitable[bytes]]
"""Return a PNG of an SVG text, never drawn on the event loop. Raises ``InternalError`` if it is not a picture."""


class Pictures:
    """File id of each uploaded picture, in memory, by workspace. Without ``render`` there are no pictures.

    A file belongs to the workspace of the channel ``where`` it is shown, and no other workspace can show it.
    """

    def __init__(self, client: LimitedClient, render_picture: Render | None) -> None:
        self._client = client
        self._render = render_picture
        self._files: OrderedDict[str, str] = OrderedDict()
        self._refused: set[str] = set()
        self._off: set[str] = set()

    def file_of(self, picture: Picture, where: str) -> str | None:
        """Return the file id of a picture, or ``None`` if it is not uploaded."""
        return self._files.get(_digest(picture, where))

    def missing(self, card: Card, where: str) -> tuple[Picture, ...]:
        """Return the pictures of a card that are not uploaded and could be."""
        if self._render is None or get_tenant(where) in self._off:
            return ()
        pictures = (part for part in card.parts if isinstance(part, Picture))
        return tuple(p for p in pictures if self.file_of(p, where) is None and _digest(p, where) not in self._refused)

    def forget(self, card: Card, where: str) -> None:
        """Forget the files of a card, which Slack no longer shows; they are uploaded again later."""
        for part in card.parts:
            if isinstance(part, Picture):
                self._files.pop(_digest(part, where), None)

    def give_up(self, card: Card, where: str) -> None:
        """Stop trying to show the pictures of a card, which Slack rejects."""
        self.forget(card, where)
        if len(self._refused) >= MAX_KEPT:
            self._refused.clear()
        self._refused.update(_digest(part, where) for part in card.parts if isinstance(part, Picture))

    def apply_scopes(self, scopes: frozenset[str] | None, where: str = FIRST) -> None:
        """Switch the pictures of a workspace off if the app's scopes, where known, do not allow files."""
        if self._render is not None and scopes is not None and UPLOAD_SCOPE not in scopes:
            self.switch_off(where)

    def switch_off(self, where: str = FIRST) -> None:
        """Switch the pictures of a workspace off, and log that once."""
        if get_tenant(where) not in self._off:
            log.warning(NO_SCOPE)
            self._off.add(get_tenant(where))

    async def upload(self, picture: Picture, where: str) -> None:
        """Render and upload a picture, unless it is uploaded.

        Raises :class:`~fateforger.slack.client.SlackCallError` or ``InternalError``.
        """
        if self._render is None or get_tenant(where) in self._off or self.file_of(picture, where) is not None:
            return
        png = await self._render(await asyncio.to_thread(draw, picture.day))
        name = f"{picture.day.date.isoformat()}.png"
        self._files[_digest(picture, where)] = await upload(await self._client.client_of(where), name, png)
        if len(self._files) > MAX_KEPT:
            self._files.popitem(last=False)


def _digest(picture: Picture, where: str) -> str:
    text = f"{get_tenant(where)}{picture.day.model_dump_json()}"
    return hashlib.sha256(text.encode()).hexdigest()


MARK = "fateforger_message"
"""Metadata type under which a message carries its id."""

PAGE = 200


class Poster:
    """Sends cards. Every message carries ``v``, the name of its rendering, in its metadata.

    All calls raise :class:`~fateforger.slack.client.SlackCallError`; a message that Slack finds too long is compacted
    and sent again (S226). In a place that others read, only cards marked ``for_all`` are posted or changed (K14): by
    default a card is the person's own.
    """

    def __init__(
        self, client: LimitedClient, pace: Pace, latest: ThreadMessages, render_picture: Render | None = None
    ) -> None:
        self.latest = latest
        self.pictures = Pictures(client, render_picture)
        self._client = client
        self._pace = pace
        self._thumbs = True

    def limit_updates(self, channel: str) -> MethodLimit:
        """Return Slack's limit of changes of messages in the workspace of a channel."""
        return self._client.limit_of("chat.update", channel)

    async def post(
        self,
        channel: str,
        thread_ts: str | None,
        card: Card,
        *,
        session: str,
        v: str,
        beside: bool = False,
        for_all: bool = False,
    ) -> Sent:
        """Post a card in a thread, or as the root of a new one.

        The caller then tells ``latest`` of it, unless it is ``beside`` the others and does not count as the newest.
        """
        _check_audience(channel, for_all=for_all)

        async def send(message: Rendered) -> Mapping[str, Any]:
            await self._pace.wait(channel)
            return await call_slack(
                self._client.chat_postMessage(
                    channel=channel,
                    thread_ts=thread_ts,
                    text=message.text,
                    blocks=message.blocks,
                    metadata=_mark(v, beside=beside),
                    unfurl_links=False,
                    unfurl_media=False,
                )
            )

        return Sent(channel, str((await self._send_fitting(channel, send, card, session, v))["ts"]))

    async def change(
        self, where: Sent, card: Card, *, session: str, v: str, beside: bool = False, for_all: bool = False
    ) -> None:
        """Replace the content of a message. Raises ``MessageGone`` if it no longer exists."""
        _check_audience(where.channel, for_all=for_all)

        update = partial(self._update, where, v, beside=beside)
        await self._send_fitting(where.channel, update, card, session, v)

    async def _update(self, where: Sent, v: str, message: Rendered, *, beside: bool) -> Mapping[str, Any]:
        return await call_slack(
            self._client.chat_update(
                channel=where.channel,
                ts=where.ts,
                text=message.text,
                blocks=message.blocks,
                metadata=_mark(v, beside=beside),
            )
        )

    async def add_pictures(self, where: Sent, card: Card, *, session: str, v: str, beside: bool = False) -> None:
        """Show the uploaded pictures of a card in its message. Raises ``MessageTooLong`` until Slack can."""
        _check_audience(where.channel, for_all=False)
        await self._update(where, v, self._render(card, session, v, where.channel), beside=beside)

    async def show(
        self, user_id: str, channel: str, thread_ts: str | None, card: Card, *, session: str, v: str
    ) -> Sent:
        """Show a card to one person only. Slack does not store such a message."""

        async def send(message: Rendered) -> Mapping[str, Any]:
            await self._pace.wait(channel)
            return await call_slack(
                self._client.chat_postEphemeral(
                    channel=channel, user=user_id, thread_ts=thread_ts, text=message.text, blocks=message.blocks
                )
            )

        return Sent(channel, str((await self._send_fitting(channel, send, card, session, v))["message_ts"]))

    async def find(self, channel: str, thread_ts: str | None, v: str) -> Sent | None:
        """Return the message that was posted under ``v``, if there is one.

        Among the roots of a channel only the latest page is searched: the message was posted moments before the program
        ended.
        """
        cursor = ""
        while True:
            try:
                page = await self._page(channel, thread_ts, cursor)
            except (CallRefused, SlackLoginError) as trouble:
                log.warning("cannot look in %s for what was posted there: %s", channel, trouble)
                return None
            for message in page.get("messages", ()):
                if message.get("metadata", {}).get("event_payload", {}).get("id") == v:
                    return Sent(channel, str(message["ts"]))
            cursor = page.get("response_metadata", {}).get("next_cursor", "")
            if thread_ts is None or not cursor:
                return None

    async def count_later(self, where: Sent, thread_ts: str) -> int:
        """Return how many messages follow one in its thread, without the bot's messages marked ``beside``."""
        known = await self.latest.count_after(where.channel, thread_ts, where.ts)
        if known is None:
            try:
                later = await call_slack(
                    self._client.conversations_replies(
                        channel=where.channel, ts=thread_ts, oldest=where.ts, include_all_metadata=True, limit=PAGE
                    )
                )
            except (CallRefused, SlackLoginError) as trouble:
                log.warning("cannot look in %s for what came later: %s", where.channel, trouble)
                return 0
            messages = [str(each["ts"]) for each in later.get("messages", ()) if not _is_beside(each)]
            await self.latest.observe(where.channel, thread_ts, thread_ts, where.ts, *messages)
            known = await self.latest.count_after(where.channel, thread_ts, where.ts)
        return known or 0

    async def _page(self, channel: str, thread_ts: str | None, cursor: str) -> Mapping[str, Any]:
        if thread_ts is None:
            return await call_slack(
                self._client.conversations_history(channel=channel, include_all_metadata=True, limit=PAGE)
            )
        return await call_slack(
            self._client.conversations_replies(
                channel=channel, ts=thread_ts, include_all_metadata=True, limit=PAGE, cursor=cursor or None
            )
        )

    async def _send_fitting(
        self,
        channel: str,
        send: Callable[[Rendered], Awaitable[Mapping[str, Any]]],
        card: Card,
        session: str,
        v: str,
    ) -> Mapping[str, Any]:
        for size, thumbs, pictures in self._tries(card, channel):
            try:
                sent = await send(self._render(card, session, v, channel, size=size, thumbs=thumbs, pictures=pictures))
            except MessageTooLong as trouble:
                log.warning("a message to %s is sent again, simpler than %s: %s", channel, size, trouble)
                refused = trouble
                if pictures:
                    self.pictures.forget(card, channel)
            except NotInstalled:
                raise
            except TransientSlackError as trouble:
                if trouble.retry_after is not None:
                    self._pace.hold(channel, trouble.retry_after)
                raise
            else:
                # Slack would reject thumbs again after it accepted plain buttons only.
                self._thumbs = self._thumbs and (thumbs or size is not MESSAGE)
                return sent
        raise refused

    def _tries(self, card: Card, channel: str) -> list[tuple[Size, bool, bool]]:
        """Return the ways to send a card until Slack accepts it: size, with Slack's thumbs, with pictures."""
        tries = [(MESSAGE, self._thumbs, False), *((size, False, False) for size in COMPACT)]
        if self._thumbs and any(isinstance(part, Feedback) for part in card.parts):
            tries.insert(1, (MESSAGE, False, False))
        if any(isinstance(part, Picture) and self.pictures.file_of(part, channel) for part in card.parts):
            tries.insert(0, (MESSAGE, self._thumbs, True))
        return tries

    def _render(
        self,
        card: Card,
        session: str,
        v: str,
        channel: str,
        *,
        size: Size = MESSAGE,
        thumbs: bool | None = None,
        pictures: bool = True,
    ) -> Rendered:
        with_thumbs = self._thumbs if thumbs is None else thumbs
        file_of = partial(self.pictures.file_of, where=channel) if pictures else without_file
        return render(card, session=session, v=v, size=size, thumbs=with_thumbs, file_of=file_of)


def _check_audience(channel: str, *, for_all: bool) -> None:
    if not for_all and not is_private(channel):
        raise CallRefused("others read there, and this is for one person")


def _mark(v: str, *, beside: bool) -> dict[str, Any]:
    return {"event_type": MARK, "event_payload": {"id": v, "beside": True} if beside else {"id": v}}


def is_marked(message: Mapping[str, Any]) -> bool:
    """Check whether a message of Slack carries the id of one that was sent here."""
    return bool(message.get("metadata", {}).get("event_type") == MARK)


def _is_beside(message: Mapping[str, Any]) -> bool:
    return is_marked(message) and bool(message["metadata"].get("event_payload", {}).get("beside"))
