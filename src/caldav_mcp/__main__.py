"""Runs the calendar's tools alone, over standard input and output or over HTTP."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from caldav_mcp.embedded import USER
from caldav_mcp.errors import CalendarError
from caldav_mcp.local_calendar import LocalCalendar, LocalCalendarConfig, open_local_calendar
from caldav_mcp.times import zone_named

_STOP_SECONDS = 3
"""Longer than an open page waits for news."""


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and serve until interrupted. Returns the exit status."""
    given = _parser().parse_args(arguments)
    if zone_named(given.time_zone) is None:
        _say(f"{given.time_zone} is not a time zone. Use an IANA name like Europe/Berlin.")
        return 2
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    config = LocalCalendarConfig(
        data_dir=given.data,
        time_zone=given.time_zone,
        caldav_url=given.caldav_url,
        username=given.username,
        password=os.environ.get("CALDAV_PASSWORD"),
        radicale_port=given.radicale_port,
    )
    try:
        asyncio.run(_serve(config, given.http))
    except (CalendarError, OSError) as error:
        _say(f"The calendar cannot be opened: {error}")
        return 3
    except KeyboardInterrupt:
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m caldav_mcp", description=__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="speak MCP over standard input and output")
    way.add_argument("--http", type=int, metavar="PORT", help="serve MCP at /mcp and the day at /day on 127.0.0.1")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where the calendar is kept")
    parser.add_argument("--time-zone", default="UTC", metavar="ZONE", help="the calendar's zone (default: UTC)")
    parser.add_argument("--caldav-url", metavar="URL", help="use this CalDAV calendar or account")
    parser.add_argument("--username", help="for the CalDAV server; the password is read from CALDAV_PASSWORD")
    parser.add_argument("--radicale-port", type=int, default=0, metavar="PORT", help="port of the embedded server")
    return parser


async def _serve(config: LocalCalendarConfig, port: int | None) -> None:
    async with await open_local_calendar(config, now=lambda: datetime.now(UTC)) as calendar:
        if port is None:
            await _serve_stdio(calendar)
        else:
            login = "" if config.caldav_url else f" (user name {USER}, password {config.radicale_password})"
            await _serve_http(calendar, port, login)


async def _serve_stdio(calendar: LocalCalendar) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  only this transport needs it

    async with stdio_server() as (incoming, outgoing):
        await calendar.server.run(incoming, outgoing, calendar.server.create_initialization_options())


async def _serve_http(calendar: LocalCalendar, port: int, login: str) -> None:
    import uvicorn  # noqa: PLC0415  only this transport needs it
    from starlette.applications import Starlette  # noqa: PLC0415  same
    from starlette.routing import Mount  # noqa: PLC0415  same

    class Server(uvicorn.Server):
        """Print the address once interrupts are handled too, because a reader may interrupt at once."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            _say(f"MCP at {address}/mcp, the day at {address}/day/, CalDAV at {calendar.caldav_url}{login}")

    app = Starlette(routes=[Mount("/day", calendar.pane_app), Mount("/", calendar.mcp_app)])
    with socket.create_server(("127.0.0.1", port)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        settings = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=_STOP_SECONDS)
        await Server(settings).serve(sockets=[listening])


def _say(sentence: str) -> None:
    """Tell the person at the terminal; standard output belongs to the protocol."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
