"""Contradictions and what follows from them (S179, K5)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from tests.factories.constraints import context_of, version_of

from fateforger.memory.applicability import decide_applicability
from fateforger.memory.contradiction import Kind, find_contradictions
from fateforger.memory.versions import Version

OLD, NEW = "2026-01-01T09:00:00Z", "2026-02-01T09:00:00Z"
LATER = datetime(2026, 3, 1, tzinfo=UTC)


def bed(uid: str, clock: str, **fields: Any) -> Version:
    windows = [{"kind": "prefer", "start": clock, "end": "06:00"}]
    return version_of(uid, **{"rule_kind": "fixed_bedtime", "windows": windows, **fields})


def window(uid: str, kind: str, start: str, end: str, **fields: Any) -> Version:
    windows = [{"kind": kind, "start": start, "end": end}]
    return version_of(uid, **{"rule_kind": f"{kind}_window", "windows": windows, **fields})


def slot(uid: str, name: str, clock: str, **fields: Any) -> Version:
    return version_of(
        uid, aspect_classification={"aspect_id": name, "frame_slot": name, "schedule_end": clock}, **fields
    )


def list_findings(*versions: Version) -> list[tuple[Kind, tuple[str, ...]]]:
    return [(finding.kind, finding.uids) for finding in find_contradictions(versions, "U1")]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (bed("a", "22:00", at=OLD), bed("b", "23:00", at=NEW)),
        (slot("a", "work_end", "17:00", at=OLD), slot("b", "work_end", "18:00", at=NEW)),
        (slot("a", "lunch", "12:30", at=OLD), slot("b", "lunch", "13:30", at=NEW)),
        (window("a", "prefer", "09:00", "10:00", at=OLD), window("b", "avoid", "08:00", "12:00", at=NEW)),
        (window("a", "avoid", "22:00", "08:00", at=OLD), window("b", "prefer", "23:00", "07:00", at=NEW)),
        (
            version_of("a", rule_kind="capacity", scalar_params={"duration_min": 120}, at=OLD),
            version_of("b", rule_kind="capacity", scalar_params={"duration_max": 60}, at=NEW),
        ),
    ],
    ids=["bedtime", "work end", "lunch", "wanted and avoided", "over midnight", "least and most"],
)
def test_the_newer_one_takes_the_place(older: Version, newer: Version) -> None:
    """S179 (C-05): as an event that can be written and taken back; afterwards only the newer one applies."""
    (finding,) = find_contradictions([older, newer], "U1")
    assert (finding.kind, finding.uids, finding.sentence) == (
        Kind.REPLACED,
        ("b", "a"),
        "“Rule b” takes the place of “Rule a”.",
    )
    assert finding.follows is not None
    after = [older, newer, finding.follows.at(LATER, seq=9)]
    assert [item.uid for item in decide_applicability(after, context_of()).applicable] == ["b"]
    assert find_contradictions(after, "U1") == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (bed("a", "22:00"), bed("b", "22:00")),
        (bed("a", "22:00"), bed("b", "23:00", user="U2")),
        (bed("a", "22:00"), bed("b", "23:00", status="declined")),
        (bed("a", "22:00", days_of_week=["MO"]), bed("b", "23:00", days_of_week=["SA"])),
        (bed("a", "22:00", recurrence="FREQ=WEEKLY;BYDAY=MO"), bed("b", "23:00", days_of_week=["SA"])),
        (bed("a", "22:00", end_date="2026-03-01"), bed("b", "23:00", start_date="2026-03-02")),
        (bed("a", "22:00"), bed("b", "23:00", supersedes_uids=["a"])),
        (bed("a", "22:00"), bed("b", "23:00", scope="session", session="S1")),
        (slot("a", "work_end", "17:00"), slot("b", "lunch", "13:00")),
        (window("a", "prefer", "09:00", "11:00"), window("b", "avoid", "10:00", "12:00")),
        (window("a", "prefer", "09:00", "10:00"), window("b", "prefer", "14:00", "15:00")),
        (
            window("a", "prefer", "09:00", "10:00", applies_event_types=["DW"]),
            window("b", "avoid", "08:00", "12:00", applies_event_types=["M"]),
        ),
        (
            window("a", "prefer", "09:00", "10:00", timezone="Asia/Tokyo"),
            window("b", "avoid", "08:00", "12:00", timezone="UTC"),
        ),
    ],
)
def test_what_can_both_be_followed_is_no_contradiction(one: Version, other: Version) -> None:
    assert list_findings(one, other) == list_findings(other, one) == []


def test_what_is_less_binding_replaces_nothing_by_itself() -> None:
    """The person is asked."""
    older, newer = bed("a", "22:00", at=OLD, necessity="must"), bed("b", "23:00", at=NEW, necessity="prefer")
    (finding,) = find_contradictions([newer, older], "U1")
    assert (finding.kind, finding.follows) == (Kind.CONTRADICTION, None)
    assert finding.sentence == (
        "“Rule b” and “Rule a” cannot both be followed, and the older one is more binding. Which one counts?"
    )


def test_a_rule_about_some_things_leaves_the_others_to_the_old_one() -> None:
    """No calls before noon, but deep work from nine: calls stay where they were."""
    older = window("a", "avoid", "08:00", "12:00", at=OLD)
    newer = window("b", "prefer", "09:00", "11:00", at=NEW, applies_event_types=["DW"])
    (finding,) = find_contradictions([older, newer], "U1")
    assert finding.kind is Kind.NARROWED
    assert finding.sentence == "“Rule a” is no longer about deep work."
    assert finding.follows is not None
    after = [older, newer, finding.follows.at(LATER, seq=9)]
    assert [i.uid for i in decide_applicability(after, context_of(event_types=["DW"])).applicable] == ["b"]
    assert [i.uid for i in decide_applicability(after, context_of(event_types=["M"])).applicable] == ["a"]
    assert find_contradictions(after, "U1") == ()


@pytest.mark.parametrize(
    "limits",
    [{"end_date": "2026-03-31"}, {"start_date": "2026-05-01"}, {"ttl_days": 30}],
)
def test_what_narrows_for_a_time_only_is_asked(limits: dict[str, Any]) -> None:
    """Or the old one would not come back on those days."""
    older, newer = bed("a", "22:00", at=OLD), bed("b", "23:30", at=NEW, days_of_week=["FR"], **limits)
    (finding,) = find_contradictions([older, newer], "U1")
    assert (finding.kind, finding.follows) == (Kind.CONTRADICTION, None)


def test_a_rule_for_some_days_leaves_the_others_to_the_old_one() -> None:
    """A replacement holds on all days of its dates (A4), so the old one is narrowed instead."""
    older, newer = bed("a", "22:00", at=OLD), bed("b", "23:30", at=NEW, days_of_week=["FR", "SA"])
    (finding,) = find_contradictions([older, newer], "U1")
    assert finding.kind is Kind.NARROWED
    assert finding.sentence == "“Rule a” is for Monday, Tuesday, Wednesday, Thursday and Sunday only from now on."
    assert finding.follows is not None
    after = [older, newer, finding.follows.at(LATER, seq=9)]
    applies = [
        [i.uid for i in decide_applicability(after, context_of(day=date(2026, 3, n))).applicable] for n in (5, 6, 7, 8)
    ]
    assert applies == [["a"], ["b"], ["b"], ["a"]]
    assert find_contradictions(after, "U1") == ()
