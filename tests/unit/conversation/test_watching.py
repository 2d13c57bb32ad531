"""The calendar of an open session is looked at by itself, and what the person changed there shows up (S200, S202)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.factories.sessions import with_fields
from tests.fakes.google_calendar import Answer, CallFailure, LostAnswer, Race
from tests.fakes.one_calendar import OneCalendar
from tests.unit.conversation.person import AMSTERDAM, CHANNEL, MORNING, Harness, Person, meeting, open_harness_at
from tests.unit.conversation.test_person_edits import drag, event

from fateforger.calendar.event import Marker, OwnedId
from fateforger.calendar.ports import Create, Rejected, Unknown
from fateforger.conversation.calendar_watch import ASK_AGAIN, SLOW_SECONDS, WATCH_SECONDS, Watcher, poll_interval
from fateforger.conversation.ports import Read
from fateforger.conversation.write_results import FOUND_OUT, LOOKING
from fateforger.errors import CalendarUnreachable, StoreUnavailable
from fateforger.planning.plan import resolve
from fateforger.session.commands import COMMAND
from fateforger.session.model import Session, SessionStatus, WriteCounts
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import HeadFilter, SessionHead
from fateforger.values import replace
from fateforger.workers.lanes import WATCHING, Backoff
from fateforger.workers.supervisor import Repeated

DOWN = CalendarUnreachable("The calendar does not answer.")


@dataclass
class Reader:
    """The engine's reading, counted, and whether it writes."""

    harness: Harness
    writing: bool = False
    reads: list[tuple[date, str]] = field(default_factory=list)

    @property
    def read(self) -> Read:
        async def count_read(day: date, tz: str) -> Any:
            self.reads.append((day, tz))
            return await self.harness.submitter.read(day, tz)

        return count_read

    async def late(self) -> tuple[str, ...]:
        return await self.harness.submitter.late()


@dataclass
class WatcherHarness:
    """A watcher whose time is moved by hand, and the lane that it fills."""

    harness: Harness
    person: Person
    reader: Reader = field(init=False)
    watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        self.reader = Reader(self.harness)
        self.restart()

    def restart(self) -> None:
        self.watcher = Watcher(
            sessions=self.harness.store.sessions,
            jobs=self.harness.store.jobs,
            calendars=OneCalendar(self.harness.submitter, self.reader),
            clock=self.harness.clock,
            jitter=lambda: 0.5,
        )

    async def after(self, seconds: float = WATCH_SECONDS) -> int:
        """Let some time pass, run one round and its jobs, deliver the messages, and return their number."""
        self.harness.clock.at += timedelta(seconds=seconds)
        await self.watcher.run_once()
        await self.carry_out()
        before = len(self.person.arrived)
        await self.person.read()
        return len(self.person.arrived) - before

    async def carry_out(self) -> int:
        jobs, now, done = self.harness.store.jobs, self.harness.clock.now(), 0
        while job := await jobs.claim("turn", "test", now=now, lease_seconds=60):
            await self.harness.coordinator.handle(COMMAND.validate_python(job.payload))
            await jobs.finish(job)
            done += 1
        return done

    async def reads_in(self, *, rounds: int, every: float = WATCH_SECONDS) -> int:
        before = len(self.reader.reads)
        for _ in range(rounds):
            await self.after(every)
        return len(self.reader.reads) - before


@pytest.fixture
def watch(harness: Harness, anna: Person) -> WatcherHarness:
    return WatcherHarness(harness, anna)


# --- how often ---


def open_session(**changes: Any) -> Session:
    session = Session(id="s1", user_id="U1", channel=CHANNEL, created_at=MORNING, touched_at=MORNING, tz=AMSTERDAM, date=MORNING.date(), stage=TimeboxingStage.REFINE)  # fmt: skip
    return with_fields(session, **changes)


@pytest.mark.parametrize(
    ("idle", "expected"),
    [
        (timedelta(0), WATCH_SECONDS),
        (timedelta(minutes=30) - timedelta(seconds=1), WATCH_SECONDS),
        (timedelta(minutes=30), SLOW_SECONDS),
        (timedelta(hours=6) - timedelta(seconds=1), SLOW_SECONDS),
        (timedelta(hours=6), None),
    ],
)
def test_the_pace_slows_down_and_ends(idle: timedelta, expected: float | None) -> None:
    assert poll_interval(open_session(), MORNING + idle) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stage": TimeboxingStage.DATE}, None),
        ({"stage": TimeboxingStage.COLLECT_CONSTRAINTS}, WATCH_SECONDS),
        ({"stage": TimeboxingStage.REVIEW_COMMIT}, WATCH_SECONDS),
        ({"status": SessionStatus.CANCELLED}, None),
        ({"date": date(2026, 3, 1)}, None),
        ({"tz": "Pacific/Kiritimati", "date": date(2026, 3, 1)}, None),
        ({"tz": "Pacific/Pago_Pago", "date": date(2026, 3, 1)}, WATCH_SECONDS),
    ],
)
def test_only_days_that_somebody_plans_are_watched(changes: dict[str, object], expected: float | None) -> None:
    """A day is over by the clock of its own zone."""
    assert poll_interval(open_session(**changes), MORNING) == expected


def test_a_pace_slower_than_slow_stays(watch: WatcherHarness) -> None:
    assert poll_interval(open_session(), MORNING + timedelta(hours=1), seconds=300) == 300


async def test_a_touch_wakes_it(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report")
    assert await watch.reads_in(rounds=12) == 12
    watch.harness.clock.at += timedelta(minutes=30)
    assert await watch.reads_in(rounds=48) == 2
    await anna.press("Back to refine")
    assert await watch.reads_in(rounds=12) == 12
    watch.harness.clock.at += timedelta(hours=7)
    assert await watch.reads_in(rounds=48) == 0


async def test_one_read_per_day_however_many_sessions(watch: WatcherHarness, harness: Harness, anna: Person) -> None:
    await anna.to_frame()
    await Person(harness).to_frame()
    assert await watch.reads_in(rounds=3) == 3
    assert set(watch.reader.reads) == {(MORNING.date(), AMSTERDAM)}


async def test_nobody_looks_while_a_plan_is_written(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report")
    watch.reader.writing = True
    assert await watch.reads_in(rounds=3) == 0
    watch.reader.writing = False
    assert await watch.reads_in(rounds=1) == 1


async def test_the_engine_says_when_it_writes(harness: Harness, anna: Person) -> None:
    seen: list[bool] = []
    await anna.to_refine("Report")
    assert not harness.submitter.writing
    harness.calendar.inject(Race(lambda: seen.append(harness.submitter.writing)), verb="create")
    await anna.press("Commit to calendar")
    assert (seen, harness.submitter.writing) == ([True], False)


async def test_a_calendar_that_does_not_answer_is_left_alone_ever_longer(watch: WatcherHarness, anna: Person) -> None:
    """10 s, 20 s, 40 s and so on, three quarters of it by this jitter, at most five minutes; then as before."""
    await anna.to_committed("Report")
    for nth in range(20):
        watch.harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    tried: list[float] = []
    began = watch.harness.clock.at
    while len(tried) < 8:
        before = len(watch.reader.reads)
        await watch.after(2.5)
        if len(watch.reader.reads) > before:
            tried.append((watch.harness.clock.at - began).total_seconds())
    gaps = [round(later - sooner, 1) for sooner, later in pairwise(tried)]
    assert gaps == [7.5, 15.0, 30.0, 60.0, 120.0, 225.0, 225.0]
    watch.harness.calendar.calm()
    await watch.after(300)
    assert await watch.reads_in(rounds=3) == 3
    assert "could not read" not in anna.words


async def test_a_calendar_that_wants_fewer_requests_is_asked_again_when_it_may(
    watch: WatcherHarness, anna: Person
) -> None:
    """S200: what a person waits for comes first; the watching goes on as soon as there is room, and not later."""
    await anna.to_committed("Report")
    busy = CalendarUnreachable("Please try again in 22 seconds.", retry_after=22.0, reason="so many a minute")
    watch.harness.calendar.inject(CallFailure(busy), verb="window", nth=0)
    tried: list[float] = []
    began = watch.harness.clock.at
    for _ in range(60):
        before = len(watch.reader.reads)
        await watch.after(1)
        if len(watch.reader.reads) > before:
            tried.append((watch.harness.clock.at - began).total_seconds())
    tried = tried[:4]
    assert [round(later - sooner) for sooner, later in pairwise(tried)] == [22, 5, 5]


async def test_what_has_to_be_asked_for_one_by_one_slows_it_down(watch: WatcherHarness, anna: Person) -> None:
    """A look at a day with many blocks moved away costs a request for each: 40 a minute are not exceeded."""
    titles = [f"Task {n}" for n in range(8)]
    await anna.to_committed(*titles)
    for title in watch.harness.on_calendar():
        drag(watch.harness, title, 5 * 24 * 60)
    await watch.after()
    calls = len(watch.harness.calendar.calls)
    for _ in range(60):
        await watch.after(1)
    assert len(watch.harness.calendar.calls) - calls <= 60


async def test_a_block_that_left_the_day_and_came_back_is_news_each_time(watch: WatcherHarness, anna: Person) -> None:
    """S460: it is not reported as gone, and stays when the plan is written again."""
    await anna.to_committed("Report", "Mail")
    drag(watch.harness, "Mail", 24 * 60)
    await watch.after()
    assert "“Mail” is yours now, and not part of the plan: it is on Tuesday 3 March now." in anna.words
    assert "no longer on your calendar" not in anna.words
    drag(watch.harness, "Mail", -24 * 60)
    await watch.after()
    assert "New on your calendar: “Mail”, 10:10–11:10." in anna.words
    await anna.press("Back to refine")
    await anna.choose("Lunch", "15 min later")
    assert watch.harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:45-13:30"}


async def test_a_round_that_fails_does_not_end_the_watching(harness: Harness, anna: Person) -> None:
    errors: list[Exception] = [StoreUnavailable("The disk is full."), RuntimeError("a bug")] * 2
    survived = asyncio.Event()

    class BrokenReader:
        def __getattr__(self, name: str) -> Any:
            return getattr(harness.store.sessions, name)

        async def list_heads(self, wanted: HeadFilter, **given: Any) -> tuple[SessionHead, ...]:
            if errors:
                raise errors.pop()
            survived.set()
            found: tuple[SessionHead, ...] = await harness.store.sessions.list_heads(wanted, **given)
            return found

    watcher = Watcher(
        sessions=BrokenReader(),
        jobs=harness.store.jobs,
        calendars=OneCalendar(harness.submitter, harness.submitter),
        clock=harness.clock,
    )
    timer = replace(WATCHING, backoff=Backoff(0.001, 0.001))
    rounds = Repeated(timer, watcher.run_once)
    rounds.start()
    await asyncio.wait_for(survived.wait(), 60)
    await rounds.stop()


# --- what is noticed ---


async def test_an_unchanged_day_writes_nothing(watch: WatcherHarness, anna: Person) -> None:
    """S82: no version of the session, no message, no transaction."""
    await anna.to_committed("Report", "Mail")
    meeting(watch.harness, "Far away", "09:00", "10:00", day=date(2026, 3, 9))
    before = await anna.session()
    transactions = await watch.harness.store.journal.history(watch.harness.calendar.key)
    for _ in range(5):
        assert await watch.after() == 0
    assert await anna.session() == before
    assert await watch.harness.store.journal.history(watch.harness.calendar.key) == transactions


async def test_a_dragged_block_shows_its_new_time(watch: WatcherHarness, anna: Person) -> None:
    """S213, S242: in the same slot, one sentence, once; and it is not reverted afterwards."""
    await anna.to_committed("Report", "Mail")
    drag(watch.harness, "Mail", 240)
    assert await watch.after() == 1
    assert anna.arrived[-1].slot == "stage:5"
    assert "**14:10–15:10** Mail" in anna.words
    assert anna.words.count("You changed “Mail” on your calendar") == 1
    assert await watch.after() == 0
    await anna.press("Redo step")
    assert watch.harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}


async def test_it_is_no_sign_of_life(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report")
    touched = (await anna.session()).touched_at
    drag(watch.harness, "Report", 15)
    await watch.after()
    assert (await anna.session()).touched_at == touched


async def test_a_deleted_block_leaves_the_plan(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail", "Calls")
    watch.harness.calendar.store.user_delete(event(watch.harness, "Mail").id)
    assert await watch.after() == 2  # the first message of the thread counts blocks, too
    assert "“Mail” is no longer on your calendar, so it stays off." in anna.words
    assert "**10:10–11:10** Mail" not in anna.words
    assert "4 blocks" in anna.root


async def test_a_new_meeting_on_top_of_a_block_is_warned_about(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report")
    meeting(watch.harness, "Fire drill", "09:30", "10:30")
    assert await watch.after() == 1
    assert "New on your calendar: “Fire drill”, 09:30–10:30." in anna.words
    assert "⚠️ “Report” runs into “Fire drill”, 09:30–10:30." in anna.words


async def test_after_a_meeting_moved_unseen_one_press_fits_the_rest_and_one_undo_brings_it_back(
    watch: WatcherHarness, anna: Person
) -> None:
    """S200, S202, S213: the read happens by itself; the button that it brings works on the day as read."""
    store, harness = watch.harness.calendar.store, watch.harness
    standup = meeting(harness, "Standup", "16:00", "16:30")
    await anna.to_committed("Report", "Mail")
    before = await anna.session()
    assert "Refit the rest" not in anna.labels()
    assert before.planning.plan is not None
    report, mail = (
        next(b for b in resolve(before.planning.plan) if b.event.name == name) for name in ("Report", "Mail")
    )
    store.user_edit(standup, start=mail.start, end=mail.start + timedelta(minutes=30))
    assert await watch.after() == 1
    assert f"⚠️ “Mail” runs into “Standup”, {mail.start:%H:%M}" in anna.words
    assert (await anna.session()).planning.plan == before.planning.plan
    await anna.press("Refit the rest")
    fitted = await anna.session()
    assert fitted.planning.plan is not None
    after = {b.event.name: b for b in resolve(fitted.planning.plan)}
    assert (after["Report"].start, after["Mail"].minutes) == (report.start, mail.minutes)
    assert f"“Mail” is now {after['Mail'].start:%H:%M}–{after['Mail'].end:%H:%M} (was {mail.start:%H:%M}" in anna.words
    assert "Refit the rest" not in anna.labels()
    assert harness.on_calendar()["Mail"] == f"{after['Mail'].start:%H:%M}-{after['Mail'].end:%H:%M}"
    assert await watch.after() == 0
    await anna.press("Undo last update")
    back = await anna.session()
    assert (back.planning.plan, back.day.inputs, back.planning.unplaced) == (
        before.planning.plan,
        before.day.inputs,
        before.planning.unplaced,
    )
    assert "Refit the rest" in anna.labels()


@pytest.mark.parametrize("stage", ["frame", "skeleton", "refine"])
async def test_meetings_come_change_and_go_in_every_stage(watch: WatcherHarness, anna: Person, stage: str) -> None:
    store = watch.harness.calendar.store
    standup = meeting(watch.harness, "Standup", "09:30", "10:00")
    await {"frame": anna.to_frame, "skeleton": anna.to_skeleton, "refine": anna.to_refine}[stage]()
    before = store.get_live_events()[standup]
    assert isinstance(before.start, datetime)
    assert isinstance(before.end, datetime)
    by = timedelta(hours=5)
    store.user_edit(standup, start=before.start + by, end=before.end + by)
    assert await watch.after() == 1
    assert "“Standup” is now 14:30–15:00 (was 09:30–10:00)." in anna.words
    assert ("So I redrafted your day." in anna.words) == (stage == "skeleton")
    store.user_edit(standup, summary="Retro")
    assert await watch.after() == 1
    assert "“Standup” is now called “Retro”." in anna.words
    store.user_delete(standup)
    assert await watch.after() == 1
    assert "“Retro”, 14:30–15:00, is off your calendar." in anna.words
    store.user_create("Holiday", start=before.start.date(), end=before.start.date() + timedelta(days=1))
    assert await watch.after() == 1
    assert "New on your calendar: “Holiday”, all day." in anna.words


async def test_the_draft_is_made_again_around_a_new_meeting(watch: WatcherHarness, anna: Person) -> None:
    """K9, S46: this needs no request."""
    await anna.to_skeleton("Report")
    meeting(watch.harness, "Fire drill", "09:00", "10:00")
    assert await watch.after() == 1
    assert "This is on your calendar now: “Fire drill, 09:00–10:00”. So I redrafted your day." in anna.words
    assert "- **09:00–10:00** Fire drill\n- **10:00–11:00** Report ⭐" in anna.words


async def test_many_changes_are_counted(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report")
    for hour in range(13, 20):
        meeting(watch.harness, f"Meeting {hour}", f"{hour}:30", f"{hour}:45")
    assert await watch.after() == 1
    assert anna.words.count("New on your calendar") == 4
    assert "And 3 more changes on your calendar." in anna.words


async def test_an_emptied_calendar_changes_no_plan_and_is_said_once(watch: WatcherHarness, anna: Person) -> None:
    """S200: so much gone at once asks before a write; the plan stays."""
    await anna.to_committed("One", "Two", "Three", "Four")
    for title in ("One", "Two", "Three", "Four", "Lunch"):
        watch.harness.calendar.store.user_delete(event(watch.harness, title).id)
    assert await watch.after() == 1
    assert "5 blocks of this plan are no longer on your calendar. I kept the plan as it was." in anna.words
    assert len((await anna.session()).planning.plan.events) == 6  # type: ignore[union-attr]  # committed, so it has a plan
    assert await watch.after() == 0
    assert watch.harness.on_calendar() == {}


async def test_a_plan_that_was_taken_off_elsewhere_is_not_said_to_be_there(watch: WatcherHarness, anna: Person) -> None:
    """S450: by the command line, say. Restored there, it is on the calendar again."""
    await anna.to_committed("Report")
    submitter = watch.harness.submitter
    undone = await submitter.undo_last(cause="elsewhere")
    assert undone.transaction is not None
    assert await watch.after()
    shown = str(anna.arrived[-1].card)
    assert "Monday 2 March is off your calendar again" in shown
    assert not [words for words in ("Running late", "created", "I commit to this") if words in shown]
    await submitter.undo_since(undone.transaction.id, cause="restored")
    assert await watch.after()
    shown = str(anna.arrived[-1].card)
    assert "Monday 2 March is on your calendar" in shown
    assert [words for words in ("Running late", "created", "I commit to this") if words in shown]


async def test_moving_it_back_with_a_button_is_a_wish(watch: WatcherHarness, anna: Person) -> None:
    """S201: what was shown by itself counts as known."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Report", "15 min later")
    await anna.choose("Report", "15 min earlier")
    drag(watch.harness, "Mail", 15)
    await watch.after()
    assert "**10:30–11:30** Mail" in anna.words
    await anna.choose("Mail", "15 min earlier")
    assert watch.harness.on_calendar()["Mail"] == "10:15-11:15"


async def test_a_block_restored_at_the_last_moment_is_not_deleted(watch: WatcherHarness, anna: Person) -> None:
    """Taking note never writes: the person may go on changing things between two looks."""
    await anna.to_committed("Report", "Mail", "Calls")
    image = event(watch.harness, "Mail")
    drag(watch.harness, "Mail", 240)
    watch.harness.clock.at += timedelta(seconds=5)
    await watch.watcher.run_once()
    writes = len(watch.harness.calendar.writes)
    back = Race(lambda: watch.harness.calendar.store.user_edit(image.id, start=image.start, end=image.end))
    watch.harness.calendar.inject(back, verb="window", nth=1)  # the first is the look, the second that of taking note
    assert await watch.carry_out() == 1
    assert len(watch.harness.calendar.writes) == writes
    assert watch.harness.on_calendar()["Mail"] == "10:10-11:10"
    await watch.after()
    assert "**10:10–11:10** Mail" in anna.words
    await anna.press("Redo step")
    assert watch.harness.on_calendar()["Mail"] == "10:10-11:10"


async def test_a_block_dragged_there_and_back_while_a_draft_waits(tmp_path: Path) -> None:
    """S200, K1 commit: nothing can be noted while the draft differs, and still both drags are the person's."""
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    watch = WatcherHarness(harness, anna)
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    await anna.choose("Report", "15 min earlier")
    for by, shown in ((240, "14:10–15:10"), (-240, "10:10–11:10"), (30, "10:40–11:40"), (-30, "10:10–11:10")):
        drag(harness, "Mail", by)
        assert await watch.after() == 1
        assert f"**{shown}** Mail" in anna.words
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {"Report": "08:45-09:45", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    await harness.close()


async def test_a_command_that_comes_first_is_not_undone(watch: WatcherHarness, anna: Person) -> None:
    """S115: the look waits its turn and finds that the turn has seen to it."""
    await anna.to_committed("Report", "Mail")
    drag(watch.harness, "Mail", 240)
    watch.harness.clock.at += timedelta(seconds=5)
    await watch.watcher.run_once()
    await anna.press("Back to refine")
    version = (await anna.session()).version
    assert await watch.carry_out() == 1
    assert (await anna.session()).version == version
    assert "**14:10–15:10** Mail" in anna.words


async def test_a_repeated_look_does_nothing(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail")
    drag(watch.harness, "Mail", 240)
    watch.harness.clock.at += timedelta(seconds=5)
    await watch.watcher.run_once()
    jobs, now = watch.harness.store.jobs, watch.harness.clock.now()
    job = await jobs.claim("turn", "test", now=now, lease_seconds=60)
    assert job is not None
    look = COMMAND.validate_python(job.payload)
    await watch.harness.coordinator.handle(look)
    version = (await anna.session()).version
    drag(watch.harness, "Mail", 15)
    await watch.harness.coordinator.handle(look)
    assert (await anna.session()).version == version


async def test_a_change_is_told_once_while_it_waits_and_again_when_it_stays(
    watch: WatcherHarness, anna: Person
) -> None:
    """A turn that takes long does not pile up looks behind it."""
    await anna.to_committed("Report", "Mail")
    drag(watch.harness, "Mail", 240)
    for _ in range(3):
        watch.harness.clock.at += timedelta(seconds=4.9)
        await watch.watcher.run_once()
        watch.harness.clock.at += timedelta(seconds=0.1)
    assert await watch.carry_out() == 1
    await anna.read()
    drag(watch.harness, "Mail", 15)
    watch.harness.calendar.inject(CallFailure(DOWN), verb="window", nth=1)
    assert await watch.after() == 0
    assert await watch.after(20) == 1
    assert "**14:25–15:25** Mail" in anna.words


async def test_after_a_restart_open_sessions_are_watched_again(
    watch: WatcherHarness, harness: Harness, anna: Person
) -> None:
    """S241"""
    await anna.to_committed("Report", "Mail")
    harness.restart()
    watch.restart()
    drag(harness, "Mail", 240)
    assert await watch.after() == 1
    assert "**14:10–15:10** Mail" in anna.words


async def test_an_ended_session_is_left_in_peace(watch: WatcherHarness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail")
    await anna.press("Close")
    drag(watch.harness, "Mail", 240)
    assert await watch.after() == 0


async def test_a_calendar_that_answers_again_fills_in_what_was_missing(watch: WatcherHarness, anna: Person) -> None:
    """S40, S123"""
    for nth in range(4):
        watch.harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    await anna.to_frame()
    assert "I could not read your calendar" in anna.words
    watch.harness.calendar.calm()
    meeting(watch.harness, "Standup", "09:30", "10:00")
    assert await watch.after() == 1
    assert "Your calendar answers again." in anna.words
    assert "- **09:30–10:00** Standup" in anna.words
    assert "could not read" not in anna.words


async def test_what_nobody_knew_of_a_change_is_found_out(watch: WatcherHarness, anna: Person) -> None:
    """A write that did not arrive can be tried again; one that did belongs to the change and is undone with it."""
    harness = watch.harness
    await anna.to_refine("Report", "Mail")
    for nth in range(2):
        harness.calendar.inject(LostAnswer(), verb="create", nth=nth)
    harness.calendar.inject(Answer(Unknown("no answer")), verb="create", nth=2)
    for nth in range(40):
        harness.calendar.inject(CallFailure(DOWN), verb="get", nth=nth)
    await anna.choose("Report", "15 min later")
    assert (LOOKING in anna.words, await watch.after()) == (True, 0)
    harness.calendar.calm()
    before = len(harness.calendar.writes)
    await watch.after(ASK_AGAIN.total_seconds())
    assert (FOUND_OUT in anna.words, LOOKING in anna.words) == (True, False)
    assert len(harness.calendar.writes) == before
    session = await anna.session()
    assert [len(step.transactions) for step in session.sync.refine_undo] == [1]
    assert session.sync.written == WriteCounts(created=3)
    assert await watch.after(ASK_AGAIN.total_seconds()) == 0
    await anna.press("Try again")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "10:15-11:15", "Lunch": "12:30-13:15"}
    await anna.press("Undo last update")
    assert harness.on_calendar() == {}


@pytest.mark.parametrize("reach", ["to_tasks", "to_refine", "to_committed"])
async def test_nobody_is_nudged(watch: WatcherHarness, anna: Person, reach: str) -> None:
    """S219: while a session goes on, nothing arrives that the person did not bring about; there are no nudges."""
    await getattr(anna, reach)()
    hours = (0.1, 0.5, 1, 2, 6, 12)
    assert [await watch.after(3600 * each) for each in hours] == [0] * len(hours)


@pytest.mark.parametrize("touched", [False, True])
async def test_what_arrives_after_its_undo_is_removed_and_said(
    watch: WatcherHarness, anna: Person, *, touched: bool
) -> None:
    """P4, P7: by itself, in an open session; unless the person changed it."""
    harness = watch.harness
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("Backend Error")), verb="create", nth=1)
    await anna.press("Commit to calendar")
    (transaction,) = await harness.submitter.history((await anna.session()).date)
    (lost,) = [r.op for r in transaction.records if r.state == "failed"]
    await anna.press("Undo")
    assert harness.on_calendar() == {}
    assert lost.after is not None
    marker = Marker(key=lost.key, generation=lost.generation, day=transaction.day, op_id=lost.op_id)
    await harness.calendar.write(Create(OwnedId(lost.event_id), lost.after, marker))
    if touched:
        harness.calendar.store.user_edit(lost.event_id, description="mine")
    assert await watch.after() == 1
    assert f"“{lost.summary}” reached your calendar late, after you had taken it back." in anna.words
    assert ("I removed it." in anna.words, "so I left it to you." in anna.words) == (not touched, touched)
    assert set(harness.on_calendar()) == ({lost.summary} if touched else set())
    assert await watch.after(60) == 0
