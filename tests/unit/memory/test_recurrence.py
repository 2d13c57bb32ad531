"""Recurrence rules on calendar days (A6)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st
from tests.factories.constraints import RULES

from fateforger.memory.vocabulary import check_rule, depends_on_start, occurs

MORE = (
    "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,SU;BYSETPOS=1",
    "FREQ=WEEKLY;INTERVAL=5",
    "FREQ=DAILY;INTERVAL=7;BYMONTH=2,3",
    "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1SU",
    "FREQ=MONTHLY;INTERVAL=13",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=YEARLY;BYDAY=20MO",
    "FREQ=YEARLY;BYWEEKNO=20",
    "FREQ=YEARLY;BYYEARDAY=1,-1,100",
    "FREQ=YEARLY;BYMONTH=3",
    "FREQ=DAILY;COUNT=900",
)


@given(
    st.sampled_from((*RULES, *MORE)),
    st.dates(date(2004, 1, 1), date(2026, 3, 1)),
    st.dates(date(2003, 12, 1), date(2028, 3, 1)),
)
def test_a_late_start_gives_the_same_days(rule: str, start: date, around: date) -> None:
    """A6: the same as counting from the very first occurrence, however long ago that is."""
    days = [around + timedelta(days=n) for n in range(45)]
    text = rule.removesuffix("T000000Z")
    plain = rrulestr(text if "WKST" in text else f"{text};WKST=MO", dtstart=datetime.combine(start, time()))
    found = plain.between(datetime.combine(days[0], time()), datetime.combine(days[-1], time()), inc=True)
    assert [day for day in days if occurs(rule, start, day)] == [moment.date() for moment in found]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("every day", "“every day” is not a recurrence rule for days; write it like FREQ=WEEKLY;BYDAY=TU,TH"),
        ("FREQ=HOURLY", "a recurrence says how often: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY"),
        ("BYDAY=MO", "a recurrence says how often: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL in a recurrence is a number from 1 to 1000"),
        ("FREQ=DAILY;COUNT=-1", "COUNT in a recurrence is a number from 1 to 10000"),
        ("FREQ=DAILY;BYHOUR=9", "“FREQ=DAILY;BYHOUR=9” is not a recurrence rule for days; write it like FREQ=WEEKLY;BYDAY=TU,TH"),
        ("FREQ=DAILY;FREQ=WEEKLY", "“FREQ=DAILY;FREQ=WEEKLY” is not a recurrence rule for days; write it like FREQ=WEEKLY;BYDAY=TU,TH"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_rule_gets_a_sentence(rule: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_rule(rule)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("rule", ["FREQ=WEEKLY;BYDAY=XX", "FREQ=DAILY;UNTIL=soon", "FREQ=MONTHLY;BYMONTHDAY=x"])
def test_what_dateutil_refuses_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="is not a recurrence rule"):
        check_rule(rule)


def test_which_rules_need_a_start() -> None:
    """“Every second week” says nothing before one knows which week is the first."""
    assert {rule for rule in (*RULES, *MORE) if not depends_on_start(rule)} == {
        "FREQ=WEEKLY;BYDAY=TU,TH",
        "FREQ=MONTHLY;BYDAY=1MO,-1FR",
        "FREQ=MONTHLY;BYMONTHDAY=-1",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=DAILY;UNTIL=20260320",
        "FREQ=DAILY;UNTIL=20260310T000000Z",
        "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3,4",
        "FREQ=YEARLY;BYDAY=20MO",
        "FREQ=YEARLY;BYWEEKNO=20",
        "FREQ=YEARLY;BYYEARDAY=1,-1,100",
    }
