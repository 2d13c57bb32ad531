"""The identity of constraints (S5, S6)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import record_of

from fateforger.memory.documents import read_record
from fateforger.memory.record import compute_uid

BASE: dict[str, Any] = {
    "name": "No calls early",
    "rule_kind": "avoid_window",
    "windows": [{"kind": "avoid", "start": "00:00", "end": "10:00"}],
    "days_of_week": ["MO", "TU"],
}


def uid(user: str = "U1", session: str | None = None, **change: Any) -> str:
    return compute_uid(read_record(record_of(None, **{**BASE, **change})), user, session)


@pytest.mark.parametrize(
    "change",
    [
        {"description": "please, nobody before ten"},
        {"name": " no  CALLS early "},
        {"necessity": "must"},
        {"status": "proposed"},
        {"confidence": 0.1},
        {"topics": ["calls"]},
        {"applies_event_types": ["M"]},
        {"days_of_week": ["TU", "MO"]},
        {"session": "S1"},
    ],
)
def test_rewording_keeps_the_uid(change: dict[str, Any]) -> None:
    """S6: and so does confirming it, or saying it in another session."""
    assert uid(**change) == uid()


@pytest.mark.parametrize(
    "change",
    [
        {"user": "U2"},
        {"name": "No calls late"},
        {"rule_kind": "prefer_window"},
        {"windows": [{"kind": "avoid", "start": "00:00", "end": "09:00"}]},
        {"scalar_params": {"duration_min": 10}},
        {"start_date": "2026-01-01"},
        {"end_date": "2026-01-01"},
        {"days_of_week": ["MO"]},
        {"recurrence": "FREQ=DAILY"},
        {"timezone": "Europe/Amsterdam"},
        {"scope": "session"},
        {"aspect_classification": {"aspect_id": "a", "conditional_on_present": ["b"]}},
    ],
)
def test_another_rule_has_another_uid(change: dict[str, Any]) -> None:
    """S6."""
    assert uid(**change) != uid()


def test_a_constraint_of_a_session_is_one_of_that_session() -> None:
    assert uid(scope="session", session="S1") != uid(scope="session", session="S2")


def test_the_uid_is_the_same_on_every_machine() -> None:
    assert uid() == "tb_8141c52dd3647af9614356dbb1de4494ce27019f"
