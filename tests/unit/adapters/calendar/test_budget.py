"""The program stays within its limit of requests to Google a minute, and never sends more than a change needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.contracts.calendar_contract import fields, make_owned_id, marker, put
from tests.factories.budgets import MINUTE, Seconds, budget_in, budget_of
from tests.factories.days import Time, block, eleven_changes, engine_over, plan_of, twelve_blocks
from tests.fakes.google_mcp import ErrorText, GoogleMcp
from tests.fakes.google_tools import GoogleTools, OneCalendar
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.calendar.budget import WHY_WAIT, Allowance, NoBudget
from fateforger.adapters.calendar.calendars import McpCalendar, open_mcp_calendar
from fateforger.adapters.calendar.connection import BUDGET_PATIENCE
from fateforger.calendar.access import Limits, Wait
from fateforger.calendar.ports import Create, Delete, Done, Limited, RequestLimit, Update
from fateforger.errors import CalendarUnreachable

# --- counting ---


@example([(0.0, 1, 0.002), (2.0, 1, 6.658977416953498), (1.024895020326566, 3, 1.1435930055644041), (1.002, 3, 0.0)])
@given(
    calls=st.lists(
        st.tuples(st.floats(0, 30), st.integers(1, 3), st.floats(0, 10)),
        max_size=40,
    )
)
async def test_no_minute_holds_more_than_allowed(calls: list[tuple[float, int, float]]) -> None:
    """Each call comes some time after the one before, costs so much and takes so long, one after another; its
    requests arrive at its very end or at its very beginning, whichever is worse."""
    time = Seconds()
    arrived: list[tuple[float, float, int]] = []
    async with budget_of(7, time) as budget:
        for gap, cost, length in calls:
            time.passed += gap
            while not isinstance(allowance := await budget.reserve(cost), Allowance):
                assert allowance > 0
                time.passed += allowance
            begun = time.passed
            with allowance:
                for _ in range(cost):
                    allowance.pay("get-event")
                    allowance.count_answer("get-event")
                time.passed += length
            arrived.append((begun, time.passed, cost))
    for _, first, _ in arrived:
        inside = [cost for begun, ended, cost in arrived if ended >= first and begun < first + MINUTE - 1e-3]
        assert sum(inside) <= 7


async def test_what_is_under_way_counts() -> None:
    time = Seconds()
    async with budget_of(4, time) as budget:
        under_way = await budget.reserve(3)
        assert isinstance(under_way, Allowance)
        with under_way:
            under_way.pay("update-event")
            assert await budget.reserve(2) == MINUTE
            time.passed = 5
            under_way.count_answer("update-event")
        assert await budget.reserve(2) == MINUTE
        time.passed = 64
        assert await budget.reserve(2) == 1
        time.passed = 65
        assert isinstance(await budget.reserve(4), Allowance)


async def test_what_was_not_needed_is_handed_back() -> None:
    """An event that is gone is looked for and not deleted."""
    async with budget_of(4, Seconds()) as budget:
        reserved = await budget.reserve(4)
        assert isinstance(reserved, Allowance)
        with reserved:
            reserved.pay("get-event")
            reserved.count_answer("get-event")
        assert isinstance(await budget.reserve(3), Allowance)


async def test_what_was_not_answered_counts_until_it_must_be_over() -> None:
    """The time at which its requests arrive is unknown."""
    time = Seconds()
    async with budget_of(1, time) as budget:
        lost = await budget.reserve(1)
        assert isinstance(lost, Allowance)
        with lost:
            lost.pay("create-event")
        time.passed = MINUTE + 30
        assert await budget.reserve(1) == pytest.approx(15)


async def test_without_a_budget_nothing_waits() -> None:
    assert isinstance(await NoBudget().reserve(10_000), Allowance)


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
        budget_of(6, time, background=2, kept=3) as budget,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=budget)) as calendar,
    ):
        yield Limited3(server, calendar, time)


async def test_a_write_never_waits_for_itself(small: Limited3) -> None:
    """The holder of the lease waits, and learns for how long."""
    created = await put(small.calendar)
    assert isinstance(
        await small.calendar.write(Update(make_owned_id(), {"summary": "1"}, marker(), seen=created)), Done
    )
    small.time.passed = 20
    assert await small.calendar.write(Update(make_owned_id(), {"summary": "2"}, marker(), seen=created)) == Limited(
        MINUTE - 20, WHY_WAIT
    )
    assert small.time.slept == []
    assert len(small.server.list_calls("update-event")) == 1
    small.time.passed = 60
    assert isinstance(
        await small.calendar.write(Update(make_owned_id(), {"summary": "2"}, marker(), seen=created)), Done
    )


async def test_a_look_before_a_write_does_not_wait_either(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, make_owned_id(n))
    assert await small.calendar.write(Delete(make_owned_id())) == Limited(MINUTE, WHY_WAIT)
    assert (small.time.slept, small.server.list_calls("get-event")) == ([], [])


async def test_a_deletion_looks_only_when_it_may_go_on(small: Limited3) -> None:
    """S91: no look is paid for and thrown away: look and deletion are reserved together."""
    for n in range(5):
        await put(small.calendar, make_owned_id(n))
    assert await small.calendar.write(Delete(make_owned_id())) == Limited(MINUTE, WHY_WAIT)
    assert small.server.list_calls("get-event") == []
    small.time.passed = 60
    assert await small.calendar.write(Delete(make_owned_id())) == Done(None)
    assert len(small.server.list_calls("get-event")) == 1


async def test_an_update_looks_only_when_it_may_go_on(small: Limited3) -> None:
    for n in range(3):
        await put(small.calendar, make_owned_id(n))
    assert await small.calendar.write(Update(make_owned_id(), {"summary": "1"}, marker())) == Limited(MINUTE, WHY_WAIT)
    assert small.server.list_calls("get-event") == []


async def test_reads_in_the_background_leave_room(small: Limited3) -> None:
    """S200: what watches the calendar stops asking before a person has to wait."""
    watched = small.calendar.in_background()
    for _ in range(2):
        await watched.window(fields().start, fields().end)
    with pytest.raises(CalendarUnreachable) as said:
        await watched.window(fields().start, fields().end)
    assert (said.value.retry_after, small.time.slept) == (MINUTE, [])
    for n in range(4):
        assert isinstance(await small.calendar.write(Create(make_owned_id(n), fields(), marker())), Done)


async def test_a_question_waits_a_little(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, make_owned_id(n))
    small.time.passed = MINUTE - BUDGET_PATIENCE
    assert await small.calendar.get(make_owned_id()) is not None
    assert small.time.slept == [BUDGET_PATIENCE]


async def test_a_question_that_would_wait_long_is_refused(small: Limited3) -> None:
    for n in range(6):
        await put(small.calendar, make_owned_id(n))
    small.time.passed = 12.5
    with pytest.raises(CalendarUnreachable, match="very often in the last minute; please try again in 48 sec") as said:
        await small.calendar.window(fields().start, fields().end)
    assert said.value.retry_after == 47.5
    assert small.server.list_calls("list-events") == []


async def test_what_the_server_asks_again_is_counted(small: Limited3) -> None:
    """Four tries of one read."""
    small.server.inject(ErrorText("MCP error -32603: Google API server error: Service Unavailable"), tool="get-event")
    with pytest.raises(CalendarUnreachable):
        await small.calendar.get(make_owned_id())
    assert isinstance(await small.calendar.write(Create(make_owned_id(1), fields(), marker())), Done)
    assert isinstance(await small.calendar.write(Create(make_owned_id(2), fields(), marker())), Done)
    assert isinstance(await small.calendar.write(Create(make_owned_id(3), fields(), marker())), Limited)


async def test_calendars_of_one_login_share_it(small: Limited3) -> None:
    """The second one costs a question for the login's name as well."""
    small.server.tools.calendars["team@example.com"] = OneCalendar(small.server.tools.calendars["primary"].store)
    for n in range(4):
        await put(small.calendar, make_owned_id(n))
    beside = small.calendar.for_calendar("team@example.com")
    assert isinstance(await beside.write(Create(make_owned_id(7), fields(), marker())), Done)
    assert isinstance(await small.calendar.write(Create(make_owned_id(8), fields(), marker())), Limited)


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
    tools = GoogleTools()
    told: list[Wait] = []

    def hear(done: int, of: int, wait: Wait | None = None) -> None:
        del done, of
        told.extend(() if wait is None else (wait,))

    async with (
        GoogleMcp(tools) as server,
        budget_in(time, RequestLimit(10)) as budget,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=budget)) as calendar,
    ):
        engine = engine_over(calendar, MemoryJournal(), time, limits=Limits(concurrency=1))
        result = await engine.submit_plan(twelve_blocks(), cause="1", told=hear)
    assert (result.status, result.created, tools.spent) == ("changed", 12, 14)
    assert time.slept == [15.0] * 4
    assert told == [Wait(MINUTE, WHY_WAIT)]


async def test_a_commit_that_finds_the_budget_empty_waits_and_keeps_its_lease() -> None:
    """P18: also for its first read and its last."""
    time = Time()
    tools = GoogleTools()
    async with (
        GoogleMcp(tools) as server,
        budget_in(time, RequestLimit(13)) as budget,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=budget)) as calendar,
    ):
        for _ in range(13):
            await calendar.window(fields().start, fields().end)
        engine = engine_over(calendar, MemoryJournal(), time, limits=Limits(concurrency=1))
        result = await engine.submit_plan(twelve_blocks(), cause="1")
    assert (result.status, result.created, result.sentences) == (
        "changed",
        12,
        ("I added 12 blocks to your calendar.",),
    )
    assert tools.spent == 13 + 14
    assert time.slept == [15.0] * 8


async def test_undo_of_a_whole_day_costs_two_requests_a_block() -> None:
    """S82: read the day, look at each block and delete it, read the day again; nothing waits when the login was idle."""
    time = Time()
    tools = GoogleTools()
    plan = plan_of(*(block(f"k{n}", f"{8 + n // 6:02d}:{n % 6}0", 10) for n in range(40)))
    async with (
        GoogleMcp(tools) as server,
        budget_in(time) as budget,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", budget=budget)) as calendar,
    ):
        engine = engine_over(calendar, MemoryJournal(), time)
        await engine.submit_plan(plan, cause="1")
        assert tools.spent == 1 + 40 + 1
        undone = await engine.undo_last(cause="2")
    assert (undone.status, undone.deleted, time.slept) == ("undone", 40, [])
    assert tools.spent == 42 + 1 + 2 * 40 + 1
