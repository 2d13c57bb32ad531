"""The address at which Google and Microsoft tell that a calendar changed. A notice has no effect but a read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fateforger.calendar.channels import Channels
from fateforger.calendar.connections import Provider
from fateforger.limits import MAX_NOTICE_BODY_BYTES, MAX_NOTICE_TOKEN_CHARS, MAX_NOTICES

PATH = "/changes"


@dataclass(slots=True)
class ChangeNotices:
    """Counts the notices that carry the secret of a channel, and tells whose calendar changed."""

    channels: Channels
    _listeners: list[Callable[[str], None]] = field(init=False, default_factory=list)

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call ``listener`` with the person of each notice. It must not block and must not fail."""
        self._listeners.append(listener)

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(f"{PATH}/{Provider.GOOGLE}", self._hear_google, methods=["POST"]),
            Route(f"{PATH}/{Provider.MICROSOFT}", self._hear_microsoft, methods=["POST"]),
        )

    async def _hear_google(self, request: Request) -> Response:
        headers = request.headers
        if headers.get("x-goog-resource-state") == "sync":  # the greeting of a new channel, which tells of no change
            return Response(status_code=204)
        known = await self._hear(headers.get("x-goog-channel-id", ""), headers.get("x-goog-channel-token", ""))
        return Response(status_code=204 if known else 404)

    async def _hear_microsoft(self, request: Request) -> Response:
        if (asked := request.query_params.get("validationToken")) is not None:
            # Graph makes sure that the address is meant for it: it wants its token back, as plain text.
            return PlainTextResponse(asked[:MAX_NOTICE_TOKEN_CHARS], headers={"X-Content-Type-Options": "nosniff"})
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MAX_NOTICE_BODY_BYTES:
                return Response(status_code=413)
        known = [await self._hear(*state) for state in _read_states(bytes(body))]
        return Response(status_code=202 if any(known) else 404)

    async def _hear(self, channel_id: str, secret: str) -> bool:
        user_id = await self.channels.count_notice(channel_id, secret)
        if user_id is None:
            return False
        for listener in self._listeners:
            listener(user_id)
        return True


def _read_states(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the id and the secret of each channel that a request of Graph names, once."""
    try:
        states = {str(notice["clientState"]) for notice in json.loads(body)["value"][:MAX_NOTICES]}
    except (ValueError, KeyError, TypeError):
        return
    for state in sorted(states):
        channel_id, _dot, secret = state.partition(".")
        yield channel_id, secret
