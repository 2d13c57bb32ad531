"""A day on which a flight takes the person to another zone: every time is that of where they are then."""

from __future__ import annotations

from datetime import UTC, datetime, time

from tests.factories.days import block, plan_of
from tests.factories.words import build_move, patch, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.sessions import MONDAY, MORNING, event, make_command, session, task, turn

from fateforger.calendar.event import EventImage
from fateforger.conversation.turn_runs import run_turn
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import TaskDetails
from fateforger.session.cards import DayView, Meeting, Prose
from fateforger.session.commands.plan import EditBlock
from fateforger.session.day import busy_meetings, lunch_start, whole_frame
from fateforger.session.draft import work_of
from fateforger.session.forms import FormRequest, FormSubmission
from fateforger.session.frame import describe_journeys, zone_at
from fateforger.session.model import FrameFacts, InputFacts, Session
from fateforger.session.overview import meeting_line
from fateforger.session.placement import summarize_differences
from fateforger.session.stages import TimeboxingStage
from fateforger.ui.day_cards import frame_card
from fateforger.ui.forms import open_form, read_form
from fateforger.ui.picture_svg import draw
from fateforger.ui.session_cards import stage_card
from fateforger.values import replace


def flight(name: str = "Flight", start: str = "11:30", end: str = "20:30", to: str = "America/New_York") -> EventImage:
    image = event(name, start, end)
    zones = {"start": {"timeZone": "Europe/Amsterdam"}, "end": {"timeZone": to}}
    return image.model_copy(update={"raw": {**image.raw, **zones}})


def abroad(*more: EventImage, **given: object) -> Session:
    given = {"frame": FrameFacts(day_start=time(8), day_end=time(18), lunch_start=time(12, 30)), **given}
    return session(TimeboxingStage.REFINE, flight(), *more, **given)


def test_meetings_are_in_the_clock_of_where_the_person_is() -> None:
    """S252: 20:30 in Amsterdam is 14:30 in New York, six hours behind."""
    day = abroad(event("Stand-up", "09:00", "09:15"), event("Dinner", "23:00", "23:45"))
    assert [meeting_line(day, meeting) for meeting in busy_meetings(day)] == [
        "**09:00–09:15** Stand-up",
        "**11:30–14:30** Flight (ends in New York time)",
        "**17:00–17:45** Dinner (New York time)",
    ]


def test_what_a_change_moves_is_said_in_the_clock_of_the_place() -> None:
    """S252"""
    before, after = (plan_of(block("Call", start=start, minutes=30)) for start in ("21:00", "21:30"))
    said = summarize_differences(abroad(plan=before), before, after)
    assert said == "“Call” is now 15:30–16:00 (New York time) (was 15:00–15:30)."


def test_the_end_of_the_day_is_that_of_the_place_and_lunch_before_the_flight_is_not() -> None:
    day = abroad()
    start, end = whole_frame(day)
    assert (start.astimezone(UTC), end.astimezone(UTC)) == (
        datetime(2026, 3, 2, 7, tzinfo=UTC),
        datetime(2026, 3, 2, 23, tzinfo=UTC),
    )
    lunch = lunch_start(day)
    assert lunch is not None
    assert f"{lunch:%H:%M %Z}" == "12:30 CET"
    assert zone_at(day, end).key == "America/New_York"


def test_a_meeting_in_the_air_is_pointed_out_on_the_card() -> None:
    """S252"""
    day = abroad(event("Steering call", "16:00", "16:30"))
    clock, clash = describe_journeys(day)
    assert clock == (
        "From 14:30 on, all times are in New York time, because of “Flight”: on cards, in forms and in your messages."
    )
    assert clash == "“Steering call” falls into “Flight”."
    assert clock in str(frame_card(day))
    assert clash in str(frame_card(day))


def test_only_journeys_between_places_with_different_clocks_count() -> None:
    """Not a train to Paris, not an end that a program wrote in UTC, not a declined flight."""
    for image in (flight(to="Europe/Paris"), flight(to="Etc/UTC"), flight().model_copy(update={"busy": False})):
        day = session(TimeboxingStage.REFINE, image)
        assert describe_journeys(day) == ()
        assert zone_at(day, whole_frame(day)[1]).key == "Europe/Amsterdam"


def test_the_picture_follows_the_clock() -> None:
    """S252"""
    view = DayView(
        date=MONDAY,
        tz="Europe/Amsterdam",
        zones=((datetime(2026, 3, 2, 19, 30, tzinfo=UTC), "America/New_York"),),
        start=datetime(2026, 3, 2, 7, tzinfo=UTC),
        end=datetime(2026, 3, 2, 23, tzinfo=UTC),
        meetings=(
            Meeting(
                title="Flight",
                start=datetime(2026, 3, 2, 10, 30, tzinfo=UTC),
                end=datetime(2026, 3, 2, 19, 30, tzinfo=UTC),
            ),
        ),
    )
    drawn = draw(view)
    assert "08:00–18:00 · Europe/Amsterdam → America/New_York" in drawn
    assert ">15 EST</text>" in drawn
    assert "11:30–14:30 · meeting" in drawn


CALL = plan_of(block("Call", start="21:00", minutes=30))


def said_on_card(day: Session) -> str:
    return "\n".join(part.text for part in stage_card(day).parts if isinstance(part, Prose))


async def test_a_form_after_a_flight_shows_and_reads_the_clock_of_the_place() -> None:
    """S252: the block at 21:00 in Amsterdam is edited at 15:00 in New York, and 16:00 means four there."""
    day = abroad(plan=CALL)
    (key,) = (each.key for each in resolve(CALL))
    shown = open_form(day, FormRequest(session_id=day.id, user_id="U1", form="edit_block", target=key))
    assert [each.value for each in shown.inputs if each.name == "start"] == [time(15)]
    filled = {each.name: each.value for each in shown.inputs} | {"start": time(16)}
    submission = FormSubmission(
        command_id="c1",
        user_id="U1",
        at=MORNING,
        session_id=day.id,
        form=shown.form,
        target=shown.target,
        values=filled,
    )
    command = read_form(day, submission)
    assert isinstance(command, EditBlock)
    after = (await run_turn(turn(day, command))).session
    assert "**16:00–16:30** Call" in said_on_card(after)
    assert after.planning.plan is not None
    assert [f"{each.start:%H:%M %Z}" for each in resolve(after.planning.plan)] == ["22:00 CET"]


async def test_a_time_in_words_after_a_flight_is_in_the_clock_of_the_place() -> None:
    """S252: a model reads the times that the person reads, and the zone from which on they count."""
    model = ScriptedModel(wants("answer"), patch(build_move(0, "16:00", 30)))
    after = (
        await run_turn(turn(abroad(plan=CALL), make_command("user_reply", text="the call at four")), model)
    ).session
    assert "**16:00–16:30** Call" in said_on_card(after)
    asked = model.prompts[-1].user
    assert "America/New_York from 14:30 on" in asked
    assert "15:00" in asked
    assert "21:00" not in asked


async def test_a_task_with_a_time_after_a_flight_is_drafted_in_the_clock_of_the_place() -> None:
    """S252"""
    there = replace(task("Dinner", 60), details=TaskDetails(at=time(16)))
    day = abroad(inputs=InputFacts(tasks=(there,)))
    assert work_of(day, there).details.at == time(22)
