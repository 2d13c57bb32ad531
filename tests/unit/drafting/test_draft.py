"""Drafting a day by hand-checked examples."""

from __future__ import annotations

import time as clock
from datetime import UTC, date, datetime, time, timedelta

import pytest
from tests.factories.tasks import DEEP, SHALLOW

from fateforger.drafting.day_draft import FIRST_STEPS, Day, LunchWish, Work
from fateforger.drafting.model import Draft, UnplacedItem
from fateforger.planning.plan import ET, resolve, resolve_strict
from fateforger.planning.task_details import TaskDetails, TaskKind, Travel
from fateforger.planning.timing import Busy, instant_of, zone
from fateforger.quality.model import Criterion
from fateforger.quality.rubric import grade_plan
from fateforger.text import speak
from fateforger.values import replace

MONDAY = date(2026, 3, 2)
AMSTERDAM = "Europe/Amsterdam"
draft = Day.draft


def at(clock_time: str, day: date = MONDAY, tz: str = AMSTERDAM) -> datetime:
    return instant_of(datetime.combine(day, time.fromisoformat(clock_time)), zone(tz))


def day(start: str = "09:00", end: str = "17:00", **given: object) -> Day:
    return Day(date=MONDAY, tz=AMSTERDAM, start=at(start), end=at(end), **given)  # type: ignore[arg-type]


def busy(*spans: str) -> tuple[Busy, ...]:
    return tuple(Busy(*(at(t) for t in span.split("-"))) for span in spans)


def deep(name: str, minutes: int | None, *, first: bool = False) -> Work:
    return Work(name.lower(), name, minutes, details=DEEP, first=first)


def shallow(name: str, minutes: int | None) -> Work:
    return Work(name.lower(), name, minutes, details=SHALLOW)


def list_blocks(result: Draft) -> list[str]:
    """Return the blocks except the end of the day, which has a test of its own."""
    return [text for text in whole(result) if not text.endswith("Shut down")]


def whole(result: Draft) -> list[str]:
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name}" for b in resolve(result.plan)]


def list_unplaced(result: Draft) -> list[UnplacedItem]:
    """Return the items that found no place, without the end of the day."""
    return [each for each in result.unplaced if each.title != "Shut down"]


def test_one_thing_first_then_deep_then_shallow() -> None:
    """S206, S208: the one thing early, deep before shallow, ten minutes to breathe after deep work."""
    works = (shallow("Mail", 30), deep("Report", 90), deep("Talk", 60, first=True))
    assert list_blocks(draft(day(works=works))) == ["09:00-10:00 Talk", "10:10-11:40 Report", "11:50-12:20 Mail"]


def test_the_one_thing_comes_first_though_much_has_to_make_room() -> None:
    """S206: whole, and at the beginning of the day, where everything has a place so as well."""
    works = (deep("Report", 90), deep("Review", 90, first=True), deep("Thesis", 60), shallow("Mail", 30))
    lunch = LunchWish("lunch-2026-03-02", at("12:30"), 45)
    result = draft(day(end="18:00", busy=busy("10:30-11:30", "14:00-15:00"), lunch=lunch, works=works))
    assert list_unplaced(result) == []
    assert list_blocks(result)[0] == "09:00-10:30 Review"
    assert "12:30-13:15 Lunch" in list_blocks(result)


def test_meetings_stay_and_gaps_are_filled_around_them() -> None:
    """S121: busy time is never used; after two meetings in a row comes a pause, and short work fills a short gap."""
    result = draft(
        day(busy=busy("09:30-10:00", "09:45-10:30", "12:00-13:00"), works=(deep("Report", 90), shallow("Mail", 30)))
    )
    assert list_blocks(result) == ["09:00-09:30 Mail", "13:00-14:30 Report"]


def test_meetings_off_the_grid_are_rounded_outward() -> None:
    result = draft(day(busy=busy("09:02-09:58"), works=(shallow("Mail", 30),)))
    assert list_blocks(result) == ["10:00-10:30 Mail"]


def test_an_empty_meeting_takes_no_time() -> None:
    result = draft(day(busy=busy("09:00-09:00"), works=(shallow("Mail", 30),)))
    assert list_blocks(result) == ["09:00-09:30 Mail"]


def test_lengths_left_open_get_the_usual_ones() -> None:
    """S106: a day with no minutes at all still plans."""
    result = draft(day(works=(deep("Think", None), shallow("Mail", None))))
    assert list_blocks(result) == ["09:00-10:00 Think", "10:10-10:40 Mail"]


def test_lengths_off_the_grid_are_kept() -> None:
    result = draft(day(works=(shallow("Call", 47), shallow("Mail", 30))))
    assert list_blocks(result) == ["09:00-09:47 Call", "09:50-10:20 Mail"]


def test_order_gives_way_to_a_pause() -> None:
    """After deep work there would be no time to breathe."""
    result = draft(day(end="10:30", works=(deep("Report", 60), shallow("Mail", 30))))
    assert list_blocks(result) == ["09:00-09:30 Mail", "09:30-10:30 Report"]


def test_a_part_of_the_day_stays_free_unless_it_shall_be_filled() -> None:
    works = (deep("Report", 90), shallow("Mail", 60), shallow("Calls", 30))
    result = draft(day(end="12:30", works=works))
    assert list_blocks(result) == ["09:00-10:30 Report", "10:40-11:40 Mail"]
    ((calls),) = list_unplaced(result)
    assert calls.reason == "15% of the day stays free, and the rest of it is taken"
    assert [choice.label for choice in calls.choices if choice.way == "fill"] == ["Use the free time"]
    assert list_blocks(draft(day(end="12:30", works=works, fills=True)))[:2] == [
        "09:00-10:00 Mail",
        "10:00-10:30 Calls",
    ]


def test_deep_work_longer_than_every_gap_is_split() -> None:
    result = draft(day(busy=busy("11:00-12:00", "14:00-15:00"), works=(deep("Book", 200),)))
    assert list_blocks(result) == ["09:00-10:30 Book (1/3)", "12:00-12:55 Book (2/3)", "13:05-14:00 Book (3/3)"]
    assert [e.key for e in result.plan.events] == ["book", "book-2", "book-3", "shutdown-2026-03-02"]


def test_no_piece_is_shorter_than_half_an_hour() -> None:
    result = draft(day(end="12:00", busy=busy("10:30-11:00"), works=(deep("Book", 100),)))
    assert list_blocks(result) == ["09:00-10:10 Book (1/2)", "11:00-11:30 Book (2/2)"]


def test_shallow_work_is_not_split() -> None:
    result = draft(day(end="12:00", busy=busy("10:00-11:00"), works=(shallow("Filing", 90),)))
    assert list_blocks(result) == []
    assert [(u.title, u.reason) for u in list_unplaced(result)] == [
        ("Filing", "it needs 1 h 30 min, and the longest free stretch of the day is 1 h")
    ]


def test_a_task_longer_than_the_day_is_named() -> None:
    result = draft(day(works=(deep("Everything", 600), shallow("Mail", 30))))
    assert list_blocks(result) == ["09:00-09:30 Mail"]
    assert [u.reason for u in list_unplaced(result)] == ["it needs 10 h, and the whole day has 8 h"]


def test_what_does_not_fit_any_more_is_named() -> None:
    works = (deep("Report", 90), shallow("Mail", 45), shallow("Calls", 30))
    result = draft(day(end="11:30", works=works, fills=True))
    assert list_blocks(result) == ["09:00-10:30 Report", "10:40-11:25 Mail"]
    assert [(u.title, u.reason) for u in list_unplaced(result)] == [
        ("Calls", "it needs 30 min, and the longest stretch still free is 10 min")
    ]


def test_a_full_day_says_so() -> None:
    result = draft(day(works=(deep("Report", 480), shallow("Mail", 30))))
    assert [u.reason for u in list_unplaced(result)] == ["the day is full"]


def test_lunch_is_a_block() -> None:
    """S207: lunch, ten minutes after it, no more than 90 minutes of focus in one piece, and an end to the work."""
    result = draft(day(lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45), works=(deep("Report", 240),)))
    assert whole(result) == [
        "09:00-10:30 Report (1/3)",
        "10:40-12:10 Report (2/3)",
        "12:30-13:15 Lunch",
        "13:25-14:25 Report (3/3)",
        "14:25-14:55 Shut down",
    ]
    assert next(e.type for e in result.plan.events if e.key == "lunch-2026-03-02") is ET.REGENERATION


@pytest.mark.parametrize(
    ("meetings", "lunch"),
    [
        (("12:00-13:00",), "13:00-13:45 Lunch"),
        (("12:30-14:00",), "11:45-12:30 Lunch"),
        (("10:30-12:30", "13:10-15:15"), "12:30-13:00 Lunch"),
        (("10:30-12:30", "12:55-15:15"), "12:30-12:50 Lunch"),
    ],
    ids=["later", "earlier", "half an hour", "shorter"],
)
def test_lunch_gives_way_to_meetings(meetings: tuple[str, ...], lunch: str) -> None:
    assert list_blocks(draft(day(busy=busy(*meetings), lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45)))) == [
        lunch
    ]


def test_lunch_without_room_is_named() -> None:
    result = draft(day(busy=busy("10:00-15:00"), lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45)))
    assert [u.reason for u in list_unplaced(result)] == ["meetings leave no 20 minutes free around that time"]


WISH = LunchWish("lunch-2026-03-02", at("12:30"), 45)


def test_lunch_makes_way_for_a_task_whose_start_was_given() -> None:
    """S433: swimming at noon is as fixed as a meeting, with the way there and back."""
    swim = Work("swim", "Swim", 45, TaskDetails(kind=TaskKind.HABIT, at=time(12), travel=Travel(minutes=15)))
    report = deep("Report", 120, first=True)
    result = draft(day(busy=busy("10:00-11:00"), lunch=WISH, works=(swim, report)))
    assert {"11:45-12:00 Way to Swim", "12:00-12:45 Swim", "13:00-13:45 Lunch"} < set(whole(result))
    assert list_unplaced(result) == []


@pytest.mark.parametrize(
    ("title", "start", "lunches"),
    [
        ("Lunch with Karin", "12:00", 0),
        ("Team lunch", "13:30", 0),
        ("Review", "12:00", 1),
        ("Business lunch of the club", "15:00", 1),
    ],
)
def test_a_lunch_on_the_calendar_is_the_lunch_of_the_day(title: str, start: str, lunches: int) -> None:
    """S434"""
    there = (Busy(at(start), at(start) + timedelta(hours=1), title=title),)
    result = draft(day(busy=there, lunch=WISH, works=(deep("Report", 60),)))
    assert [text.partition(" ")[2] for text in whole(result)].count("Lunch") == lunches
    assert list_unplaced(result) == []


def test_a_lunch_is_known_by_its_name_in_the_persons_language() -> None:
    """S434: a breakfast is none."""
    with speak("fr"):
        for title, lunches in (("Déjeuner avec Karin", 0), ("Petit-déjeuner", 1)):
            there = (Busy(at("11:00"), at("12:00"), title=title),)
            result = draft(day(busy=there, lunch=WISH))
            assert [text.partition(" ")[2] for text in whole(result)].count("Déjeuner") == lunches, title


def test_a_meal_at_a_given_time_named_lunch_is_the_lunch_of_the_day() -> None:
    """S434"""
    picnic = Work("picnic", "Lunch in the park", 60, TaskDetails(kind=TaskKind.MEAL, at=time(13)))
    assert list_blocks(draft(day(lunch=WISH, works=(picnic,)))) == ["13:00-14:00 Lunch in the park"]


def test_an_afternoon_has_no_lunch() -> None:
    result = draft(day("14:00", lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45)))
    assert (list_blocks(result), list_unplaced(result)) == ([], [])


@pytest.mark.parametrize(
    ("when", "start", "end", "expected"),
    [
        (date(2026, 3, 29), "01:00", "04:00", ["01:00-04:00 Watch"]),
        (date(2026, 10, 25), "01:00", "04:30", ["01:00-03:00 Watch", "03:00-04:00 Round"]),
    ],
    ids=["spring", "autumn"],
)
def test_hours_are_real_hours(when: date, start: str, end: str, expected: list[str]) -> None:
    """S231: two hours of work are two elapsed hours, in a night with one hour less and in one with one more."""
    night = Day(
        date=when,
        tz=AMSTERDAM,
        start=at(start, when),
        end=at(end, when),
        works=(
            Work("w", "Watch", 120 if when.month == 3 else 180, details=SHALLOW),
            Work("r", "Round", 60, details=SHALLOW),
        ),
        fills=True,
    )
    result = draft(night)
    assert list_blocks(result) == expected
    assert [b.minutes for b in resolve(result.plan)] == ([120] if when.month == 3 else [180, 60, 30])


def test_the_second_pass_of_a_repeated_hour_is_hit() -> None:
    """S231"""
    when = date(2026, 10, 25)
    night = Day(
        date=when,
        tz=AMSTERDAM,
        start=at("02:00", when),
        end=at("04:00", when),
        works=(
            Work("a", "A", 60, details=SHALLOW),
            Work("b", "B", 60, details=SHALLOW),
            Work("c", "C", 60, details=SHALLOW),
        ),
    )
    starts = [b.start.astimezone(UTC) for b in resolve(draft(night).plan)]
    first = datetime(2026, 10, 25, 0, tzinfo=UTC)
    assert starts == [first, first + timedelta(hours=1), first + timedelta(hours=2)]


def test_a_frame_past_midnight() -> None:
    """S230"""
    night = Day(
        date=MONDAY,
        tz=AMSTERDAM,
        start=at("22:00"),
        end=at("02:00", date(2026, 3, 3)),
        busy=(Busy(at("23:00"), at("00:30", date(2026, 3, 3))),),
        works=(deep("Stars", 90),),
    )
    result = draft(night)
    assert list_blocks(result) == ["22:00-22:45 Stars (1/2)", "00:30-01:15 Stars (2/2)"]
    assert resolve(result.plan)[1].start.date() == date(2026, 3, 3)


def test_three_hundred_meetings_are_fast() -> None:
    """Issue: a plan for a day with 300 meetings. The bound, in seconds of the processor, is hundreds of times what it takes."""
    start = at("00:00")
    meetings = tuple(Busy(start + timedelta(minutes=4 * n), start + timedelta(minutes=4 * n + 7)) for n in range(300))
    works = tuple(Work(f"t{n}", f"Task {n}", 30, details=DEEP if n % 2 == 0 else SHALLOW) for n in range(60))
    full = Day(date=MONDAY, tz=AMSTERDAM, start=start, end=at("23:55"), busy=meetings, works=works)
    began = clock.process_time()
    result = draft(full)
    assert clock.process_time() - began < 10
    resolve_strict(result.plan)
    assert len(list_blocks(result)) + len(list_unplaced(result)) == 60


def test_a_longer_pause_is_worth_an_update_of_the_plan_shown() -> None:
    """S437: the first plan has five minutes after the deep work, and the better one has ten."""
    titles = (("Tender", 120), ("Bridge", 120), ("Pricing", 90), ("Slides", 60))
    small = (("E-mail", 30), ("Call Jonas", 15), ("Call supplier", 15), ("Invoices", 30), ("Travel", 20))
    works = [deep(title, minutes, first=title == "Tender") for title, minutes in titles]
    works += [shallow(title, minutes) for title, minutes in small]
    works += [
        deep("Contract", 60),
        shallow("CRM", 30),
        deep("Feedback", 30),
        deep("Onboarding", 60),
        shallow("Order", 10),
    ]
    full = day(end="17:30", busy=busy("10:00-10:30", "15:00-16:00"), lunch=WISH, works=tuple(works))

    def complaints(shown: Draft) -> list[str]:
        found = grade_plan(full.instance(), shown.plan, shown.unplaced).findings
        return [finding.text for finding in found if finding.criterion is Criterion.AFTER_DEEP]

    first = full.draft(steps=FIRST_STEPS, trial_steps=None)
    assert complaints(first) == ["Leave ten minutes between “Tender (2/2)” and “E-mail”."]
    search = full.search_again((), first.plan)
    assert search is not None
    assert complaints(search.to_draft()) == []


def test_deep_work_in_the_morning_is_worth_an_update_of_the_plan_shown() -> None:
    """S437: the first plan begins with what is due today."""
    due = {"Invoice": time(12), "Call": time(16)}
    small = (("E-mail", 45), ("Invoice", 30), ("Call", 15), ("Introductions", 30), ("Receipts", 30))
    works = [deep(title, 60) for title in ("Board deck", "Price list", "Contract")]
    works += [
        Work(title.lower(), title, minutes, details=replace(SHALLOW, due_time=due.get(title)))
        for title, minutes in small
    ]
    full = day(end="18:00", lunch=WISH, works=tuple(works))
    first = full.draft(steps=FIRST_STEPS, trial_steps=None)
    search = full.search_again((), first.plan)
    assert search is not None
    began = [list_blocks(each)[0] for each in (first, search.to_draft())]
    assert began == ["09:00-09:30 Invoice", "09:00-10:00 Board deck"]
