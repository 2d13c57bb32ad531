"""The whole program, as a person uses it: real page server, real Bolt app, real MCP, real CalDAV store, real kill -9."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS, all_steps
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program

pytestmark = pytest.mark.process

MONDAY = "2026-03-02T07:00:00+01:00"
DAY = date(2026, 3, 2)
DRAFT = [
    ("Prepare talk", "2026-03-02T09:00:00+01:00", "2026-03-02T10:00:00+01:00"),
    ("Write report", "2026-03-02T10:10:00+01:00", "2026-03-02T11:40:00+01:00"),
    ("Answer mail", "2026-03-02T11:50:00+01:00", "2026-03-02T12:20:00+01:00"),
    ("Lunch", "2026-03-02T12:30:00+01:00", "2026-03-02T13:15:00+01:00"),
    ("Shut down", "2026-03-02T17:30:00+01:00", "2026-03-02T18:00:00+01:00"),
]


def at(hour: int, minute: int = 0) -> datetime:
    """Return a time of that Monday in Amsterdam, as an instant."""
    return datetime(2026, 3, 2, hour - 1, minute, tzinfo=UTC)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY})
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


def moments(events: list[tuple[str, str, str]]) -> list[tuple[str, datetime, datetime]]:
    return [
        (t, datetime.fromisoformat(s).astimezone(UTC), datetime.fromisoformat(e).astimezone(UTC)) for t, s, e in events
    ]


@pytest.mark.core
def test_a_day_takes_at_most_eight_clicks_and_is_taken_back_whole(program: Program) -> None:
    """P6, S39-S45, S51-S54, S82, S85, S90, S121: from /timebox to real events, and back to the calendar as before."""
    calendar = CalDav(program.caldav_url())
    calendar.put("standup", "Standup", at(9, 30), at(10), DESCRIPTION="bring coffee", LOCATION="Room 1")
    calendar.put_all_day("holiday", "Anna on holiday", DAY)
    before = calendar.raw()
    person = program.person()
    for _ in all_steps(person):
        pass
    assert person.clicks <= 8
    assert sorted(calendar.titles()) == sorted([*[t for t, _, _ in DRAFT], "Standup", "Anna on holiday"])
    drafted = {t: (s, e) for t, s, e in moments([e for e in calendar.events() if "T" in e[1]])}
    assert all(e <= at(9, 30) or s >= at(10) for t, (s, e) in drafted.items() if t != "Standup")
    assert {href: raw for href, raw in calendar.raw().items() if href in before} == before
    person.press("Undo")
    person.reads("Taken back")
    assert calendar.raw() == before
    assert person.has("Commit to calendar")
    person.press("Commit to calendar")
    eventually(lambda: len(calendar.titles()) == 7, "committed again")
    assert program.stop() == 0


@pytest.mark.timeout(1_200)  # a dozen starts of the program
def test_kill_minus_nine_between_any_two_clicks_loses_nothing(program: Program) -> None:
    """S62, S241, K7: the thread goes on after each kill, and Undo works after the last."""
    person = program.person()
    done = {"confirm date": "✓ *Monday 2 March*", "confirm frame": "✓ Your day", "add tasks": "✓ 3 tasks",
            "refine": "✓ First draft", "commit": "✓ Refined"}  # fmt: skip
    for name, step in STEPS:
        step(person)
        person.reads(done.get(name, ""))  # what the stage before says last, after the message that the step waits for
        said, form = person.says(), person.modal()
        program.restart()
        person = program.person()
        assert person.says() == said, name
        assert (person.modal() is None) == (form is None), name
    calendar = CalDav(program.caldav_url())
    assert moments(calendar.events()) == moments(DRAFT)
    person.press("Undo")
    person.reads("Taken back")
    assert calendar.events() == []


@pytest.mark.core
def test_killed_in_the_middle_of_a_commit_it_ends_as_planned_or_as_before(program: Program) -> None:
    """S241, P11: a kill while blocks are being written; the next start finishes the job, and nothing is there twice."""
    person = program.person()
    for _, step in STEPS[:-1]:
        step(person)
    person.press("Commit to calendar")
    program.restart()
    person = program.person()
    person.reads("is on your calendar")
    calendar = CalDav(program.caldav_url())
    assert moments(calendar.events()) == moments(DRAFT)
    person.press("Undo")
    person.reads("Taken back")
    assert calendar.events() == []


@pytest.mark.core
def test_own_edits_after_the_commit_survive_the_undo(program: Program) -> None:
    """P7, S239, S242: what the person changed on the calendar since stays, and the thread says so."""
    person = program.person()
    for _ in all_steps(person):
        pass
    calendar = CalDav(program.caldav_url())
    calendar.retitle("Answer mail", "Answer the important mail")
    person.press("Undo")
    person.reads(
        "Taken back: I removed 4 blocks",
        "I left “Answer mail” (now “Answer the important mail”) on your calendar: you changed it since.",
    )
    assert calendar.titles() == ["Answer the important mail"]


def test_somebody_else_gets_a_polite_no(program: Program) -> None:
    """S56, K14: another person neither sees the plan nor can press anything on it, and reads whose calendar it is."""
    person = program.person()
    people = person.get("/ui/state", user=person.user)["users"]
    other_id = next(p["id"] for p in people if not p["is_bot"] and p["id"] != person.user)
    person.slash("/timebox")
    person.reads("Plan this day")
    before = person.says()
    other = Person(program.address, other_id)
    message, block, element = person.find("Plan this day")
    action = {"type": element["type"], "action_id": element["action_id"], "block_id": block, "value": element["value"]}
    surface = {"type": "message", "channel": person.channel, "ts": message["ts"]}
    forged = {"user": other_id, "surface": surface, "action": action, "state": {}}
    assert other.http.post(f"{other.base}/ui/action", json=forged).json().get("ok") is not True
    assert person.says() == before
    answer = other.slash("/timebox")
    eventually(
        lambda: any("Connect your own calendar" in m["text"] for m in other.roots() if m.get("ephemeral")),
        f"a word that this is somebody's calendar; {answer}",
    )
    assert len([m for m in person.roots() if not m.get("ephemeral")]) == 1
    person.press("Plan this day")
    person.reads("the hours of your day")


def test_a_day_of_three_hundred_meetings_is_planned_around(program: Program) -> None:
    """S121: a full calendar is read whole, described briefly, and never overlapped."""
    calendar = CalDav(program.caldav_url())
    begin = at(7)
    for number in range(300):
        start = begin + timedelta(minutes=number % 60)
        calendar.put(f"m{number}", f"Meeting {number}", start, start + timedelta(minutes=30))
    person = program.person()
    for _, step in STEPS[:2]:
        step(person)
    person.reads("300 meetings")
    for _, step in STEPS[2:4]:
        step(person)
    person.submit(task_1="Write report", minutes_for_task_1=60)
    person.reads("A first draft of", "Write report")
    person.press("Refine")
    person.press("Commit to calendar")
    person.reads("is on your calendar")
    (report,) = [e for e in moments(calendar.events()) if e[0] == "Write report"]
    assert report[1] >= at(9)


@pytest.mark.parametrize(
    ("form", "values", "field", "sentence"),
    [
        ("Change time zone", {"time_zone": "Mars/Base"}, "time_zone", "not a time zone"),
    ],
)
def test_bad_input_gets_a_sentence_at_its_field(
    program: Program, form: str, values: dict[str, str], field: str, sentence: str
) -> None:
    """Bad input is refused in the form where it was entered; nothing typed is lost."""
    person = program.person()
    person.slash("/timebox")
    person.press(form)
    answer = person.submit(**values)
    assert [sentence in text for text in (answer["errors"] or {}).values()] == [True], answer
    assert person.modal() is not None
