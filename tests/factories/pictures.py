"""Days to draw, of every kind."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from tests.factories.days import DAY, TZ, at, block, plan_of

from fateforger.planning.plan import ET
from fateforger.session.cards import DayView, Meeting, PlannedBlock, planned_blocks

TITLES = st.one_of(
    st.text(min_size=0, max_size=40),
    st.sampled_from(
        (
            "Lunch",
            "W" * 300,
            "שלום עולם, פגישה ארוכה",
            "اجتماع الفريق",
            "👩‍💻🚀 Ship",
            "日本語のタイトル",
            "<b>&\x00\x07\u2028",
            " ",
        )
    ),
)
DAYS = st.sampled_from((date(2026, 3, 2), date(2026, 3, 29), date(2026, 10, 25)))


def before_and_after() -> DayView:
    """Return a day with meetings and with blocks that were moved, shortened, added and removed."""
    kept = block("a", "09:00", 90, name="Write the report")
    before = plan_of(
        kept,
        block("b", "10:45", 30, name="Answer mail", kind=ET.SHALLOW_WORK),
        block("c", "13:15", 105, name="Design review"),
        block("x", "17:00", 30, name="Old thing", kind=ET.HABIT),
    )
    after = plan_of(
        kept,
        block("b", "16:00", 30, name="Answer mail", kind=ET.SHALLOW_WORK),
        block("c", "13:15", 75, name="Design review"),
        block("n", "17:30", 30, name="Plan tomorrow", kind=ET.PLAN_REVIEW),
    )
    return DayView(
        date=DAY,
        tz=TZ,
        start=at("09:00"),
        end=at("18:00"),
        blocks=planned_blocks(after),
        before=planned_blocks(before),
        meetings=(
            Meeting(title="Standup", start=at("10:30"), end=at("10:45")),
            Meeting(title="Demo", start=at("11:00"), end=at("12:00"), busy=False, calendar="Team"),
        ),
    )


@st.composite
def views(draw: Any) -> DayView:
    """Draw any day: overlapping and hostile entries, days of 23 and 25 hours, changes, nights."""
    day = draw(DAYS)
    blocks = draw(st.lists(blocks_on(day), max_size=12, unique_by=lambda one: one.key))
    before = draw(st.none() | st.lists(blocks_on(day), max_size=8, unique_by=lambda one: one.key))
    framed = draw(st.booleans())
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return DayView(
        date=day,
        tz="Europe/Amsterdam",
        start=midnight + timedelta(hours=8) if framed else None,
        end=midnight + timedelta(hours=17) if framed else None,
        blocks=tuple(blocks),
        before=None if before is None else tuple(before),
        meetings=tuple(draw(st.lists(meetings_on(day), max_size=8))),
        all_day=tuple(draw(st.lists(TITLES, max_size=3))),
        now=draw(st.none() | st.just(midnight + timedelta(hours=11))),
    )


@st.composite
def blocks_on(draw: Any, day: date) -> PlannedBlock:
    start, end = draw(spans_on(day, longest=600))
    key = draw(st.sampled_from([f"k{n}" for n in range(30)]))
    return PlannedBlock(key=key, title=draw(TITLES), kind=draw(st.sampled_from(ET)), start=start, end=end)


@st.composite
def meetings_on(draw: Any, day: date) -> Meeting:
    start, end = draw(spans_on(day, longest=3000))
    return Meeting(title=draw(TITLES), start=start, end=end, busy=draw(st.booleans()))


@st.composite
def spans_on(draw: Any, day: date, *, longest: int) -> tuple[datetime, datetime]:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=draw(st.integers(-120, 1500)))
    return start, start + timedelta(minutes=draw(st.integers(1, longest)))
