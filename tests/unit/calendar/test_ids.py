"""Event ids: S73, S74, S237."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from tests.factories.days import DAY, TZ, block, plan_of
from tests.factories.paper import Paper, fields

from fateforger.calendar.decision import build_seed, list_minted, mint, next_generation, trace_seed
from fateforger.calendar.engine import build_desired_day, number_ops, plan_sync
from fateforger.calendar.event import OwnedId
from fateforger.calendar.model import Ledger, Snapshot

GOLDEN = "2026-03-02|Deep work|09:00:00|0"


def test_golden_ids() -> None:
    """S73"""
    start = datetime(2026, 3, 2, 9, 0, tzinfo=ZoneInfo(TZ))
    assert build_seed(DAY, "Deep work", start, 0) == GOLDEN
    assert mint(GOLDEN) == "fftbegff52j6cp2bel26mcm4218k5kth6t6g"
    assert mint(build_seed(DAY, "Deep work", start, 1)) == "fftbdvju221p6mds41j2d9dq5onsr7938g91"


def test_a_later_generation_appends_its_number() -> None:
    """S73"""
    assert mint(GOLDEN, 1) == mint(GOLDEN + "|1")
    assert mint(GOLDEN, 2) == mint(GOLDEN + "|2")
    assert mint(GOLDEN, 0) == mint(GOLDEN)


def test_a_plan_gets_the_golden_ids() -> None:
    """S73: the id depends on the name, the local start and the place in the plan, not on the key."""
    first = block("x", "09:00", name=" Deep work ")
    assert [op.event_id for op in Paper().plan(build_desired_day(plan_of(first))).ops] == [mint(GOLDEN)]
    second = Paper().plan(build_desired_day(plan_of(block("a", "07:00"), first)))
    assert second.ops[1].event_id == "fftbdvju221p6mds41j2d9dq5onsr7938g91"


@pytest.mark.parametrize(
    ("used", "taken", "generation"),
    [({}, set(), 0), ({GOLDEN: 0}, set(), 1), ({GOLDEN: 4}, set(), 5), ({}, {mint(GOLDEN), mint(GOLDEN, 1)}, 2)],
)
def test_a_used_id_is_not_used_again(used: dict[str, int], taken: set[str], generation: int) -> None:
    """S237"""
    assert next_generation(GOLDEN, used, taken) == generation


def test_all_ids_of_a_ledger() -> None:
    assert list_minted({GOLDEN: 1, "x": 0}) == {mint(GOLDEN), mint(GOLDEN, 1), mint("x")}


def test_an_id_is_traced_to_its_seed() -> None:
    """By the ledger; without one, by the name, start and a place in the plan."""
    of = fields("Deep work", 540)
    tz = ZoneInfo(TZ)
    assert trace_seed(mint("2026-03-02|a|b|1", 2), 2, {GOLDEN: 3, "2026-03-02|a|b|1": 2}, DAY, of, tz) == (
        "2026-03-02|a|b|1"
    )
    elsewhere = "2026-03-02|Deep work|09:00:00|17"
    assert trace_seed(mint(elsewhere), 0, {}, DAY, of, tz) == elsewhere
    assert trace_seed("fftb" + "0" * 32, 0, {}, DAY, of, tz) == GOLDEN


@pytest.mark.parametrize("bad", ["fftb_x", "fftb", "fftb" + "z" * 32, "fftb" + "0" * 32 + "_20250616T080000Z", "x"])
def test_what_is_no_id_of_ours(bad: str) -> None:
    """S75, S203: no write takes the id of a foreign event, and no confirmation can permit one."""
    assert not OwnedId.is_one(bad)
    with pytest.raises(ValueError, match="not the id of an event made by fateforger"):
        OwnedId(bad)


def test_an_id_that_is_visible_is_not_minted() -> None:
    """This holds even if the ledger does not know the id."""
    first = Paper().plan(day := build_desired_day(plan_of(block("b", "09:00", name="Deep work"))))
    assert [op.event_id for op in first.ops] == [mint(GOLDEN)]
    gone = Snapshot(day=date(2026, 3, 2), tz=TZ, events=(), fetched={mint(GOLDEN): None})
    again = plan_sync(day, gone, Ledger(), op_ids=number_ops("t"))
    assert [(op.event_id, op.generation) for op in again.ops] == [(mint(GOLDEN, 1), 1)]
