"""The Calendar API v3: lists of calendars, events, sync tokens, etags, and push channels.

Rules of Google that hold here: an id that was ever used stays taken (409); a deleted event is shown as cancelled, and its
second deletion is a 410; a write with an ``If-Match`` that is not the event's etag changes nothing (412); a sync token
cannot be combined with bounds, comes with the last page only, and when it expired the answer is 410.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Protocol
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from tests.emulators.google.accounts import GoogleAccounts
from tests.emulators.google.channels import Channels
from tests.emulators.google.wire import Ask, Json, Refusal, Reply, to_json
from tests.fakes.google_store import OWNER, EventInvalid, GoogleStore, IdTaken
from tests.fakes.google_tools import KEPT

from fateforger.calendar.event import EventFields, EventImage

ROOT = "/calendar/v3"
PAGE, LARGEST_PAGE = 250, 2500
_AUTH = "https://www.googleapis.com/auth/calendar"
LISTS = (_AUTH, f"{_AUTH}.readonly", f"{_AUTH}.calendarlist", f"{_AUTH}.calendarlist.readonly")
READS = (_AUTH, f"{_AUTH}.readonly", f"{_AUTH}.events", f"{_AUTH}.events.readonly")
WRITES = (_AUTH, f"{_AUTH}.events")
OWNED = (f"{_AUTH}.events.owned",)
_NAMES = {"summary": "summary", "description": "description", "colorId": "color_id"}
_PATH = re.compile(rf"{ROOT}/calendars/(?P<calendar>[^/]+)/events(?:/(?P<event>[^/]+))?")


class Google(Protocol):
    """The state behind the interface."""

    calendars: dict[str, GoogleStore]
    accounts: GoogleAccounts
    check_tokens: bool

    def _tell_time(self) -> datetime: ...


class CalendarApi:
    """The interface. ``roles`` are the access roles of calendars that are not the person's own; ``forgotten`` is the
    number of writes up to which sync tokens have expired."""

    def __init__(self, google: Google) -> None:
        self._google = google
        self.channels = Channels(google._tell_time)
        self.roles: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.forgotten = -1

    def handle(self, ask: Ask) -> Reply:
        """Handle a request. Raises :class:`Refusal`."""
        if ask.path == f"{ROOT}/users/me/calendarList" and ask.method == "GET":
            self._allow(ask, LISTS)
            return to_json({"kind": "calendar#calendarList", "items": [*map(self._entry, self._google.calendars)]})
        listed = re.fullmatch(rf"{ROOT}/users/me/calendarList/([^/]+)", ask.path)
        if listed and ask.method == "GET":
            self._allow(ask, LISTS)
            self._store(unquote(listed[1]))
            return to_json(self._entry(unquote(listed[1])))
        if ask.path == f"{ROOT}/channels/stop" and ask.method == "POST":
            self._allow(ask, (*READS, *OWNED))
            self.channels.stop(ask.json)
            return Reply(204)
        found = _PATH.fullmatch(ask.path)
        if found is None:
            raise Refusal(404, "Not Found", "notFound")
        asked = unquote(found["calendar"])
        calendar = "primary" if asked == OWNER else asked
        return self._handle_events(ask, calendar, unquote(found["event"] or ""))

    def expire_sync_tokens(self) -> None:
        """Invalidate all sync tokens given so far."""
        self.forgotten = max((store.ticks for store in self._google.calendars.values()), default=0)

    def _handle_events(self, ask: Ask, calendar: str, event_id: str) -> Reply:
        store = self._admit(ask, calendar, reads=ask.method == "GET" or event_id == "watch")
        if event_id == "watch":
            return to_json(self.channels.watch(calendar, store, ask.json))
        try:
            match ask.method, bool(event_id):
                case "GET", False:
                    return self._list(ask, store, calendar)
                case "POST", False:
                    return to_json(self._insert(ask.json, store))
                case "GET", True:
                    return to_json(_mask(to_resource(_require(store.get(event_id))), ask.query.get("fields")))
                case "PATCH", True:
                    return to_json(self._patch(ask, store, event_id))
                case "DELETE", True:
                    return self._delete(ask, store, event_id)
                case _:
                    raise Refusal(404, "Not Found", "notFound")
        except IdTaken:
            raise Refusal(409, "The requested identifier already exists.", "duplicate") from None
        except EventInvalid as reason:
            raise Refusal(400, str(reason), "invalid") from None

    def _admit(self, ask: Ask, calendar: str, *, reads: bool) -> GoogleStore:
        """Return the calendar, if this login has that right to it."""
        role = self.roles.get(calendar, "owner")
        self._allow(ask, (*(READS if reads else WRITES), *(OWNED if role == "owner" else ())))
        store = self._store(calendar)
        if not reads and role not in ("owner", "writer"):
            raise Refusal(403, "You need to have writer access to this calendar.", "requiredAccessLevel")
        return store

    def _allow(self, ask: Ask, scopes: tuple[str, ...]) -> None:
        if self._google.check_tokens:
            self._google.accounts.account_of(ask.bearer, scopes)

    def _store(self, calendar: str) -> GoogleStore:
        store = self._google.calendars.get(calendar)
        if store is None:
            raise Refusal(404, "Not Found", "notFound")
        return store

    def _entry(self, calendar: str) -> Json:
        own = {"id": OWNER, "primary": True} if calendar == "primary" else {"id": calendar}
        return {
            "kind": "calendar#calendarListEntry",
            **own,
            "summary": self.names.get(calendar, str(own["id"])),
            "timeZone": self._google.calendars[calendar].time_zone,
            "accessRole": self.roles.get(calendar, "owner"),
            "selected": True,
        }

    # --- events ---

    def _list(self, ask: Ask, store: GoogleStore, calendar: str) -> Reply:
        query = ask.query
        size = min(int(query.get("maxResults", PAGE)), LARGEST_PAGE)
        begin = int(query.get("pageToken", "0"))
        if "syncToken" in query:
            found = self._list_changes(query, store, calendar)
        elif "timeMin" in query or "timeMax" in query:
            found = _between(query, store)
        else:
            found = sorted((e for e in store.events.values() if not e.gone), key=lambda e: e.id)
        page = found[begin : begin + size]
        more = begin + size < len(found)
        token = {"nextPageToken": str(begin + size)} if more else {"nextSyncToken": _seal(calendar, store.ticks)}
        head = {"kind": "calendar#events", "summary": calendar, "timeZone": store.time_zone, **token}
        whole = {**head, "items": [_to_item(event) for event in page]}
        return to_json(_mask_list(whole, query.get("fields")))

    def _list_changes(self, query: Mapping[str, str], store: GoogleStore, calendar: str) -> list[EventImage]:
        if {"timeMin", "timeMax", "orderBy", "q", "updatedMin"} & query.keys():
            raise Refusal(400, "Sync token cannot be used with time bounds or ordering.", "badRequest")
        since = _unseal(query["syncToken"], calendar)
        if since is None or since <= self.forgotten:
            raise Refusal(410, "Sync token is no longer valid, a full sync is required.", "fullSyncRequired")
        return store.changed_since(since)

    def _insert(self, body: Json, store: GoogleStore) -> Json:
        fields = EventFields(
            summary=body.get("summary", ""),
            description=body.get("description", ""),
            start=_instant(body.get("start", {})),
            end=_instant(body.get("end", {})),
            color_id=body.get("colorId"),
        )
        event_id = body.get("id", "")
        if not re.fullmatch(r"[a-v0-9]{5,1024}", event_id):
            raise Refusal(400, "Invalid resource id value.", "invalid")
        extras = {name: body[name] for name in (*KEPT, "extendedProperties") if name in body}
        return to_resource(store.insert(event_id, fields, _private(body), **extras))

    def _patch(self, ask: Ask, store: GoogleStore, event_id: str) -> Json:
        image, body = _require(store.events.get(event_id)), ask.json
        _check_match(ask, image)
        if image.gone:
            return to_resource(image)
        changes: Json = {_NAMES[name]: body[name] for name in _NAMES if name in body}
        changes |= {name: _instant(body[name]) for name in ("start", "end") if name in body}
        for name in ("summary", "description"):
            if name in changes:
                changes[name] = changes[name] or ""
        return to_resource(store.patch(event_id, changes, _private(body)))

    def _delete(self, ask: Ask, store: GoogleStore, event_id: str) -> Reply:
        image = _require(store.events.get(event_id))
        if image.gone:
            raise Refusal(410, "Resource has been deleted", "deleted")
        _check_match(ask, image)
        store.cancel(event_id)
        return Reply(204)


def to_resource(image: EventImage) -> Json:
    """Return the event as Google shows it."""
    return {"kind": "calendar#event", "etag": _etag(image), **image.raw}


def _to_item(image: EventImage) -> Json:
    """Return an event of a list. For a deleted event, Google promises only its id."""
    whole = to_resource(image)
    names = ("kind", "etag", "id", "status", "recurringEventId", "originalStartTime") if image.gone else tuple(whole)
    return {name: whole[name] for name in names if name in whole}


def _etag(image: EventImage) -> str:
    return f'"{image.version}"'


def _check_match(ask: Ask, image: EventImage) -> None:
    wanted = ask.headers.get("if-match", "*")
    if wanted not in ("*", _etag(image)):
        raise Refusal(412, "Precondition Failed", "conditionNotMet")


def _require(image: EventImage | None) -> EventImage:
    if image is None:
        raise Refusal(404, "Not Found", "notFound")
    return image


def _between(query: Mapping[str, str], store: GoogleStore) -> list[EventImage]:
    try:
        start, end = (datetime.fromisoformat(query[name]) for name in ("timeMin", "timeMax"))
    except (KeyError, ValueError):
        raise Refusal(400, "Bad Request", "badRequest") from None
    return list(store.window(start, end))


def _seal(calendar: str, ticks: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([calendar, ticks]).encode()).decode()


def _unseal(token: str, calendar: str) -> int | None:
    try:
        found, ticks = json.loads(base64.urlsafe_b64decode(token))
    except ValueError:
        return None
    return int(ticks) if found == calendar else None


def _mask(raw: Mapping[str, Any], mask: str | None) -> Json:
    if mask is None:
        return dict(raw)
    return {name: raw[name] for name in mask.split(",") if name in raw}


def _mask_list(whole: Json, mask: str | None) -> Json:
    if mask is None:
        return whole
    listed = re.search(r"items\(([^)]*)\)", mask)
    names = re.sub(r"\([^)]*\)", "", mask).split(",")
    shown = {name: whole[name] for name in names if name in whole}
    if listed:
        shown["items"] = [_mask(event, listed[1]) for event in whole["items"]]
    return shown


def _instant(given: Mapping[str, Any]) -> datetime:
    if given.get("date"):
        raise EventInvalid(f"This stand-in makes no all-day events: {date.fromisoformat(given['date'])}.")
    try:
        stamp = datetime.fromisoformat(given["dateTime"])
    except (KeyError, ValueError):
        raise EventInvalid("Missing start or end time.") from None
    if stamp.tzinfo:
        return stamp
    if "timeZone" not in given:
        raise EventInvalid("Missing time zone definition.")
    return stamp.replace(tzinfo=ZoneInfo(given["timeZone"]))


def _private(body: Json) -> dict[str, str]:
    private: dict[str, str] = body.get("extendedProperties", {}).get("private", {})
    return {key: value[:1024] for key, value in private.items() if len(key) <= 44}
