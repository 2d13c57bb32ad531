"""The state of one Exchange mailbox: calendars, events, versions, and a log of changes. Only rules, no protocol.

Written from the reference of Microsoft Graph v1.0. The rules: the server chooses ids; every change gives an event
another change key; a ``transactionId`` creates one event; a deleted event goes to the bin, where requests for events
do not find it. The documentation does not say how long a transaction id is remembered. Here it is remembered forever,
also when its event is deleted. Time does not pass: stamps count up from a fixed instant, so equal histories leave
equal mailboxes.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

Json = dict[str, Any]
_EPOCH = datetime(2026, 11, 21, tzinfo=UTC)
PRIMARY = "calendar-of-the-mailbox"
WINDOWS = {
    "UTC": "UTC",
    "W. Europe Standard Time": "Europe/Berlin",
    "Romance Standard Time": "Europe/Paris",
    "GMT Standard Time": "Europe/London",
    "Eastern Standard Time": "America/New_York",
    "Newfoundland Standard Time": "America/St_Johns",
    "Pacific SA Standard Time": "America/Santiago",
    "India Standard Time": "Asia/Kolkata",
    "Nepal Standard Time": "Asia/Kathmandu",
    "Lord Howe Standard Time": "Australia/Lord_Howe",
    "New Zealand Standard Time": "Pacific/Auckland",
    "Samoa Standard Time": "Pacific/Apia",
    "Egypt Standard Time": "Africa/Cairo",
    "Tokyo Standard Time": "Asia/Tokyo",
}
"""The zones that this server knows, by Microsoft's list of default time zones. It also takes IANA names."""

_TEXT = {"subject": "", "importance": "normal", "sensitivity": "normal", "showAs": "busy"}
_TAKEN = (
    *_TEXT, "body", "categories", "location", "isReminderOn", "reminderMinutesBeforeStart", "isAllDay", "recurrence",
    "attendees", "hideAttendees", "isOnlineMeeting", "transactionId",
)  # fmt: skip


class Refusal(Exception):
    """An answer with an error, as Graph writes it."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.body = {
            "error": {"code": code, "message": message, "innerError": {"request-id": "0", "date": "2026-11-21"}}
        }
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def not_found() -> Refusal:
    return Refusal(404, "ErrorItemNotFound", "The specified object was not found in the store.")


@dataclass
class Item:
    """An event. ``values`` are its properties by Graph's names, without its times; ``extended`` the single-value ones."""

    id: str
    calendar: str
    values: Json
    start: datetime | date
    end: datetime | date
    zones: tuple[str, str]
    created: datetime
    changed: datetime
    change: int
    extended: dict[str, str] = field(default_factory=dict)

    @property
    def etag(self) -> str:
        return f'W/"{self.change_key}"'

    @property
    def change_key(self) -> str:
        return hashlib.sha256(f"{self.id}/{self.change}".encode()).hexdigest()[:22] + "=="

    @property
    def regular_id(self) -> str:
        """The id that is given out without ``IdType="ImmutableId"``. It changes when the event moves."""
        return "AQMk" + hashlib.sha256(f"{self.id}/{self.calendar}".encode()).hexdigest()[:36]

    def span(self) -> tuple[datetime, datetime]:
        return instant(self.start), instant(self.end)


def instant(moment: datetime | date) -> datetime:
    """Return the instant of a time. An all-day event is compared in UTC here; the reference does not say how."""
    return moment if isinstance(moment, datetime) else datetime.combine(moment, time(), UTC)


Watch = Callable[[Item | None, Item | None], None]


@dataclass
class Mailbox:
    """A mailbox.

    ``watch`` gets every write through the protocol, with the event before and after. ``zones`` are the rules of the
    server's zones, which may differ from those of other programs.
    """

    time_zone: str = "Europe/Berlin"
    items: dict[str, Item] = field(default_factory=dict)
    bin: dict[str, Item] = field(default_factory=dict)
    calendars: dict[str, Json] = field(
        default_factory=lambda: {PRIMARY: {"name": "Calendar", "canEdit": True, "isDefaultCalendar": True}}
    )
    zones: dict[str, str] = field(default_factory=lambda: dict(WINDOWS))
    rewrite: Callable[[str], str] = lambda text: text
    watch: Watch = lambda before, after: None
    log: list[str] = field(default_factory=list)
    transactions: dict[str, tuple[str, Json]] = field(default_factory=dict)
    _ticks: int = 0
    _minted: int = 0

    def copy(self) -> Mailbox:
        """Return a copy of the mailbox without a watcher, for another course of events."""
        other = copy.copy(self)
        other.items, other.bin = copy.deepcopy(self.items), copy.deepcopy(self.bin)
        other.log, other.transactions = list(self.log), dict(self.transactions)
        other.calendars = copy.deepcopy(self.calendars)
        return other

    # --- what requests do ---

    def create(self, calendar: str, body: Json) -> Item:
        """Create an event. Raises :class:`Refusal`. A repeated request is answered with the event of the first one."""
        self._check_calendar(calendar)
        transaction = body.get("transactionId")
        if transaction in self.transactions:
            made, first = self.transactions[transaction]
            if first == body and made in self.items:
                return self.items[made]
            message = (
                "Your request can't be completed. The TransactionId specified in the request has already been used"
            )
            raise Refusal(409, "ErrorDuplicateTransactionId", f"{message} to create a different event.")
        item = self._build(calendar, body)
        if transaction is not None:
            self.transactions[transaction] = (item.id, copy.deepcopy(body))
        self._keep(item)
        self.watch(None, item)
        return item

    def get(self, calendar: str | None, event_id: str) -> Item:
        """Return a live event by either of its ids, or an occurrence of a series. Raises :class:`Refusal`."""
        item = self.items.get(event_id) or next((i for i in self.items.values() if i.regular_id == event_id), None)
        if item is None:
            known = (
                one for i in self.items.values() if i.values["type"] == "seriesMaster" for one in self.occurrences(i)
            )
            item = next((one for one in known if one.id == event_id), None)
        if item is None or (calendar is not None and item.calendar != calendar):
            raise not_found() if len(event_id) > 8 else Refusal(400, "ErrorInvalidIdMalformed", "Id is malformed.")
        return item

    def patch(self, calendar: str | None, event_id: str, body: Json, if_match: str | None) -> Item:
        before = self.get(calendar, event_id)
        self._check_match(before, if_match)
        self._check_calendar(before.calendar)
        if "transactionId" in body:
            raise Refusal(400, "ErrorPropertyValidationFailure", "TransactionId cannot be changed.")
        after = copy.deepcopy(before)
        self._apply(after, body)
        self._keep(after)
        self.watch(before, after)
        return after

    def delete(self, calendar: str | None, event_id: str, if_match: str | None) -> None:
        item = self.get(calendar, event_id)
        self._check_match(item, if_match)
        self._check_calendar(item.calendar)
        self._bin(item)
        self.watch(item, None)

    def find(self, calendar: str, name: str, value: str) -> list[Item]:
        """Return the events, but no occurrences, with that value of an extended property, in any case."""
        self._check_calendar(calendar, writing=False)
        mine = [item for item in self.items.values() if item.calendar == calendar and item.values["type"] in _LISTED]
        return [item for item in mine if item.extended.get(name, "").lower() == value.lower() and name in item.extended]

    def view(self, calendar: str, start: datetime, end: datetime) -> list[Item]:
        """Return the events of a calendar in a span of time, series expanded, by start."""
        self._check_calendar(calendar, writing=False)
        found: list[Item] = []
        for item in self.items.values():
            if item.calendar == calendar:
                found += self.occurrences(item) if item.values["type"] == "seriesMaster" else [item]
        inside = [item for item in found if item.span()[1] > start and item.span()[0] < end]
        return sorted(inside, key=lambda item: (item.span()[0], item.id))

    def occurrences(self, master: Item) -> list[Item]:
        """Return the occurrences of a daily or weekly series, at most a hundred of them."""
        pattern, bounds = master.values["recurrence"]["pattern"], master.values["recurrence"]["range"]
        step = timedelta(days=pattern.get("interval", 1) * (7 if pattern["type"] == "weekly" else 1))
        count = bounds.get("numberOfOccurrences", 100) if bounds["type"] == "numbered" else 100
        made = []
        for n in range(count):
            start = master.start + n * step
            values = {**master.values, "type": "occurrence", "seriesMasterId": master.id, "recurrence": None}
            one = copy.copy(master)
            one.id, one.values = f"{master.id}_{instant(start):%Y%m%dT%H%M%SZ}", values
            one.start, one.end, one.extended = start, master.end + n * step, dict(master.extended)
            made.append(one)
        return made

    # --- what the person does in Outlook ---

    def user_create(
        self, subject: str, start: datetime | date, end: datetime | date, *, event_id: str | None = None, **values: Any
    ) -> Item:
        """Create an event. ``values`` are properties by Graph's names; ``extended`` are single-value ones."""
        self._ticks += 1
        extended = values.pop("extended", {})
        calendar = values.pop("calendar", PRIMARY)
        item = Item(
            event_id or self._mint(),
            calendar,
            {**_new_values(), "subject": subject, **values},
            start,
            end,
            ("W. Europe Standard Time", "W. Europe Standard Time"),
            *(self._stamp(),) * 2,
            self._ticks,
            dict(extended),
        )
        item.values["isAllDay"] = not isinstance(start, datetime)
        return self._keep(item)

    def user_edit(self, event_id: str, **changes: Any) -> Item:
        """Change properties by Graph's names, ``start``, ``end`` (as instants or dates) or ``extended`` ones."""
        item = copy.deepcopy(self.get(None, event_id))
        item.start, item.end = changes.pop("start", item.start), changes.pop("end", item.end)
        item.extended |= changes.pop("extended", {})
        item.values |= changes
        item.values["isAllDay"] = not isinstance(item.start, datetime)
        if item.values.get("recurrence"):
            item.values["type"] = "seriesMaster"
        return self._keep(item)

    def user_delete(self, event_id: str) -> Item:
        return self._bin(self.get(None, event_id))

    def user_restore(self, event_id: str) -> Item:
        """Take an event back out of the bin."""
        return self._keep(self.bin.pop(event_id))

    def user_copy(self, event_id: str, *, new_id: str | None = None, by: timedelta = timedelta()) -> Item:
        """Duplicate an event with all its extended properties. The creating request is not copied."""
        item = self.get(None, event_id)
        values = {**copy.deepcopy(item.values), "transactionId": None}
        subject = values.pop("subject")
        start, end = item.start + by, item.end + by
        return self.user_create(subject, start, end, event_id=new_id, extended=item.extended, **values)

    def user_move(self, event_id: str, calendar: str) -> Item:
        """Put an event into another calendar. Its immutable id stays."""
        item = copy.deepcopy(self.get(None, event_id))
        item.calendar = calendar
        return self._keep(item)

    # --- inside ---

    def _build(self, calendar: str, body: Json) -> Item:
        if missing := {"start", "end"} - body.keys():
            raise Refusal(400, "ErrorPropertyValidationFailure", f"Missing {', '.join(sorted(missing))}.")
        self._ticks += 1
        epoch = datetime(1, 1, 1, tzinfo=UTC)
        item = Item(
            self._mint(), calendar, _new_values(), epoch, epoch, ("UTC", "UTC"), *(self._stamp(),) * 2, self._ticks
        )
        self._apply(item, body)
        return item

    def _apply(self, item: Item, body: Json) -> None:
        item.values |= copy.deepcopy({name: body[name] for name in _TAKEN if name in body})
        if "body" in body:
            item.values["body"] = {"contentType": "text", "content": self.rewrite(body["body"]["content"])}
        if body.get("recurrence"):
            item.values["type"] = "seriesMaster"
        for side, place in (("start", 0), ("end", 1)):
            if side in body:
                moment, name = self._read_point(body[side], all_day=item.values["isAllDay"])
                setattr(item, side, moment)
                item.zones = (name, item.zones[1]) if place == 0 else (item.zones[0], name)
        if item.span()[1] < item.span()[0]:
            raise Refusal(400, "ErrorPropertyValidationFailure", "The end of an event must be later than its start.")
        for entry in body.get("singleValueExtendedProperties", ()):
            if not entry["id"].startswith("String {"):
                raise Refusal(400, "ErrorInvalidProperty", f"Invalid extended property id {entry['id']}.")
            item.extended[entry["id"]] = entry["value"]

    def _read_point(self, point: Mapping[str, str], *, all_day: bool) -> tuple[datetime | date, str]:
        name = point["timeZone"]
        try:
            rules = ZoneInfo(self.zones.get(name, name))
            moment = datetime.fromisoformat(point["dateTime"])
        except (KeyError, ValueError, OSError):
            raise Refusal(400, "ErrorInvalidTimeZone", f"A valid TimeZone value must be specified: {name}.") from None
        if all_day:
            if moment.time() != time():
                raise Refusal(400, "ErrorPropertyValidationFailure", "An all-day event starts at midnight.")
            return moment.date(), name
        return moment.replace(tzinfo=rules, microsecond=0).astimezone(UTC), name

    def _keep(self, item: Item) -> Item:
        self._ticks += 1
        item.change, item.changed = self._ticks, self._stamp()
        self.items[item.id] = item
        self.log.append(item.id)
        return item

    def _bin(self, item: Item) -> Item:
        self.bin[item.id] = self.items.pop(item.id)
        self.log.append(item.id)
        return item

    def _check_calendar(self, calendar: str, *, writing: bool = True) -> None:
        if calendar not in self.calendars:
            raise Refusal(404, "ErrorFolderNotFound", "The specified folder could not be found in the store.")
        if writing and not self.calendars[calendar]["canEdit"]:
            raise Refusal(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")

    @staticmethod
    def _check_match(item: Item, if_match: str | None) -> None:
        if if_match not in {None, "*", item.etag}:
            message = "The send or update operation could not be performed because the change key passed in the request"
            raise Refusal(412, "ErrorIrresolvableConflict", f"{message} does not match the current one for the item.")

    def _stamp(self) -> datetime:
        return _EPOCH + timedelta(milliseconds=self._ticks)

    def _mint(self) -> str:
        self._minted += 1
        return f"AAkALg{self._minted:08d}"


_LISTED = ("singleInstance", "seriesMaster")


def _new_values() -> Json:
    """Return the fields of an untouched event, as Graph shows it."""
    return {
        **_TEXT,
        "body": {"contentType": "text", "content": ""},
        "categories": [],
        "location": {"displayName": ""},
        "attendees": [],
        "isReminderOn": True,
        "reminderMinutesBeforeStart": 15,
        "isAllDay": False,
        "isCancelled": False,
        "isOrganizer": True,
        "type": "singleInstance",
        "seriesMasterId": None,
        "recurrence": None,
        "responseStatus": {"response": "none", "time": "0001-01-01T00:00:00Z"},
        "onlineMeeting": None,
        "hasAttachments": False,
        "hideAttendees": False,
        "transactionId": None,
    }


def changed_since(mailbox: Mailbox, position: int) -> Iterable[str]:
    """Return the ids of the events that changed since a position of the log, each once."""
    return dict.fromkeys(mailbox.log[position:])
