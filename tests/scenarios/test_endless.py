"""No event stops the real program: while it is handled, the program answers everybody else."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.factories.recurrences import EACH_MINUTE, NEVER, TRAPS, series
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import add_tasks, commit, confirm_date, confirm_frame, open_tasks, refine, start
from tests.scenarios.person import Person
from tests.scenarios.program import Program
from tests.scenarios.radicale import Radicale, free_port, slow_way
from tests.scenarios.test_whole_day import MONDAY, at

pytestmark = [pytest.mark.process, pytest.mark.extra]

LONGEST = 20.0
"""Seconds for an answer of ``/health``, on a machine that does much else: 0.1 is promised, 43 it took on an idle one."""
_TIME_RANGE = re.compile(rb"<[^<>]*time-range[^<>]*>")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY})
    yield running
    if running.process is not None:
        running.kill()


@contextmanager
def asking(url: str) -> Iterator[list[float]]:
    """Ask whether it is well, again and again; the seconds that each answer took."""
    took: list[float] = []
    done = threading.Event()

    def ask() -> None:
        with httpx.Client(trust_env=False, timeout=120) as http:
            while not done.is_set():
                begun = time.monotonic()
                answer = http.get(f"{url}/health")
                took.append(time.monotonic() - begun)
                assert answer.status_code == 200
                done.wait(0.02)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield took
    finally:
        done.set()
        thread.join()


def planned_beside(person: Person, *named: str) -> None:
    """Plan the day as on any other, and read what is left out."""
    start(person)
    confirm_date(person)
    person.reads("Review", *named)
    for step in (confirm_frame, open_tasks, add_tasks, refine, commit):
        step(person)


@pytest.mark.attack(
    "embedded calendar",
    "a series with an event every minute, one that never matches, one that is refused",
    "1",
    "mended",
)
def test_a_day_is_planned_beside_events_that_never_end(program: Program) -> None:
    """The embedded calendar; one of them was there before the program, as in an old data directory. S426: a meeting
    with details that cannot be read is a meeting all the same."""
    program.start()
    CalDav(program.caldav_url()).put("review", "Review", at(9), at(10))
    program.kill()
    (review,) = (p for p in program.data.rglob("review.ics") if p.parent.name == "calendar")
    review.with_name("never.ics").write_bytes(series("never", "Thirtieth of February", NEVER).encode())
    program.start()
    calendar = CalDav(program.caldav_url())
    with asking(program.url) as took:
        calendar.put_object("standup", series("standup", "Standup", EACH_MINUTE))
        with pytest.raises(httpx.HTTPStatusError, match="403"):
            calendar.put_object("other", series("other", "Other", TRAPS["never, hourly"]))
        calendar.put_object("odd", series("odd", "Odd", "SEQUENCE:1.0", "TRANSP:MAYBE", start=":20260302T100000Z"))
        left_out = "I could not work out when “Standup” and “Thirtieth of February” take place"
        planned_beside(program.person(), left_out, "Odd")
    assert max(took) < LONGEST, sorted(took)[-5:]
    assert len(took) > 5
    said = program.log.read_text()
    assert "standup.ics is left out" in said
    assert "never.ics is left out" in said


@pytest.mark.attack("CalDAV answers", "a server that ignores time ranges, with an event every minute", "1", "mended")
def test_a_server_that_answers_with_the_whole_calendar(program: Program, tmp_path: Path) -> None:
    """A calendar server elsewhere, which ignores what time was asked for."""
    radicale = Radicale(tmp_path / "dav", free_port())
    radicale.start()
    try:
        httpx.request("MKCALENDAR", radicale.calendar, trust_env=False, auth=("me", "")).raise_for_status()
        calendar = CalDav(radicale.calendar)
        calendar.put("review", "Review", at(9), at(10))
        calendar.put_object("standup", series("standup", "Standup", EACH_MINUTE))
        with slow_way(radicale.calendar, 0, heard=lambda body: _TIME_RANGE.sub(b"", body)) as way:
            program.environment |= {"FATEFORGER_CALDAV_URL": way.url, "FATEFORGER_CALDAV_USERNAME": "me"}
            program.start()
            with asking(program.url) as took:
                planned_beside(program.person(), "I could not work out when “Standup” takes place")
                day = Person(program.address).get("/day/events", date="2026-03-02")
            assert day["leftOut"] == ["Standup"]
            assert "Review" in [event["title"] for event in day["events"]]
            program.stop()
    finally:
        radicale.kill()
    assert max(took) < LONGEST, sorted(took)[-5:]
