"""Laws for every plan and patch (S66, S67, S68, S231, P14)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from fateforger.errors import PatchInvalid, PlanInvalid
from fateforger.planning.patch import AddBlocks, MoveBlock, Op, Patch, RemoveBlock, ReplaceAll, UpdateBlock, apply
from fateforger.planning.plan import ET, TBEvent, TBPlan, resolve, resolve_strict
from fateforger.planning.timing import AfterPrevious, FixedStart, FixedWindow, instant_of, local_day
from fateforger.planning.wire import read_plan, to_keys, to_wire, write_plan

ZONES = [
    "Europe/Amsterdam",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "UTC",
    "Africa/Casablanca",
]
DAYS = st.dates(date(2020, 1, 1), date(2030, 12, 31)) | st.sampled_from(
    [
        date(2026, 3, 29),
        date(2026, 10, 25),
        date(2026, 3, 8),
        date(2026, 11, 1),
        date(2026, 4, 5),
        date(2026, 10, 4),
        date(2011, 12, 30),
    ]
)


@st.composite
def plans(draw: st.DrawFn, *, min_size: int = 0) -> TBPlan:
    """Draw valid plans: an anchored chain in time order, some blocks following others, some in the background."""
    count = draw(st.integers(min_size, 8))
    minute = draw(st.integers(0, 300))
    events: list[TBEvent] = []
    for number in range(count):
        minutes = draw(st.integers(5, 120))
        follows = number > 0 and draw(st.booleans())
        minute += 0 if follows else draw(st.integers(0, 60))
        timing = (
            AfterPrevious(duration=timedelta(minutes=minutes))
            if follows
            else FixedStart(start=time(minute // 60, minute % 60), duration=timedelta(minutes=minutes))
        )
        minute += minutes
        assume(minute < 24 * 60 - 180)
        events.append(
            TBEvent(
                name=f"Block {number}",
                type=draw(st.sampled_from([e for e in ET if e is not ET.BACKGROUND])),
                timing=timing,
            )
        )
    return TBPlan(date=date(2026, 3, 2), tz=draw(st.sampled_from(ZONES)), events=tuple(events))


@st.composite
def patches(draw: st.DrawFn, plan: TBPlan) -> Patch:
    keys = [e.block_key for e in plan.events]
    ops: list[Op] = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["add", "remove", "update", "move", "replace"] if keys else ["add", "replace"]))
        fresh = TBEvent(
            name=f"New {number}",
            type=ET.HABIT,
            timing=FixedStart(start=time(22, 10 * number), duration=timedelta(minutes=10)),
            key=f"new{number}",
        )
        if kind == "add":
            ops.append(AddBlocks(events=(fresh,), after=draw(st.sampled_from([None, *keys]))))
            keys.append(f"new{number}")
        elif kind == "replace":
            ops.append(ReplaceAll(events=(fresh,)))
            keys = [f"new{number}"]
        else:
            key = draw(st.sampled_from(keys))
            if kind == "remove":
                ops.append(RemoveBlock(key=key))
                keys.remove(key)
            elif kind == "update":
                ops.append(
                    UpdateBlock(
                        key=key,
                        name=draw(st.none() | st.just("Other")),
                        description=draw(st.none() | st.sampled_from(["", "notes", "zeile\nzwei", "日本"])),
                    )
                )
            else:
                ops.append(MoveBlock(key=key, after=draw(st.sampled_from([None, *[k for k in keys if k != key]]))))
    return Patch(ops=tuple(ops))


@given(st.data())
def test_a_patch_then_its_inverse_is_the_plan_again(data: st.DataObject) -> None:
    """S68"""
    plan = data.draw(plans())
    patch = data.draw(patches(plan))
    try:
        applied = apply(plan, patch)
    except (PlanInvalid, PatchInvalid):
        assume(False)  # noqa: FBT003  hypothesis' own way of saying it
        return
    assert apply(applied.plan, applied.inverse).plan == plan


@given(st.data())
def test_keys_to_positions_and_back_is_the_same_patch(data: st.DataObject) -> None:
    """K8"""
    plan = data.draw(plans(min_size=1))
    patch = data.draw(patches(plan))
    assert to_keys(plan, to_wire(plan, patch)) == patch


@given(plans())
def test_the_wire_form_is_lossless(plan: TBPlan) -> None:
    """K8, S64"""
    assert read_plan(write_plan(plan)) == plan


@given(plans())
def test_resolved_blocks_are_ordered_apart_and_as_long_as_asked(plan: TBPlan) -> None:
    """S66, S67"""
    resolved = resolve_strict(plan)
    for block in resolved:
        timing = block.event.timing
        assert not isinstance(timing, FixedWindow)
        assert block.duration == timing.duration
    for first, second in pairwise(resolved):
        assert first.end.astimezone(UTC) <= second.start.astimezone(UTC)


@given(DAYS, st.sampled_from(ZONES), st.times(), st.integers(1, 600))
def test_every_start_is_a_real_instant_and_durations_are_elapsed_time(
    day: date, tz: str, start: time, minutes: int
) -> None:
    """S231, P14: over all zones, gaps and folds, no emitted end is before its start."""
    clock = start.replace(second=0, microsecond=0, tzinfo=None, fold=0)
    plan = TBPlan(
        date=day,
        tz=tz,
        events=(
            TBEvent(name="X", type=ET.DEEP_WORK, timing=FixedStart(start=clock, duration=timedelta(minutes=minutes))),
        ),
    )
    (block,) = resolve(plan)
    assert block.duration == timedelta(minutes=minutes)
    assert block.start.astimezone(UTC).astimezone(ZoneInfo(tz)) == block.start
    again = datetime.fromisoformat(block.start.isoformat())
    assert again.astimezone(UTC) == block.start.astimezone(UTC)


@given(DAYS, st.sampled_from(ZONES))
def test_local_days_follow_each_other_without_gap(day: date, tz: str) -> None:
    """S231: 23, 24 and 25 hour days tile the time line."""
    zone = ZoneInfo(tz)
    _, end = local_day(day, zone)
    start, _ = local_day(day + timedelta(days=1), zone)
    assert start.astimezone(UTC) == end.astimezone(UTC)
    assert instant_of(start, zone) == start
