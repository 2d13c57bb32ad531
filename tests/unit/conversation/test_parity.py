"""Every control leads to one executor, every executor is offered somewhere, and every legal move can be reached (S59,
S214, K7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import time, timedelta
from typing import Any, get_args

import pytest
from tests.factories.sessions import fields_of
from tests.fakes.google_calendar import Answer, CallFailure
from tests.unit.conversation.person import AMSTERDAM, CHANNEL, MORNING, Harness, Person, buttons_in, meeting
from tests.unit.conversation.test_open_musts import must

from fateforger.calendar.ports import Rejected
from fateforger.errors import BadInput, CalendarUnreachable
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Status
from fateforger.session.cards import Button, Controls, Menu
from fateforger.session.commands import ACTIONS, UNKNOWN, SessionCommand, read_click
from fateforger.session.commands.thread import AnswerProposal, StartTimeboxing
from fateforger.session.forms import Click, list_actions
from fateforger.session.gate import offered_moves
from fateforger.session.pending import LEAVE_PLAN
from fateforger.session.stages import TRANSITIONS, Move, TimeboxingStage
from fateforger.tasks.durations import Observation
from fateforger.ui.forms import RULES, SESSION_FORMS
from fateforger.ui.home_card import Board, home_card
from fateforger.ui.session_cards import ended_reply, welcome_card

START = {"start"}
BESIDE = ("history", "preview", "memory")
LOOKED_AT = {"notice", "exchanges", "handled", "version", "touched_at", "recalled", "said"}
"""Fields that a turn without effect may change: its record, its messages, and its lookups."""


def actions(person: Person) -> Iterator[str]:
    for control in person.controls():
        if isinstance(control, Menu):
            yield from (choice.value for choice in control.choices)
        else:
            yield control.action


_OFFERED: set[tuple[TimeboxingStage, str]] = set()


async def list_offered(anna: Person, harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Return the result of :func:`cards`. It takes long and is always the same, so it is computed once."""
    if not _OFFERED:
        _OFFERED.update(await cards(anna, harness))
    return _OFFERED


async def cards(anna: Person, harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Return every action on a card, on a way through all stages and all their problems."""
    found: set[tuple[TimeboxingStage, str]] = set()

    async def look() -> None:
        session = await anna.session()
        found.update((session.stage, action) for action in actions(anna))
        found.update(
            (session.stage, b.action) for slot in BESIDE if slot in anna.messages for _, b in anna.buttons_beside(slot)
        )
        shown = {c.action for c in anna.controls() if isinstance(c, Button)} | {"proceed"}
        assert {m.value for m in offered_moves(session)} <= shown | {"commit_date"}

    await _left_over(Person(harness))
    await anna.start()
    await look()
    await anna.press("Plan this day")
    await look()
    await _rules(anna, found)
    await look()
    await anna.press("Continue")
    await look()
    await anna.fill("tasks", title_1="A", minutes_1=60, title_2="B", minutes_2=30, proceed=False)
    await look()
    await anna.press("Continue")
    await look()
    for minutes in ((420,), (280,), (100, 200)):
        await _too_much(anna, *minutes)
        await look()
        await anna.press("Drop it")
    await anna.press("Refine")
    await _worse(anna, look)
    for nth in range(8):
        harness.calendar.inject(CallFailure(CalendarUnreachable("Away.")), verb="window", nth=nth)
    await anna.choose("B", "15 min later")
    await look()
    harness.calendar.calm()
    await anna.press("Preview")
    await look()
    await anna.press("Try again")
    await _back_and_forth(anna)
    await anna.press("History")
    await look()
    await anna.press("Undo last update")
    await look()
    harness.calendar.inject(Answer(Rejected("No.")), verb="update")
    await anna.press("Back")
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    await look()
    event = next(e for e in harness.calendar.store.get_live_events().values() if e.summary == "A")
    harness.calendar.store.user_edit(event.id, summary="A, my way")
    await anna.press("Back to refine")
    harness.calendar.store.user_edit(event.id, summary="A, my own way")
    await anna.fill("edit_block", target=event.marker.key if event.marker else "", title="A, planned")
    await _in_the_way(anna, harness)
    await look()
    return (
        found
        | await _caught_up(harness)
        | await _held_back(harness)
        | await _visit_unread(harness)
        | await _full(harness)
        | await _visit_given(harness)
        | await _whole_mail(harness)
        | await _airy(harness)
        | await _often_late(harness)
        | await _visit_box(harness)
        | await _over(harness)
        | await _visit_unjudged(harness)
    )


async def _worse(anna: Person, look: Callable[[], Awaitable[None]]) -> None:
    """Show a plan as drafted, and one that the card offers to improve."""
    await look()
    await anna.choose("Shut down", "Remove")
    await look()
    await anna.press("Undo last update")


async def _left_over(anna: Person) -> None:
    """Show a day on which two tasks were left for another one."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="X", title_2="Y", proceed=False)
    for title in "XY":
        await anna.fill_row(title, "defer", day="some_day")


async def _caught_up(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Bring along all tasks the morning after that day, whose outcome is unknown, in one step."""
    harness.clock.at = MORNING + timedelta(days=1)
    tuesday = Person(harness)
    await tuesday.to_tasks()
    stage, missed = (await tuesday.session()).stage, set(actions(tuesday))
    await tuesday.fill("catch_up")
    return {(stage, action) for action in (*missed, *actions(tuesday))}


async def _full(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a day that a longer evening would make room on."""
    harness.clock.at = MORNING + timedelta(days=2)
    person = Person(harness)
    await person.to_tasks()
    tasks: dict[str, Any] = {
        "title_1": "Report",
        "minutes_1": 300,
        "title_2": "Mail",
        "minutes_2": 150,
        "kind_2": "shallow",
    }
    await person.fill("tasks", proceed=True, **tasks)
    return {((await person.session()).stage, action) for action in actions(person)}


async def _whole_mail(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show shallow work that fits between the meetings of its day only in pieces."""
    harness.clock.at = MORNING + timedelta(days=7)
    person = Person(harness)
    day = harness.clock.at.date()
    for title, start, end in (("Workshop", "11:00", "12:30"), ("Review", "14:15", "17:00")):
        meeting(harness, title, start, end, day=day)
    await person.to_tasks()
    await person.fill("tasks", proceed=True, title_1="Mail", minutes_1=90, kind_1="shallow")
    return {((await person.session()).stage, action) for action in actions(person)}


async def _airy(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a day whose last task would take the time that stays free."""
    harness.clock.at = MORNING + timedelta(days=8)
    person = Person(harness)
    await person.to_tasks()
    tasks: dict[str, Any] = {"title_1": "Report", "minutes_1": 300, "title_2": "Mail", "minutes_2": 60}
    await person.fill("tasks", proceed=True, kind_2="shallow", **tasks)
    return {((await person.session()).stage, action) for action in actions(person)}


async def _often_late(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a report, after three that took longer than planned."""
    harness.clock.at = MORNING + timedelta(days=9)
    person = Person(harness)
    day = harness.clock.at.date()
    late = [
        Observation(id=f"s{n}/t1", title="Report", deep=True, planned=60, actual=90, day=day, source="changed")
        for n in range(3)
    ]
    await harness.store.durations.keep(person.user, late)
    await person.to_tasks()
    await person.fill("tasks", proceed=False, title_1="Report", minutes_1=60)
    return {((await person.session()).stage, action) for action in actions(person)}


async def _visit_box(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show small tasks in a box, one of which is done."""
    harness.clock.at = MORNING + timedelta(days=10)
    person = Person(harness)
    await person.to_tasks()
    titles: dict[str, Any] = {"title_1": "Bank", "title_2": "Post", "title_3": "Train"}
    minutes: dict[str, Any] = {f"minutes_{row}": 15 for row in (1, 2, 3)}
    await person.fill("tasks", proceed=False, kind_1="errand", kind_2="errand", kind_3="errand", **titles, **minutes)
    found = set(actions(person))
    for label in ("Put together", "Continue", "Refine", "☐ Bank"):
        await person.press(label)
        found |= set(actions(person))
    return {((await person.session()).stage, action) for action in found}


async def _visit_given(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a task that was moved to the next day."""
    person = Person(harness)
    await person.to_tasks()
    await person.fill("tasks", title_1="Given", proceed=False)
    await person.fill_row("Given", "defer")
    return {((await person.session()).stage, action) for action in actions(person)}


async def _over(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a day that is planned after it ended."""
    harness.clock.at = MORNING + timedelta(days=3)
    person = Person(harness)
    await person.start()
    harness.clock.at += timedelta(hours=11)
    await person.press("Plan this day")
    return {((await person.session()).stage, action) for action in actions(person)}


async def _visit_unjudged(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a must that only the person can judge, asked about before the commit."""
    person = Person(harness)
    await harness.store.constraints.write((must(),), cause="told dogs")
    await person.to_refine("Y")
    await person.press("Commit to calendar")
    return {((await person.session()).stage, action) for action in actions(person)}


async def _visit_unread(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Show a message that no model reads, with the actions for its words."""
    person = Person(harness)
    await person.to_tasks()
    await person.says("Report 2h")
    reply = person.arrived[-1].reply
    assert reply is not None
    buttons = (each for part in reply.parts if isinstance(part, Controls) for each in part.items)
    return {((await person.session()).stage, each.action) for each in buttons if isinstance(each, Button)}


async def _held_back(harness: Harness) -> set[tuple[TimeboxingStage, str]]:
    """Hold a change back by a rule, and leave the plan as it is."""
    person = Person(harness)
    await person.to_refine("Z")
    await person.fill("rule_new", words="Nothing at night", kind="avoid_window", times="3-4", necessity="must")
    await person.fill_row("Z", "edit_block", start=time(3, 15))
    shown = {((await person.session()).stage, action) for action in actions(person)}
    await person.press(LEAVE_PLAN)
    return shown


async def _back_and_forth(anna: Person) -> None:
    for _ in range(4):
        await anna.choose("B", "15 min later")
        await anna.choose("B", "15 min earlier")


async def _in_the_way(anna: Person, harness: Harness) -> None:
    """Put a meeting where each block is, so that moving blocks does not help."""
    meeting(harness, "New", "00:00", "23:55")
    await anna.press("Redo step")


async def _too_much(anna: Person, *minutes: int) -> None:
    """Add more tasks than there is room for, or than leave some of it free."""
    await anna.press("Back")
    values: dict[str, Any] = {}
    for n, length in enumerate(minutes, 1):
        values |= {f"title_{n}": "CD"[n - 1], f"minutes_{n}": length, f"kind_{n}": "shallow"}
    await anna.fill("tasks", proceed=True, **values)


async def _rules(anna: Person, found: set[tuple[TimeboxingStage, str]]) -> None:
    """Show two rules, one of them uncertain, another one that is put away, and the buttons in their forms."""
    await anna.fill("rule_new", words="No calls early", kind="avoid_window", times="0-10", necessity="must")
    await anna.fill(
        "rule_new", words="Calls early", kind="prefer_window", times="8-9", blocks=("SW",), necessity="prefer"
    )
    await anna.fill("rule_new", words="Gym")
    await anna.press("Your rules")
    stage = (await anna.session()).stage
    version = next(v for v in await anna.harness.store.constraints.of(anna.user) if v.record.name == "Gym")
    shown = await anna.look("rule", target=f"0 {version.uid}")
    await anna.harness.store.constraints.write([make_guess(version)], cause="guess")
    for label in ("Confirm", "Not for this day", "Use it for this day again", "Decline", "Restore", "Archive"):
        shown = await anna.look("rule", target=shown.target)
        found.update((stage, button.action) for button in buttons_in(shown))
        await anna.press_in(shown, label)


def make_guess(version: Version) -> Version:
    """Return the rule as an assumption that the person should confirm."""
    record = version.record.model_copy(update={"status": Status.PROPOSED, "confidence": 0.4})
    return version.model_copy(update={"record": record, "updated_at": version.updated_at + timedelta(seconds=1)})


@pytest.mark.extra
async def test_every_control_has_an_executor_or_a_form(anna: Person, harness: Harness) -> None:
    """S214: nothing on a card is dead, and no action exists that no card offers."""
    found = {action for _, action in await list_offered(anna, harness)}
    forms = {f"form.{name}" for name in (*SESSION_FORMS, *RULES)}
    elsewhere = {action for action, (kind, _) in ACTIONS.items() if kind not in get_args(SessionCommand)}
    elsewhere |= {action.id for action in list_actions(AnswerProposal)}
    assert found - forms <= ACTIONS.keys()
    assert ACTIONS.keys() - elsewhere - found == set()
    assert forms - found == set()


@pytest.mark.extra
async def test_every_legal_move_is_offered_where_it_is_legal(anna: Person, harness: Harness) -> None:
    """S59: the table and the buttons agree, Stage 0's Continue being called ``commit_date``. Retry in Stage 5 appears
    when a commit fails; its test is with the troubles."""
    found = await list_offered(anna, harness)
    legal = {(stage, move) for stage, moves in TRANSITIONS.items() for move in moves}
    shown = {(stage, Move(action)) for stage, action in found if action in set(Move)}
    shown |= {(stage, Move.PROCEED) for stage, action in found if action == "commit_date"}
    always = {(stage, move) for stage in TimeboxingStage for move in (Move.CANCEL, Move.REDO)}
    assert shown - always == legal - {(TimeboxingStage.REVIEW_COMMIT, Move.RETRY)}
    assert always - shown == {(TimeboxingStage.DATE, Move.REDO)}


ILLEGAL = [
    (stage, move)
    for stage in TimeboxingStage
    for move in Move
    if move not in TRANSITIONS[stage] and move not in {Move.STAY, Move.REDO, Move.CANCEL}
]


@pytest.mark.parametrize(("stage", "move"), ILLEGAL, ids=[f"{s.value}-{m.value}" for s, m in ILLEGAL])
async def test_an_illegal_move_is_refused_with_a_sentence(anna: Person, stage: TimeboxingStage, move: Move) -> None:
    """S56: the server refuses it, for any card, and nothing changes."""
    ways = (anna.start, anna.to_frame, anna.to_tasks, anna.to_skeleton, anna.to_refine, anna.to_committed)
    await ways[stage.number]()
    before = await anna.session()
    await anna.click(move.value)
    after = await anna.session()
    assert after.thread.notice is not None
    assert after.thread.notice.refused
    assert after.thread.notice.lines[0].endswith(".")
    was, now = fields_of(before), fields_of(after)
    assert {n: v for n, v in now.items() if n not in LOOKED_AT} == {n: v for n, v in was.items() if n not in LOOKED_AT}


@pytest.mark.parametrize("action", ["start", "nonsense", "form.tasks", "stay"])
def test_a_control_that_nobody_knows(action: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_click(Click(command_id="c", user_id="u", at=MORNING, session_id="s", action=action))
    assert caught.value.message == UNKNOWN


@pytest.mark.parametrize("action", ["choose_date", "set_day_start"])
def test_a_choice_that_cannot_be_read(action: str) -> None:
    with pytest.raises(BadInput):
        read_click(Click(command_id="c", user_id="u", at=MORNING, session_id="s", action=action, value="soon"))


async def test_cards_outside_of_a_session_only_start_one(anna: Person) -> None:
    await anna.to_frame()
    session = await anna.session()
    now = anna.harness.clock.now()
    homes = (home_card(Board(now, session.tz)), home_card(Board(now, session.tz, [session])))
    for card in (welcome_card(), *homes, ended_reply(session)):
        buttons = [b for p in card.parts for b in getattr(p, "items", ())]
        others = {
            "form.rules", "form.rule_day", "form.policy", "form.routine", "form.queue_add", "person.export", "person.erase",
        }  # fmt: skip
        assert {b.action for b in buttons} - others == START


async def test_home_lists_the_days(anna: Person) -> None:
    await anna.to_committed("Report")
    card = await anna.coordinator.home(anna.user)
    words = [getattr(p, "text", "") for p in card.parts]
    assert "**Monday 2 March**: on your calendar, 3 blocks" in words
    empty = await anna.coordinator.home("U_NEW")
    assert [p.kind for p in empty.parts] == [
        *("heading", "prose", "controls"),
        *("divider", "heading", "prose", "controls"),
        *("divider", "prose", "controls"),
        *("divider", "prose", "controls"),
        *("divider", "prose"),
        *("divider", "note", "controls"),
    ]


async def test_a_plan_is_beginning_until_its_thread_is_known(anna: Person) -> None:
    """S351: meanwhile an answer in the thread waits; it is not taken for the first words of another plan."""
    now = anna.harness.clock.now()
    begin = StartTimeboxing(
        command_id="c", user_id=anna.user, at=now, channel=CHANNEL, thread_ts=None, tz=AMSTERDAM, date=None
    )
    assert not await anna.coordinator.is_beginning(anna.user, CHANNEL, now)
    await anna.coordinator.handle(begin)
    assert await anna.coordinator.is_beginning(anna.user, CHANNEL, now)
    assert not await anna.coordinator.is_beginning(anna.user, "C2", now)
    assert not await anna.coordinator.is_beginning("U_OTHER", CHANNEL, now)
    await anna.read()
    assert not await anna.coordinator.is_beginning(anna.user, CHANNEL, anna.harness.clock.now())


async def test_who_and_where(anna: Person) -> None:
    await anna.to_frame()
    assert await anna.coordinator.owner(anna.session_id) == anna.user
    assert await anna.coordinator.owner("s-unknown") is None
    assert await anna.coordinator.session_in_thread("C1", "1.0") == anna.session_id
    assert await anna.coordinator.session_in_thread("C1", "2.0") is None
    assert anna.coordinator.welcome() == welcome_card()
