"""Measure the cost of a changed day at Google, by its own API and by google-calendar-mcp, at Microsoft and by CalDAV.

All write the same day by the same engine; each request to a provider takes 200 ms. The peer is the calendar server as
we use it. Its requests to Google are counted and delayed as by the real one, one after another in a call.

The speed of the machine varies, so Google is measured in pairs, and the median of their ratios counts.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from starlette.responses import Response
from tests.emulators.google.connected import connect_person
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.google.wire import Ask
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.factories.days import eleven_changes, twelve_blocks
from tests.factories.microsoft import open_over
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.memory_journal import MemoryJournal
from tests.scenarios.gate import pass_on
from tests.scenarios.radicale import Radicale, free_port

from caldav_mcp import LocalCalendarConfig, open_local_calendar
from fateforger.adapters.calendar.calendars import open_mcp_calendar
from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.calendars import GoogleCalendar
from fateforger.adapters.google.client import GoogleClient
from fateforger.calendar.access import CommitContext
from fateforger.calendar.ports import Calendar
from fateforger.calendar.submitter import CalendarSubmitter

PAIRS = 7
REQUEST_SECONDS = 0.2
MOST_REQUESTS = 13
MOST_REQUESTS_TO_MICROSOFT = 16
"""Graph chooses ids, so a create looks for its event first, and a deletion looks for the id."""
MOST_OF_THE_PEERS_TIME = 0.5
ZONE = "Europe/Berlin"


class SlowGoogle(GoogleEmulator):
    """Google far away."""

    async def _answer(self, ask: Ask) -> Response:
        await asyncio.sleep(REQUEST_SECONDS)
        return await super()._answer(ask)


class SlowServer(GoogleMcp):
    """A calendar server at hand, and Google far away from it."""

    async def _answer(self, tool: str, arguments: Any) -> Any:
        before = self.tools.spent
        answer = await super()._answer(tool, arguments)
        await asyncio.sleep(REQUEST_SECONDS * (self.tools.spent - before))
        return answer


@dataclass
class Cost:
    requests: int
    seconds: float


async def measure(calendar: Calendar, count: Callable[[], int]) -> Cost:
    """Measure 8 updates, 2 creates and 1 delete, with the reads before and after."""
    outside = CommitContext(calendar, MemoryJournal(), SystemClock(), asyncio.sleep)
    submitter = CalendarSubmitter(outside, owner="bench", new_id=lambda: uuid.uuid4().hex)
    await submitter.submit_plan(twelve_blocks(), cause="1")
    before, begun = count(), time.perf_counter()
    result = await submitter.submit_plan(eleven_changes(), cause="2")
    took = time.perf_counter() - begun
    if (result.updated, result.created, result.deleted) != (8, 2, 1):
        raise AssertionError(f"not what was to be measured: {result}")
    return Cost(count() - before, took)


async def measure_rest() -> Cost:
    google = SlowGoogle()
    async with serve_app(google.app()) as base:
        client = GoogleClient(await connect_person(google, base), SystemClock(), url=f"{base}/calendar/v3")
        async with aclosing(GoogleCalendar(client, "primary", time_zone=ZONE, key="google/bench")) as calendar:
            return await measure(calendar, lambda: google.requests)


async def measure_graph() -> Cost:
    microsoft = MicrosoftEmulator(seconds_a_request=REQUEST_SECONDS, at_once=4)
    async with serve_app(microsoft.app()) as base:
        calendar = open_over(microsoft, address=base, transport=httpx.AsyncHTTPTransport())
        async with aclosing(calendar):
            return await measure(calendar, lambda: len(microsoft.requests))


async def measure_mcp() -> Cost:
    async with SlowServer() as server, aclosing(open_mcp_calendar(server.url, time_zone=ZONE)) as calendar:
        return await measure(calendar, lambda: server.tools.spent)


class SlowCalDav:
    """A CalDAV server far away. ``requests`` have arrived at it."""

    def __init__(self, server: Radicale) -> None:
        self.requests = 0
        self._app = pass_on(f"http://127.0.0.1:{server.port}")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        await asyncio.sleep(REQUEST_SECONDS)
        await self._app(scope, receive, send)


def measure_caldav() -> Cost:
    with TemporaryDirectory() as name:
        server = Radicale(Path(name) / "dav", free_port())
        server.start()
        try:
            server.make_calendar()
            return asyncio.run(_measure_over(SlowCalDav(server), Path(name)))
        finally:
            server.kill()


async def _measure_over(server: SlowCalDav, folder: Path) -> Cost:
    async with serve_app(server, lifespan=False) as base:
        config = LocalCalendarConfig(
            data_dir=folder / "calendar",
            time_zone=ZONE,
            caldav_url=f"{base}/me/calendar/",
            username="me",
            password="any",
        )
        async with (
            await open_local_calendar(config, now=SystemClock().now) as local,
            serve_app(local.mcp_app, lifespan=False) as tools,
        ):
            calendar = open_mcp_calendar(f"{tools}/mcp", time_zone=ZONE)
            async with aclosing(calendar):
                return await measure(calendar, lambda: server.requests)


def main() -> int:
    fake = GoogleCalendarFake()
    asyncio.run(measure(fake, lambda: len(fake.calls)))  # loads what the engine loads when it first compares
    pairs = [(asyncio.run(measure_rest()), asyncio.run(measure_mcp())) for _ in range(PAIRS)]
    ratio = statistics.median(rest.seconds / mcp.seconds for rest, mcp in pairs)
    rest, mcp = (pick_median(costs) for costs in zip(*pairs, strict=True))
    graph, caldav = asyncio.run(measure_graph()), measure_caldav()
    shown = {"Calendar API v3": rest, "Microsoft Graph": graph, "CalDAV": caldav, "google-calendar-mcp": mcp}
    print(f"8 updates, 2 creates, 1 delete; 200 ms a request; the median of {PAIRS} pairs at Google")
    print(f"{'':24}{'requests':>10}{'seconds':>10}{'ratio':>8}")
    for name, cost in shown.items():
        print(f"{name:24}{cost.requests:10}{cost.seconds:9.2f}s{cost.seconds / mcp.seconds:8.2f}")
    print(
        f"requests {rest.requests} (target {MOST_REQUESTS}), time {ratio:.2f} of the peer's ({MOST_OF_THE_PEERS_TIME})"
    )
    row = {"requests": rest.requests, "peer_requests": mcp.requests, "seconds": rest.seconds, "ratio": ratio}
    others = {name: asdict(cost) for name, cost in (("microsoft", graph), ("caldav", caldav))}
    json.dump({"google": row, **others}, sys.stdout)
    print()
    too_many = rest.requests > MOST_REQUESTS or graph.requests > MOST_REQUESTS_TO_MICROSOFT
    return int(too_many or ratio > MOST_OF_THE_PEERS_TIME)


def pick_median(costs: Sequence[Cost]) -> Cost:
    """Return the most requests and the median time."""
    return Cost(max(cost.requests for cost in costs), statistics.median(cost.seconds for cost in costs))


if __name__ == "__main__":
    sys.exit(main())
