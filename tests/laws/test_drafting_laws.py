"""Laws for every draft of any day (S106, S121, S230, S231).

A draft takes a tenth of a second, so each law looks at fewer days than usual. The laws of the engine look at hundreds.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.tasks import DEEP, SHALLOW

from fateforger.drafting.day_draft import Day, LunchWish, Work
from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.model import Draft
from fateforger.planning.plan import resolve, resolve_strict
from fateforger.planning.timing import Busy, local_day, zone
from fateforger.planning.wire import read_plan, write_plan
from fateforger.quality.model import Criterion
from fateforger.quality.rubric import grade_plan
from fateforger.values import replace

ZONES = ["Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "Pacific/Auckland"]
PAUSE = 10
DAYS = [date(2026, 3, 2), date(2026, 3, 29), date(2026, 10, 25), date(2026, 3, 8), date(2026, 11, 1), date(2026, 4, 5)]


def draft(day: Day) -> Draft:
    """Return a draft after a short search; the laws of drafts hold for it too."""
    return day.draft(steps=TRIAL_STEPS, trial_steps=TRIAL_STEPS)


@st.composite
def days(draw: st.DrawFn) -> Day:
    day, tz = draw(st.sampled_from(DAYS)), draw(st.sampled_from(ZONES))
    first = local_day(day, zone(tz))[0].astimezone(UTC)

    def minute(low: int, high: int) -> datetime:
        return first + timedelta(minutes=draw(st.integers(low, high)))

    start = minute(0, 20 * 60)
    busy = tuple(
        Busy(begin, begin + timedelta(minutes=draw(st.integers(0, 300))))
        for begin in (minute(-600, 30 * 60) for _ in range(draw(st.integers(0, 12))))
    )
    works = tuple(
        Work(
            f"t{n}",
            f"Task {n}",
            draw(st.none() | st.integers(1, 400)),
            details=draw(st.sampled_from((DEEP, SHALLOW))),
            first=n == 0 and draw(st.booleans()),
        )
        for n in range(draw(st.integers(0, 9)))
    )
    lunch = LunchWish(f"lunch-{day.isoformat()}", minute(10 * 60, 15 * 60), draw(st.integers(0, 120)))
    end = start + timedelta(minutes=draw(st.integers(0, 14 * 60)))
    return Day(date=day, tz=tz, start=start, end=end, busy=busy, lunch=draw(st.none() | st.just(lunch)), works=works)


@given(days())
@examples(40)
def test_what_holds_for_every_draft(day: Day) -> None:
    """One draft for several laws, because it is the draft that takes time."""
    result = draft(day)
    check_order(day, result)
    check_tasks(day, result)
    check_wire(result)
    check_meetings(day, result)


def check_order(day: Day, result: Draft) -> None:
    """Check that no blocks overlap, and that none leaves the frame or hits a meeting."""
    blocks = sorted(resolve_strict(result.plan), key=lambda b: b.start.astimezone(UTC))
    for one, next_one in pairwise(blocks):
        assert one.end.astimezone(UTC) <= next_one.start.astimezone(UTC)
    for block in blocks:
        start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
        assert day.start <= start
        assert end <= day.end
        assert not [b for b in day.busy if b.start < end and start < b.end and b.start < b.end]


def check_tasks(day: Day, result: Draft) -> None:
    """Check that every task is placed in full or named."""
    placed: dict[str, int] = {}
    for block in resolve(result.plan):
        task = block.key.split("-")[0]
        placed[task] = placed.get(task, 0) + block.minutes
    for ours in ("lunch", "shutdown"):
        placed.pop(ours, None)
    named = [left.id for left in result.unplaced if not left.id.startswith(("lunch-", "shutdown-"))]
    assert sorted([*placed, *named]) == sorted(w.id for w in day.works)
    assert placed == {w.id: w.length for w in day.works if w.id in placed}
    assert all(left.reason for left in result.unplaced)


def check_wire(result: Draft) -> None:
    """Check that a draft survives the wire."""
    again = read_plan(write_plan(result.plan))
    assert [(b.key, b.start, b.end) for b in resolve(again)] == [(b.key, b.start, b.end) for b in resolve(result.plan)]


def check_meetings(day: Day, result: Draft) -> None:
    """Check that a draft's grade never counts a hit meeting."""
    if day.start < day.end:
        found = grade_plan(day.instance(), result.plan, result.unplaced).findings
        assert [f for f in found if f.criterion in {Criterion.MEETING, Criterion.OVERLAP}] == []


@given(days())
@examples(40)
def test_a_named_task_found_no_gap(day: Day) -> None:
    """A task left out of a full day does not fit into any gap of the grid in one piece with its pauses.

    Neither order nor any preference costs a task. Where a short search leaves one out, the search that people get
    counts.
    """
    full = replace(day, fills=True)
    assert not find_fitting(day, draft(full)) or not find_fitting(day, full.draft())


def find_fitting(day: Day, result: Draft) -> list[str]:
    """Return the tasks that were left out although the longest gap has room for them and their pauses."""
    taken = [(b.start.astimezone(UTC), b.end.astimezone(UTC)) for b in resolve(result.plan)]
    taken += [(b.start, b.end) for b in day.busy if b.start < b.end]
    edges = sorted([(day.start, day.start), *taken, (day.end, day.end)])
    at, longest = day.start, timedelta()
    for start, end in edges:
        longest = max(longest, min(start, day.end) - at)
        at = max(at, end)
    left_out = {left.id for left in result.unplaced}
    room = longest - timedelta(minutes=8 + 2 * PAUSE)
    return [work.id for work in day.works if work.id in left_out and timedelta(minutes=work.length) < room]


@given(days(), st.randoms(use_true_random=False))
@examples(25)  # two drafts each
def test_the_order_of_meetings_does_not_matter(day: Day, random: Random) -> None:
    """Looked for where there are meetings to shuffle and a day to draft."""
    within = [busy for busy in day.busy if day.start < busy.end and busy.start < day.end]
    assume(len(within) > 1)
    shuffled = random.sample(day.busy, len(day.busy))
    same = Day(day.date, day.tz, day.start, day.end, tuple(shuffled), day.lunch, day.works)
    assert draft(same) == draft(day)
