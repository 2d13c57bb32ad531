"""Kinds of tasks by their titles, and the ratio of actual to planned minutes of a kind."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fateforger.tasks.durations import (
    BOUND,
    LATEST,
    Estimate,
    Observation,
    correct_ratio,
    estimate_kinds,
    find_estimate,
    find_named,
    kind_of,
    scale_minutes,
)

DAY = date(2026, 3, 2)


def took(n: int, actual: int, *, planned: int = 60, title: str = "Weekly report", deep: bool = True) -> Observation:
    day = DAY + timedelta(days=n)
    return Observation(
        id=f"{n}/{title}", title=title, deep=deep, planned=planned, actual=actual, day=day, source="done"
    )


def estimate_minutes(*actual: int) -> Estimate | None:
    return find_estimate(estimate_kinds([took(n, minutes) for n, minutes in enumerate(actual)]), "A report", deep=True)


@pytest.mark.parametrize(
    ("titles", "kind"),
    [
        (("Weekly report", "Report for Acme", "Q3 reports", "Write the report: figures", "REPORT"), "deep report"),
        (("Admin: bank, expenses", "admin (bills)", "My admin - Friday"), "deep admin"),
        (("Prepare boxes", "box"), "deep box"),
        (("Expenses", "Do expenses for March"), "deep expense"),
        (("Status", "Weekly status"), "deep status"),
        (("42",), "deep 42"),
    ],
)
def test_titles_of_one_kind(titles: tuple[str, ...], kind: str) -> None:
    assert {kind_of(title, deep=True) for title in titles} == {kind}


def test_depth_is_part_of_the_kind() -> None:
    assert kind_of("Report", deep=False) == "shallow report"


@given(title=st.text("abcdefghijklmnopqrstuvwxyzéüß:(- ", min_size=1, max_size=60), deep=st.booleans())
def test_the_name_of_a_kind_is_of_that_kind(title: str, *, deep: bool) -> None:
    """So that a kind can be forgotten, and corrected, by its name."""
    kind = kind_of(title, deep=deep)
    assert kind_of(kind.partition(" ")[2], deep=deep) == kind


def test_three_observations_are_needed() -> None:
    assert estimate_minutes(84, 84) is None
    found = estimate_minutes(84, 84, 60)
    assert found == Estimate(kind="deep report", ratio=1.4, count=3, short=2, minutes=85)
    assert not found.has_been_short
    assert find_estimate(estimate_kinds([took(n, 84) for n in range(3)]), "A report", deep=False) is None


def test_one_odd_day_does_not_count() -> None:
    found = estimate_minutes(84, 600, 84, 5, 84)
    assert found is not None
    assert (found.ratio, found.has_been_short) == (1.4, True)


def test_only_the_latest_count() -> None:
    found = estimate_minutes(*[180] * 5, *[60] * LATEST)
    assert found is not None
    assert (found.ratio, found.count, found.short) == (1, LATEST, 0)


def test_ratios_are_bounded() -> None:
    found = estimate_minutes(*[24 * 60] * 3)
    assert found is not None
    assert found.ratio == BOUND


def test_the_persons_own_word_counts_instead() -> None:
    every = [took(n, 84) for n in range(3)]
    own = correct_ratio("deep report", 1.5, DAY - timedelta(days=30))
    (found,) = estimate_kinds([own, *every])
    assert (found.ratio, found.corrected, found.count, found.minutes) == (1.5, True, 3, 85)
    (alone,) = estimate_kinds([own])
    assert (alone.ratio, alone.minutes, alone.has_been_short) == (1.5, None, True)


def test_minutes_are_rounded() -> None:
    found = estimate_minutes(84, 84, 84)
    assert found is not None
    assert [scale_minutes(found, planned) for planned in (120, 60, 30, 24 * 60)] == [165, 90, 40, 24 * 60]


def test_a_kind_is_found_by_any_title_of_it() -> None:
    deep, shallow, other = took(0, 84), took(1, 84, deep=False), took(2, 84, title="Slides")
    assert find_named([deep, shallow, other], "reports") == (deep, shallow)
    assert find_named([deep, shallow, other], "deep report") == (deep,)
    assert find_named([deep, shallow, other], "talks") == ()
