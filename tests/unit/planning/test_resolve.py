"""From timings to instants (S65, S66, S67, S230, S231)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fateforger.errors import PlanInvalid
from fateforger.planning.plan import Resolved, TBPlan, overlaps, resolve, resolve_strict
from fateforger.planning.wire import read_plan

AMSTERDAM = "Europe/Amsterdam"


def plan(*events: dict[str, Any], date: str = "2026-03-02", tz: str = AMSTERDAM) -> TBPlan:
    return read_plan({"date": date, "tz": tz, "events": list(events)})


def block(name: str, timing: dict[str, Any], kind: str = "DW") -> dict[str, Any]:
    return {"n": name, "t": kind, "p": timing}


def ap(duration: str) -> dict[str, Any]:
    return {"a": "ap", "dur": duration}


def bn(duration: str) -> dict[str, Any]:
    return {"a": "bn", "dur": duration}


def fs(start: str, duration: str) -> dict[str, Any]:
    return {"a": "fs", "st": start, "dur": duration}


def fw(start: str, end: str) -> dict[str, Any]:
    return {"a": "fw", "st": start, "et": end}


def spans(resolved: tuple[Resolved, ...]) -> list[str]:
    return [f"{r.start.isoformat(timespec='minutes')} {r.end.isoformat(timespec='minutes')}" for r in resolved]


def test_a_chain_grows_forward_and_backward_from_its_anchors() -> None:
    """S66: ap follows the previous block, bn ends at the next, fixed times stand."""
    day = plan(
        block("Walk", fs("08:00", "PT30M"), "H"),
        block("Write", ap("PT1H")),
        block("Prepare", bn("PT15M"), "SW"),
        block("Standup", fw("10:00", "10:30"), "M"),
        block("Review", ap("PT45M"), "PR"),
    )
    assert spans(resolve_strict(day)) == [
        "2026-03-02T08:00+01:00 2026-03-02T08:30+01:00",
        "2026-03-02T08:30+01:00 2026-03-02T09:30+01:00",
        "2026-03-02T09:45+01:00 2026-03-02T10:00+01:00",
        "2026-03-02T10:00+01:00 2026-03-02T10:30+01:00",
        "2026-03-02T10:30+01:00 2026-03-02T11:15+01:00",
    ]


def test_several_blocks_can_lean_on_the_same_next_one() -> None:
    """S66"""
    day = plan(block("A", bn("PT20M")), block("B", bn("PT40M")), block("C", fs("12:00", "PT1H")))
    assert [f"{r.start:%H:%M}-{r.end:%H:%M}" for r in resolve(day)] == ["11:00-11:20", "11:20-12:00", "12:00-13:00"]


def test_background_blocks_stand_beside_the_chain() -> None:
    """S65, S67: BG may overlap anything, and ap reaches past it to the block before."""
    day = plan(
        block("On call", fw("09:00", "17:00"), "BG"),
        block("Write", fs("09:00", "PT1H")),
        block("Fair", fw("09:30", "12:00"), "BG"),
        block("Read", ap("PT30M"), "SW"),
    )
    assert [f"{r.start:%H:%M}-{r.end:%H:%M}" for r in resolve_strict(day)] == [
        "09:00-17:00",
        "09:00-10:00",
        "09:30-12:00",
        "10:00-10:30",
    ]


@pytest.mark.parametrize(
    ("events", "sentence", "where"),
    [
        (
            [block("A", ap("PT1H")), block("B", fs("09:00", "PT1H"))],
            "“A” follows the previous block, but it is the first one.",
            (0,),
        ),
        (
            [block("A", fs("09:00", "PT1H")), block("B", bn("PT1H"))],
            "“B” ends at the next block, but it is the last one.",
            (1,),
        ),
        (
            [
                block("A", fs("08:00", "PT1H")),
                block("B", bn("PT1H")),
                block("C", ap("PT1H")),
                block("D", fs("12:00", "PT1H")),
            ],
            "“C” follows “B”, which itself waits for what comes next; give one of them a fixed time.",
            (1, 2),
        ),
        (
            [block("A", ap("PT1H")), block("B", ap("PT1H"))],
            "No block has a fixed time, so nothing says when the day starts; give one a start (fs) or window (fw).",
            (0, 1),
        ),
        (
            [block("A", fw("14:00", "13:00"))],
            "“A” ends at 13:00, which is not after its start at 14:00.",
            (0,),
        ),
        (
            [block("A", fw("14:00", "14:00"))],
            "“A” ends at 14:00, which is not after its start at 14:00.",
            (0,),
        ),
    ],
)
def test_a_block_that_leans_on_nothing_is_refused(
    events: list[dict[str, Any]], sentence: str, where: tuple[int, ...]
) -> None:
    """S65, S66"""
    with pytest.raises(PlanInvalid) as caught:
        resolve(plan(*events))
    assert (caught.value.message, caught.value.events) == (sentence, where)


def test_overlap_is_refused_with_both_blocks_named() -> None:
    """S67"""
    day = plan(
        block("Write", fs("09:00", "PT2H")),
        block("Call", fw("10:30", "11:00"), "M"),
        block("Read", fs("10:45", "PT1H")),
    )
    assert [(a.event.name, b.event.name) for a, b in overlaps(resolve(day))] == [
        ("Write", "Call"),
        ("Write", "Read"),
        ("Call", "Read"),
    ]
    with pytest.raises(PlanInvalid) as caught:
        resolve_strict(day)
    assert (caught.value.message, caught.value.events) == (
        "“Call” starts at 10:30, but “Write” runs until 11:00.",
        (0, 1),
    )


def test_blocks_cross_midnight_as_instants() -> None:
    """S230: a peer puts the end on the same day, before the start, and sleep on the morning before."""
    day = plan(block("Late", fs("23:00", "PT2H")), block("Sleep", ap("PT7H"), "R"))
    assert spans(resolve_strict(day)) == [
        "2026-03-02T23:00+01:00 2026-03-03T01:00+01:00",
        "2026-03-03T01:00+01:00 2026-03-03T08:00+01:00",
    ]
    night = plan(block("Night shift", fw("22:30", "06:30"), "M"))
    assert spans(resolve(night)) == ["2026-03-02T22:30+01:00 2026-03-03T06:30+01:00"]


def test_a_window_can_have_begun_yesterday() -> None:
    """S230"""
    day = plan(block("Flight", fw("2026-03-01T22:00", "02:00"), "C"), date="2026-03-02")
    assert spans(resolve(day)) == ["2026-03-01T22:00+01:00 2026-03-02T02:00+01:00"]


@pytest.mark.parametrize(
    ("date", "timing", "expected", "minutes"),
    [
        ("2026-03-29", fs("01:30", "PT1H"), "2026-03-29T01:30+01:00 2026-03-29T03:30+02:00", 60),
        ("2026-03-29", fs("02:30", "PT1H"), "2026-03-29T03:30+02:00 2026-03-29T04:30+02:00", 60),
        ("2026-03-29", fw("01:00", "04:00"), "2026-03-29T01:00+01:00 2026-03-29T04:00+02:00", 120),
        ("2026-10-25", fs("01:30", "PT2H"), "2026-10-25T01:30+02:00 2026-10-25T02:30+01:00", 120),
        ("2026-10-25", fw("01:00", "04:00"), "2026-10-25T01:00+02:00 2026-10-25T04:00+01:00", 240),
        ("2026-10-25", fw("02:30", "02:15"), "2026-10-25T02:30+02:00 2026-10-25T02:15+01:00", 45),
        ("2026-10-25", fs("2026-10-25T02:30+01:00", "PT30M"), "2026-10-25T02:30+01:00 2026-10-25T03:00+01:00", 30),
        ("2026-10-25", fs("02:30", "PT30M"), "2026-10-25T02:30+02:00 2026-10-25T03:00+02:00", 30),
    ],
)
def test_days_on_which_the_clock_jumps(date: str, timing: dict[str, Any], expected: str, minutes: int) -> None:
    """S231: gaps shift forward, folds mean the first pass, durations are elapsed time, 23 and 25 hour days are real."""
    (resolved,) = resolve(plan(block("X", timing), date=date))
    start, end = expected.split()
    assert (resolved.start.astimezone(UTC), resolved.end.astimezone(UTC)) == (
        datetime.fromisoformat(start).astimezone(UTC),
        datetime.fromisoformat(end).astimezone(UTC),
    )
    assert resolved.minutes == minutes


def test_overlap_is_judged_by_instants_not_by_wall_clock() -> None:
    """S231: in the repeated hour 02:15 can come after 02:45."""
    day = plan(
        block("First", fw("2026-10-25T02:30+02:00", "2026-10-25T02:50+02:00")),
        block("Second", fs("2026-10-25T02:10+01:00", "PT20M")),
        date="2026-10-25",
    )
    assert overlaps(resolve(day)) == ()


def test_half_hour_shifts_are_real_too() -> None:
    """S231: Lord Howe moves its clock by 30 minutes."""
    (resolved,) = resolve(plan(block("X", fs("01:45", "PT1H")), date="2026-10-04", tz="Australia/Lord_Howe"))
    assert resolved.end.astimezone(UTC) - resolved.start.astimezone(UTC) == timedelta(hours=1)
    assert f"{resolved.end:%H:%M}" == "03:15"


def test_an_empty_plan_resolves_to_nothing() -> None:
    assert resolve_strict(plan()) == ()
