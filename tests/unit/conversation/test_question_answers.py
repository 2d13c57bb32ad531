"""The questions on a card, and what answers them, without a calendar around them (S201, S214)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversation.sessions import MORNING, at, make_command, plan_session, question

from fateforger.calendar.conflicts import Conflict, describe_value
from fateforger.calendar.conflicts import phrase_question as in_words
from fateforger.calendar.event import EventFields
from fateforger.calendar.model import Snapshot, SyncPlan
from fateforger.conversation.plan_nodes import ASKED_ANEW, NOT_ASKED, resolve_conflict
from fateforger.planning.timing import zone
from fateforger.session.cards import Button, Controls, Note, Prose
from fateforger.session.commands import read_click
from fateforger.session.commands.plan import ResolveConflict
from fateforger.session.conflicts import choices_of, question_token, settle_questions, subject_of, update_questions
from fateforger.session.forms import Click
from fateforger.session.model import Question, Session
from fateforger.session.stages import TimeboxingStage
from fateforger.ui.calendar_cards import MOST_ASKED, STAYS, questions

TZ = zone("Europe/Amsterdam")


def asking(*found: Question) -> Session:
    return plan_session(TimeboxingStage.REFINE, questions=found)


def texts(session: Session) -> list[str]:
    return [part.text for part in questions(session) if isinstance(part, Prose | Note)]


def labels(session: Session) -> list[list[str]]:
    rows = [part for part in questions(session) if isinstance(part, Controls)]
    return [[button.label for button in row.items if isinstance(button, Button)] for row in rows]


PAIR = ["Keep calendar", "Keep plan"]
ALL = ["Keep calendar for all", "Keep plan for all"]


@pytest.mark.parametrize(
    ("topic", "sentence"),
    [
        ("time", "“Mail”: you moved it to 14:00 on your calendar; the plan has 11:00."),
        ("summary", "“Mail”: you renamed it “Post” on your calendar; the plan calls it “Letters”."),
        ("description", "“Mail”: your calendar has the notes “mine”; the plan has no notes."),
        (
            "color_id",
            "“Mail”: your calendar has it in a color of your own; the plan has the color of shallow work.",
        ),
        ("deleted", "“Mail” is no longer on your calendar; the plan has it at 11:00–12:00."),
    ],
)
def test_one_question(topic: str, sentence: str) -> None:
    session = asking(question("mail", topic))
    head = "**Your calendar and the plan disagree. Which one do you keep?**"
    assert texts(session) == [head, sentence, STAYS]
    assert labels(session) == [["Leave it off", "Add it again"] if topic == "deleted" else PAIR]


@pytest.mark.parametrize(
    ("theirs", "ours", "words"),
    [
        (
            ("10:00", "12:00"),
            ("10:00", "11:30"),
            "you changed it to 10:00–12:00 on your calendar; the plan has 10:00–11:30",
        ),
        (
            ("09:00", "11:00"),
            ("12:00", "13:00"),
            "you moved it to 09:00–11:00 on your calendar; the plan has 12:00–13:00",
        ),
    ],
)
def test_the_length_is_said_when_it_changed(theirs: tuple[str, str], ours: tuple[str, str], words: str) -> None:
    times = [{"start": at(start), "end": at(end)} for start, end in (theirs, ours)]
    base = question("mail").conflict
    assert base.calendar is not None
    changed = base.model_copy(
        update={
            "calendar": base.calendar.model_copy(update=times[0]),
            "plan": base.plan.model_copy(update=times[1]),
        }
    )
    assert in_words(changed, MORNING.date(), TZ) == f"“Mail”: {words}."


def test_another_day_is_named() -> None:
    base = question("mail").conflict
    assert base.calendar is not None
    tomorrow = MORNING.date().replace(day=3)
    moved = base.calendar.model_copy(update={"start": at("14:00", tomorrow), "end": at("15:00", tomorrow)})
    words = in_words(base.model_copy(update={"calendar": moved}), MORNING.date(), TZ)
    assert words == "“Mail”: you moved it to 14:00 on Tuesday 3 March on your calendar; the plan has 11:00."
    assert describe_value(base, moved, MORNING.date(), TZ) == "“Mail” is from 14:00 to 15:00 on Tuesday 3 March."


def test_three_questions_have_a_pair_for_all() -> None:
    session = asking(question("mail"), question("mail", "summary"), question("report", "deleted"))
    assert labels(session) == [PAIR, PAIR, ["Leave it off", "Add it again"], ALL]
    assert texts(session)[0] == "**Your calendar and the plan disagree in 3 places. Which one do you keep?**"


def test_many_questions_fit_on_a_card() -> None:
    session = asking(*(question(f"b{n}") for n in range(MOST_ASKED + 3)))
    assert labels(session) == [*[PAIR] * MOST_ASKED, ALL]
    assert texts(session)[-2:] == ["… and 3 more.", STAYS]


def test_answered_ones_are_not_asked() -> None:
    assert questions(asking(question("mail", answer="plan"))) == ()
    assert questions(asking()) == ()


def buttons(session: Session) -> list[Button]:
    rows = [part for part in questions(session) if isinstance(part, Controls)]
    return [button for row in rows for button in row.items if isinstance(button, Button)]


def click(button: Button) -> ResolveConflict:
    command = read_click(
        Click(command_id="c", user_id="U1", at=MORNING, session_id="s1", action=button.action, target=button.target)
    )
    assert isinstance(command, ResolveConflict)
    return command


def test_a_button_says_which_question_it_answers() -> None:
    """K7, S214: also when the key has dots in it."""
    session = asking(question("a.b c", "summary"), question("mail"))
    one, _, _, _, every, all_plan = buttons(session)
    assert (click(one).key, click(one).topic, click(one).keep) == ("a.b c", "summary", "calendar")
    assert (click(every).key, click(every).seen) == (None, question_token(session.sync.questions))
    assert click(all_plan).keep == "plan"


@pytest.mark.parametrize("target", ["nonsense.x.mail", "time"])
def test_a_question_that_has_changed_is_asked_anew(target: str) -> None:
    session = asking(question("mail"))
    assert session.planning.plan is not None
    seen = make_command("resolve_conflict", keep="plan", key="mail", topic="time", seen=target)
    after = resolve_conflict(session, seen, at_once=True)
    assert (after.to_write, after.session.sync.questions) == (False, session.sync.questions)
    assert after.session.thread.notice is not None
    assert after.session.thread.notice.lines == (ASKED_ANEW,)
    gone = make_command("resolve_conflict", keep="plan", key="report", topic="time")
    nothing = resolve_conflict(session, gone, at_once=True).session
    assert nothing.thread.notice is not None
    assert nothing.thread.notice.lines == (NOT_ASKED,)


def test_what_is_in_view_and_what_was_said() -> None:
    """The engine gets the last look, and every question with its answer."""
    session = asking(question("mail"), question("report", "deleted", answer="plan"))
    choices = choices_of(session)
    assert [(a.topic, a.keep) for a in choices.answers] == [("time", "open"), ("deleted", "plan")]
    assert choices.seen == {}
    assert choices_of(session.with_day(snapshot=None)).seen == {}


def test_an_answer_lasts_as_long_as_the_calendar_shows_what_was_answered() -> None:
    answered = question("mail", answer="plan")
    calendar = answered.conflict.calendar
    assert calendar is not None
    compared = SyncPlan(day=MORNING.date(), tz="Europe/Amsterdam", ops=())
    shown = {answered.conflict.event_id: image(answered.conflict, calendar)}
    look = Snapshot(day=MORNING.date(), tz="Europe/Amsterdam", events=(), fetched=shown)
    assert update_questions((answered,), compared, look) == (answered,)
    moved = image(answered.conflict, calendar.model_copy(update={"end": at("16:00")}))
    assert update_questions((answered,), compared, look.model_copy(update={"fetched": {moved.id: moved}})) == ()
    assert update_questions((question("mail"),), compared, look) == ()


def image(conflict: Conflict, fields: EventFields) -> Any:
    from fateforger.calendar.event import EventImage

    return EventImage.model_validate({"id": conflict.event_id, **fields.model_dump()})


def test_a_question_ends_with_its_block() -> None:
    session = plan_session(TimeboxingStage.REFINE)
    assert session.planning.plan is not None
    here, gone = question("mail"), question("nobody")
    left = settle_questions(session.with_sync(questions=(here, gone))).sync.questions
    assert [subject_of(q) for q in left] == [("mail", "time")]
    assert settle_questions(session.with_sync(questions=(here,)).with_planning(plan=None)).sync.questions == ()
