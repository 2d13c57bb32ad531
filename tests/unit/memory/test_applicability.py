"""The applicable constraints, rule by rule, with examples a person can check (A1-A11, S19-S22, S225, S235)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.factories.constraints import DAY, context_of, version_of

from fateforger.memory.applicability import (
    AS_SAID,
    DUPLICATE,
    EXPIRED,
    NEVER_CONFIRMED,
    SAME,
    TAKEN_BACK,
    Why,
    decide_applicability,
)
from fateforger.memory.versions import Version, list_history, select_newest


def uids(versions: list[Version], **context: Any) -> list[str]:
    return [item.uid for item in decide_applicability(versions, context_of(**context)).applicable]


def why(versions: list[Version], **context: Any) -> dict[str, Why]:
    return {item.uid: item.why for item in decide_applicability(versions, context_of(**context)).excluded}


def reasons(versions: list[Version], **context: Any) -> dict[str, str]:
    return {item.uid: item.reason for item in decide_applicability(versions, context_of(**context)).excluded}


# --- A1: newest first, then filter ---


def test_an_edited_constraint_does_not_come_back_in_its_old_form() -> None:
    """A1: the newest version is out of its dates, so the older one that is inside must not answer for it."""
    old = version_of(at="2026-01-01T09:00:00Z")
    moved = version_of(at="2026-02-01T09:00:00Z", start_date="2026-06-01", event={"action": "update"})
    assert uids([old, moved]) == uids([moved, old]) == []
    assert why([old, moved]) == {"c": Why.NOT_YET}


def test_an_archived_constraint_does_not_come_back() -> None:
    """A1, A3: the older locked version must not survive the status filter."""
    archived = version_of(at="2026-02-02T09:00:00Z", status="declined", event={"action": "archive", "reason": "moved"})
    assert uids([archived, version_of()]) == []
    assert reasons([archived, version_of()]) == {"c": "It was archived: “moved”."}


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (AS_SAID, "You archived it."),
        (TAKEN_BACK, "You took it back."),
        (EXPIRED, "Its time is over."),
        (NEVER_CONFIRMED, "You never confirmed it."),
        (f"{DUPLICATE} u2", "Another one says the same."),
        (f"{SAME} u2", "Another one says the same."),
    ],
)
def test_the_reason_of_archiving_is_a_sentence(reason: str, said: str) -> None:
    archived = version_of(status="declined", event={"action": "archive", "reason": reason})
    assert reasons([archived]) == {"c": said}


def test_instants_are_compared_as_instants() -> None:
    """A1: 23:30-08:00 is later than 05:00Z of the day after, although its text sorts first."""
    late = version_of(at="2026-02-01T23:30:00-08:00", name="late")
    early = version_of(at="2026-02-02T05:00:00Z", name="early")
    assert select_newest([late, early], "U1")["c"] is late


def test_of_one_instant_the_later_row_is_newer() -> None:
    first, second = version_of(seq=1, name="first"), version_of(seq=2, name="second")
    assert select_newest([second, first], "U1")["c"] is select_newest([first, second], "U1")["c"] is second


def test_history_is_in_the_order_of_writing() -> None:
    """Valid time is in the record; system time is when each version was the constraint, until the next."""
    first, second = version_of(at="2026-01-01T09:00:00Z"), version_of(at="2026-02-01T09:00:00Z")
    assert list_history([second, first, version_of("other")], "U1", "c") == [first, second]
    assert list_history([first], "U2", "c") == list_history([first], "U1", "unknown") == []


# --- A2: only the person's own rows ---


@pytest.mark.parametrize("asking", ["*", "", " ", "U1 ", "u1", "Ｕ1", "' OR 1=1 --", "U%", "U_"])
def test_no_id_means_more_than_itself(asking: str) -> None:
    """A2, S171: hostile ids are ids like any other."""
    assert uids([version_of(), version_of(user=asking, uid="own")], user=asking) == ["own"]


def test_nobody_supersedes_what_belongs_to_another() -> None:
    """A2: the same uids exist for both; only the own replacement counts."""
    rows = [version_of("a"), version_of("b", user="U2", supersedes_uids=["a"]), version_of("a", user="U2")]
    assert uids(rows) == ["a"]
    assert uids(rows, user="U2") == ["b"]


# --- A3: status ---


@pytest.mark.parametrize(("status", "applies"), [("locked", True), ("proposed", True), ("declined", False)])
def test_locked_and_proposed_apply(status: str, applies: bool) -> None:  # noqa: FBT001  a table
    """A3, S17, S19."""
    assert bool(uids([version_of(status=status)])) is applies


def test_what_an_event_declines_is_declined_whatever_the_record_says() -> None:
    """A3."""
    declined = version_of(status="locked", event={"action": "decline", "reason": "no"})
    assert why([declined]) == {"c": Why.DECLINED}


# --- A4: supersession ---


def test_a_replacement_with_a_future_start_leaves_the_old_one_until_then() -> None:
    """A4, S179 (C-05)."""
    rows = [version_of("old"), version_of("new", supersedes_uids=["old"], start_date="2026-03-04")]
    assert uids(rows) == ["old"]
    assert uids(rows, day=date(2026, 3, 4)) == ["new"]
    assert reasons(rows, day=date(2026, 3, 4)) == {"old": "“Rule new” takes its place on that day."}


def test_after_a_bounded_replacement_the_old_one_is_back() -> None:
    """A4: both ends are inclusive."""
    rows = [
        version_of("old"),
        version_of("new", supersedes_uids=["old"], start_date="2026-03-02", end_date="2026-03-03"),
    ]
    days = [date(2026, 3, n) for n in (1, 2, 3, 4)]
    assert [uids(rows, day=day) for day in days] == [["old"], ["new"], ["new"], ["old"]]


def test_weekday_stage_and_recurrence_of_the_replacement_do_not_matter() -> None:
    """A4: of the replacement only the dates count."""
    narrow = version_of(
        "new",
        supersedes_uids=["old"],
        days_of_week=["SU"],
        applies_stages=["COLLECT"],
        recurrence="FREQ=MONTHLY;BYMONTHDAY=1",
    )
    assert uids([version_of("old"), narrow], stage="REFINE") == []


def test_a_declined_replacement_replaces_nothing() -> None:
    """A4."""
    declined = version_of("new", supersedes_uids=["old"], status="declined", event={"action": "decline"})
    assert uids([version_of("old"), declined]) == ["old"]


@pytest.mark.parametrize(
    ("event", "replaces"),
    [
        ({"action": "archive", "reason": "superseded"}, True),
        ({"action": "archive", "reason": "Superseded by newest"}, True),
        ({"action": "supersede", "reason": None}, True),
        ({"action": "archive", "reason": None}, True),
        ({"action": "archive", "reason": "it never was so"}, False),
        ({"action": "decline", "reason": None}, False),
        ({"action": "update", "reason": None}, False),
    ],
)
def test_one_archived_because_superseded_goes_on_replacing(event: dict[str, Any], replaces: bool) -> None:  # noqa: FBT001  a table
    """A4: old <- new <- newest; the old one must not rise again when new is archived for having been superseded."""
    rows = [
        version_of("old"),
        version_of("new", supersedes_uids=["old"], status="declined", event=event),
        version_of("newest", supersedes_uids=["new"]),
    ]
    assert uids(rows) == (["newest"] if replaces else ["newest", "old"])


def test_archived_without_a_reason_and_without_a_successor_replaces_nothing() -> None:
    """A4."""
    archived = version_of("new", supersedes_uids=["old"], status="declined", event={"action": "archive"})
    assert uids([version_of("old"), archived]) == ["old"]


def test_a_record_that_names_itself_stays_in_force() -> None:
    """A4."""
    assert uids([version_of("a", supersedes_uids=["a"])]) == ["a"]


def test_a_replacement_of_a_session_replaces_under_that_session_only() -> None:
    """S22, A9: an override suppresses the durable one for this session."""
    rows = [version_of("old"), version_of("now", supersedes_uids=["old"], scope="session", session="S1")]
    assert uids(rows, session_id="S1") == ["now"]
    assert uids(rows, session_id="S2") == uids(rows) == ["old"]


def test_a_uid_set_aside_for_this_session_does_not_apply() -> None:
    """S22."""
    assert why([version_of("a"), version_of("b")], suppressed_uids=["a"]) == {"a": Why.SET_ASIDE}


# --- A5: time to live ---


@pytest.mark.parametrize(
    ("day", "zone", "applies"),
    [
        ("2026-03-04", "UTC", True),
        ("2026-03-05", "UTC", False),
        ("2026-03-05", "Asia/Tokyo", True),
        ("2026-03-06", "Asia/Tokyo", False),
        ("2026-03-04", "America/New_York", True),
    ],
)
def test_time_to_live_ends_with_a_local_day(day: str, zone: str, applies: bool) -> None:  # noqa: FBT001  a table
    """A5, S235: written on 1 March 20:00 UTC, which is 2 March in Tokyo; three days."""
    row = version_of(at="2026-03-01T20:00:00Z", ttl_days=3)
    assert bool(uids([row], day=date.fromisoformat(day), timezone=zone)) is applies


def test_a_confirmation_renews_the_time_to_live() -> None:
    """A5."""
    first = version_of(at="2026-01-01T09:00:00Z", ttl_days=10)
    again = version_of(at="2026-03-01T09:00:00Z", ttl_days=10, event={"action": "update"})
    assert reasons([first]) == {"c": "It was kept until 11 January 2026 and not confirmed since."}
    assert uids([first, again]) == ["c"]


def test_a_time_to_live_of_zero_days_is_that_day() -> None:
    """A5."""
    row = version_of(at="2026-03-03T09:00:00Z", ttl_days=0)
    assert uids([row]) == ["c"]
    assert uids([row], day=date(2026, 3, 4)) == []


def test_a_time_to_live_beyond_all_days_never_ends() -> None:
    assert uids([version_of(ttl_days=10**9)]) == ["c"]


# --- A6: validity ---


@pytest.mark.parametrize(
    ("fields", "applies"),
    [
        ({"start_date": "2026-03-03"}, True),
        ({"start_date": "2026-03-04"}, False),
        ({"end_date": "2026-03-03"}, True),
        ({"end_date": "2026-03-02"}, False),
        ({"days_of_week": ["TU"]}, True),
        ({"days_of_week": ["MO", "WE"]}, False),
        ({"recurrence": "FREQ=WEEKLY;BYDAY=TU"}, True),
        ({"recurrence": "FREQ=WEEKLY;BYDAY=MO"}, False),
        ({"recurrence": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "start_date": "2026-02-17"}, True),
        ({"recurrence": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "start_date": "2026-02-24"}, False),
        # the start is a Sunday: with weeks starting on Monday, the Tuesday after it is in the next week
        ({"recurrence": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "start_date": "2026-03-01"}, False),
        ({"recurrence": "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU", "start_date": "2026-03-01"}, True),
        ({"recurrence": "FREQ=DAILY;COUNT=3", "start_date": "2026-03-01"}, True),
        ({"recurrence": "FREQ=DAILY;COUNT=2", "start_date": "2026-03-01"}, False),
        ({"recurrence": "FREQ=DAILY;UNTIL=20260303", "start_date": "2026-03-01"}, True),
        ({"recurrence": "FREQ=DAILY;UNTIL=20260302T235959Z", "start_date": "2026-03-01"}, False),
        ({"recurrence": "FREQ=MONTHLY;BYDAY=1TU", "start_date": "2025-01-01"}, True),
        ({"recurrence": "RRULE:FREQ=YEARLY", "start_date": "2020-03-03"}, True),
        ({"timezone": "Pacific/Auckland", "start_date": "2026-03-03", "end_date": "2026-03-03"}, True),
    ],
)  # fmt: skip
def test_validity(fields: dict[str, Any], applies: bool) -> None:  # noqa: FBT001  a table
    """A6, S9, S19: Tuesday 3 March 2026. The zone belongs to windows, so it moves no date."""
    assert bool(uids([version_of(**fields)])) is applies


# --- A7 to A11: what was asked ---


@pytest.mark.parametrize("stage", ["REFINE", "Refine", "refine", None])
def test_an_empty_stage_list_means_every_stage(stage: str | None) -> None:
    """A7, S233: and names of stages are understood as programs write them."""
    rows = [version_of("every"), version_of("here", applies_stages=["Refine", "ReviewCommit"])]
    assert uids(rows, stage=stage) == ["every", "here"]
    assert uids([version_of("there", applies_stages=["CollectConstraints"])], stage="REFINE") == []
    assert uids([version_of("there", applies_stages=["CollectConstraints"])], stage="COLLECT") == ["there"]


def test_an_empty_type_list_means_every_type_and_no_question_routes_by_none() -> None:
    """A8, S233."""
    rows = [version_of("every"), version_of("deep", applies_event_types=["DW"])]
    assert uids(rows, event_types=["M"]) == ["every"]
    assert uids(rows, event_types=["DW", "M"]) == ["deep", "every"]
    assert uids(rows, event_types=[]) == uids(rows) == ["deep", "every"]


def test_a_session_record_applies_under_its_session_only() -> None:
    """A9, S2."""
    rows = [version_of("s", scope="session", session="S1"), version_of("nowhere", scope="session")]
    assert uids(rows, session_id="S1") == ["s"]
    assert uids(rows, session_id="S2") == uids(rows) == []


def test_type_ids_admit_only_those_kinds() -> None:
    """A10; what has no kind is of the type “other”."""
    rows = [version_of("b", rule_kind="buffer"), version_of("c", rule_kind="capacity"), version_of("n")]
    assert uids(rows, type_ids=["buffer"]) == ["b"]
    assert uids(rows, type_ids=["other", "capacity"]) == ["c", "n"]
    assert uids(rows, type_ids=[]) == ["b", "c", "n"]


def test_an_explicit_day_wins_over_the_day_of_now() -> None:
    """A11: 3 March 23:30 UTC is 4 March in Amsterdam."""
    rows = [version_of("third", start_date="2026-03-03", end_date="2026-03-03")]
    late = {"now": "2026-03-03T23:30:00Z", "timezone": "Europe/Amsterdam"}
    assert uids(rows, day=None, **late) == []
    assert uids(rows, day=DAY, **late) == ["third"]
    assert uids(rows, day=None, now="2026-03-03T23:30:00Z") == ["third"]


def test_no_version_later_than_now_exists_yet() -> None:
    """A11: neither as the constraint nor as a replacement nor in the explanation."""
    rows = [
        version_of("a", at="2026-03-01T09:00:00Z"),
        version_of("a", at="2026-03-05T09:00:00Z", status="declined", event={"action": "decline"}),
        version_of("b", at="2026-03-05T09:00:00Z", supersedes_uids=["a"]),
    ]
    answer = decide_applicability(rows, context_of(now="2026-03-03T09:00:00Z"))
    assert ([item.uid for item in answer.applicable], answer.excluded) == (["a"], ())
    assert uids(rows) == ["b"]
    assert uids(rows, now="2026-03-05T09:00:00Z") == ["b"]


# --- S225: conditions ---


def aspect(name: str, **fields: Any) -> dict[str, Any]:
    return {"aspect_id": name, **fields}


def test_only_with_and_only_without() -> None:
    """S225: of what is not known to be there, it is not there; a sentence selects nothing (K4)."""
    rows = [
        version_of("with", aspect_classification=aspect("x", conditional_on_present=["commute"])),
        version_of("without", aspect_classification=aspect("y", conditional_on_absent=["commute"])),
    ]
    assert uids(rows, situation=["commute"]) == ["with"]
    assert uids(rows, situation=[]) == uids(rows) == uids(rows, situation="commute today") == ["without"]
    assert reasons(rows) == {"with": "It is for days with “commute” only."}


def test_conditions_know_event_types_and_what_applies_anyway() -> None:
    """S225."""
    gym = version_of("gym", aspect_classification=aspect("gym", conditional_on_absent=["late_meeting"]))
    late = version_of("late", aspect_classification=aspect("late_meeting"), days_of_week=["TU"])
    meetings = version_of("m", aspect_classification=aspect("prep", conditional_on_present=["M"]))
    assert uids([gym, late]) == ["late"]
    assert uids([gym, late], day=date(2026, 3, 4)) == ["gym"]
    assert uids([meetings], event_types=["M"]) == ["m"]
    assert uids([meetings], event_types=["DW"]) == []


def test_one_rules_out_another_unless_that_is_more_binding() -> None:
    """S225: excludes."""
    commute = version_of("commute", aspect_classification=aspect("commute", excludes_aspect_ids=["gym"]))
    gym = version_of("gym", aspect_classification=aspect("gym"), confidence=1.0)
    must = version_of("must", aspect_classification=aspect("gym"), necessity="must")
    assert uids([commute, gym, must]) == ["must", "commute"]
    assert reasons([commute, gym, must]) == {"gym": "“Rule commute” rules it out on that day."}


def test_of_two_that_rule_out_each_other_the_better_one_stays() -> None:
    """S225: and what is ruled out rules out nothing."""
    one = version_of("one", aspect_classification=aspect("a", excludes_aspect_ids=["b"]), confidence=0.5)
    two = version_of("two", aspect_classification=aspect("b", excludes_aspect_ids=["a", "c"]), confidence=0.9)
    three = version_of("three", aspect_classification=aspect("c"), confidence=0.1)
    assert uids([one, two, three]) == ["two"]
    assert uids([one, three, two], suppressed_uids=["two"]) == ["one", "three"]


# --- sentences ---


def test_each_exclusion_has_its_sentence() -> None:
    """S19: what keeps a constraint from applying, in words."""
    rows = [
        version_of("declined", status="declined", event={"action": "decline"}),
        version_of("archived", status="declined", event={"action": "archive"}),
        version_of("gone", status="declined", event={"action": "supersede"}),
        version_of("session", scope="session", session="S9"),
        version_of("later", start_date="2026-03-04"),
        version_of("over", end_date="2026-03-02"),
        version_of("weekday", days_of_week=["FR", "MO", "WE"]),
        version_of("rule", recurrence="FREQ=WEEKLY;BYDAY=MO"),
        version_of("stage", applies_stages=["COLLECT", "SKELETON"]),
        version_of("types", applies_event_types=["M", "C"], rule_kind="buffer"),
        version_of("kind", rule_kind="capacity"),
        version_of("cut", rule_kind="buffer", necessity="prefer"),
        version_of("kept", rule_kind="buffer"),
    ]
    question = {"stage": "REFINE", "event_types": ["DW"], "type_ids": ["buffer"], "k": 1}
    assert uids(rows, **question) == ["kept"]
    assert reasons(rows, **question) == {
        "declined": "You declined it.",
        "archived": "It was archived.",
        "gone": "Another one takes its place.",
        "session": "It was meant for another plan only.",
        "later": "It begins on 4 March 2026.",
        "over": "It ended on 2 March 2026.",
        "weekday": "It is for Monday, Wednesday and Friday only.",
        "rule": "That day is not one of its days (FREQ=WEEKLY;BYDAY=MO).",
        "stage": "It is for the stage “Your day's hours” and “First draft” only.",
        "types": "It is about meeting and commute only.",
        "kind": "Its type is capacity, which was not asked for.",
        "cut": "There was room for 1 only, and others come first.",
    }


def test_what_applies_says_why() -> None:
    """S174, S198: binding, days, what it touches, how long it is kept."""
    row = version_of(
        necessity="must",
        start_date="2026-01-01",
        end_date="2026-12-31",
        days_of_week=["TU", "TH"],
        applies_event_types=["DW", "M"],
        ttl_days=90,
    )
    (item,) = decide_applicability([row], context_of(event_types=["DW"])).applicable
    assert item.reasons == (
        "It has to be kept; you confirmed it.",
        "It holds on 3 March 2026, as on each Tuesday and Thursday, between 1 January 2026 and 31 December 2026.",
        "It concerns deep work.",
        "It is kept until 2 May 2026 unless you confirm it again.",
    )
