"""Requests of Graph v1.0 about the calendars of a mailbox: paths, headers, queries, pages and delta tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlencode
from zoneinfo import ZoneInfo

from tests.emulators.microsoft.mailbox import PRIMARY, Item, Json, Mailbox, Refusal, changed_since

_PATH = re.compile(
    r"/v1\.0/(?P<who>me|users/[^/]+)(?:/calendars/(?P<calendar>[^/]+)|/calendar)?"
    r"/(?P<what>events|calendarView)(?:/(?P<event>[^/]+))?"
)
_LIST = re.compile(r"/v1\.0/(?:me|users/[^/]+)/calendars?")
_FILTER = re.compile(r"singleValueExtendedProperties/[aA]ny\(ep: ?ep/id eq '([^']+)' and ep/value eq '([^']*)'\)")
_EXPANDED = re.compile(r"singleValueExtendedProperties\(\$filter=((?:id eq '[^']+'(?: or )?)+)\)")
PAGE = 10
"""Events in a page if a request does not say how many."""
MOST = 1000


@dataclass(frozen=True)
class GraphRequest:
    """A request, its path and query decoded."""

    method: str
    base: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> Json:
        try:
            found = json.loads(self.body)
        except ValueError:
            raise Refusal(400, "BadRequest", "Unable to read JSON request payload.") from None
        if not isinstance(found, dict):
            raise Refusal(400, "BadRequest", "The payload is not an object.")
        return found


@dataclass(frozen=True)
class GraphResponse:
    status: int
    body: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Round:
    """A delta token: the span of time, and how far in the log the client has read."""

    calendar: str
    start: datetime
    end: datetime
    position: int
    rest: list[Json] | None = None


@dataclass
class Preferences:
    """Values of the ``Prefer`` header."""

    immutable: bool = False
    time_zone: str = "UTC"
    text: bool = False
    page: int | None = None

    @classmethod
    def read(cls, header: str) -> Preferences:
        size = re.search(r"odata\.maxpagesize=(\d+)", header)
        zone = re.search(r'outlook\.timezone="([^"]+)"', header)
        return cls(
            immutable='IdType="ImmutableId"' in header,
            time_zone=zone[1] if zone else "UTC",
            text='outlook.body-content-type="text"' in header,
            page=int(size[1]) if size else None,
        )


class Calendars:
    """The calendar part of Graph. ``rounds`` are the delta tokens that are still good."""

    def __init__(self) -> None:
        self.rounds: dict[str, Round] = {}
        self._tokens = 0

    def expire_tokens(self) -> None:
        self.rounds.clear()

    def answer(self, asked: GraphRequest, mailbox: Mailbox, owner: str) -> GraphResponse:
        """Answer a request. Raises :class:`Refusal`."""
        known = {
            i: {"id": i, **entry, "owner": {"name": owner, "address": owner}} for i, entry in mailbox.calendars.items()
        }
        if _LIST.fullmatch(asked.path):
            return GraphResponse(200, known[PRIMARY] if asked.path.endswith("r") else {"value": [*known.values()]})
        place = _PATH.fullmatch(asked.path)
        if place is None:
            raise Refusal(400, "BadRequest", f"Resource not found for the segment in {asked.path}.")
        calendar = unquote(place["calendar"] or PRIMARY)
        prefer = Preferences.read(asked.headers.get("prefer", ""))
        event = None if place["event"] is None else unquote(place["event"])
        match asked.method, place["what"], event:
            case "GET", "calendarView", None:
                return self._view(asked, mailbox, calendar, prefer)
            case "GET", "calendarView", "delta":
                return self._delta(asked, mailbox, calendar, prefer)
            case "GET", "events", None:
                return self._list(asked, mailbox, calendar, prefer)
            case "POST", "events", None:
                return GraphResponse(201, render(mailbox.create(calendar, asked.json()), mailbox, prefer))
            case "GET", "events", str():
                return GraphResponse(200, render(mailbox.get(calendar, event), mailbox, prefer, _parse_expand(asked)))
            case "PATCH", "events", str():
                if_match = asked.headers.get("if-match")
                return GraphResponse(
                    200, render(mailbox.patch(calendar, event, asked.json(), if_match), mailbox, prefer)
                )
            case "DELETE", "events", str():
                mailbox.delete(calendar, event, asked.headers.get("if-match"))
                return GraphResponse(204)
        raise Refusal(405, "Request_BadRequest", "Specified HTTP method is not allowed for the request target.")

    def _view(self, asked: GraphRequest, mailbox: Mailbox, calendar: str, prefer: Preferences) -> GraphResponse:
        items = mailbox.view(calendar, *_span(asked))
        return self._page(asked, mailbox, items, prefer)

    def _list(self, asked: GraphRequest, mailbox: Mailbox, calendar: str, prefer: Preferences) -> GraphResponse:
        wanted = _FILTER.fullmatch(asked.query.get("$filter", ""))
        if wanted is None:
            raise Refusal(400, "BadRequest", f"This stand-in cannot filter by {asked.query.get('$filter')!r}.")
        return self._page(asked, mailbox, mailbox.find(calendar, wanted[1], wanted[2]), prefer)

    def _page(self, asked: GraphRequest, mailbox: Mailbox, items: list[Item], prefer: Preferences) -> GraphResponse:
        size = min(int(asked.query.get("$top", prefer.page or PAGE)), MOST)
        skip = int(asked.query.get("$skip", 0))
        shown = [render(item, mailbox, prefer, _parse_expand(asked)) for item in items[skip : skip + size]]
        body: Json = {"@odata.context": f"{asked.base}/v1.0/$metadata#events", "value": shown}
        if skip + size < len(items):
            query = {**asked.query, "$skip": str(skip + size)}
            body["@odata.nextLink"] = _link(asked, query)
        return GraphResponse(200, body)

    def _delta(self, asked: GraphRequest, mailbox: Mailbox, calendar: str, prefer: Preferences) -> GraphResponse:
        if unsupported := {"$expand", "$filter", "$select", "$orderby", "$search"} & asked.query.keys():
            raise Refusal(400, "ErrorInvalidUrlQuery", f"The query parameters {sorted(unsupported)} are not supported.")
        token = asked.query.get("$deltatoken") or asked.query.get("$skiptoken")
        if token is None:
            start, end = _span(asked)
            turn = Round(calendar, start, end, len(mailbox.log))
            turn.rest = [_render_sparsely(item, mailbox, prefer) for item in mailbox.view(calendar, start, end)]
        else:
            found = self.rounds.get(token)
            if found is None:
                raise Refusal(410, "SyncStateNotFound", "The sync state generation is not found; start a full sync.")
            turn = Round(found.calendar, found.start, found.end, found.position, found.rest)
            if turn.rest is None:
                turn.rest, turn.position = self._changes(mailbox, turn, prefer), len(mailbox.log)
        size = min(prefer.page or PAGE, MOST)
        page, rest = turn.rest[:size], turn.rest[size:]
        self._tokens += 1
        kind = "skip" if rest else "delta"
        name = f"{kind}{self._tokens:06d}"
        self.rounds[name] = Round(turn.calendar, turn.start, turn.end, turn.position, rest or None)
        link = _link(asked, {f"${kind}token": name})
        return GraphResponse(200, {"value": page, "@odata.nextLink" if rest else "@odata.deltaLink": link})

    @staticmethod
    def _changes(mailbox: Mailbox, turn: Round, prefer: Preferences) -> list[Json]:
        inside = mailbox.view(turn.calendar, turn.start, turn.end)
        changes: list[Json] = []
        for changed in changed_since(mailbox, turn.position):
            shown = [item for item in inside if changed in {item.id, item.values["seriesMasterId"]}]
            changes += [_render_sparsely(item, mailbox, prefer) for item in shown]
            if not shown:
                changes.append({"id": changed, "@removed": {"reason": "deleted"}})
        return changes


def render(item: Item, mailbox: Mailbox, prefer: Preferences, expanded: frozenset[str] = frozenset()) -> Json:
    """Return the event as Graph writes it, its times in the preferred zone."""
    values = dict(item.values)
    if not prefer.text:
        text = values["body"]["content"].replace("\n", "<br>")
        values["body"] = {"contentType": "html", "content": f"<html><body>{text}</body></html>"}
    body = {
        "@odata.etag": item.etag,
        "id": item.id if prefer.immutable else item.regular_id,
        "changeKey": item.change_key,
        "createdDateTime": _format_stamp(item.created),
        "lastModifiedDateTime": _format_stamp(item.changed),
        "originalStartTimeZone": item.zones[0],
        "originalEndTimeZone": item.zones[1],
        "iCalUId": f"040000008200E00074C5B7101A82E008{item.id}",
        "webLink": f"https://outlook.office365.com/owa/?itemid={item.id}&exvsurl=1&path=/calendar/item",
        **values,
        "start": _render_point(item.start, mailbox, prefer),
        "end": _render_point(item.end, mailbox, prefer),
    }
    shown = [{"id": name, "value": value} for name, value in item.extended.items() if name in expanded]
    return {**body, "singleValueExtendedProperties": shown} if shown else body


def _render_sparsely(item: Item, mailbox: Mailbox, prefer: Preferences) -> Json:
    """Return an event of a delta answer; of an occurrence only its place in the series and in time."""
    whole = render(item, mailbox, prefer)
    if item.values["type"] != "occurrence":
        return whole
    return {name: whole[name] for name in ("@odata.etag", "id", "seriesMasterId", "type", "start", "end")}


def _render_point(moment: Any, mailbox: Mailbox, prefer: Preferences) -> Json:
    if not isinstance(moment, datetime):
        return {"dateTime": f"{moment.isoformat()}T00:00:00.0000000", "timeZone": prefer.time_zone}
    local = moment.astimezone(ZoneInfo(mailbox.zones.get(prefer.time_zone, prefer.time_zone)))
    return {"dateTime": f"{local:%Y-%m-%dT%H:%M:%S}.0000000", "timeZone": prefer.time_zone}


def _format_stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond * 10:07d}Z"


def _span(asked: GraphRequest) -> tuple[datetime, datetime]:
    query = {name.lower(): value for name, value in asked.query.items()}
    try:
        start, end = (datetime.fromisoformat(query[name]) for name in ("startdatetime", "enddatetime"))
    except (KeyError, ValueError):
        message = "This request requires a time window specified by the query string parameters StartDateTime and EndDateTime."
        raise Refusal(400, "ErrorInvalidParameter", message) from None
    return tuple(one if one.tzinfo else one.replace(tzinfo=UTC) for one in (start, end))  # type: ignore[return-value]  # two of them


def _parse_expand(asked: GraphRequest) -> frozenset[str]:
    wanted = _EXPANDED.fullmatch(asked.query.get("$expand", ""))
    if "$expand" in asked.query and wanted is None:
        raise Refusal(400, "BadRequest", "Parsing OData Select and Expand failed.")
    return frozenset(re.findall(r"id eq '([^']+)'", wanted[1])) if wanted else frozenset()


def _link(asked: GraphRequest, query: Mapping[str, str]) -> str:
    return f"{asked.base}{asked.path}?{urlencode(query)}"
