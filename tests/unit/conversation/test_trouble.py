"""Failures outside the program: reported plainly, nothing lost, never twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.factories.trouble import ProcessDied
from tests.factories.words import wants
from tests.fakes.google_calendar import Answer, CallFailure, Crash, LostAnswer
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, CHANNEL, MORNING, Harness, Person, meeting

from fateforger.calendar.ports import Rejected
from fateforger.conversation import turns
from fateforger.errors import CalendarNotFound, CalendarUnreachable, StoreUnavailable, VersionConflict
from fateforger.ports.model import Completion, Prompt
from fateforger.session.commands import Command
from fateforger.session.commands.thread import StartTimeboxing
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session
from fateforger.session.stages import TimeboxingStage
from fateforger.text import join_words

DOWN = CalendarUnreachable("The calendar does not answer.")


async def test_a_calendar_that_cannot_be_read_is_no_empty_day(harness: Harness, anna: Person) -> None:
    """S40: why it could not be read, with a button to try again; never an empty day taken for granted."""
    harness.calendar.inject(
        CallFailure(CalendarNotFound("There is no calendar “primary” at this address.")), verb="window"
    )
    harness.calendar.inject(
        CallFailure(CalendarNotFound("There is no calendar “primary” at this address.")), verb="window", nth=1
    )
    await anna.to_frame()
    assert (
        "⚠️ I could not read your calendar: There is no calendar “primary” at this address."
        " So I do not know your meetings yet." in anna.words
    )
    assert "no meetings" not in anna.words
    meeting(harness, "Standup", "09:30", "10:00")
    await anna.press("Try again")
    assert "**On your calendar: 1 meeting**\n- **09:30–10:00** Standup" in anna.words
    assert "Try again" not in anna.labels()


async def test_a_draft_without_the_calendar_says_so(harness: Harness, anna: Person) -> None:
    """S119: the flow goes on; Redo makes a new draft around the meetings once they are known."""
    for nth in range(4):
        harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    await anna.to_skeleton("Report")
    assert "⚠️ I could not read your calendar just now: The calendar does not answer." in anna.words
    assert "Meetings may be missing here; Redo step looks again." in anna.words
    harness.calendar.calm()
    meeting(harness, "Standup", "09:00", "10:00")
    await anna.press("Redo step")
    assert "- **09:00–10:00** Standup\n- **10:00–11:00** Report ⭐" in anna.words
    assert "could not read" not in anna.words


async def test_a_change_that_cannot_be_written_is_kept_and_tried_again(harness: Harness, anna: Person) -> None:
    """Issue: the calendar cannot be reached in Refine: the change stays in the plan, with a button to try again."""
    await anna.to_refine("Report", "Mail")
    for nth in range(8):
        harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    await anna.choose("Mail", "15 min later")
    assert harness.on_calendar() == {}
    assert "⚠️ The calendar does not answer." in anna.words
    assert "It is in your plan, but not on your calendar yet." in anna.words
    assert "**10:25–11:25** Mail" in anna.words
    await anna.choose("Mail", "15 min later")
    harness.calendar.calm()
    await anna.press("Try again")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:40-11:40", "Lunch": "12:30-13:15"}
    assert "Try again" not in anna.labels()
    # Both changes were written together, so they are taken back together.
    await anna.press("Undo last update")
    assert harness.on_calendar() == {}
    assert "**10:10–11:10** Mail" in anna.words


async def test_a_commit_that_cannot_begin_can_be_tried_again(harness: Harness, anna: Person) -> None:
    """S84: the baseline cannot be read, so nothing is written, and Try again commits."""
    await anna.to_refine("Report")
    for nth in range(8):
        harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    await anna.press("Commit to calendar")
    assert anna.card.text == "Monday 2 March is not on your calendar yet."
    assert "⚠️ None of it has been written, and your plan is safe here.\n- The calendar does not answer." in anna.words
    assert anna.root == "Monday 2 March: not on your calendar yet"
    assert "Undo" not in anna.labels()
    harness.calendar.calm()
    await anna.press("Try again")
    assert anna.card.text == "Monday 2 March is on your calendar."
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Lunch": "12:30-13:15"}
    await anna.press("Undo")
    assert harness.on_calendar() == {}


async def test_a_commit_that_fails_after_changes_were_written_does_not_deny_them(
    harness: Harness, anna: Person
) -> None:
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    for nth in range(8):
        harness.calendar.inject(CallFailure(DOWN), verb="window", nth=nth)
    await anna.press("Commit to calendar")
    assert anna.card.text == "Monday 2 March was not committed."
    assert "what is there from before is still there" in anna.words
    assert anna.root == "Monday 2 March: not committed, see below"
    assert "Undo" in anna.labels()


async def test_a_half_done_commit_says_what_is_there_and_what_is_not(harness: Harness, anna: Person) -> None:
    """S87: partial, named block by block; Try again finishes it, and Undo takes all of it back."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("Calendar usage limits exceeded.")), verb="create", nth=1)
    await anna.press("Commit to calendar")
    shown = harness.on_calendar(whole=True)
    assert len(shown) == 3
    assert anna.card.text == "Only part of Monday 2 March is on your calendar."
    there = join_words(
        f"“{title}” {when.replace('-', '–')}" for title, when in sorted(shown.items(), key=lambda i: i[1])
    )
    assert f"On your calendar now: {there}." in anna.words
    gone = next(name for name in ("Report", "Mail", "Lunch", "Shut down") if name not in shown)
    assert f"Not there yet: “{gone}”" in anna.words
    assert "Calendar usage limits exceeded." in anna.words
    assert anna.labels() == ["Try again", "Undo", "Back to refine", "Redo step", "Cancel", "History", "Show my queue"]
    await anna.press("Try again")
    assert anna.card.text == "Monday 2 March is on your calendar."
    assert len(harness.on_calendar()) == 3
    await anna.press("Undo")
    assert harness.on_calendar() == {}


async def test_a_half_done_change_is_taken_back_whole(harness: Harness, anna: Person) -> None:
    """K1: what Try again finished belongs to the change that began it."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("Calendar usage limits exceeded.")), verb="create", nth=1)
    await anna.choose("Mail", "15 min later")
    assert len(harness.on_calendar()) == 2
    await anna.press("Try again")
    assert len(harness.on_calendar()) == 3
    await anna.press("Undo last update")
    assert harness.on_calendar() == {}


async def test_an_undo_that_cannot_be_done_changes_nothing(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report")
    kept = harness.on_calendar()
    for verb in ("window", "get"):
        for nth in range(8):
            harness.calendar.inject(CallFailure(DOWN), verb=verb, nth=nth)
    await anna.press("Undo")
    assert harness.on_calendar() == kept
    assert (await anna.session()).stage is TimeboxingStage.REVIEW_COMMIT
    assert "⚠️ I could not take it back: The calendar does not answer.\nNothing has changed." in anna.words
    harness.calendar.calm()
    await anna.press("Undo")
    assert harness.on_calendar() == {}


async def test_a_lost_answer_writes_nothing_twice(harness: Harness, anna: Person) -> None:
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(LostAnswer(), verb="create")
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}


class DropSave:
    """Sessions whose next save dies before anything is stored."""

    def __init__(self, real: Any, error: Callable[[], BaseException]) -> None:
        self._real = real
        self._error = error
        self.armed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        if self.armed:
            self.armed = False
            raise self._error()
        saved: Session = await self._real.save(session, expected=expected, outgoing=outgoing)
        return saved


@pytest.mark.parametrize("label", ["Commit to calendar", "15 min later", "Undo last update", "Undo"])
async def test_a_crash_between_calendar_and_database_leads_to_the_same_end(
    harness: Harness, anna: Person, label: str
) -> None:
    """S241: the repeated command finds what it did the first time, and goes on."""
    await anna.to_refine("Report", "Mail")
    if label in {"Undo last update", "Undo"}:
        await anna.choose("Mail", "15 min later")
    if label == "Undo":
        await anna.press("Commit to calendar")
    sessions = DropSave(harness.store.sessions, ProcessDied)

    def reborn() -> None:
        harness.restart()
        harness.sessions = sessions
        harness.coordinator = harness.build_coordinator(submitter=harness.submitter)

    reborn()
    sent: list[Any] = []
    handle = harness.coordinator.handle

    async def dying(command: Any, tell: Any = None) -> None:
        sent.append(command)
        sessions.armed = True
        with pytest.raises(ProcessDied):
            await handle(command)

    harness.coordinator.handle = dying  # type: ignore[method-assign]
    if label == "15 min later":
        await anna.choose("Mail", label)
    else:
        await anna.press(label)
    writes = len(harness.calendar.writes)
    shown = harness.on_calendar()
    reborn()
    await harness.coordinator.handle(sent[0])
    await anna.read()
    assert len(harness.calendar.writes) == writes
    assert harness.on_calendar() == shown
    expected = {
        "Commit to calendar": (TimeboxingStage.REVIEW_COMMIT, 3, "Monday 2 March is on your calendar."),
        "15 min later": (TimeboxingStage.REFINE, 3, "Refine Monday 2 March: 4 blocks."),
        "Undo last update": (TimeboxingStage.REFINE, 0, "Refine Monday 2 March: 4 blocks."),
        "Undo": (TimeboxingStage.REFINE, 0, "Refine Monday 2 March: 4 blocks."),
    }
    assert ((await anna.session()).stage, len(shown), anna.card.text) == expected[label]
    # And once more: it is known to have been handled.
    version = (await anna.session()).version
    await harness.coordinator.handle(sent[0])
    assert (await anna.session()).version == version


async def test_a_process_that_dies_in_the_middle_of_writing_goes_on(harness: Harness, anna: Person) -> None:
    """Killed between two calls to the calendar: the repeated command finishes the same transaction."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Crash(ProcessDied(), when="after"), verb="create", nth=1)
    sent: list[Any] = []
    handle = harness.coordinator.handle

    async def dying(command: Any, tell: Any = None) -> None:
        sent.append(command)
        with pytest.raises(BaseException):  # noqa: B017  a task group may wrap it
            await handle(command)

    harness.coordinator.handle = dying  # type: ignore[method-assign]
    await anna.press("Commit to calendar")
    harness.clock.at += timedelta(minutes=1)
    harness.restart()
    await harness.coordinator.handle(sent[0])
    await anna.read()
    assert anna.card.text == "Monday 2 March is on your calendar."
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    await anna.press("Undo")
    assert harness.on_calendar() == {}


async def test_a_repeated_command_does_nothing(harness: Harness, anna: Person) -> None:
    """S228: of two equal commands one is carried out, starts too."""
    start = StartTimeboxing(
        command_id="slash-1", user_id=anna.user, at=MORNING, channel=CHANNEL, thread_ts=None, tz=AMSTERDAM, date=None
    )
    await anna.send(start)
    await anna.send(start)
    assert len(await harness.store.sessions.of_user(anna.user)) == 1
    assert [m.slot for m in anna.arrived] == ["root", "stage:0"]


async def test_two_rapid_commits_of_the_date_count_once(harness: Harness, anna: Person) -> None:
    """S228: the second one finds that the step is done."""
    await anna.start()
    await anna.click("commit_date")
    await anna.click("commit_date")
    assert (await anna.session()).stage is TimeboxingStage.COLLECT_CONSTRAINTS


async def test_a_click_on_an_old_card_does_nothing(harness: Harness, anna: Person) -> None:
    """The second half of a double click on Continue does not skip a step."""
    await anna.to_frame()
    proceed = next(c for c in anna.controls() if getattr(c, "label", "") == "Continue")
    await anna.press("Continue")
    await anna.click("proceed", getattr(proceed, "target", ""))
    assert (await anna.session()).stage is TimeboxingStage.CAPTURE_INPUTS
    assert "That card was out of date, so I did nothing. This is where we are." in anna.words


async def test_a_full_disk_is_left_to_the_caller_to_repeat(harness: Harness, anna: Person) -> None:
    """Since nothing could be saved, the error is raised, and the same command works later."""
    await anna.to_refine("Report")
    sessions = DropSave(harness.store.sessions, lambda: StoreUnavailable("The disk is full."))
    harness.sessions = sessions
    harness.coordinator = harness.build_coordinator(submitter=harness.submitter)
    sessions.armed = True
    with pytest.raises(StoreUnavailable):
        await anna.press("Commit to calendar")
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Lunch": "12:30-13:15"}


async def test_a_conflicting_save_is_tried_again(harness: Harness, anna: Person) -> None:
    """Background work saved first: the command is carried out on the newer version."""
    await anna.to_frame()
    sessions = DropSave(harness.store.sessions, lambda: VersionConflict("This session was changed in the meantime."))
    harness.sessions = sessions
    harness.coordinator = harness.build_coordinator(submitter=harness.submitter)
    sessions.armed = True
    await anna.press("Continue")
    assert (await anna.session()).stage is TimeboxingStage.CAPTURE_INPUTS


async def test_somebody_else_is_told_so(harness: Harness, anna: Person) -> None:
    await anna.to_frame()
    bo = Person(harness, user="U_BO", session_id=anna.session_id)
    await bo.click("proceed")
    assert (await anna.session()).stage is TimeboxingStage.COLLECT_CONSTRAINTS
    assert bo.asides[-1].text.startswith("This plan belongs to somebody else")


async def test_a_session_that_nobody_knows_is_passed_over(harness: Harness, anna: Person) -> None:
    anna.session_id = "s-unknown"
    await anna.click("proceed")
    assert anna.arrived == []


class SlowRead:
    """A submitter whose reading waits until it is let go."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.go = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def read(self, day: Any, tz: str) -> Any:
        await self.go.wait()
        return await self._real.read(day, tz)


async def test_a_slow_calendar_appears_when_it_answers(harness: Harness, anna: Person) -> None:
    """S40, S42, S122: the first look goes on without the calendar, says so, and the card is filled in later."""
    meeting(harness, "Standup", "09:30", "10:00")
    slow = SlowRead(harness.submitter)
    harness.coordinator = harness.build_coordinator(submitter=slow, calendar_wait=0.01)
    await anna.to_frame()
    assert (
        "I am still reading your calendar. Your meetings appear here in a moment; you can go on meanwhile."
        in anna.words
    )
    assert "no meetings" not in anna.words
    slow.go.set()
    async with asyncio.timeout(60):
        while "Standup" not in anna.words:
            await asyncio.sleep(0)
            await anna.read()
    assert anna.arrived[-1].slot == "stage:1"


class HeldModel(ScriptedModel):
    """A model that lets the calendar answer while it reads a message, and reads on once that is about to be shown."""

    def __init__(self, slow: SlowRead) -> None:
        super().__init__(by=lambda _: wants("proceed"))
        self._slow = slow
        self.go_on = asyncio.Event()

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        self._slow.go.set()
        await asyncio.wait_for(self.go_on.wait(), 60)
        return await super().complete(prompt, seconds=seconds)


async def test_a_message_is_read_once_although_the_calendar_answers_meanwhile(
    harness: Harness, anna: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S500: the calendar is shown after the turn, which would otherwise begin again."""
    meeting(harness, "Standup", "09:30", "10:00")
    slow = SlowRead(harness.submitter)
    model = harness.model = HeldModel(slow)
    harness.coordinator = harness.build_coordinator(submitter=slow, calendar_wait=0.01)
    await anna.to_frame()
    drafts, save = harness.coordinator._drafts, harness.store.sessions.save
    lock = drafts.turn(anna.session_id)

    def wait_for_turn(_session_id: str) -> asyncio.Lock:
        if lock.locked():
            model.go_on.set()
        return lock

    async def save_meanwhile(session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        saved = await save(session, expected=expected, outgoing=outgoing)
        model.go_on.set()
        return saved

    monkeypatch.setattr(drafts, "turn", wait_for_turn)
    monkeypatch.setattr(harness.store.sessions, "save", save_meanwhile)
    await anna.says("go on")
    assert (await anna.session()).stage is TimeboxingStage.CAPTURE_INPUTS
    assert len(model.prompts) == 1
    await harness.until(lambda: _knows_calendar(anna))


async def _knows_calendar(person: Person) -> bool:
    return (await person.session()).day.snapshot is not None


class LateAnswer:
    """A submitter that reads at once, and whose answer to the read ``held`` waits until it is let go."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.reads = 0
        self.held: int | None = None
        self.go = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def read(self, day: Any, tz: str) -> Any:
        self.reads += 1
        is_held = self.reads == self.held
        found = await self._real.read(day, tz)
        if is_held:
            await self.go.wait()
        return found


async def test_a_read_from_before_a_write_is_no_change_by_the_person(
    harness: Harness, anna: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S500: the answer to a read comes after the plan was written, while the next change waits for the calendar."""
    late = LateAnswer(harness.submitter)
    harness.coordinator = harness.build_coordinator(submitter=late)
    await anna.to_refine("Write report")
    await anna.choose("Write report", "15 min later")
    late.held = late.reads + 1
    with monkeypatch.context() as hasty:
        hasty.setattr(turns, "REREAD_WAIT", 0.0)
        await anna.choose("Write report", "15 min later")
    assert harness.on_calendar()["Write report"] == "09:30-10:30"
    handle = harness.coordinator.handle

    async def answer_when_looking(command: Command) -> None:
        await handle(command, lambda _progress: late.go.set())

    monkeypatch.setattr(harness.coordinator, "handle", answer_when_looking)
    await anna.choose("Lunch", "15 min later")
    assert harness.on_calendar() == {"Write report": "09:30-10:30", "Lunch": "12:45-13:30"}
    assert "You changed" not in anna.words


async def test_closing_does_not_wait_for_a_calendar_that_hangs(harness: Harness, anna: Person) -> None:
    slow = SlowRead(harness.submitter)
    harness.coordinator = harness.build_coordinator(submitter=slow)
    await anna.start()
    async with asyncio.timeout(60):
        await harness.coordinator.aclose()


async def test_what_looks_like_no_wish_takes_a_yes(harness: Harness, anna: Person) -> None:
    """A plan that drops most of an earlier one asks first; another change is no yes, Try again is."""
    await anna.to_committed("One", "Two", "Three", "Four")
    kept = harness.on_calendar()
    bo = Person(harness)
    await bo.to_refine("Paint the fence")
    await bo.choose("Paint the fence", "15 min later")
    assert harness.on_calendar() == kept
    assert "This would delete 4 of my 6 blocks from your calendar" in bo.words
    assert "Yes, go ahead" in bo.labels()
    await bo.choose("Paint the fence", "15 min later")
    assert harness.on_calendar() == kept
    await bo.press("Yes, go ahead")
    assert harness.on_calendar() == {"Paint the fence": "09:30-10:30", "Lunch": "12:30-13:15"}
    assert "Yes, go ahead" not in bo.labels()


def test_now_is_in_the_morning() -> None:
    """The other tests rely on this."""
    assert datetime(2026, 3, 2, 7, 0, tzinfo=UTC) == MORNING
