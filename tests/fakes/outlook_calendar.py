"""The Microsoft adapter over the emulator, in the place of the fake of Google.

It has the same faults at the same calls, and also faults of single requests to Graph. A person's actions and the
contents of the calendar have the names of :class:`~tests.fakes.google_store.GoogleStore`, so that the sweep and the
soak judge both alike.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.emulators.microsoft.graph import Preferences, render
from tests.emulators.microsoft.mailbox import Item, Mailbox
from tests.factories.microsoft import find_item, open_over
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import EventMissing, GoogleStore

from fateforger.adapters.microsoft.wire import CATEGORIES, ID_PROPERTY, MARK_PROPERTY, read_event
from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import CalendarTraits, Outcome, Write

T = TypeVar("T")
_PREFER = Preferences(immutable=True, text=True)
_OURS = frozenset({ID_PROPERTY, MARK_PROPERTY})


class OutlookStore(GoogleStore):
    """A mailbox in the words of Google's store. Its events are as the adapter reads them."""

    def __init__(self, mailbox: Mailbox, time_zone: str = "Europe/Berlin") -> None:
        super().__init__(time_zone)
        self.mailbox = mailbox
        self._images: dict[tuple[str, int, bool], EventImage] = {}
        self._first: dict[str, str] = {}

    @property
    def events(self) -> dict[str, EventImage]:
        """All events, also deleted ones."""
        gone = [(item, True) for item in self.mailbox.bin.values()]
        images = [
            self.show(item, gone=dead) for item, dead in [*gone, *((i, False) for i in self.mailbox.items.values())]
        ]
        return {image.id: image for image in images}

    @events.setter
    def events(self, value: dict[str, EventImage]) -> None:
        assert not value, "the mailbox holds the events"

    def show(self, item: Item, *, gone: bool = False) -> EventImage:
        """Return the event under its id of the port. A second event with that id is shown under its own id."""
        place = (item.id, item.change, gone)
        if place not in self._images:
            image = read_event(render(item, self.mailbox, _PREFER, _OURS))
            if self._first.setdefault(image.id, item.id) != item.id:
                image = image.model_copy(update={"id": item.id})
            self._images[place] = image.model_copy(update={"status": "cancelled"}) if gone else image
        return self._images[place]

    def user_create(
        self,
        summary: str = "Dentist",
        *,
        start: datetime | date,
        end: datetime | date,
        event_id: str | None = None,
        **more: Any,
    ) -> EventImage:
        values = self._to_graph(None, more)
        return self.show(self.mailbox.user_create(summary, start, end, event_id=event_id, **values))

    def user_edit(self, event_id: str, **changes: Any) -> EventImage:
        item = self._find(event_id)
        return self.show(self.mailbox.user_edit(item.id, **self._to_graph(item, changes)))

    def user_delete(self, event_id: str) -> EventImage:
        return self.show(self.mailbox.user_delete(self._find(event_id).id), gone=True)

    def user_restore(self, event_id: str) -> EventImage:
        found = next(item.id for item in self.mailbox.bin.values() if self.show(item, gone=True).id == event_id)
        return self.show(self.mailbox.user_restore(found))

    def user_copy(self, event_id: str, *, by: timedelta = timedelta()) -> EventImage:
        return self.show(self.mailbox.user_copy(self._find(event_id).id, by=by))

    def _find(self, event_id: str) -> Item:
        image = self.events.get(event_id)
        if image is None or image.gone:
            raise EventMissing(event_id)
        return find_item(self.mailbox, event_id)

    def _to_graph(self, item: Item | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return properties by Graph's names, from fields of an image and Google's names of the others."""
        values: dict[str, Any] = {}
        for name, value in given.items():
            match name:
                case "summary":
                    values["subject"] = value
                case "description":
                    values["body"] = {"contentType": "text", "content": value}
                case "color_id":
                    others = (
                        [] if item is None else [c for c in item.values["categories"] if c not in CATEGORIES.values()]
                    )
                    values["categories"] = [*others, *([] if value is None else [CATEGORIES[value]])]
                case "busy":
                    values["showAs"] = "busy" if value else "free"
                case "organized_by_me":
                    values["isOrganizer"] = value
                case "properties":
                    values["extended"] = {MARK_PROPERTY: json.dumps(value, ensure_ascii=False, sort_keys=True)}
                case "series_id":
                    values |= {"type": "occurrence", "seriesMasterId": value}
                case "extras":
                    values |= _extras_to_graph(item, value)
                case _:
                    values[name] = value
        return values


def _extras_to_graph(item: Item | None, extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that only Outlook has, in place of Google's own parts."""
    values: dict[str, Any] = {}
    for name, value in extras.items():
        match name:
            case "attendees":
                guests = [{"emailAddress": {"address": one["email"]}, "type": "required"} for one in value]
                values["attendees"] = guests
            case "location":
                values["location"] = {"displayName": value}
            case "reminders":
                minutes = value["overrides"][0]["minutes"]
                values |= {"isReminderOn": True, "reminderMinutesBeforeStart": minutes}
            case "visibility":
                values["sensitivity"] = value
            case "hangoutLink":
                values["onlineMeeting"] = {"joinUrl": value}
            case "guestsCanModify" | "attachments":
                values["importance"] = "high" if name == "guestsCanModify" else "low"
            case "source":
                values["categories"] = [*(item.values["categories"] if item else ()), value["title"]]
            case _:
                raise AssertionError(f"Outlook has no {name}")
    return values


class OutlookCalls(GoogleCalendarFake):
    """The calls of the port, carried out by the adapter. ``emulator`` is what it talks to."""

    emulator: MicrosoftEmulator

    def open(self, emulator: MicrosoftEmulator) -> None:
        self.emulator = emulator
        self.adapter = open_over(emulator, key=self._key, time_zone=self.store.time_zone)

    @property
    def traits(self) -> CalendarTraits:
        return self.adapter.traits

    def restart(self) -> None:
        """Restart the program, which remembers nothing."""
        self.open(self.emulator)

    def calm(self) -> None:
        super().calm()
        self.emulator.calm()

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        def effect() -> tuple[EventImage, ...]:
            return run_now(self.adapter.window(start, end))

        return await self._read("window", None, {"start": start, "end": end}, effect)

    async def get(self, event_id: str) -> EventImage | None:
        return await self._read("get", event_id, {}, lambda: run_now(self.adapter.get(event_id)))

    def _carry_out(self, write: Write) -> Outcome:
        return run_now(self.adapter.write(write))


def open_outlook(key: str = "fake/outlook") -> OutlookCalls:
    """Open an empty calendar of Microsoft, behind the adapter."""
    emulator = MicrosoftEmulator()
    calendar = OutlookCalls(OutlookStore(emulator.mailbox), key=key, conditional_write=True)
    calendar.open(emulator)
    return calendar


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """Carry out work that never waits, as the emulator does not: in one step, also inside another task."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise AssertionError("the adapter waits for something")
