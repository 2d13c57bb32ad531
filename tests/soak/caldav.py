"""The adapter for CalDAV in the soak, with the real tools and a real server: the witness sees each PUT and DELETE."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Self

import httpx
from tests.fakes.caldav_calendar import CalDavStore, SimulatedCalDav, name_request
from tests.fakes.caldav_server import CalDavServer, StoredObject
from tests.fakes.google_calendar import CallFailure, Crash, Fault, LateWrite, LostAnswer, Race, Status, When
from tests.soak.days import Setting, as_given, as_html
from tests.soak.oracle import Oracle
from tests.soak.watched import LATEST, Clock, Delays, LateGoogleCalendar, WatchedStore, transaction_of

from caldav_mcp.content_lines import Component, line_name, read_lines
from fateforger.calendar.event import EventImage

FAULTS: tuple[Fault, ...] = (
    LostAnswer(), LostAnswer(), LateWrite(), LateWrite(2), LateWrite(3), CallFailure(), Status(401), Status(403), Status(412),
    Status(412, after=True), Status(429, retry_after=2), Status(429, retry_after=45), Status(500), Status(500, after=True),
    Status(502, after=True), Status(503, retry_after=40), Status(503, after=True), Status(507),
)  # fmt: skip
OURS = re.compile(r"DTSTART|DTEND|DURATION|SUMMARY|DESCRIPTION|COLOR|DTSTAMP|LAST-MODIFIED|SEQUENCE|X-FATEFORGER-.*")
"""Lines that the program may overwrite. Any other line of an event stays as it is, by any author."""
_HREF = re.compile(r"<(?:\w+:)?href>([^<]+)<")


class WatchedCollection(CalDavStore, WatchedStore):
    """Tells the witness every write through the protocol."""

    def __init__(self, server: CalDavServer, setting: Setting, truth: Oracle) -> None:
        CalDavStore.__init__(self, server, setting.tz)
        self.normalize = as_html if setting.html else as_given
        self.truth, self.deleting = truth, {}
        server.watch = self._tell

    def saw(self, paths: set[str]) -> None:
        """Note that the program read these objects."""
        self._witness.record_look([self.show(stored) for path, stored in self.server.objects.items() if path in paths])

    def _tell(self, before: StoredObject | None, after: StoredObject | None) -> None:
        was, now = (None if stored is None else self.show(stored) for stored in (before, after))
        if was is not None and (was.id not in self._witness.made or was.series_id is not None):
            self._witness.breach("foreign", f"{was.id} “{was.summary}” was written to")
        elif now is None:
            assert was is not None, "a deletion takes something away"
            self._witness.record_delete(self.deleting[was.id], was)
        elif was is None:
            self._witness.record_insert(_transaction(now), now)
        else:
            self._witness.record_patch(_transaction(now), was, now)
            assert before is not None
            assert after is not None
            if lost := _others(before) - _others(after):
                self._witness.breach("lost", f"“{now.summary}” lost the lines {sorted(lost)}")


def _transaction(image: EventImage) -> str:
    return transaction_of(image.properties["ffo"])


def _others(stored: StoredObject) -> set[str]:
    """Return the lines of the event that the program does not write, with each alarm as one."""
    event = next(part for part in read_lines(stored.text).components if part.name == "VEVENT")
    return {str(part) for part in event.parts if isinstance(part, Component) or not OURS.fullmatch(line_name(part))}


class LateCalDav(LateGoogleCalendar, SimulatedCalDav):
    """It is the request that lands late."""

    @classmethod
    async def over(cls, setting: Setting, truth: Oracle, key: str, clock: Clock) -> Self:
        folder = TemporaryDirectory(prefix="soak-")
        server = CalDavServer(Path(folder.name), "calendar", setting.habits, html=setting.html)
        store = WatchedCollection(server, setting, truth)
        calendar = cls(store, key=key, conditional_write=True)
        # A server of CalDAV forgets the names of deleted objects: what lands after the grace period of a write cannot be
        # told from an event that the person has brought back. docs/caldav.md says so.
        calendar.delays = Delays(calendar, store, clock, latest_create=LATEST)
        calendar.folder, calendar.kills, calendar.killed = folder, [], False
        calendar.open(server, clock.now, clock.sleep)
        await calendar.greet()
        return calendar

    folder: TemporaryDirectory[str]
    kills: list[Fault]
    killed: bool

    async def aclose(self) -> None:
        await super().aclose()
        self.folder.cleanup()

    async def travel(self, request: httpx.Request) -> httpx.Response:
        if self.killed:
            raise httpx.ConnectError("the program is dead")
        verb, event_id = name_request(request)
        with self.delays.noting(verb, str(event_id)):
            reply = await super().travel(request)
        if reply.is_success and request.method in {"GET", "REPORT"}:
            assert isinstance(self.store, WatchedCollection)
            self.store.saw({request.url.path, *(_HREF.findall(reply.text) if request.method == "REPORT" else ())})
        return reply

    def restart(self) -> None:
        super().restart()
        self.killed = False

    def trouble(self, rng: Random) -> str:
        met = [(self._arm(rng, fault), fault) for fault in rng.choices(FAULTS, k=rng.randint(1, 3))]
        return f"requests {met}"

    def arm_kill(self, act: Callable[[], None], rng: Random) -> str:
        """Let the program die right before or right after one of its next requests, also within one call."""
        when: When = rng.choice(("before", "after"))

        def kill() -> None:
            self.killed = True
            act()

        self.kills = [Race(kill, when), Crash(httpx.ConnectError("the program is dead"), when)]
        return f"will die {when} request {self._arm(rng, *self.kills)}"

    def _arm(self, rng: Random, *faults: Fault) -> str:
        """Let one of the next requests meet faults: one of the next writes, or any of them."""
        if rng.random() < 0.6:
            nth = rng.randrange(5)
            for fault in faults:
                self.inject(fault, verb="write", nth=nth)
            return f"write {nth}"
        at = len(self.calls) + rng.randrange(30)
        for fault in faults:
            self.inject(fault, at=at)
        return str(at)

    def disarm_kill(self) -> None:
        self._armed = [armed for armed in self._armed if armed.fault not in self.kills]
