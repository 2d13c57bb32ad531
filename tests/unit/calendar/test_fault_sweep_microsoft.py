"""The sweep over the Microsoft adapter: the faults of calls and commits that every calendar meets, and every fault of a
single request to Graph, before and after it takes effect."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.emulators.microsoft.emulator import Fault
from tests.factories.trouble import CALL_FAULTS
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.outlook_calendar import OutlookCalls, OutlookStore, open_outlook
from tests.unit.calendar.test_fault_sweep import FEWEST, Act, History, Trouble, all_troubles, name_failure, play

REQUEST_FAULTS = {
    "not reached": Fault("lost"),
    "answer lost": Fault("lost", after=True),
    "no answer in time": Fault("slow", after=True),
    "lands late": Fault("late"),
    "lands later": Fault("late", calls=2),
    "lands much later": Fault("late", calls=4),
    "throttled": Fault(429, retry_after=2),
    "busy": Fault(503, retry_after=3),
    "unavailable": Fault(503),
    "gateway": Fault(504, after=True),
    "server error": Fault(500, after=True),
    "conflict": Fault(412, code="ErrorIrresolvableConflict"),
    "login expired": Fault(401, code="InvalidAuthenticationToken"),
}
ACTS: tuple[Act, ...] = ("submit", "undo", "redo", "redo all")


@dataclass
class OutlookHistory(History):
    """A history on a calendar of Microsoft. A trouble at a ``request`` counts requests to Graph."""

    requests: int = 0
    requests_after: int = 0

    @property
    def outlook(self) -> OutlookCalls:
        assert isinstance(self.world.calendar, OutlookCalls)
        return self.world.calendar

    def open_calendar(self) -> GoogleCalendarFake:
        return open_outlook()

    def copy_content(self, other: History) -> None:
        assert isinstance(other, OutlookHistory)
        emulator = other.outlook.emulator
        emulator.mailboxes = {owner: box.copy() for owner, box in self.outlook.emulator.mailboxes.items()}
        emulator.requests = list(self.outlook.emulator.requests)
        other.requests = len(emulator.requests)
        other.outlook.store = OutlookStore(emulator.mailbox)

    async def suffer(self, troubles: tuple[Trouble, ...]) -> None:
        for _where, position, what in (trouble for trouble in troubles if trouble[0] == "request"):
            self.outlook.emulator.inject(REQUEST_FAULTS[what], at=self.requests + position)
        await super().suffer(tuple(trouble for trouble in troubles if trouble[0] != "request"))
        self.requests_after = len(self.outlook.emulator.requests)


@pytest.mark.parametrize("act", ACTS)
async def test_every_single_fault_of_a_call_or_commit(act: Act) -> None:
    """S310, P1-P6, P11, P18, P19"""
    prepared = await OutlookHistory(act, "conditional").prepare()
    troubles = await all_troubles(prepared, CALL_FAULTS)
    for trouble in troubles:
        with name_failure(act, trouble):
            await play(prepared, (trouble,))
    assert len(troubles) >= FEWEST


@pytest.mark.parametrize("act", ACTS)
async def test_every_single_fault_of_a_request(act: Act) -> None:
    """S310, P1-P6, P11, P18, P19: a program without an answer finds out the outcome of its write."""
    prepared = await OutlookHistory(act, "conditional").prepare()
    smooth = await play(prepared)
    for position in range(smooth.requests_after - smooth.requests + 2):
        for what in REQUEST_FAULTS:
            with name_failure(act, ("request", position, what)):
                await play(prepared, (("request", position, what),))


@pytest.mark.parametrize("act", ["submit", "undo"])
async def test_pairs_of_faults_of_requests(act: Act) -> None:
    """S310, P1-P6, P11, P18, P19: of those that leave it unknown whether a write took effect."""
    prepared = await OutlookHistory(act, "conditional").prepare()
    smooth = await play(prepared)
    places = range(smooth.requests_after - smooth.requests + 2)
    deadly = ("answer lost", "lands later")
    for first in places:
        for second in (place for place in places if place > first):
            for one in deadly:
                for other in deadly:
                    pair = (("request", first, one), ("request", second, other))
                    with name_failure(act, *pair):
                        await play(prepared, pair)
