"""Payloads dispatched by Bolt to handlers that only note their calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from tests.fakes.memory_languages import languages
from tests.fakes.memory_zones import MemoryZones

from fateforger.slack.access import People
from fateforger.slack.client import new_app
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.home import Home
from fateforger.slack.limits import LimitedClient, SlackLimits
from fateforger.slack.listeners import Listeners


@dataclass
class Call:
    """Call of a handler: its name, and what it was given by the names of its parameters."""

    name: str
    given: dict[str, Any]


@dataclass
class _Handlers:
    kind: type[Any]
    calls: list[Call] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[None]]:
        signature = inspect.signature(getattr(self.kind, name))

        async def note(*args: Any, **kwargs: Any) -> None:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            given = {name: value for name, value in bound.arguments.items() if name != "self"}
            self.calls.append(Call(f"{self.kind.__name__}.{name}", given))

        return note


@dataclass
class _At:
    at: datetime

    def now(self) -> datetime:
        return self.at


async def _dispatch(payload: dict[str, Any], at: datetime) -> list[Call]:
    calls: list[Call] = []
    requests, forms, home = (_Handlers(kind, calls) for kind in (RequestHandler, FormHandler, Home))
    app = new_app(AsyncWebClient(token="xoxb-1"))
    parts = (cast("RequestHandler", requests), cast("FormHandler", forms), cast("Home", home))
    people = People(LimitedClient(SlackLimits()), _At(at), languages(), MemoryZones())
    Listeners(*parts, languages(), clock=_At(at), people=people).register(app)
    response = await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
    assert (response.status, response.body) == (200, "")
    return calls


def dispatch(payload: dict[str, Any], at: datetime) -> Call | None:
    """Return the call that a payload leads to; ``None`` if it is acknowledged and no more."""
    calls = asyncio.run(_dispatch(payload, at))
    assert len(calls) <= 1
    return calls[0] if calls else None
