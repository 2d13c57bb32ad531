"""A day as another program drafts it: accepted parts, and mistakes that go back to it (S106, S120, S121, S208)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.factories.tasks import DEEP, SHALLOW

from fateforger.conversation.language.plan_proposals import ProposedBlock, accept_proposal
from fateforger.drafting.day_draft import Day, LunchWish, Work
from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.model import Draft
from fateforger.errors import BadInput
from fateforger.limits import MAX_TITLE_CHARS
from fateforger.planning.plan import ET, TBPlan, overlaps, resolve
from fateforger.planning.task_details import is_shutdown
from fateforger.planning.timing import Busy, instant_of, zone

MONDAY = date(2026, 3, 2)
TZ = "Europe/Amsterdam"


def at(clock: str, day: date = MONDAY) -> datetime:
    return instant_of(datetime.combine(day, time.fromisoformat(clock)), zone(TZ))


def busy(*spans: str) -> tuple[Busy, ...]:
    return tuple(Busy(*(at(t) for t in span.split("-"))) for span in spans)


REPORT = Work("t1", "Report", 90, details=DEEP, first=True, notes="with figures")
MAIL = Work("t2", "Mail", 30, details=SHALLOW)
IDEAS = Work("t3", "Ideas", None, details=DEEP)
DAY = Day(
    date=MONDAY,
    tz=TZ,
    start=at("09:00"),
    end=at("17:00"),
    busy=busy("09:30-10:00"),
    lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45),
    works=(REPORT, MAIL, IDEAS),
)


def work(number: int, start: str, minutes: int, day: date = MONDAY) -> ProposedBlock:
    return ProposedBlock(number, "", ET.DEEP_WORK, at(start, day), minutes, "")


def own(title: str, start: str, minutes: int, kind: ET = ET.REGENERATION) -> ProposedBlock:
    return ProposedBlock(None, title, kind, at(start), minutes, title.lower())


GOOD = (work(2, "16:00", 30), work(1, "10:00", 90), own("Walk", "11:30", 15), work(3, "14:00", 50))


def list_blocks(result: Draft) -> list[str]:
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name} {b.event.type}" for b in resolve(result.plan)]


def wrong(day: Day, *proposed: ProposedBlock) -> str:
    with pytest.raises(BadInput) as caught:
        accept_proposal(day, proposed)
    return caught.value.message


def test_a_good_day_is_taken_up_in_time_order_with_lunch_as_ours() -> None:
    result = accept_proposal(DAY, GOOD)
    assert list_blocks(result) == [
        "10:00-11:30 Report DW",
        "11:30-11:45 Walk R",
        "12:30-13:15 Lunch R",
        "14:00-14:50 Ideas DW",
        "16:00-16:30 Mail SW",
    ]
    assert [e.key for e in result.plan.events] == ["t1", "walk", "lunch-2026-03-02", "t3", "t2"]
    assert (result.plan.events[0].description, result.unplaced) == ("with figures", ())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({0: work(2, "09:20", 30)}, "Task 2 (09:20–09:50) runs into a meeting, 09:30–10:00."),
        ({0: work(2, "12:15", 30)}, "Task 2 (12:15–12:45) runs into lunch, 12:30–13:15."),
        ({0: work(2, "16:45", 30)}, "Task 2 (16:45–17:15) leaves the day, which is 09:00–17:00."),
        ({0: work(2, "08:00", 30)}, "Task 2 (08:00–08:30) leaves the day, which is 09:00–17:00."),
        ({0: work(2, "15:00", 30, date(2026, 3, 3))}, "Task 2 (15:00–15:30) leaves the day, which is 09:00–17:00."),
        ({0: work(2, "11:35", 30)}, "Task 2 (11:35–12:05) begins before “Walk” (11:30–11:45) has ended."),
        ({0: work(2, "16:00", 45)}, "Task 2 takes 30 minutes, and you gave it 45."),
        ({0: work(2, "16:00", -5)}, "Block 1 has -5 minutes; a block has 1 to 1440."),
        ({0: work(2, "16:00", 10**12)}, "Block 1 has 1000000000000 minutes; a block has 1 to 1440."),
        ({0: work(9, "16:00", 30)}, "Block 1: there is no task 9."),
        ({0: work(0, "16:00", 30)}, "Block 1: there is no task 0."),
        ({0: own("", "16:00", 30)}, "Block 1 has neither a task nor a title."),
        (
            {2: own("Gym", "16:00", 30, ET.DEEP_WORK)},
            "Block 3 is no task of the list; what you add yourself is of type R, BU or PR.",
        ),
        ({2: work(2, "11:30", 30)}, "Task 2 is there 2 times; once is enough."),
        ({2: work(3, "11:30", 40)}, "Task 3 is there 2 times; once is enough."),
        ({1: work(1, "15:30", 90), 0: work(2, "11:00", 30)}, None),
    ],
)
def test_s121_each_rule_has_its_sentence(change: dict[int, ProposedBlock], sentence: str | None) -> None:
    proposed = tuple(change.get(place, block) for place, block in enumerate(GOOD))
    if sentence is None:
        assert "Task 1 is the one thing that matters; start it before 13:20." in wrong(DAY, *proposed)
    else:
        assert wrong(DAY, *proposed) == sentence


def test_a_task_may_be_left_out_only_when_there_is_no_room_and_it_is_named() -> None:
    assert wrong(DAY, *GOOD[1:]) == "Task 2 is missing, and there is room for its 30 min."
    full = (work(1, "10:00", 90), work(3, "13:15", 225), own("Walk", "11:30", 60), own("Coffee", "09:00", 20))
    result = accept_proposal(DAY, full)
    assert [(left.id, left.reason) for left in result.unplaced] == [
        ("t2", "it needs 30 min, and the longest stretch still free is 10 min")
    ]


def test_the_one_thing_is_never_left_out_for_the_others() -> None:
    full = (work(2, "09:00", 30), work(3, "10:00", 150), own("Walk", "13:15", 220))
    assert "Task 1 is the one thing that matters; give it a place first." in wrong(DAY, *full)


def test_the_one_thing_may_be_late_when_the_morning_is_full() -> None:
    day = Day(date=MONDAY, tz=TZ, start=at("09:00"), end=at("17:00"), busy=busy("09:00-14:00"), works=(REPORT,))
    assert list_blocks(accept_proposal(day, [work(1, "15:00", 90)])) == ["15:00-16:30 Report DW"]


def test_long_deep_work_may_come_in_pieces_that_add_up() -> None:
    long = Work("t1", "x" * MAX_TITLE_CHARS, 150, details=DEEP)
    day = Day(date=MONDAY, tz=TZ, start=at("09:00"), end=at("17:00"), works=(long,))
    result = accept_proposal(day, [work(1, "13:00", 60), work(1, "09:00", 90)])
    assert [e.key for e in result.plan.events] == ["t1", "t1-2"]
    assert [e.name[-6:] for e in result.plan.events] == [" (1/2)", " (2/2)"]
    assert wrong(day, work(1, "13:00", 60), work(1, "09:00", 60)) == "Task 1 takes 150 minutes, and you gave it 120."
    assert "2 times" in wrong(day, work(1, "13:00", 10), work(1, "09:00", 140))


def test_many_mistakes_are_told_in_few_words() -> None:
    told = wrong(DAY, *(work(n, "09:00", 30) for n in range(4, 1000)))
    assert told.count("there is no task") == 6
    assert told.endswith("And 990 more mistakes.")


def test_an_empty_list_needs_no_blocks() -> None:
    day = Day(date=MONDAY, tz=TZ, start=at("09:00"), end=at("17:00"))
    assert accept_proposal(day, ()) == Draft(TBPlan(date=MONDAY, tz=TZ), ())


NIGHT = Day(
    date=date(2026, 3, 28),
    tz=TZ,
    start=at("20:00", date(2026, 3, 28)),
    end=at("05:00", date(2026, 3, 29)),
    works=(Work("t1", "Watch", 120, details=DEEP),),
)


def test_elapsed_minutes_over_the_change_of_clocks() -> None:
    result = accept_proposal(NIGHT, [work(1, "01:30", 120, date(2026, 3, 29))])
    assert list_blocks(result) == ["01:30-04:30 Watch DW"]


@st.composite
def days(draw: st.DrawFn) -> Day:
    spans = draw(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 120)), max_size=4))
    meetings = tuple(
        Busy(at("09:00") + timedelta(minutes=5 * (s // 5)), at("09:00") + timedelta(minutes=s + n)) for s, n in spans
    )
    works = tuple(
        Work(f"t{n}", f"T{n}", draw(st.integers(5, 240)), details=draw(st.sampled_from((DEEP, SHALLOW))), first=n == 2)
        for n in range(draw(st.integers(0, 5)))
    )
    lunch = draw(st.sampled_from([None, LunchWish("lunch-2026-03-02", at("12:30"), 45)]))
    return Day(
        date=MONDAY, tz=TZ, start=at("09:00"), end=at("17:00"), busy=meetings, lunch=lunch, works=works, fills=True
    )


@given(days())
def test_our_own_drafts_keep_the_rules_that_we_hold_others_to(day: Day) -> None:
    """Without a one thing, ahead of which our drafts leave short deep work out, and without tasks of a few minutes, which
    are not worth another block of deep work with its breaks."""
    works = (replace(work, first=False, minutes=work.minutes and max(work.minutes, 15)) for work in day.works)
    day = replace(day, works=tuple(works))
    ours = day.draft(steps=TRIAL_STEPS, trial_steps=TRIAL_STEPS)
    taken = accept_proposal(day, as_proposed(day, ours))
    assert taken.plan == ours.plan
    # The reason speaks of the room in the end; ours of the room when it was that task's turn.
    assert {left.id for left in taken.unplaced} == {left.id for left in ours.unplaced if not is_shutdown(left.id)}


def as_proposed(day: Day, ours: Draft) -> list[ProposedBlock]:
    numbers = {w.id: n for n, w in enumerate(day.works, 1)}
    return [
        ProposedBlock(None, b.event.name, b.event.type, b.start, b.minutes, b.key)
        if is_shutdown(b.key)
        else ProposedBlock(numbers[b.key.partition("-")[0]], "", b.event.type, b.start, b.minutes, "")
        for b in resolve(ours.plan)
        if b.key != "lunch-2026-03-02"
    ]


@given(days(), st.integers(0, 20), st.integers(-60, 60), st.integers(0, 540), st.integers(0, 40))
def test_s121_whatever_is_taken_up_keeps_every_meeting_and_the_frame(
    day: Day, which: int, shift: int, start: int, minutes: int
) -> None:
    """From our own draft, with one block moved and one added: refused, or as good as ours."""
    proposed = as_proposed(day, day.draft(steps=TRIAL_STEPS, trial_steps=TRIAL_STEPS))
    if proposed:
        moved = proposed[which % len(proposed)]
        proposed.remove(moved)
        proposed.append(replace(moved, start=moved.start + timedelta(minutes=shift)))
    if minutes:
        proposed.append(ProposedBlock(None, "Walk", ET.BUFFER, day.start + timedelta(minutes=start), minutes, "walk"))
    try:
        result = accept_proposal(day, proposed)
    except BadInput:
        event("refused")
        return
    event("taken up")
    resolved = resolve(result.plan)
    assert overlaps(resolved) == ()
    for block in resolved:
        begin, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
        assert day.start <= begin < end <= day.end
        assert not any(b.start < b.end and b.start < end and begin < b.end for b in day.busy)
    placed = {b.key.partition("-")[0] for b in resolved} - {"lunch", "walk", "shutdown"}
    assert placed | {left.id for left in result.unplaced} - {"lunch-2026-03-02"} == {w.id for w in day.works}
