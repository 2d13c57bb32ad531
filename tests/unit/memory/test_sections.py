"""Reminders in the person's own words, in two sections (S36, S92, S174, S195, S196)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import context_of, record_of, version_of
from tests.unit.conversation.sessions import session
from toon_format import encode

from fateforger.memory.applicability import decide_applicability
from fateforger.memory.documents import read_record
from fateforger.memory.violations import build_sections, describe_times, is_binding, needs_confirmation
from fateforger.session.rulebook import rows_of
from fateforger.text import speak
from fateforger.ui.rule_cards import describe_rule


def test_must_follow_and_consider() -> None:
    """S195, S196, S174: in order of precedence, quoting the person, with the local date of the statement."""
    rows = [
        version_of(
            "calls",
            necessity="must",
            description="no calls  before 10",
            rule_kind="avoid_window",
            windows=[{"kind": "avoid", "start": "00:00", "end": "10:00"}],
            days_of_week=["TU", "MO"],
        ),
        version_of("walk", necessity="prefer", name="A walk", description="", confidence=0.5, source="system"),
        version_of("cut", necessity="prefer", confidence=0.1),
    ]
    told = build_sections(decide_applicability(rows, context_of(k=2, timezone="Pacific/Kiritimati")))
    assert [reminder.sentence for reminder in told.must_follow] == [
        "On 1 February 2026 you said: “no calls before 10”."
    ]
    assert [reminder.sentence for reminder in told.consider] == ["On 1 February 2026 I assumed: “A walk”."]
    assert told.left_out == 1
    table = encode({"must_follow": [reminder.row for reminder in told.must_follow]})
    assert table.splitlines()[0] == "must_follow[1]{necessity,kind,words,source,said,when,times,sure}:"
    assert told.must_follow[0].row == {
        "necessity": "must",
        "kind": "policy",
        "words": "no calls before 10",
        "source": "user",
        "said": "2026-02-01",
        "when": "on Monday and Tuesday",
        "times": "not before 10:00",
        "sure": 0.9,
    }
    walk = told.consider[0].row
    assert (walk["kind"], walk["source"], walk["sure"]) == ("state", "system", "0.5?")


@pytest.mark.parametrize(
    ("kind", "start", "end", "words"),
    [
        ("avoid", "00:00", "10:00", "not before 10:00"),
        ("avoid", "16:00", "23:59", "not after 16:00"),
        ("avoid", "16:00", "00:00", "not after 16:00"),
        ("prefer", "00:00", "12:00", "best before 12:00"),
        ("prefer", "20:00", "00:00", "best after 20:00"),
        ("avoid", "12:00", "13:00", "avoid 12:00–13:00"),
        ("avoid", "00:00", "00:00", "avoid 00:00–00:00"),
    ],
)
def test_a_window_from_or_to_midnight_is_named_by_its_other_end(kind: str, start: str, end: str, words: str) -> None:
    """S407"""
    payload = {"windows": [{"kind": kind, "start": start, "end": end}]}
    assert describe_times(version_of("w", payload=payload).record) == words


@pytest.mark.parametrize(
    ("fields", "dimension"),
    [
        ({"aspect_classification": {"dimension": "goal"}, "rule_kind": "buffer"}, "goal"),
        ({"aspect_classification": {"frame_slot": "lunch"}}, "policy"),
        ({"rule_kind": "buffer"}, "policy"),
        ({"day_rule": "NEVER: meeting_after_17"}, "policy"),
        ({"necessity": "must"}, "state"),
    ],
    ids=["said", "a slot", "a rule", "an order", "words alone"],
)
def test_the_kind_of_a_statement_is_known_without_a_model(fields: dict[str, Any], dimension: str) -> None:
    """S177."""
    assert read_record(record_of(**fields)).dimension.value == dimension


@pytest.mark.parametrize(
    ("necessity", "dimension", "binds"),
    [
        ("must", None, True),
        ("must", "state", True),
        ("should", "policy", True),
        ("should", "value", True),
        ("should", "goal", False),
        ("should", "state", False),
        ("should", None, False),
        ("prefer", "policy", False),
    ],
)
def test_which_section(necessity: str, dimension: str | None, binds: bool) -> None:  # noqa: FBT001  a table
    """S177, S195."""
    fields: dict[str, Any] = {"necessity": necessity, "aspect_classification": {"dimension": dimension}}
    assert is_binding(read_record(record_of(**fields))) is binds


@pytest.mark.parametrize(("confidence", "asked"), [(0.69, True), (0.7, False), (None, False), (0, True)])
def test_what_needs_confirmation(confidence: float | None, asked: bool) -> None:  # noqa: FBT001  a table
    """S36."""
    assert needs_confirmation(read_record(record_of(confidence=confidence))) is asked


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Should · on recurring dates"),
        ("nl", "Gewenst · op terugkerende dagen"),
        ("de", "Soll · an wiederkehrenden Tagen"),
        ("fr", "En principe · à des dates récurrentes"),
        ("es", "Recomendada · en fechas recurrentes"),
    ],
)
def test_recurring_dates_are_named_once(language: str, words: str) -> None:
    rows = [version_of("walk", recurrence="FREQ=WEEKLY;INTERVAL=2;BYDAY=MO")]
    with speak(language):
        assert [describe_rule(row) for row in rows_of(session(), rows)] == [words]
