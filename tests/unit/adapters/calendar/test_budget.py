"""Never over so many requests to Google a minute, and never a request more than a change needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.contracts.calendar_contract import fields, marker, owned, put
from tests.factories.days import Time, eleven_changes, engine_over, twelve_blocks
from tests.fakes.google_mcp import GoogleMcp, Says
from tests.fakes.google_tools import GoogleTools, OneCalendar
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.calendar import McpCalendar, RequestBudget, open_mcp_calendar
from fateforger.adapters.calendar.budget import MINUTE
from fateforger.adapters.calendar.limits import BUDGET_PATIENCE
from fateforger.commit import Limits
from fateforger.errors import CalendarUnreachable
from fateforger.ports import Done, Limited


@dataclass
class Seconds:
    """Time that passes when somebody sleeps."""

    passed: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed += seconds


def of(most: int | None, time: Seconds) -> RequestBudget:
    return RequestBudget(most, now=time, sleep=time.sleep)


# --- counting ---


@example([(0.0, 1, 0.002), (2.0, 1, 6.658977416953498), (1.024895020326566, 3, 1.1435930055644041), (1.002, 3, 0.0)])
@given(
    calls=st.lists(
        st.tuples(st.floats(0, 30), st.integers(1, 3), st.floats(0, 10)),
        max_size=80,
    )
)
def test_no_minute_holds_more_than_allowed(calls: list[tuple[float, int, float]]) -> None:
    """Each call comes some time after the one before, costs so much and takes so long, one after another; its
    requests arrive at its very end or at its very beginning, whichever is worse."""
    time = Seconds()
    budget = of(7, time)
    arrived: list[tuple[float, float, int]] = []
    for gap, cost, length in calls:
        time.passed += gap
        time.passed += budget.wait_for(cost)
        assert budget.wait_for(cost) == 0
        begun = time.passed
        with budget.spending(cost):
            time.passed += length
        arrived.append((begun, time.passed, cost))
    for _, first, _ in arrived:
        inside = [cost for begun, ended, cost in arrived if ended >= first and begun < first + MINUTE - 1e-6]
        assert sum(inside) <= 7


def test_what_is_under_way_counts() -> None:
    time = Seconds()
    budget = of(4, time)
    with budget.spending(3):
        assert (budget.wait_for(1), budget.wait_for(2)) == (0, MINUTE)
        time.passed = 5
    assert (budget.wait_for(1), budget.wait_for(2)) == (0, MINUTE)
    time.passed = 64
    assert budget.wait_for(2) == 1
    time.passed = 65
    assert budget.wait_for(4) == 0


def test_without_a_limit_nothing_waits() -> None:
    assert of(None, Seconds()).wait_for(10_000) == 0


# --- calls ---


@dataclass
class Limited3:
    """A calendar whose login may cost six requests a minute."""

    server: GoogleMcp
    calendar: McpCalendar
    time: Seconds


@pytest.fixture
async def small() -> AsyncIterator[Limited3]:
    time = Seconds()
    async with (
        GoogleMcp() as server,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=of(6, time))) as calendar,
    ):
        yield Limited3(server, calendar, time)


async def test_a_write_never_waits_for_itself(small: Limited3) -> None:
    """Whoever holds the lease waits, and is told how long."""
    created = await put(small.calendar)
    assert isinstance(await small.calendar.update(owned(), {"summary": "1"}, marker(), seen=created), Done)
    small.time.passed = 20
    assert await small.calendar.update(owned(), {"summary": "2"}, marker(), seen=created) == Limited(MINUTE - 20)
    assert small.time.slept == []
    assert len(small.server.asked("update-event")) == 1
    small.time.passed = 60
    assert isinstance(await small.calendar.update(owned(), {"summary": "2"}, marker(), seen=created), Done)


async def test_a_look_before_a_write_does_not_wait_either(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, owned(n))
    assert await small.calendar.delete(owned()) == Limited(MINUTE)
    assert (small.time.slept, small.server.asked("get-event")) == ([], [])


async def test_a_question_waits_a_little(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, owned(n))
    small.time.passed = MINUTE - BUDGET_PATIENCE
    assert await small.calendar.get(owned()) is not None
    assert small.time.slept == [BUDGET_PATIENCE]


async def test_a_question_that_would_wait_long_is_refused(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, owned(n))
    small.time.passed = 12.5
    with pytest.raises(CalendarUnreachable, match="very often in the last minute; please try again in 48 sec") as said:
        await small.calendar.window(fields().start, fields().end)
    assert said.value.retry_after == 47.5
    assert small.server.asked("list-events") == []


async def test_what_the_server_asks_again_is_counted(small: Limited3) -> None:
    """Four tries of one read."""
    small.server.inject(Says("MCP error -32603: Google API server error: Service Unavailable"), tool="get-event")
    with pytest.raises(CalendarUnreachable):
        await small.calendar.get(owned())
    assert isinstance(await small.calendar.create(owned(1), fields(), marker()), Done)
    assert isinstance(await small.calendar.create(owned(2), fields(), marker()), Done)
    assert isinstance(await small.calendar.create(owned(3), fields(), marker()), Limited)


async def test_calendars_of_one_login_share_it(small: Limited3) -> None:
    """The second one costs a question for the login's name as well."""
    small.server.tools.calendars["team@example.com"] = OneCalendar(small.server.tools.calendars["primary"].store)
    for n in range(4):
        await put(small.calendar, owned(n))
    beside = small.calendar.beside("team@example.com")
    assert isinstance(await beside.create(owned(7), fields(), marker()), Done)
    assert isinstance(await small.calendar.create(owned(8), fields(), marker()), Limited)


# --- what a commit costs ---


async def test_a_commit_costs_google_no_more_than_it_must() -> None:
    """Read the day; 3 for each update, 1 for each create, a look and the deletion; read the day again."""
    tools = GoogleTools()
    async with (
        GoogleMcp(tools) as server,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin")) as calendar,
    ):
        engine = engine_over(calendar, MemoryJournal(), Time())
        await engine.submit_plan(twelve_blocks(), cause="1")
        before = tools.spent
        result = await engine.submit_plan(eleven_changes(), cause="2")
        assert (result.updated, result.created, result.deleted) == (8, 2, 1)
        assert tools.spent - before == 1 + 8 * 3 + 2 * 1 + 2 + 1
        before = tools.spent
        await engine.submit_plan(eleven_changes(), cause="3")
        assert tools.spent - before == 1


async def test_a_commit_larger_than_a_minute_goes_on_when_it_may() -> None:
    """P18: the engine waits, keeping its lease, and nothing is asked of Google too early."""
    time = Time()
    begun = time.instant
    tools = GoogleTools()

    def now() -> float:
        return (time.instant - begun).total_seconds()

    budget = RequestBudget(10, now=now, sleep=time.sleep)
    async with (
        GoogleMcp(tools) as server,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=budget)) as calendar,
    ):
        engine = engine_over(calendar, MemoryJournal(), time, limits=Limits(concurrency=1))
        result = await engine.submit_plan(twelve_blocks(), cause="1")
    assert (result.status, result.created, tools.spent) == ("changed", 12, 14)
    assert time.slept == [15.0] * 4
