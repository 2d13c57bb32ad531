"""The day pane's web application: the page, its data, the news it waits for, and the moves it sends."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from zoneinfo import ZoneInfo

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from caldav_mcp.errors import BadRequest, CalendarError, ServiceError
from caldav_mcp.pane.changes import Changes
from caldav_mcp.pane.day import day_json
from caldav_mcp.pane.moves import Move, move_event
from caldav_mcp.times import zone_named
from caldav_mcp.tools.calendars import Calendars

_PATIENCE = 2.0
"""Seconds that a page waits for news at most: short, so that a server with open pages stops soon."""

_FILES = ("pane.css", "pane.js", "moves.js")
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "connect-src 'self'; img-src 'self' data:; font-src 'self'; style-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def pane_app(calendars: Calendars, changes: Changes) -> Starlette:
    """Return an application without state of its own, to be mounted anywhere. All its addresses are relative."""

    def zone_of(request: Request) -> ZoneInfo:
        name = request.query_params.get("tz")
        return (zone_named(name) if name else None) or calendars.primary.about.zone

    async def events(request: Request) -> Response:
        zone = zone_of(request)
        asked = request.query_params.get("date")
        known = await changes.from_now_on(zone)
        try:
            day = date.fromisoformat(asked) if asked else calendars.now().astimezone(zone).date()
            shown = await day_json(calendars, day, zone)
        except (ValueError, OverflowError):
            return JSONResponse({"error": f"{asked} is not a day that can be shown"}, 400, _HEADERS)
        except ServiceError as error:
            return JSONResponse({"error": error.bare}, 503, _HEADERS)
        return JSONResponse(shown | {"version": known.version, "written": known.written}, headers=_HEADERS)

    async def news(request: Request) -> Response:
        found = await changes.after(request.query_params.get("since", ""), zone_of(request), _PATIENCE)
        day = found.day.isoformat() if found.day else None
        body = {"version": found.version, "written": found.written, "date": day, "reachable": found.is_reachable}
        return JSONResponse(body, headers=_HEADERS)

    async def move(request: Request) -> Response:
        try:
            await move_event(calendars, Move.read(await request.json()))
        except (BadRequest, ValueError) as error:
            return JSONResponse({"ok": False, "error": str(error)}, 400, _HEADERS)
        except CalendarError as error:
            return JSONResponse({"ok": False, "error": str(error)}, headers=_HEADERS)
        return JSONResponse({"ok": True}, headers=_HEADERS)

    routes = [Route("/events", events), Route("/changes", news), Route("/move", move, methods=["POST"])]
    routes += [Route("/", _file("index.html"))]
    return Starlette(routes=[*routes, *(Route(f"/{name}", _file(name)) for name in _FILES)])


def _file(name: str) -> Response:
    content = files("caldav_mcp.pane").joinpath("page", name).read_bytes()
    media = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    return Response(content, media_type=media, headers=_HEADERS)
