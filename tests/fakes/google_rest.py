"""As much of Google's Calendar v3 REST interface as google-calendar-mcp uses, over calendars in memory.

For running the real server without Google; see ``tests/contracts/test_real_server.py``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.fakes.google_mcp import Google
from tests.fakes.google_store import GoogleStore, Invalid, Missing, Taken
from tests.fakes.google_tools import KEPT

from fateforger.calendar.event import EventFields

TOO_LATE = 3.3
"""Seconds; the real server waits 3 for Google."""
_ROOT = "/calendar/v3"
Json = dict[str, Any]


@dataclass
class GoogleRest:
    """Google, with one error at a time for the next request of a method, before or after it takes effect. ``requests``
    counts all that arrive."""

    calendars: dict[str, GoogleStore] = field(default_factory=lambda: {"primary": GoogleStore()})
    requests: int = 0
    _armed: tuple[str, Google, bool] | None = None

    def inject(self, method: str, fault: Google, *, applied: bool = False) -> None:
        self._armed = (method, fault, applied)

    def calm(self) -> None:
        self._armed = None

    def app(self) -> Starlette:
        events = f"{_ROOT}/calendars/{{calendar}}/events"
        return Starlette(
            routes=[
                Route(f"{_ROOT}/users/me/calendarList", self._faulty(self._list_calendars)),
                Route(f"{_ROOT}/users/me/calendarList/{{calendar}}", self._faulty(self._get_calendar)),
                Route(events, self._faulty(self._list), methods=["GET"]),
                Route(events, self._faulty(self._insert), methods=["POST"]),
                Route(f"{events}/{{event}}", self._faulty(self._get), methods=["GET"]),
                Route(f"{events}/{{event}}", self._faulty(self._patch), methods=["PATCH"]),
                Route(f"{events}/{{event}}", self._faulty(self._delete), methods=["DELETE"]),
            ]
        )

    def _faulty(self, answer: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            armed = self._armed
            self.requests += 1
            if armed is not None and armed[0] == request.method:
                self._armed = None
                if not armed[2]:
                    return await _strike(armed[1])
                await self._answered(request, answer)
                return await _strike(armed[1])
            return await self._answered(request, answer)

        return endpoint

    async def _answered(self, request: Request, answer: Any) -> Response:
        try:
            body = await request.json() if request.method in ("POST", "PATCH") else {}
            store = self.calendars.get(request.path_params.get("calendar", ""))
            response: Response = answer(request, store, body)
        except Taken:
            return _error(409, "The requested identifier already exists.", "duplicate")
        except Missing:
            return _error(404, "Not Found", "notFound")
        except Invalid as reason:
            return _error(400, str(reason), "invalid")
        return response

    def _list_calendars(self, _request: Request, _store: GoogleStore | None, _body: Json) -> Response:
        return JSONResponse({"items": [_entry(name, store) for name, store in self.calendars.items()]})

    def _get_calendar(self, request: Request, store: GoogleStore | None, _body: Json) -> Response:
        return JSONResponse(_entry(request.path_params["calendar"], _known(store)))

    def _list(self, request: Request, store: GoogleStore | None, _body: Json) -> Response:
        asked = request.query_params
        start, end = (datetime.fromisoformat(asked[name]) for name in ("timeMin", "timeMax"))
        page = _known(store).window(start, end)[:250]
        return JSONResponse({"items": [_masked(event.raw, asked.get("fields")) for event in page]})

    def _insert(self, _request: Request, store: GoogleStore | None, body: Json) -> Response:
        fields = EventFields(
            summary=body.get("summary", ""),
            description=body.get("description", ""),
            start=_moment(body["start"]),
            end=_moment(body["end"]),
            color_id=body.get("colorId"),
        )
        extras = {name: body[name] for name in (*KEPT, "extendedProperties") if name in body}
        return JSONResponse(_known(store).insert(body["id"], fields, _private(body), **extras).raw)

    def _get(self, request: Request, store: GoogleStore | None, _body: Json) -> Response:
        image = _known(store).get(request.path_params["event"])
        if image is None:
            raise Missing
        return JSONResponse(_masked(image.raw, request.query_params.get("fields")))

    def _patch(self, request: Request, store: GoogleStore | None, body: Json) -> Response:
        event_id = request.path_params["event"]
        image = _known(store).get(event_id)
        if image is None:
            raise Missing
        if image.gone:
            return JSONResponse(image.raw)
        names = {"summary": "summary", "description": "description", "colorId": "color_id"}
        changes: Json = {names[name]: body[name] for name in names if name in body}
        changes |= {name: _moment(body[name]) for name in ("start", "end") if name in body}
        return JSONResponse(_known(store).patch(event_id, changes, _private(body)).raw)

    def _delete(self, request: Request, store: GoogleStore | None, _body: Json) -> Response:
        image = _known(store).get(request.path_params["event"])
        if image is None:
            raise Missing
        if image.gone:
            return _error(410, "Resource has been deleted", "deleted")
        _known(store).cancel(image.id)
        return Response(status_code=204)


class _BrokenOff(Response):
    """More is promised than is sent."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _strike(fault: Google) -> Response:
    if fault.status == 0:
        return _BrokenOff()
    if fault.status == 1:
        await asyncio.sleep(TOO_LATE)
    return _error(fault.status if fault.status > 1 else 500, fault.message, fault.reason or "any")


def _error(status: int, message: str, reason: str) -> Response:
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return JSONResponse({"error": {"code": status, "message": message, "errors": errors}}, status_code=status)


def _known(store: GoogleStore | None) -> GoogleStore:
    if store is None:
        raise Missing
    return store


def _entry(name: str, store: GoogleStore) -> Json:
    own = {"id": "owner@example.com", "primary": True} if name == "primary" else {"id": name}
    return {**own, "summary": name, "timeZone": store.time_zone, "accessRole": "owner"}


def _masked(raw: Mapping[str, Any], mask: str | None) -> Json:
    if mask is None:
        return dict(raw)
    listed = re.match(r"items\(([^)]*)\)", mask)
    names = (listed[1] if listed else mask).split(",")
    return {name: raw[name] for name in names if name in raw}


def _moment(given: Mapping[str, Any]) -> datetime:
    if given.get("date"):
        raise Invalid(f"This stand-in makes no all-day events: {date.fromisoformat(given['date'])}.")
    stamp = datetime.fromisoformat(given["dateTime"])
    return stamp if stamp.tzinfo else stamp.replace(tzinfo=ZoneInfo(given["timeZone"]))


def _private(body: Json) -> dict[str, str]:
    private: dict[str, str] = body.get("extendedProperties", {}).get("private", {})
    return private
