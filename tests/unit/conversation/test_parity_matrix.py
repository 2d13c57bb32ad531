"""The meaning of each control can be said in words: in a first message, in a plan's thread, and outside of it (S279).

The list of controls comes from the commands that declare them, the forms, and App Home. A control without words, and
without a reason why words make no sense there, fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, get_args

import pytest
from tests.factories.tasks import task as queued
from tests.factories.wishes import rule, wish
from tests.factories.words import Answer, also, first, frame_of, opening, outside, wanting, work
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import RULES as KNOWN
from tests.unit.conversation.sessions import MORNING, plan_session, session, task
from tests.unit.conversation.test_words_parity import ROWS

from fateforger.conversation.language.answers import Intent, OpeningReading, Wish
from fateforger.conversation.language.message_reader import read_memory_request, read_wish
from fateforger.conversation.language.opening_reader import read_opening
from fateforger.conversation.language.tables import OpenPlan, OutsideContext, RuledWork
from fateforger.conversation.queue.dispatch import route_request
from fateforger.conversation.queue.service import FORMS as QUEUE_FORMS
from fateforger.conversation.rituals.schedule import FORM as RITUAL_FORM
from fateforger.memory.vocabulary import Weekday
from fateforger.planning.task_details import change_details
from fateforger.session.cards import Button, Controls
from fateforger.session.commands import ACTIONS, SessionCommand, read_click
from fateforger.session.commands.thread import Opening, RequestWork, TimeboxingUserReply
from fateforger.session.forms import Click
from fateforger.session.messages import RecentTalk
from fateforger.session.queue_commands import ChangeRituals, QueueCommand, QueueCommandBase, RitualChange
from fateforger.session.recall import nameable_constraints
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.durations import Estimate
from fateforger.tasks.task import Do, TaskSpec
from fateforger.ui.forms import RULES, SESSION_FORMS
from fateforger.ui.home_card import Board, home_card
from fateforger.ui.session_cards import welcome_card

BOX, REPORT = (
    queued(name).model_copy(update={"spec": spec})
    for name, spec in {
        "ff-1": TaskSpec(title="Admin", details=change_details({"kind": "shallow", "items": ["Bank", "Post"]})),
        "ff-2": TaskSpec(title="Report", work=Do(minutes=60)),
    }.items()
)
WEEK = '{"key":"k","span":"coming","days":[{"date":"2026-03-03","tasks":["ff-2"]}]}'
RULED = RuledWork(
    task_id="ff-2",
    title="Report",
    steps=("write_test", "run_test"),
    questions=(("ok", "It is all right"), ("late", "It is late")),
)
HERE = OutsideContext(tasks=(BOX, REPORT), estimates=(Estimate(kind="deep report", ratio=1.5, count=3, short=3),))
REPLY = TimeboxingUserReply(command_id="c1", user_id="U1", at=MORNING, session_id="s1", text="…")
PLACE = Opening(
    command_id="c1", user_id="U1", at=MORNING, channel="D1", thread_ts=None, tz="Europe/Amsterdam", text="…"
)

QUEUE: Mapping[str, tuple[str, Any, Answer]] = {
    "queue.pull": ("ff-2", None, wanting("pull", number=2)),
    "queue.show": ("", None, wanting("tasks")),
    "queue.now": ("ff-2", None, wanting("now", number=2)),
    "queue.anyway": ("ff-2", None, {**work("Report", haste="insists"), "wants": "now", "number": 2}),
    "queue.done": ("ff-2", None, wanting("done", number=2)),
    "queue.unremind": ("ff-2", None, wanting("unremind", number=2)),
    "queue.back": ("ff-2", None, wanting("put_back", number=2)),
    "queue.approve": ("ff-2", None, wanting("approve", number=2)),
    "queue.retry": ("ff-2", None, wanting("retry", number=2)),
    "queue.open": ("ff-2", None, wanting("open", number=2)),
    "queue.tick": ("1 ff-1", None, wanting("tick", number=2)),
    "queue.untick": ("1 ff-1", None, wanting("untick", number=2)),
    "queue.up": ("ff-2", None, wanting("up", number=2)),
    "queue.down": ("ff-1", None, wanting("down", number=1)),
    "queue.do.pause": ("ff-2", None, wanting("pause", number=2)),
    "queue.do.resume": ("ff-2", None, wanting("resume", number=2)),
    "queue.do.stop": ("ff-2", None, wanting("stop", number=2)),
    "week.plan": ("", None, wanting("week")),
    "queue.refine": ("", None, wanting("refine")),
    "ritual.stop": ("morning", None, wanting("rituals", ritual={"off": ["morning"]})),
    "week.review": ("", None, wanting("review")),
    "duration.forget": ("deep report", None, wanting("duration", number=1)),
    "duration.correct": ("", "150 deep report", wanting("duration", number=1, percent=150)),
    "language.choose": ("", "nl", wanting("language", speak="nl")),
}
"""Controls of the queue and App Home: their target and value, and what a model answers for the same words."""
OF_A_CARD = {
    "week.all": WEEK,
    "week.open": WEEK.replace("}]}", '}],"chosen":"2026-03-03"}'),
    "week.drop": "",
    "queue.keep": '{"title":"Tea"}',
    "queue.keep_time": '{"title":"Tea"}',
    "queue.note.undo": "ff-1",
    "queue.refine.next": "ff-1",
    "queue.refine.end": "ff-1",
    "queue.missed.undo": "s1",
    "ritual.anyway": '{"morning":"06:30:00","quiet_until":"06:30:00"}',
    "ritual.begin": "2026-03-02",
    "ritual.not_today": "2026-03-02",
    "ritual.tick": '{"session":"s1","task":"t1"}',
    "ritual.untick": '{"session":"s1","task":"t1"}',
    "ritual.close": "s1",
    "ritual.close_for_tomorrow": "s1",
    "ritual.reopen": "s1",
    "week.advice": '{"task":"t1","title":"Taxes","minutes":60,"date":"2026-03-09","start":"09:00:00"}',
}
"""Controls that only their card knows, of a week, a day, a task in focus or work that was not kept; words press its button."""
QUEUE_ELSEWHERE = {
    "queue.do.retry": "“try it again” is the same wish as queue.retry, which answers with a card",
    "queue.page": "words show the whole queue; nobody has to turn its pages",
    "opening.again": "sending the message again is saying it again",
}
REFINE = plan_session(TimeboxingStage.REFINE, task("Report", 60))
LISTED = nameable_constraints(REFINE, KNOWN)
MEMORY = {
    "memory.accept": "accept",
    "memory.decline": "decline",
    "memory.archive": "memory_archive_constraint",
    "memory.restore": "restore",
    "memory.set_aside": "set_aside",
    "memory.use_again": "use_again",
}
FIRST: Mapping[str, tuple[str, Any, Answer]] = {
    "choose_date": ("", date(2026, 3, 4), opening(date="2026-03-04")),
    "plan_day": ("2026-03-04", None, opening(date="2026-03-04")),
    "set_day_start": ("", time(8), opening(frame=frame_of(day_start="08:00"))),
    "set_day_end": ("", time(17), opening(frame=frame_of(day_end="17:00"))),
    "frame.until": ("19:00", None, opening(frame=frame_of(day_end="19:00"))),
    "frame.fill": ("", None, opening(frame=frame_of(fills=True))),
}
"""Controls of a plan that has not begun; the message that begins it says the same."""
FIRST_BESIDES = {"commit_date": "proceed", "proceed": "proceed"}
"""Wishes of a first message apart from its day, as an intent."""
NO_PLAN_YET = {
    "back", "redo", "cancel", "undo_last_update", "undo_sync", "retry", "leave_as_is", "proposal.apply", "proposal.deny",
    "task.resize", "task.more_time", "task.keep_time", "task.remove", "task.take_back", "task.bring", "task.undo_catch_up",
    "task.split", "task.one_thing", "task.together", "task.apart", "item.tick", "item.untick", "block.remove", "block.earlier",
    "block.later", "block.swap_up", "block.swap_down", "block.why", "plan.fix", "plan.restore", "replan.late",
    "replan.done", "replan.not_today", "replan.refit", "show_history", "show_older_history", "hide_history", "undo_write",
    "redo_write", "show_preview", "hide_preview", "set_calendar_write", "conflict.keep_calendar", "conflict.keep_plan",
    "hide_memory", "rules.kept",
}  # fmt: skip
"""Controls of something that is in a plan, or open next to it: in a first message there is none yet."""
NO_CARD_YET = {"memory.keep", "memory.allow", "undo_memory"}
"""Controls that answer the latest message or write: before that there is nothing to answer."""
FORMS_IN_WORDS = {
    "queue_add": "put something into the queue", "queue_save": "the same, from a message", "queue_edit": "edit",
    "queue_remind": "work of the kind remind", "queue_time": "time", "queue_done": "done, with complete",
    "queue_note": "note, with did and so",
    "rules": "memory: what do you know", "rule": "memory: change", "rule_new": "memory: remember",
    "rule_said": "memory: remember",
    "rule_day": "memory: remember, with a rule for the order of the day", "policy": "memory: remember, with a slot",
    "routine": "memory: remember, with the slot of a routine", "rituals": "rituals, with what is to be different",
}  # fmt: skip
FORMS_WITHOUT_WORDS = {
    "queue_parts": "a model proposes the parts itself; the form is for those who have none",
}
HOME = {"start": opening()}
HOME_WITHOUT_WORDS = {
    "person.export": "hands out everything, so its owner clicks it where only they read",
    "person.erase": "cannot be undone, so no sentence that a model read may do it; the button asks once more",
}


def press_control(action: str, target: str, value: Any = None, session_id: str = "") -> SessionCommand | QueueCommand:
    click = Click(
        command_id="c1", user_id="U1", at=MORNING, session_id=session_id, action=action, target=target, value=value
    )
    return read_click(click)


def same(one: Any, other: Any) -> bool:
    """Check for the same command, wherever its answer goes."""
    left_out = {"channel", "thread_ts", "ts", "tz", "seen"}
    return type(one) is type(other) and one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)


async def read_answer(answer: Answer, context: OutsideContext = HERE) -> OpeningReading:
    return await read_opening(
        REPLY.model_copy(update={"session_id": ""}), session(), ScriptedModel(*first(answer)), context
    )


async def say_outside(answer: Answer, context: OutsideContext = HERE) -> Any:
    """Return the command of a message outside of a plan."""
    reading = await read_answer(answer, context)
    return reading.command if reading.hydrated is None else route_request(reading.hydrated, PLACE)


async def say_in_thread(answer: Answer, context: OutsideContext = HERE) -> Any:
    """Return the command of a message in a plan's thread that is not about the plan."""
    about = Wish(intent=Intent.WORK, number=None, words=None)
    (command,) = (await read_wish(about, REPLY, REFINE, ScriptedModel(answer), (), (), context)).commands
    if not isinstance(command, RequestWork):
        return command
    request = command.request
    return request if isinstance(request, QueueCommandBase) else route_request(request, PLACE)


@pytest.mark.parametrize("action", sorted(QUEUE))
async def test_each_control_of_the_queue_can_be_said_everywhere(action: str) -> None:
    target, value, answer = QUEUE[action]
    button = press_control(action, target, value)
    assert same(await say_outside(answer), button)
    assert same(await say_in_thread(answer), button)


@pytest.mark.parametrize("action", sorted(OF_A_CARD))
async def test_each_control_of_the_last_card_can_be_said(action: str) -> None:
    button = Button(label="It", action=action, target=OF_A_CARD[action])
    context = HERE.model_copy(update={"talk": RecentTalk(at=MORNING, buttons=(button,))})
    answer = wanting("button", number=1)
    pressed = press_control(action, OF_A_CARD[action])
    assert same(await say_outside(answer, context), pressed)
    assert same(await say_in_thread(answer, context), pressed)
    assert await say_outside(answer) is None


@pytest.mark.parametrize("action", sorted(MEMORY))
async def test_each_control_of_a_rule_can_be_said_outside_of_a_plan(action: str) -> None:
    """In a thread, the rows of ``test_words_parity`` prove it."""
    assert (await read_answer(outside("memory"))).hydrated is not None
    reply = REPLY.model_copy(update={"session_id": ""})
    heard = await read_memory_request(reply, session(), ScriptedModel(wish(MEMORY[action], 3)), LISTED)
    version = LISTED[2]
    assert [same(each, press_control(action, f"{version.seq} {version.uid}")) for each in heard.commands] == [True]


async def test_the_rules_are_shown_and_taken_back_outside_of_a_plan() -> None:
    outside = REPLY.model_copy(update={"session_id": ""})
    shown = await read_memory_request(outside, session(), ScriptedModel(wish("memory_list_constraints")), LISTED)
    assert [same(each, press_control("show_memory", "")) for each in shown.commands] == [True]
    target = '{"uids":["calls","quiet"],"keep":"calls"}'
    for action, of in (("memory.keep", target), ("undo_memory", "c0")):
        button = Button(label="It", action=action, target=of)
        context = HERE.model_copy(update={"talk": RecentTalk(at=MORNING, buttons=(button,))})
        assert same(await say_outside(wanting("button", number=1), context), press_control(action, of))


@pytest.mark.parametrize("action", sorted(FIRST))
async def test_each_control_of_the_day_can_be_said_in_its_first_message(action: str) -> None:
    target, value, answer = FIRST[action]
    reading = await read_answer(answer)
    assert [same(each, press_control(action, target, value)) for each in reading.commands] == [True]


@pytest.mark.parametrize("action", sorted(FIRST_BESIDES))
async def test_what_a_first_message_wants_besides(action: str) -> None:
    """Each of those is carried out as in a thread, whose rows prove the rest."""
    reading = await read_answer(opening(also=[also(FIRST_BESIDES[action])]))
    assert [each.intent for each in reading.further] == [FIRST_BESIDES[action]]
    assert action in {row.control for row in ROWS}


async def test_every_control_of_a_plan_can_be_said_outside_of_its_thread() -> None:
    """The message is carried out in the thread of the plan, so the rows of the thread prove it."""
    context = HERE.model_copy(update={"plans": (OpenPlan(session_id="s9", date=date(2026, 3, 2), step="refine"),)})
    assert (await read_answer(outside("thread", number=1), context)).thread == "s9"
    assert (await read_answer(outside("thread", number=1))).thread is None


@pytest.mark.parametrize(
    ("form", "answer", "values"),
    [
        ("queue_add", work("Taxes", minutes=30), {"spec": {"title": "Taxes", "work": {"kind": "do", "minutes": 30}}}),
        (
            "queue_edit",
            {**work("Essay", minutes=45, priority=0), "wants": "edit", "number": 2},
            {"task_id": "ff-2", "spec": {"title": "Essay", "priority": 0, "work": {"kind": "do", "minutes": 45}}},
        ),
        (
            "queue_time",
            {**work("Report", date="2026-03-06", start="09:00"), "wants": "time", "number": 2},
            {"task_id": "ff-2", "date": "2026-03-06", "minutes": 60, "start": "09:00:00"},
        ),
        ("queue_done", wanting("done", number=2, complete=True), {"task_id": "ff-2", "word": "done", "met": [0, 1]}),
        (
            "queue_note",
            wanting("note", number=2, did=[2, 1], so=[1], not_so=[2]),
            {"task_id": "ff-2", "word": "note", "did": ["run_test", "write_test"], "so": ["ok"], "not_so": ["late"]},
        ),
    ],
)
async def test_each_form_of_the_queue_can_be_said_everywhere(
    form: str, answer: Answer, values: Mapping[str, Any]
) -> None:
    assert form in QUEUE_FORMS
    needs = REPORT.spec.model_copy(update={"acceptance_criteria": ("A", "B")})
    tasks = (BOX, REPORT.model_copy(update={"spec": needs}) if form == "queue_done" else REPORT)
    context = HERE.model_copy(update={"tasks": tasks, "ruled": (RULED,)})
    for command in (await say_outside(answer, context), await say_in_thread(answer, context)):
        given = command.model_dump(mode="json")
        spec = values.get("spec", {})
        assert {name: given[name] for name in values if name != "spec"} == {
            n: v for n, v in values.items() if n != "spec"
        }
        assert {name: given["spec"][name] for name in spec} == spec


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ({"morning": "07:30"}, RitualChange(morning=time(7, 30))),
        ({"off": ["morning", "shutdown", "review"]}, RitualChange(off=("morning", "shutdown", "review"))),
        ({"quiet_from": "20:00"}, RitualChange(quiet_from=time(20))),
        ({"at_end": True, "review": True, "days": ["MO"]}, RitualChange(at_end=True, review=True, days=(Weekday.MO,))),
        ({}, RitualChange()),
    ],
)
async def test_the_form_of_messages_by_themselves_can_be_said_everywhere(said: Answer, change: RitualChange) -> None:
    for command in (
        await say_outside(wanting("rituals", ritual=said)),
        await say_in_thread(wanting("rituals", ritual=said)),
    ):
        assert isinstance(command, ChangeRituals)
        assert command.change == change


async def test_each_form_of_rules_is_a_wish_about_memory() -> None:
    """``test_memory_words`` and ``test_policy_words`` have the words for its fields."""
    outside = REPLY.model_copy(update={"session_id": ""})
    told = wish("remember", rule=rule(description="lunch at one"))
    heard = await read_memory_request(outside, session(), ScriptedModel(told), LISTED)
    assert [command.kind for command in heard.commands] == ["remember_constraint"]


async def test_a_day_is_begun_in_words() -> None:
    assert (await read_answer(HOME["start"])).plan is True


def on_home() -> Iterator[str]:
    for card in (welcome_card(), home_card(Board(datetime(2026, 3, 2, 8, tzinfo=UTC), "Etc/UTC"))):
        for part in card.parts:
            if isinstance(part, Controls):
                yield from (item.action for item in part.items if isinstance(item, Button))


def test_no_control_is_without_words() -> None:
    """A new control, form or button of App Home fails here until its words are named, or the reason for none."""
    of_plan = {action for action, (kind, _) in ACTIONS.items() if kind in get_args(SessionCommand)}
    said_in_thread = {row.control for row in ROWS}
    assert of_plan - said_in_thread == set()
    said_first = FIRST.keys() | FIRST_BESIDES.keys() | MEMORY.keys() | {"show_memory"}
    assert of_plan == said_first | NO_PLAN_YET | NO_CARD_YET
    assert not said_first & (NO_PLAN_YET | NO_CARD_YET)
    assert ACTIONS.keys() - of_plan == QUEUE.keys() | OF_A_CARD.keys() | QUEUE_ELSEWHERE.keys()
    forms = {*RULES, *QUEUE_FORMS, RITUAL_FORM}
    assert forms == FORMS_IN_WORDS.keys() | FORMS_WITHOUT_WORDS.keys()
    assert {f"form.{name}" for name in SESSION_FORMS} - said_in_thread == set()
    elsewhere = {f"form.{name}" for name in forms} | ACTIONS.keys()
    assert set(on_home()) - elsewhere == HOME.keys() | HOME_WITHOUT_WORDS.keys()
