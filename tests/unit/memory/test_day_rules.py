"""A rule over the order of the day as a constraint: read, kept, distinguished, checked on blocks (S126-S131, S143)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from tests.factories.constraints import DAY, context_of, record_of, version_of
from tests.unit.memory.test_blocks import TZ, items

from fateforger.errors import BadInput
from fateforger.memory.applicability import decide_applicability
from fateforger.memory.consolidation import find_consolidations
from fateforger.memory.contradiction import Kind, find_contradictions
from fateforger.memory.documents import read_record, read_version, write_record, write_version
from fateforger.memory.migration import read_row
from fateforger.memory.record import ConstraintRecord, compute_uid, means_the_same
from fateforger.memory.versions import Version
from fateforger.memory.violations import describe_times, find_order_violations
from fateforger.planning.plan import ET, TBPlan
from fateforger.planning.timing import zone
from fateforger.workflow.day_conformance import DayBlock

LATE = "NEVER: meeting_after_17"
ADMIN = "BEFORE deep_work: admin_done"


def plan(*blocks: tuple[str, str, str, str]) -> TBPlan:
    events = [
        {"n": title, "t": kind, "p": {"a": "fw", "st": start, "et": end}, "key": title}
        for title, kind, start, end in blocks
    ]
    return TBPlan.model_validate({"date": DAY, "tz": TZ, "events": events})


def meeting(title: str, start: str, end: str) -> DayBlock:
    begins, ends = (datetime.fromisoformat(f"{DAY} {clock}").replace(tzinfo=zone(TZ)) for clock in (start, end))
    return DayBlock(ET.MEETING, title, begins, ends)


def test_a_record_holds_the_rule_as_it_is_written_in_full() -> None:
    """Spaces and parentheses that say nothing are gone, so that the same rule is the same text."""
    record = read_record(record_of(day_rule="BEFORE  deep_work :(admin_done)"))
    assert record.payload.day_rule == ADMIN
    assert describe_times(record) == "When there is a block of deep work, admin work must be over by then"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "NEVER: meting_after_17",
            "At line 1, column 8: Nothing is declared with the name “meting_after_17”. Did you mean meeting_after_17?",
        ),
        ("never: meeting", "At line 1, column 1: Write NEVER in capitals."),
        ("BEFORE deep_work: deep_work", "No block can keep “BEFORE deep_work: deep_work”."),
        (
            "ON meeting: INVOKE admin_done",
            "At line 1, column 20: INVOKE needs an action, and “admin_done” is a state.",
        ),
    ],
)
def test_a_text_that_is_no_rule_is_refused_wherever_a_record_comes_in(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_record(record_of(day_rule=text))
    assert (refused.value.message, refused.value.where) == (sentence, "payload.day_rule")


def test_versions_with_and_without_one_come_back_as_they_were() -> None:
    """Import and export, flat rows of other stores; a record without such a rule is written without the field."""
    version = version_of("late", day_rule=LATE)
    assert read_version(write_version(version)) == version
    row = {"user_id": "U1", "uid": "late", "name": "Late", "day_rule": LATE, "created_at": "2026-02-01T09:00:00Z"}
    assert read_row(row).record.payload.day_rule == LATE
    plain = version_of("plain").record
    assert "day_rule" not in plain.model_dump(mode="json")["payload"]
    assert "day_rule" not in write_record(plain)["payload"]


def test_a_kept_rule_with_a_name_of_another_kind_still_opens() -> None:
    """Earlier versions kept such rules, and judge them as they did."""
    for text in ("ON meeting: INVOKE admin_done", "IF monday THEN deep_work AND deep_work_before_10"):
        version = version_of("old", day_rule=text)
        assert read_version(write_version(version)) == version
        with pytest.raises(BadInput):
            read_record(write_version(version)["constraint_record"])


def test_the_rule_is_part_of_what_a_constraint_is() -> None:
    """Another rule is another constraint, and the same one in other words is the same; all other uids stay."""
    one, other = (read_record(record_of(None, name="Rule", day_rule=text)) for text in (LATE, ADMIN))
    assert compute_uid(one, "U1") != compute_uid(other, "U1")
    again = one.model_copy(update={"name": "Laat", "description": "geen overleg na vijven"})
    assert means_the_same(one, again)
    assert not means_the_same(one, other)
    assert compute_uid(read_record(record_of(None)), "U1") == "tb_449b3ea757903999ab834140ee6c9a64d0759c0f"


def list_broken(rule: str, day: TBPlan, *meetings: DayBlock, **fields: Any) -> list[tuple[Any, ...]]:
    found = find_order_violations(items(day_rule=rule, **fields), day, meetings)
    return [(b.keys, b.named, b.remedy) for b in found]


def test_blocks_and_meetings_of_others_are_held_against_it() -> None:
    day = plan(("Mail", "SW", "09:00", "09:30"), ("Report", "DW", "10:00", "12:00"))
    board = meeting("Board", "17:00", "18:00")
    assert list_broken(ADMIN, day, board) == []
    assert list_broken(LATE, day, board) == [
        ((), "“Board” (17:00–18:00)", "It is an event on your calendar, so only you can move it.")
    ]
    assert list_broken("BEFORE admin: deep_work_done", day) == [
        (("Mail",), "“Mail” (09:00–09:30)", "Put what it waits for before it, or move it back.")
    ]
    assert list_broken(LATE, day, board, days_of_week=["MO"]) == []


def test_a_breach_is_said_in_the_persons_words_and_in_plain_ones() -> None:
    rules = items(day_rule=LATE, description="geen overleg na vijven")
    [breach] = find_order_violations(rules, plan(("Review", "M", "16:30", "17:30")))
    assert breach.sentence == (
        "On 1 February 2026 you said: “geen overleg na vijven”. No meeting past 17:00. "
        "These break it: “Review” (16:30–17:30). Move it, shorten it, or leave it out."
    )


def test_many_blocks_against_it_are_counted() -> None:
    day = plan(*((f"C{n}", "M", f"{17 + n}:00", f"{17 + n}:30") for n in range(5)))
    [(_, named, _)] = list_broken(LATE, day)
    assert named == "“C0” (17:00–17:30), “C1” (18:00–18:30), “C2” (19:00–19:30) and 2 more"


def version(uid: str, rule: str, hour: int, **fields: Any) -> Version:
    return version_of(uid, day_rule=rule, at=f"2026-02-01T{hour:02}:00:00+00:00", name=uid, **fields)


def clashes(*versions: Version, about: str | None = None) -> list[tuple[tuple[str, ...], str]]:
    found = find_contradictions(versions, "U1", about=about)
    assert all(finding.kind is Kind.CONTRADICTION and finding.follows is None for finding in found)
    return [(finding.uids, finding.sentence) for finding in found]


def test_rules_that_cannot_both_be_kept_are_asked_about_with_both_texts() -> None:
    """S143: however binding and however new they are, the person decides."""
    always, never = version("a", "ALWAYS: meeting", 9, necessity="must"), version("b", "NEVER: meeting", 10)
    asked = [
        (
            ("b", "a"),
            "“At each block, there must be a meeting” and “No meeting” cannot both be kept. Which one counts?",
        )
    ]
    assert clashes(always, never) == asked
    assert clashes(always, never, about="a") == asked
    assert clashes(always, never, version("c", LATE, 11), about="c") == []


def test_a_circle_names_all_of_its_rules() -> None:
    circle = [
        version("a", "BEFORE deep_work: admin", 9),
        version("b", "BEFORE admin: habit_done", 10),
        version("c", "BEFORE habit: deep_work", 11),
    ]
    sentence = (
        "“When there is a block of deep work, admin work must come before it”, “When there is admin work, a habit must be over by then” and “When there is a habit, a block of deep work must come before it” wait for each other. "
        "Which one counts?"
    )
    assert clashes(*circle) == [(("c", "b"), sentence)]
    assert clashes(*circle[:2]) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"days_of_week": ["FR"]},
        {"supersedes_uids": ["a"]},
        {"status": "declined"},
        {"aspect_classification": {"conditional_on_present": ["guests"]}},
    ],
)
def test_rules_that_never_meet_do_not_clash(fields: dict[str, Any]) -> None:
    always = version("a", "ALWAYS: meeting", 9, days_of_week=["MO"])
    assert clashes(always, version("b", "NEVER: meeting", 10, **fields)) == []


def test_the_same_rule_under_two_names_is_offered_for_tidying_up() -> None:
    one, other = version("a", LATE, 9), version("b", LATE, 10)
    assert [finding.kind for finding in find_consolidations([one, other], context_of())] == [Kind.NEAR_DUPLICATE]


def test_a_rule_applies_whatever_the_day_holds() -> None:
    """The subject is in the text of the rule, so no kind of block selects it."""
    found = decide_applicability([version("a", LATE, 9)], context_of(event_types=["DW"])).applicable
    assert [item.uid for item in found] == ["a"]
    assert isinstance(found[0].record, ConstraintRecord)
