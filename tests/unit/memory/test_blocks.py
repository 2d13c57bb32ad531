"""The constraints that a block breaks, and those that explain its place (S175, S196)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.factories.constraints import DAY, context_of, version_of

from fateforger.memory.applicability import Applicable, decide_applicability
from fateforger.memory.violations import BlockRelation, find_block_violations, find_reasons
from fateforger.planning.plan import Resolved, TBPlan, resolve

TZ = "Europe/Amsterdam"


def plan(*blocks: tuple[str, str, str, str]) -> tuple[Resolved, ...]:
    """Return blocks from (title, type, start, end); the title is the key."""
    events = [
        {"n": title, "t": kind, "p": {"a": "fw", "st": start, "et": end}, "key": title}
        for title, kind, start, end in blocks
    ]
    return resolve(TBPlan.model_validate({"date": DAY, "tz": TZ, "events": events}))


def items(**fields: Any) -> tuple[Applicable, ...]:
    return decide_applicability([version_of("c", **fields)], context_of(timezone=TZ)).applicable


def avoid(start: str, end: str, **fields: Any) -> tuple[Applicable, ...]:
    windows = [{"kind": "avoid", "start": start, "end": end}]
    return items(rule_kind="avoid_window", windows=windows, **fields)


def list_broken(rules: tuple[Applicable, ...], *blocks: tuple[str, str, str, str]) -> list[str]:
    return [key for breach in find_block_violations(rules, plan(*blocks)) for key in breach.keys]


@pytest.mark.parametrize(
    ("start", "end", "breaks"),
    [
        ("09:00", "10:00", True),
        ("09:59", "10:29", True),
        ("10:00", "11:00", False),
        ("07:00", "08:00", False),
        ("07:00", "12:00", True),
    ],
)
def test_nothing_within_a_time_to_avoid(start: str, end: str, *, breaks: bool) -> None:
    assert list_broken(avoid("08:00", "10:00"), ("A", "DW", start, end)) == (["A"] if breaks else [])


def test_only_the_kinds_that_it_names_break_it() -> None:
    rules = avoid("08:00", "10:00", applies_event_types=["M"])
    assert list_broken(rules, ("A", "DW", "08:00", "09:00"), ("B", "M", "09:00", "10:00")) == ["B"]


def test_what_lies_in_the_background_is_nobodys_breach() -> None:
    assert list_broken(avoid("08:00", "10:00"), ("A", "BG", "08:00", "09:00")) == []


@pytest.mark.parametrize(("start", "end"), [("05:00", "06:00"), ("22:30", "23:30"), ("23:00", "23:45")])
def test_a_window_over_midnight_is_there_in_the_morning_too(start: str, end: str) -> None:
    assert list_broken(avoid("22:00", "07:00"), ("A", "DW", start, end)) == ["A"]
    assert list_broken(avoid("22:00", "07:00"), ("A", "DW", "07:00", "08:00")) == []


def test_a_plan_reaches_into_the_next_day_as_far_as_the_rule_does() -> None:
    """The planned day is a Tuesday; a rule for Tuesdays does not cover the night to Wednesday."""
    late = ("A", "DW", "23:30", "00:30")
    assert list_broken(avoid("00:00", "05:00"), late) == ["A"]
    assert list_broken(avoid("00:00", "05:00", days_of_week=["TU"]), late) == []


def test_windows_are_of_the_rules_own_zone() -> None:
    """08:00-10:00 in London is 09:00-11:00 in Amsterdam."""
    rules = avoid("08:00", "10:00", timezone="Europe/London")
    assert list_broken(rules, ("A", "DW", "08:00", "09:00"), ("B", "DW", "10:30", "11:30")) == ["B"]


def test_on_a_day_when_the_clocks_change_windows_are_instants() -> None:
    """S231: 29 March 2026, 02:00 becomes 03:00."""
    day = DAY.replace(day=29)
    events = [{"n": "A", "t": "DW", "p": {"a": "fw", "st": "03:00", "et": "03:30"}, "key": "A"}]
    blocks = resolve(TBPlan.model_validate({"date": day, "tz": TZ, "events": events}))
    windows = [{"kind": "avoid", "start": "01:30", "end": "02:00"}]
    rules = decide_applicability([version_of("c", windows=windows)], context_of(day=day, timezone=TZ)).applicable
    assert find_block_violations(rules, blocks) == ()
    assert blocks[0].start.astimezone(UTC) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


@pytest.mark.parametrize("types", [[], ["R"]])
def test_a_bedtime_is_about_all_that_keeps_awake(types: list[str]) -> None:
    windows = [{"kind": "prefer", "start": "22:30", "end": "06:30"}]
    rules = items(rule_kind="fixed_bedtime", windows=windows, applies_event_types=types)
    blocks = (("A", "SW", "22:00", "23:00"), ("B", "DW", "20:00", "21:00"), ("Sleep", "R", "23:00", "23:30"))
    assert list_broken(rules, *blocks) == ["A"]


def test_a_bedtime_may_be_said_as_a_time_alone() -> None:
    rules = items(rule_kind="fixed_bedtime", aspect_classification={"schedule_start": "22:30"})
    assert list_broken(rules, ("A", "SW", "22:00", "23:00"), ("B", "SW", "21:00", "22:00")) == ["A"]


def test_more_than_there_may_be_of_something() -> None:
    """From the block on with which it is too much."""
    rules = items(rule_kind="capacity", scalar_params={"duration_max": 120}, applies_event_types=["DW"])
    blocks = (("A", "DW", "09:00", "10:30"), ("B", "DW", "11:00", "11:30"), ("C", "DW", "13:00", "13:30"))
    assert list_broken(rules, *blocks[:2]) == []
    assert list_broken(rules, *blocks, ("D", "SW", "14:00", "17:00")) == ["C"]


def test_what_only_a_text_says_breaks_nothing() -> None:
    assert list_broken(items(description="never before ten"), ("A", "DW", "08:00", "09:00")) == []


def test_reasons_name_what_the_person_said_and_when() -> None:
    rules = avoid("08:00", "10:00", description="no calls before 10", applies_event_types=["M"])
    blocks = plan(("A", "M", "09:00", "09:30"))
    (reason,) = find_reasons(blocks[0], rules, blocks)
    said = "On 1 February 2026 you said: “no calls before 10”."
    assert (reason.uid, reason.stand, reason.sentence) == (
        "c",
        "broken",
        f"That goes against a rule of yours. {said}",
    )


@pytest.mark.parametrize(
    ("fields", "stand"),
    [
        ({"windows": [{"kind": "prefer", "start": "10:00", "end": "12:00"}]}, "wanted"),
        ({"windows": [{"kind": "avoid", "start": "08:00", "end": "10:00"}]}, "clear"),
        ({"windows": [{"kind": "avoid", "start": "11:00", "end": "12:00"}]}, "clear"),
        ({"windows": [{"kind": "avoid", "start": "15:00", "end": "16:00"}]}, None),
        ({"windows": [], "applies_event_types": ["DW"]}, "about"),
        ({"windows": [], "applies_event_types": ["SW"]}, None),
        ({"windows": [], "applies_event_types": []}, None),
        ({"windows": [{"kind": "avoid", "start": "10:30", "end": "12:00"}]}, "broken"),
    ],
)
def test_how_a_rule_explains_a_place(fields: dict[str, Any], stand: BlockRelation | None) -> None:
    blocks = plan(("A", "DW", "10:00", "11:00"))
    assert [reason.stand for reason in find_reasons(blocks[0], items(**fields), blocks)] == ([stand] if stand else [])


def test_the_most_telling_reason_comes_first() -> None:
    rows = [
        version_of("about", necessity="must", applies_event_types=["DW"]),
        version_of("wanted", necessity="prefer", windows=[{"kind": "prefer", "start": "09:00", "end": "12:00"}]),
        version_of("broken", necessity="prefer", windows=[{"kind": "avoid", "start": "10:30", "end": "12:00"}]),
    ]
    blocks = plan(("A", "DW", "10:00", "11:00"))
    found = find_reasons(blocks[0], decide_applicability(rows, context_of(timezone=TZ)).applicable, blocks)
    assert [reason.uid for reason in found] == ["broken", "wanted", "about"]
    assert blocks[0].duration == timedelta(hours=1)
