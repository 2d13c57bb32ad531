"""A must that is known when a person commits is not broken on their calendar without one yes (K9, S46, S2, S232)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.told_rules import NOTHING, build_extraction, rule
from tests.factories.words import also, inputs, new, wants
from tests.fakes.google_calendar import CallFailure
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, meeting, open_harness_at

from fateforger.conversation.running_turns import STOPPED_BUT_RULES
from fateforger.errors import CalendarUnreachable
from fateforger.planning.plan import resolve
from fateforger.ports.model import Prompt
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.rulebook import rules_in_force
from fateforger.session.stages import TimeboxingStage
from fateforger.workers.lanes import EXTRACT
from fateforger.workers.memory import build_extract_job

Stage = TimeboxingStage
EARLY = {"kind": "avoid_window", "necessity": "must", "words": "Nothing before eleven", "times": "0-11"}
ALL_DAY = {"kind": "avoid_window", "necessity": "must", "words": "Nothing today", "times": "0-20"}
TOLD = "You told me: “Nothing before eleven”"


async def times(anna: Person) -> dict[str, str]:
    """Return the plan's local times by title."""
    plan = (await anna.session()).planning.plan
    assert plan is not None
    return {b.event.name: f"{b.start:%H:%M}-{b.end:%H:%M}" for b in resolve(plan)}


def too_early(shown: dict[str, str]) -> list[str]:
    return [title for title, when in shown.items() if when < "11:00"]


async def enter_rule(anna: Person, **values: Any) -> None:
    assert await anna.fill("rule_new", **values) is None


async def look(anna: Person) -> None:
    """Read the calendar again in the background, as the watcher does."""
    await anna.coordinator.handle(RefreshCalendar(command_id=anna._id(), session_id=anna.session_id))
    await anna.read()


# --- a draft that is not good any more ---


async def test_a_must_by_form_redrafts_the_day_that_is_on_the_card(anna: Person, harness: Harness) -> None:
    """S46: and says why; what is committed keeps it."""
    await anna.to_skeleton("Report")
    assert too_early(await times(anna)) == ["Report"]
    await enter_rule(anna, **EARLY)
    assert f"{TOLD}. So I redrafted your day." in anna.words
    assert too_early(await times(anna)) == []
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert too_early(harness.on_calendar()) == []


async def test_a_must_that_was_told_elsewhere_is_compared_before_going_on(anna: Person, harness: Harness) -> None:
    """S46: Refine does not take a stale draft along; it shows the new one first."""
    await anna.to_skeleton("Report")
    elsewhere = Person(harness)
    await elsewhere.to_tasks()
    await enter_rule(elsewhere, **EARLY)
    await anna.press("Refine")
    assert (await anna.session()).stage is Stage.SKELETON
    assert f"{TOLD}. So I redrafted your day." in anna.words
    await anna.press("Refine")
    assert (await anna.session()).stage is Stage.REFINE
    assert too_early(await times(anna)) == []


async def test_a_meeting_that_comes_with_the_click_is_drafted_around_first(anna: Person, harness: Harness) -> None:
    """S46, K9: nothing is booked twice."""
    await anna.to_skeleton("Report")
    meeting(harness, "Dentist", "09:00", "10:30")
    await anna.press("Refine")
    assert (await anna.session()).stage is Stage.SKELETON
    assert "This is on your calendar now: “Dentist, 09:00–10:30”. So I redrafted your day." in anna.words
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar() | {"Lunch": ""} == {"Dentist": "09:00-10:30", "Report": "10:30-11:30", "Lunch": ""}


async def test_what_changes_nothing_of_the_draft_stops_nobody(anna: Person, harness: Harness) -> None:
    await anna.to_skeleton("Report")
    meeting(harness, "Choir", "20:00", "21:00")
    await anna.press("Refine")
    assert (await anna.session()).stage is Stage.REFINE


# --- a plan that is the person's own by now ---


@pytest.mark.parametrize("write", ["refine", "commit"])
async def test_a_must_by_form_mends_the_plan_by_few_moves(anna: Person, harness: Harness, write: str) -> None:
    """K9: it is one step, with a note, and one press undoes it; then the commit asks."""
    await anna.to_refine("Report", "Mail")
    await anna.pick("set_calendar_write", write)
    before = await times(anna)
    await enter_rule(anna, **EARLY)
    after = await times(anna)
    assert too_early(after) == []
    assert after["Lunch"] == before["Lunch"]
    assert f"{TOLD}. So I changed your plan." in anna.words
    assert "“Report” is now " in anna.words
    assert harness.on_calendar() == {}
    assert len((await anna.session()).sync.refine_undo) == 1
    await anna.press("Undo last update")
    assert await times(anna) == before
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {}
    assert "Commit anyway" in anna.labels()


async def test_a_plan_on_the_calendar_follows_at_once_where_changes_do(anna: Person, harness: Harness) -> None:
    """K1, K9"""
    await anna.to_refine("Report")
    await anna.choose("Lunch", "15 min later")
    assert too_early(harness.on_calendar()) == ["Report"]
    await enter_rule(anna, **EARLY)
    assert too_early(harness.on_calendar()) == []
    assert harness.on_calendar(whole=True) == await times(anna)
    await anna.press("Undo last update")
    assert too_early(harness.on_calendar()) == ["Report"]


async def test_a_meeting_in_the_background_mends_the_plan(anna: Person, harness: Harness) -> None:
    """S200, K9: the current card shows it; nothing is written before the person acts."""
    await anna.to_refine("Report", "Mail")
    meeting(harness, "Dentist", "09:30", "10:00")
    await look(anna)
    assert "This is on your calendar now: “Dentist, 09:30–10:00”. So I changed your plan." in anna.words
    shown = await times(anna)
    assert all(when <= "09:00-09:30" or when >= "10:00" for when in shown.values())
    await anna.press("Commit to calendar")
    await anna.press("Commit anyway")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert harness.on_calendar(whole=True) == {**shown, "Dentist": "09:30-10:00"}


async def test_a_meeting_that_comes_with_the_commit_is_seen_first(anna: Person, harness: Harness) -> None:
    """K9: the plan that is committed is one that the person saw."""
    await anna.to_refine("Report")
    meeting(harness, "Dentist", "09:30", "10:00")
    await anna.press("Commit to calendar")
    assert (await anna.session()).stage is Stage.REFINE
    assert harness.on_calendar() == {"Dentist": "09:30-10:00"}
    assert "please look at the plan, then commit it" in anna.words
    await anna.press("Commit to calendar")
    assert harness.on_calendar()["Report"] == "10:00-11:00"


# --- one yes ---


async def test_what_cannot_be_mended_is_said_and_asked_once(anna: Person, harness: Harness) -> None:
    """K9: one sentence for each must, one yes, which lets it go for this day only."""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    await enter_rule(anna, **ALL_DAY)
    assert "Your plan does not fit any more. You told me: “Nothing today”. In the way: “Report”" in anna.words
    await anna.press("Commit to calendar")
    session = await anna.session()
    assert (session.stage, harness.on_calendar()) == (Stage.REFINE, {})
    assert "you said: “Nothing today”. These break it: “Report” (09:00–10:00)" in anna.words
    await anna.press("Commit anyway")
    session = await anna.session()
    assert session.stage is Stage.REVIEW_COMMIT
    assert harness.on_calendar()["Report"] == "09:00-10:00"
    assert [item.record.name for item in rules_in_force(session).applicable] == []
    assert len(session.rules.set_aside) == 1


async def test_several_musts_take_one_yes(anna: Person, harness: Harness) -> None:
    """K9"""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    await enter_rule(anna, **ALL_DAY)
    await enter_rule(anna, **{**ALL_DAY, "words": "A day off", "times": "8-17"})
    await anna.press("Commit to calendar")
    assert "you said: “Nothing today”." in anna.words
    assert "you said: “A day off”." in anna.words
    await anna.press("Commit anyway")
    session = await anna.session()
    assert (session.stage, len(session.rules.set_aside)) == (Stage.REVIEW_COMMIT, 2)


async def test_a_plan_that_breaks_a_must_reaches_no_calendar_by_itself(anna: Person, harness: Harness) -> None:
    """K9, K1: also where each change is written at once."""
    await anna.to_refine("Report")
    await enter_rule(anna, **ALL_DAY)
    await anna.fill_row("Report", "edit_block", title="Essay")
    assert "**09:00–10:00** Essay" in anna.words
    assert "not on your calendar yet" in anna.words
    assert harness.on_calendar() == {}
    await anna.press("Write it anyway")
    assert harness.on_calendar()["Essay"] == "09:00-10:00"


AGAIN = "“Nothing before eleven” counts again."


async def move_anyway(anna: Person) -> None:
    """Move the report to nine, which is earlier than they want, while the plan is on the calendar."""
    await anna.to_refine("Report")
    await anna.choose("Lunch", "15 min later")
    await enter_rule(anna, **EARLY)
    anna.harness.clock.at += timedelta(minutes=1)
    await anna.fill_row("Report", "edit_block", start="09:00")
    assert too_early(await times(anna)) == []
    await anna.press("Do it anyway, for this day")
    assert "“Nothing before eleven” does not count for this day." in anna.words
    assert (await times(anna))["Report"] == "09:00-10:00"


async def test_a_rule_counts_again_once_what_was_done_against_it_is_taken_back(anna: Person, harness: Harness) -> None:
    """S22, K9: and is left out again when that is made again, without another question."""
    await move_anyway(anna)
    assert harness.on_calendar()["Report"] == "09:00-10:00"
    await anna.press("Undo last update")
    assert AGAIN in anna.words
    assert (await anna.session()).rules.set_aside == ()
    assert too_early(await times(anna)) == []
    await anna.press("Restore last update")
    assert harness.on_calendar()["Report"] == "09:00-10:00"
    await anna.press("Undo last update")
    await anna.fill_row("Report", "edit_block", start="09:00")
    assert "Do it anyway, for this day" in anna.labels()
    assert too_early(await times(anna)) == []


async def test_it_counts_again_when_that_is_taken_back_in_the_history(anna: Person, harness: Harness) -> None:
    await move_anyway(anna)
    harness.clock.at += timedelta(minutes=1)
    await anna.choose("Lunch", "15 min later")
    await anna.press("History")
    await anna.press_beside("history", "Undo", row="08:01")
    assert too_early(harness.on_calendar()) == []
    assert AGAIN in anna.words
    assert (await anna.session()).rules.set_aside == ()
    await anna.press_beside("history", "Restore")
    assert len((await anna.session()).rules.set_aside) == 1
    assert (await times(anna))["Report"] == "09:00-10:00"


async def test_a_rule_counts_again_once_what_was_written_against_it_is_taken_back(
    anna: Person, harness: Harness
) -> None:
    await anna.to_refine("Report")
    await enter_rule(anna, **ALL_DAY)
    await anna.fill_row("Report", "edit_block", title="Essay")
    await anna.press("Write it anyway")
    assert harness.on_calendar()["Essay"] == "09:00-10:00"
    await anna.press("Undo last update")
    assert "“Nothing today” counts again." in anna.words
    assert (harness.on_calendar(), (await anna.session()).rules.set_aside) == ({}, ())


async def test_a_meeting_that_leaves_no_room_is_asked_about(anna: Person, harness: Harness) -> None:
    """K9: double-booking counts like a must. A yes holds for these meetings only."""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    meeting(harness, "Offsite", "00:00", "09:20")
    meeting(harness, "Workshop", "09:40", "23:55")
    await look(anna)
    assert "“Offsite, 00:00–09:20” and “Workshop, 09:40–23:55”. In the way: " in anna.words
    await anna.press("Commit to calendar")
    assert (await anna.session()).stage is Stage.REFINE
    assert "“Offsite” (00:00–09:20) is new on your calendar. In its way: “Report” (09:00–10:00)." in anna.words
    await anna.press("Commit anyway")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert harness.on_calendar()["Report"] == "09:00-10:00"


async def test_a_block_inside_a_meeting_is_not_written_and_the_card_says_so(anna: Person, harness: Harness) -> None:
    """S79, K9: nothing has to be asked about a block that does not reach the calendar."""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    meeting(harness, "Offsite", "00:00", "23:55")
    await look(anna)
    assert "“Offsite, 00:00–23:55”. In the way: " in anna.words
    await anna.press("Commit to calendar")
    assert "Report" not in harness.on_calendar()
    assert "I did not add “Report”: “Offsite” takes up the same time" in anna.words


async def test_another_word_withdraws_the_question(anna: Person, harness: Harness) -> None:
    """The yes is to what was asked, and to nothing else."""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    await enter_rule(anna, **ALL_DAY)
    await anna.press("Commit to calendar")
    await anna.choose("Report", "15 min later")
    assert (await anna.session()).sync.held is None
    assert "Commit anyway" not in anna.labels()
    assert harness.on_calendar() == {}


async def test_a_rule_put_away_for_good_is_a_yes_too(anna: Person, harness: Harness) -> None:
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    await enter_rule(anna, **ALL_DAY)
    await anna.press("Commit to calendar")
    held = (await anna.session()).sync.held
    assert held is not None
    await anna.click("memory.archive", f"{held.seq} {held.uid}")
    assert harness.on_calendar()["Report"] == "09:00-10:00"


async def test_try_again_is_held_to_the_musts_too(anna: Person, harness: Harness) -> None:
    """K9: this covers a rule that came after a failed commit."""
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", "commit")
    for nth in range(8):
        harness.calendar.inject(
            CallFailure(CalendarUnreachable("The calendar does not answer.")), verb="window", nth=nth
        )
    await anna.press("Commit to calendar")
    assert "Try again" in anna.labels()
    harness.calendar.calm()
    await enter_rule(anna, **EARLY)
    await anna.press("Try again")
    assert (await anna.session()).stage is Stage.REFINE
    assert harness.on_calendar() == {}
    await anna.press("Commit to calendar")
    assert too_early(harness.on_calendar()) == []


# --- in words ---


def early_rule() -> Line:
    window = {"kind": "avoid", "start": "00:00", "end": "11:00"}
    return build_extraction(
        rule(
            "Nothing before eleven",
            "nothing before 11",
            necessity="must",
            rule_kind="avoid_window",
            windows=[window],
        )
    )


REPORT = inputs(add=[new("Report", 90)])


def talking() -> ScriptedModel:
    """Return a model that takes up the report and goes on where the message says so, or else only goes on."""

    def say(prompt: Prompt) -> Line:
        if prompt.name.startswith("decide"):
            return (
                wants("answer", also("proceed"), rules=True)
                if "report" in prompt.user
                else wants("proceed", rules=True)
            )
        return REPORT

    return ScriptedModel(by=say)


def reading(**by_text: Line) -> ScriptedModel:
    def say(prompt: Prompt) -> Line:
        return next((line for words, line in by_text.items() if words in prompt.user), NOTHING)

    return ScriptedModel(by=say)


async def open_session(path: Path, extractor: ScriptedModel, *, extract_seconds: float) -> tuple[Harness, Person]:
    harness = await open_harness_at(path, model=talking(), calendar_write="commit")
    harness.extractor, harness.extract_seconds = extractor, extract_seconds
    harness.restart()
    anna = Person(harness)
    await anna.to_tasks()
    return harness, anna


async def with_lanes(harness: Harness, doing: Coroutine[Any, Any, object]) -> None:
    """Do something while the background works."""
    async with harness.working():
        task = asyncio.create_task(doing)

        async def is_done() -> bool:
            return task.done()

        await harness.until(is_done)
        await task


async def test_a_stop_while_the_rules_of_a_message_are_read_says_that_these_are_kept(tmp_path: Path) -> None:
    """S456: the plan is as it was."""
    harness, anna = await open_session(tmp_path, reading(dentist=early_rule()), extract_seconds=60)
    saying = asyncio.create_task(anna.says("the report, I am at the dentist until 11, so nothing before 11! Go on."))

    async def is_queued() -> bool:
        query = "SELECT count(*) FROM job WHERE lane = 'extract'"
        return bool(await harness.store.database.read(lambda connection: connection.exec_driver_sql(query).scalar()))

    await harness.until(is_queued)
    assert harness.coordinator.stop(anna.session_id, harness.clock.now())
    await saying
    session = await anna.session()
    assert session.stage is Stage.CAPTURE_INPUTS
    assert session.notice_lines == (STOPPED_BUT_RULES,)


async def test_a_draft_waits_for_the_rule_in_its_own_message(tmp_path: Path) -> None:
    """K9, S119: a rule in the same message is followed at once; it is written and noted once."""
    harness, anna = await open_session(tmp_path, reading(dentist=early_rule()), extract_seconds=60)
    await with_lanes(harness, anna.says("the report, I am at the dentist until 11, so nothing before 11! Go on."))
    session = await anna.session()
    assert session.stage is Stage.SKELETON
    assert too_early(await times(anna)) == []
    assert [item.record.name for item in rules_in_force(session).applicable] == ["Nothing before eleven"]
    assert "I'll remember “Nothing before eleven”." in anna.words
    await harness.work()
    assert (await anna.session()).rules.said == ()
    assert len((await anna.session()).rules.memory_writes) == 1
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert too_early(harness.on_calendar()) == []
    assert harness.on_calendar()
    await harness.close()


@pytest.mark.parametrize("stage", [Stage.SKELETON, Stage.REFINE])
async def test_a_rule_that_is_read_late_still_changes_the_plan(tmp_path: Path, stage: Stage) -> None:
    """K9, S232: the card says that the message is still being read, and later what followed from it."""
    harness, anna = await open_session(tmp_path, reading(dentist=early_rule()), extract_seconds=0)
    await anna.says("the report, I am at the dentist until 11, so nothing before 11! Go on.")
    assert "I am still reading your message for rules." in anna.words
    assert too_early(await times(anna)) == ["Report"]
    if stage is Stage.REFINE:
        await anna.press("Refine")
    await harness.work()
    await anna.read()
    assert too_early(await times(anna)) == []
    verb = "changed your plan" if stage is Stage.REFINE else "redrafted your day"
    assert f"{TOLD}. So I {verb}." in anna.words
    if stage is Stage.SKELETON:
        await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar()
    assert too_early(harness.on_calendar()) == []
    await harness.close()


async def test_a_message_that_says_no_rule_is_not_held_up(tmp_path: Path) -> None:
    """S4: as soon as the message is read, the draft is shown, without a note about the reading."""
    harness, anna = await open_session(tmp_path, reading(), extract_seconds=60)
    await with_lanes(harness, anna.says("the report. Go on."))
    assert (await anna.session()).stage is Stage.SKELETON
    assert "still reading" not in anna.words
    await harness.close()


class StuckModel(ScriptedModel):
    """Does not answer about some messages until it is let go."""

    def __init__(self, words: str, **by_text: Line) -> None:
        super().__init__(by=lambda p: next((line for said, line in by_text.items() if said in p.user), NOTHING))
        self._words = words
        self.free = asyncio.Event()

    async def complete(self, prompt: Prompt, *args: Any, **kwargs: Any) -> Any:
        if self._words in prompt.user:
            await self.free.wait()
        return await super().complete(prompt, *args, **kwargs)


def bed(clock: str) -> dict[str, Any]:
    window = {"kind": "prefer", "start": clock, "end": "06:00"}
    return rule(f"Bed at {clock}", f"in bed by {clock}", rule_kind="fixed_bedtime", windows=[window])


async def test_messages_are_read_at_the_same_time(harness: Harness) -> None:
    """S1: those of one session, too, so that none waits for another one."""
    jobs, now = harness.store.jobs, harness.clock.now()
    for n in range(2):
        reply = TimeboxingUserReply(command_id=f"m{n}", user_id=ANNA, at=now, session_id="s1", text="no calls")
        await jobs.enqueue(build_extract_job(reply), now=now)
    assert None not in [await jobs.claim(EXTRACT.name, "w", now=now, lease_seconds=60) for _ in range(2)]


async def test_one_stuck_message_holds_up_no_other(tmp_path: Path) -> None:
    """S1, S2: the later message's rule counts at once; the earlier one keeps its own time and is replaced by it."""
    stuck = StuckModel("tired", tired=build_extraction(bed("22:00")), party=build_extraction(bed("23:00")))
    harness, anna = await open_session(tmp_path, stuck, extract_seconds=0)

    async def in_force() -> list[str]:
        return [item.record.name for item in rules_in_force(await anna.session()).applicable]

    async def later_one_counts() -> bool:
        return await in_force() == ["Bed at 23:00"]

    async def both_are_kept() -> bool:
        kept = await harness.store.constraints.of(ANNA)
        return {version.record.name for version in kept} == {"Bed at 22:00", "Bed at 23:00"}

    async with harness.working() as lanes:
        await anna.says("I am tired, bed at ten")
        harness.clock.at += timedelta(minutes=1)
        await anna.says("no, there is a party: bed at eleven")
        await harness.until(later_one_counts)
        stuck.free.set()
        await harness.until(both_are_kept)
        await harness.until(lambda: harness.is_idle(lanes))
    assert await in_force() == ["Bed at 23:00"]
    await harness.close()
