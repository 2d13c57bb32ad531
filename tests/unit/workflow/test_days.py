"""Rules of a person's own for their days, judged on the order of a day (S126-S131): blocks of the plan and meetings."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest

from fateforger.errors import BadInput
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart, zone
from fateforger.workflow.conformance import CheckedRule, StatedRule, wrap_rule
from fateforger.workflow.day_conformance import DayBlock, judge_day
from fateforger.workflow.day_rules import NAMES, read_day_rule

MONDAY, TZ = date(2026, 3, 2), "Europe/Amsterdam"


def plan(*blocks: tuple[str, ET, str, int]) -> TBPlan:
    return TBPlan(
        date=MONDAY,
        tz=TZ,
        events=tuple(
            TBEvent(
                name=name,
                type=kind,
                timing=FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes)),
            )
            for name, kind, start, minutes in blocks
        ),
    )


def meeting(title: str, start: str, end: str) -> DayBlock:
    begins, ends = (datetime.combine(MONDAY, time.fromisoformat(clock), tzinfo=zone(TZ)) for clock in (start, end))
    return DayBlock(ET.MEETING, title, begins, ends)


DAY = plan(
    ("Mail", ET.SHALLOW_WORK, "09:00", 30),
    ("Report", ET.DEEP_WORK, "10:00", 120),
    ("Walk", ET.REGENERATION, "12:00", 15),
    ("Book", ET.DEEP_WORK, "16:00", 90),
)
MEETINGS = (meeting("Standup", "09:30", "09:45"), meeting("Board", "16:45", "17:15"))


def rules_of(*texts: str) -> tuple[StatedRule, ...]:
    return tuple(wrap_rule(read_day_rule(text)) for text in texts)


def judge_rule(rule: str) -> tuple[CheckedRule, tuple[DayBlock, ...]]:
    [only] = judge_day(rules_of(rule), DAY, MEETINGS)
    return only


@pytest.mark.parametrize(
    ("rule", "verdict", "titles"),
    [
        ("BEFORE deep_work: admin_done", "satisfied", []),
        ("BEFORE admin: rest_done", "violated", ["Mail"]),
        ("BEFORE deep_work: meeting", "satisfied", []),
        ("BEFORE deep_work: rest", "violated", ["Report"]),
        ("NEVER: meeting_after_17", "violated", ["Board"]),
        ("NEVER: meeting_after_17_15", "satisfied", []),
        ("NEVER: deep_work_before_10", "satisfied", []),
        ("NEVER: deep_work_before_10_01", "violated", ["Report"]),
        ("NEVER: deep_work_longer_than_90", "violated", ["Report"]),
        ("NEVER: deep_work_longer_than_120", "satisfied", []),
        ("NEVER: background_after_24", "satisfied", []),
        ("AFTER deep_work: rest", "violated", ["Book"]),
        ("IF monday THEN NOT meeting_before_10", "violated", ["Standup"]),
        ("IF friday THEN NOT meeting_before_10", "vacuous", []),
        ("ON meeting: INVOKE deep_work", "violated", ["Board"]),
        ("BEFORE commute: admin_done", "vacuous", []),
    ],
)
def test_a_day_is_judged_in_its_order(rule: str, verdict: str, titles: list[str]) -> None:
    """Each rule with its verdict, and the blocks that break it."""
    checked, blocks = judge_rule(rule)
    assert (checked.verdict.value, [block.title for block in blocks]) == (verdict, titles)


def test_the_order_of_the_list_does_not_matter() -> None:
    """S133: the time of a block counts, not its place in the list."""
    turned = DAY.replace(reversed(DAY.events))
    rules = rules_of("BEFORE deep_work: admin_done", "NEVER: meeting_after_17")
    assert judge_day(rules, turned, MEETINGS) == judge_day(rules, DAY, MEETINGS[::-1])


def test_a_block_that_is_not_over_is_not_done() -> None:
    day = plan(("Mail", ET.SHALLOW_WORK, "09:00", 90), ("Report", ET.DEEP_WORK, "10:30", 60))
    rules = rules_of("BEFORE meeting: admin_done")
    assert judge_day(rules, day, [meeting("Call", "10:29", "10:30")])[0][0].verdict.value == "violated"
    assert judge_day(rules, day, [meeting("Call", "10:30", "10:45")])[0][0].verdict.value == "satisfied"


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        (
            "BEFORE deep_wrk: admin_done",
            "line 1, column 8",
            "Nothing is declared with the name “deep_wrk”. Did you mean deep_work?",
        ),
        (
            "NEVER: meeting_after_25",
            "line 1, column 8",
            "Nothing is declared with the name “meeting_after_25”. Did you mean meeting_after_17?",
        ),
        (
            "NEVER: meeting_after_9_60",
            "line 1, column 8",
            "Nothing is declared with the name “meeting_after_9_60”. Did you mean meeting_after_17?",
        ),
        (
            "no meetings please",
            "line 1, column 1",
            "A rule begins with BEFORE, AFTER, ALWAYS, NEVER, IF or ON, not with “no”.",
        ),
    ],
)
def test_a_typed_mistake_is_shown_where_it_is(text: str, where: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_day_rule(text)
    assert (raised.value.where, raised.value.message) == (where, sentence)


@pytest.mark.parametrize(
    "name",
    [
        "meeting_after_",
        "meeting_after_x",
        "meeting_longer_60",
        "meeting_after_24_30",
        "meeting_after_00017",
        "someday",
        "done",
        "_done",
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        read_day_rule(f"NEVER: {name}")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("meting_after_10", ("meeting_after_10",)),
        ("meeting_after_25", ("meeting_after_17",)),
        ("deepwork_done", ("deep_work_done",)),
        ("habbit_before_8_30", ("habit_before_8_30",)),
        ("meeting_longer_than_an_hour", ("meeting_longer_than_60",)),
        ("deepwork", ("deep_work",)),
        ("mondey", ("monday",)),
        ("focus_after_10", ()),
        ("lunch", ()),
    ],
)
def test_what_may_have_been_meant_keeps_the_rest_of_the_name(written: str, meant: tuple[str, ...]) -> None:
    """No suggestion is better than a name with another meaning."""
    assert NAMES.near(written) == meant
