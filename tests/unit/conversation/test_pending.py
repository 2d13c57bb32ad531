"""Buttons and words give the same commands for the questions and offers of a card.

A yes answers the question and nothing else (S124, S214, K9).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.sessions import fields_of
from tests.factories.words import build_move, day, patch, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import CALLS, QUIET, avoiding, knowing, make_reading
from tests.unit.conversation.sessions import MORNING, event, make_command, plan_session, question, session, task, turn

from fateforger.agents.clients import Proposal
from fateforger.calendar.model import SafetyCheckKind
from fateforger.conversation.language.message_commands import (
    FIRST,
    LEFT,
    NOTHING_PENDING,
    STAYS_OPEN,
    WHICH_OPTION,
    WHICH_QUESTION,
)
from fateforger.conversation.stage_nodes import ANSWERED, CALENDAR_LEFT, PLAN_LEFT
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import TurnOutcome, WriteCalendar
from fateforger.memory.contradiction import Kind
from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.commands import ACTIONS, read_click
from fateforger.session.conflicts import settle_questions
from fateforger.session.draft import with_fixes
from fateforger.session.forms import Click
from fateforger.session.memory import MemoryOffer, MemoryQuestion, MemoryToolResult
from fateforger.session.messages import LastWords, SyncReport
from fateforger.session.model import (
    Clash,
    InputFacts,
    OfferedInput,
    Session,
    SessionStatus,
    WriteCounts,
)
from fateforger.session.pending import (
    DO_IT_ANYWAY,
    GO_AHEAD,
    LEAVE_CALENDAR,
    LEAVE_PLAN,
    PendingKind,
    PendingQuestion,
    WaitingProposal,
    pending_questions,
)
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.durations import Estimate
from fateforger.ui import rule_cards
from fateforger.ui.connection_cards import proposal_card
from fateforger.ui.session_cards import stage_card
from fateforger.values import replace

Stage = TimeboxingStage
NOW = plan_session(Stage.REFINE, task("Report", 60), task("Mail", 60), calendar_write="commit")
"""Report 09:00-10:00, Mail 10:10-11:10, Lunch 12:30-13:15."""
KEYS = [b.key for b in by_time(NOW.planning.plan)] if NOW.planning.plan else ["", "", ""]
MAIL = KEYS[1]
YES, NO, GO_ON = wants("accept_pending"), wants("refuse_pending"), wants("proceed")
ENVELOPE = {"command_id": "c1", "user_id": "U1", "at": MORNING, "session_id": "s1"}


async def hold_edit(now: Session = NOW) -> Session:
    """Hold back a move of Mail to 07:00, in a quiet hour."""
    out = await run_turn(turn(now, make_command("shift_block", key=MAIL, minutes=-190), memory=make_reading(QUIET)))
    assert out.session.sync.held is not None
    return out.session


async def says(now: Session, *answers: Any, knows: bool = True) -> TurnOutcome:
    """Run a message through a turn whose model has exactly these answers; ``knows``: the store has the quiet hours."""
    model = ScriptedModel(*answers)
    message = make_command("user_reply", text="…").model_copy(update={"command_id": "c2"})
    out = await run_turn(turn(now, message, memory=make_reading(QUIET) if knows else None), model)
    assert len(model.prompts) == len(answers)
    return out


def lines(out: TurnOutcome) -> tuple[str, ...]:
    return out.session.thread.notice.lines if out.session.thread.notice else ()


def is_unchanged(out: TurnOutcome, now: Session) -> bool:
    """Check that a turn changed nothing and left the question open."""
    aside = {"notice", "last_words", "recalled", "trace", "now", "weighed"}
    was, is_now = fields_of(settle_questions(now)), fields_of(out.session)
    return not out.effects and all(is_now[name] == was[name] for name in was.keys() - aside)


def make_offered(*sources: str) -> tuple[OfferedInput, ...]:
    found = [("Taxes", "deferred"), ("Plants", "queue"), ("Shoes", "queue"), ("Milk", "ticktick")]
    return tuple(
        OfferedInput.model_validate({"task": task(title, 30), "source": source, "day": date(2026, 3, 1)})
        for title, source in found
        if source in sources
    )


UNSURE = avoiding("unsure", "12:00", "13:00")
LIST = session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("Report"),)))
BRAKED = NOW.with_sync(
    problem="This deletes 12 events. Is that what you want?", brakes=(SafetyCheckKind.EMPTIED_CALENDAR.value,)
)
FAILED = NOW.with_sync(problem="The calendar does not answer.")
STOPPED = replace(BRAKED, stage=Stage.REVIEW_COMMIT).with_sync(
    last_sync=SyncReport(status="failed"), written=WriteCounts(created=1)
)
CONFLICTS = NOW.with_sync(questions=(question(MAIL, shown=True), question(KEYS[0], "deleted", shown=True)))
TORN = MemoryQuestion(uids=("a", "b"), names=("Calls early", "Calls late"), sentence="Calls early or late?")
VIEW = MemoryToolResult(asked="c0")
OFFER = MemoryOffer(kind=Kind.DUPLICATE, uids=("a", "b"), names=("Gym", "Sport"), sentence="Gym and Sport are alike.")
BETTER = with_fixes(
    NOW.with_planning(plan=NOW.planning.plan.replace(NOW.planning.plan.events[:2]) if NOW.planning.plan else None),
    MORNING,
)
RAN_INTO = plan_session(Stage.REFINE, task("Report", 60), task("Mail", 60))
RAN_INTO = RAN_INTO.with_day(snapshot=session(Stage.REFINE, event("Standup", "09:30", "10:00")).day.snapshot)


DAY_RULE = version_of(
    "order", description="erst die Mails", status="proposed", confidence=0.5, necessity="should",
    day_rule="BEFORE deep_work: admin_done",
)  # fmt: skip
"""Over the order of the day: read out of words, and not confirmed."""


def with_day_rule() -> Session:
    return knowing(NOW, DAY_RULE)


NO_PLACE = tuple(each.model_copy(update={"source": "planned"}) for each in make_offered("deferred"))
ASKING = {
    PendingKind.BRAKE: BRAKED,
    PendingKind.RULE: with_day_rule(),
    PendingKind.WORDS: NOW.with_thread(last_words=LastWords.of("Shall I plan Friday?")),
    PendingKind.SAID: NOW.with_thread(last_words=LastWords.of("The mail?", asks=False)),
    PendingKind.QUEUE: NOW.with_thread(last_words=LastWords.of("It is in your queue.", asks=False, of_queue=True)),
    PendingKind.CALENDAR: CONFLICTS,
    PendingKind.RULES: NOW.with_rules(memory_questions=(TORN,)).with_thread(
        memory=VIEW.model_copy(update={"offers": (OFFER,)})
    ),
    PendingKind.REPLACES: NOW.with_rules(memory_questions=(TORN.model_copy(update={"replaces": True}),)),
    PendingKind.MEETING: knowing(
        NOW.with_day(snapshot=session(Stage.REFINE, event("Standup", "08:00", "08:30")).day.snapshot), CALLS
    ),
    PendingKind.MISSED: LIST.with_open_work(offered=NO_PLACE),
    PendingKind.RETRY: FAILED,
    PendingKind.FIX: BETTER,
    PendingKind.REFIT: RAN_INTO,
    PendingKind.LENGTH: session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("Report", 60),))).with_day(
        estimates=(Estimate(kind="deep report", ratio=1.5, count=3, short=3, minutes=90),)
    ),
    PendingKind.BRING: LIST.with_open_work(offered=make_offered("deferred", "queue", "ticktick")),
}


SHOWN = [kind for kind in PendingKind if kind not in {PendingKind.PROPOSAL, PendingKind.PROPOSAL_AGAIN}]
"""Questions on the cards of a session; a proposal has a card of its own."""


async def asking(kind: PendingKind) -> Session:
    """Return a session whose card has a question or an offer of that kind."""
    return await hold_edit() if kind is PendingKind.HELD else ASKING[kind]


def buttons(card: Card) -> Iterator[Button]:
    for part in card.parts:
        if isinstance(part, Controls):
            yield from (item for item in part.items if isinstance(item, Button))
        elif isinstance(part, Prose) and isinstance(part.control, Button):
            yield part.control


def on_card(now: Session) -> set[tuple[str, str, str]]:
    found = [*buttons(stage_card(now))]
    if now.thread.memory is not None or now.rules.memory_questions:
        found += buttons(rule_cards.memory_card(now, now.thread.memory or VIEW))
    return {(b.label, b.action, b.target) for b in found}


@pytest.mark.parametrize("kind", SHOWN)
async def test_each_answer_is_a_button_and_the_command_of_that_button(kind: PendingKind) -> None:
    """S214: one executor for the button and the words, for everything that a card asks or offers."""
    now = await asking(kind)
    asked = [each for each in pending_questions(now) if each.kind is kind]
    assert asked
    for button in (button for each in asked for button in each.answers):
        assert (button.label, button.action, button.target) in on_card(now)
        command = read_click(Click(**ENVELOPE, action=button.action, target=button.target))
        assert isinstance(command, ACTIONS[button.action][0])


@pytest.mark.parametrize("kind", SHOWN)
async def test_nothing_is_asked_of_a_session_that_ended(kind: PendingKind) -> None:
    now = await asking(kind)
    assert pending_questions(replace(now, status=SessionStatus.CANCELLED)) == ()


async def test_the_cards_that_a_write_stopped_have_both_answers() -> None:
    for now in (BRAKED, STOPPED):
        assert {GO_AHEAD, LEAVE_CALENDAR} <= {label for label, _, _ in on_card(now)}
        (asked,) = [each for each in pending_questions(now) if each.kind is PendingKind.BRAKE]
        assert {(o.label, o.action, o.target) for o in asked.answers} <= on_card(now)


async def test_yes_does_what_was_held_back_and_commits_nothing() -> None:
    """K9, B1: "do it anyway" in words makes the change, and the day is not committed by that message."""
    now = await hold_edit()
    assert {DO_IT_ANYWAY, LEAVE_PLAN} <= {label for label, _, _ in on_card(now)}
    out = await says(now, YES)
    assert (out.session.rules.set_aside, out.session.sync.held, out.session.stage) == (("quiet",), None, Stage.REFINE)
    assert out.session.planning.plan is not None
    assert f"{by_time(out.session.planning.plan)[0].start:%H:%M}" == "07:00"
    assert out.effects == ()


async def test_no_leaves_the_plan_as_it_is() -> None:
    now = await hold_edit()
    out = await says(now, NO)
    assert lines(out) == (PLAN_LEFT,)
    assert (out.session.planning.plan, out.session.sync.held, out.session.rules.set_aside) == (
        now.planning.plan,
        None,
        (),
    )
    assert out.effects == ()


@pytest.mark.parametrize("intent", ["proceed", "commit"])
async def test_going_on_is_no_answer_to_what_was_held_back(intent: str) -> None:
    """B1: the literal answer of a model that overlooks the question commits nothing, and it is asked once more."""
    now = await hold_edit()
    out = await says(now, wants(intent))
    assert is_unchanged(out, now)
    assert lines(out)[0] == FIRST
    assert "Do it anyway for this day, or leave the plan as it is?" in lines(out)[1]
    after = await says(out.session, YES)
    assert after.session.rules.set_aside == ("quiet",)


async def test_a_question_in_between_does_not_lose_what_was_held_back() -> None:
    now = await hold_edit()
    out = await says(now, wants("ask"), {"answer": "Because of your rule.", "block": None})
    assert out.session.sync.held == now.sync.held
    assert any("Do it anyway" in getattr(part, "text", "") for part in stage_card(out.session).parts)
    assert (await says(out.session, YES)).session.rules.set_aside == ("quiet",)


async def test_yes_to_a_write_that_stopped_writes_it() -> None:
    out = await says(BRAKED, YES, knows=False)
    (write,) = out.effects
    assert isinstance(write, WriteCalendar)
    assert out.session.sync.brakes == (SafetyCheckKind.EMPTIED_CALENDAR.value,)


async def test_no_to_a_write_that_stopped_asks_again_before_it_writes() -> None:
    out = await says(BRAKED, NO)
    assert (lines(out), out.effects, out.session.sync.brakes) == ((CALENDAR_LEFT,), (), ())
    again = await says(out.session, wants("retry"))
    assert again.session.sync.brakes == ()


@pytest.mark.parametrize("intent", ["proceed", "retry"])
async def test_neither_going_on_nor_trying_again_is_a_yes_to_a_write_that_stopped(intent: str) -> None:
    out = await says(BRAKED, wants(intent))
    assert is_unchanged(out, BRAKED)
    assert lines(out) == (FIRST, BRAKED.sync.problem)


async def test_a_rule_that_was_read_is_confirmed_or_dropped() -> None:
    now = with_day_rule()
    for answer, verdict in ((YES, "accept"), (NO, "decline")):
        out = await says(now, answer)
        (command,) = out.heard
        assert (command.kind, getattr(command, "verdict", None)) == ("judge_constraint", verdict)
    assert is_unchanged(await says(now, GO_ON), now)


async def test_which_side_counts_has_no_yes() -> None:
    """S201: the program asks for a side, and a yes never means one; a named side is the button's command."""
    one = NOW.with_sync(questions=(question(MAIL, shown=True),))
    out = await says(one, YES)
    assert is_unchanged(out, one)
    assert lines(out)[-1] == WHICH_OPTION.format(options="Keep calendar / Keep plan")
    assert lines(await says(one, NO)) == (STAYS_OPEN,)
    for side in ("calendar", "plan"):
        kept = await says(one, wants(f"keep_{side}", number=1))
        (command,) = kept.heard
        assert (command.kind, getattr(command, "keep", None)) == ("resolve_conflict", side)
        assert kept.session.stage is Stage.REFINE
        assert [q for q in kept.session.sync.questions if q.answer is None] == []


async def test_a_number_of_another_kind_is_no_side() -> None:
    both = (await hold_edit()).with_sync(questions=(question(MAIL, shown=True),))
    out = await says(both, wants("keep_plan", number=1))
    assert is_unchanged(out, both)
    assert lines(out)[0].startswith("Number 1 is another question: I did not do that")
    fix = await says(both, wants("fix", number=1))
    assert is_unchanged(fix, both)


async def test_of_several_questions_it_is_asked_which() -> None:
    """The program does not guess; a number picks the question."""
    both = (await hold_edit()).with_sync(questions=(question(MAIL, shown=True),))
    for answer in (YES, NO):
        out = await says(both, answer)
        assert is_unchanged(out, both)
        assert lines(out)[0] == WHICH_QUESTION
        assert [line[:3] for line in lines(out)[1:]] == ["1. ", "2. "]
    out = await says(both, wants("accept_pending", number=1))
    assert out.session.rules.set_aside == ("quiet",)


async def test_a_question_goes_before_what_is_only_offered() -> None:
    now = with_fixes((await hold_edit()).with_planning(plan=BETTER.planning.plan), MORNING)
    assert now.sync.held is not None
    asked = pending_questions(now)
    assert [each.kind for each in asked[:2]] == [PendingKind.HELD, PendingKind.FIX]
    assert [command.kind for command in (await says(now, YES)).heard] == ["judge_constraint"]


async def test_a_fix_by_a_yes() -> None:
    one = BETTER.with_planning(fixes=BETTER.planning.fixes[:1])
    out = await says(one, YES, knows=False)
    (command,) = out.heard
    assert (command.kind, getattr(command, "fix", None)) == ("apply_fix", one.planning.fixes[0].id)
    assert out.session.planning.plan != one.planning.plan
    assert out.session.stage is Stage.REFINE
    assert lines(await says(one, NO)) == (LEFT,)
    assert is_unchanged(await says(one, NO), one)


async def test_of_several_fixes_it_is_asked_which() -> None:
    assert len(BETTER.planning.fixes) > 1
    out = await says(BETTER, YES)
    assert is_unchanged(out, BETTER)
    assert lines(out) == (WHICH_QUESTION, *(f"{n}. {fix.label}" for n, fix in enumerate(BETTER.planning.fixes, 1)))
    second = await says(BETTER, wants("accept_pending", number=2))
    assert [getattr(command, "fix", None) for command in second.heard] == [BETTER.planning.fixes[1].id]


@pytest.mark.parametrize("kind", [PendingKind.CALENDAR, PendingKind.RULES, PendingKind.REPLACES, PendingKind.MEETING])
async def test_what_is_offered_or_needs_a_choice_does_not_hold_up_the_commit(kind: PendingKind) -> None:
    """As by the button."""
    out = await says(await asking(kind), GO_ON, knows=False)
    assert out.session.stage is Stage.REVIEW_COMMIT


async def test_what_was_left_over_is_brought_along_by_a_yes() -> None:
    now = LIST.with_open_work(offered=make_offered("deferred"))
    out = await says(now, YES)
    assert [t.title for t in out.session.day.inputs.tasks] == ["Report", "Taxes"]
    assert out.session.stage is Stage.CAPTURE_INPUTS
    assert is_unchanged(await says(now, NO), now)


async def test_missed_days_are_told_one_by_one() -> None:
    now = await asking(PendingKind.MISSED)
    out = await says(now, YES)
    assert is_unchanged(out, now)


@pytest.mark.parametrize("intent", ["accept_pending", "refuse_pending"])
@pytest.mark.parametrize("number", [None, 1])
@pytest.mark.parametrize("stage", [Stage.DATE, Stage.COLLECT_CONSTRAINTS, Stage.SKELETON, Stage.REFINE])
async def test_an_answer_where_nothing_is_asked_says_so(intent: str, number: int | None, stage: Stage) -> None:
    """S124: nothing is changed, for any answer of the model."""
    now = plan_session(stage, task("Report", 60), calendar_write="commit")
    assert pending_questions(now) == ()
    out = await says(now, wants(intent, number=number))
    assert lines(out) == (NOTHING_PENDING,)
    assert is_unchanged(out, now)


@pytest.mark.parametrize("number", [0, -1, 2, 99])
async def test_a_row_that_is_not_there_changes_nothing(number: int) -> None:
    now = await hold_edit()
    out = await says(now, wants("accept_pending", number=number))
    assert is_unchanged(out, now)
    assert lines(out)[0].startswith(f"There is no number {number} in the list")


async def test_an_answer_that_was_given_already_changes_nothing() -> None:
    out = await run_turn(turn(NOW, make_command("leave_as_is", about="held")))
    assert lines(out) == (ANSWERED,)


def data_of(prompt: Any) -> str:
    """Return the data in a prompt, between its marks."""
    return str(prompt.user.split(prompt.user.splitlines()[0])[1])


async def test_what_the_model_asked_is_known_to_the_next_prompts() -> None:
    """B1, M8: "Do you want to plan Friday instead?" is not forgotten when the person says yes; its text is data."""
    start = session(Stage.DATE)
    asked = day(question="Do you want to plan Friday instead?")
    first = (await says(start, wants("answer"), asked)).session
    assert first.thread.last_words == LastWords(bot="Do you want to plan Friday instead?")
    model = ScriptedModel(YES, day(date="2026-03-06"))
    out = await run_turn(turn(first, make_command("user_reply", text="ja graag")), model)
    assert [prompt.name.partition("/")[0] for prompt in model.prompts] == ["decide", "date"]
    for prompt in model.prompts:
        assert "you: Do you want to plan Friday instead?" in data_of(prompt)
        assert "Friday instead" not in prompt.system
    assert "words,Do you want to plan Friday instead?" in data_of(model.prompts[0])
    assert (out.session.date, out.session.stage) == (date(2026, 3, 6), Stage.DATE)
    assert out.session.thread.last_words is None


async def test_a_change_that_was_asked_about_is_known_to_the_patch() -> None:
    """M8: "the other one" is read together with the question and the message that it was about."""
    first = (await says(NOW, wants("answer"), patch(question="The mail or the report?"))).session
    model = ScriptedModel(wants("answer"), patch(build_move(1, "11:00", 60)))
    out = await run_turn(turn(first, make_command("user_reply", text="the other one")), model)
    assert "you: The mail or the report?" in data_of(model.prompts[1])
    assert out.session.planning.plan != NOW.planning.plan
    assert out.session.thread.last_words is None


async def test_no_to_the_last_words_changes_nothing() -> None:
    now = await asking(PendingKind.WORDS)
    out = await says(now, NO)
    assert (lines(out), out.session.thread.last_words) == ((LEFT,), None)
    assert out.session.planning.plan == now.planning.plan


async def test_the_last_words_and_a_question_are_two_things() -> None:
    now = (await hold_edit()).with_thread(last_words=LastWords.of("Shall I move the gym?"))
    out = await says(now, YES)
    assert is_unchanged(out, now)
    assert (lines(out)[0], lines(out)[2]) == (WHICH_QUESTION, "2. Shall I move the gym?")
    assert out.session.thread.last_words == now.thread.last_words


async def test_another_deed_forgets_the_last_words_and_a_look_does_not() -> None:
    now = await asking(PendingKind.WORDS)
    looked = await run_turn(turn(now, make_command("show_history")))
    assert looked.session.thread.last_words == now.thread.last_words
    moved = await run_turn(turn(now, make_command("shift_block", key=MAIL, minutes=15)))
    assert moved.session.thread.last_words is None


async def test_an_answer_is_about_the_card_in_view() -> None:
    """A yes cannot mean a question that came up only since then."""
    clear = NOW.with_sync(questions=())
    reading = turn(clear, make_command("user_reply", text="yes"), memory=make_reading(DAY_RULE))
    out = await run_turn(reading, ScriptedModel(YES))
    assert lines(out) == (NOTHING_PENDING,)


async def test_a_memory_question_is_answered_by_naming_one() -> None:
    """It needs a choice: a yes asks which one."""
    now = NOW.with_rules(memory_questions=(TORN,)).with_thread(memory=VIEW)
    out = await says(now, YES)
    assert is_unchanged(out, now)
    assert lines(out)[-1] == WHICH_OPTION.format(options="Keep “Calls early” / Keep “Calls late” / Keep both")


def test_a_session_from_before_still_loads() -> None:
    document = NOW.model_dump(mode="json")
    del document["thread"]["last_words"]
    assert Session.model_validate(document).thread.last_words is None


def test_last_words_are_bounded() -> None:
    assert len(LastWords.of("y" * 9_000).bot) == 1200


def test_options_are_told_apart_by_what_they_do() -> None:
    """A question without a yes has none, and says which answers it takes."""
    asked = PendingQuestion(kind=PendingKind.CALENDAR, sentence="Which?", which=pending_questions(CONFLICTS)[0].which)
    assert asked.yes is None
    assert len({(button.action, button.target) for button in asked.answers}) == len(asked.answers) == 2


def test_clash_of_the_draft_is_a_choice() -> None:
    draft = knowing(plan_session(Stage.SKELETON, task("Report")), QUIET, UNSURE)
    draft = draft.with_planning(clash=Clash(uids=("quiet", "unsure"), let_go=("quiet",)))
    (asked,) = [each for each in pending_questions(draft) if each.kind is PendingKind.RULES]
    assert {(o.label, o.action, o.target) for o in asked.which} <= on_card(draft)


PROPOSED = WaitingProposal(id="p1", sentence="robot proposes: “Mail” moves to 15:00–16:00.")


def test_a_proposal_is_answered_as_by_its_card() -> None:
    """S214: the buttons of its card and the words name the same answers."""
    proposal = Proposal.model_validate(
        {
            "id": "p1", "client": "robot", "user_id": "U1", "subject": "plan", "preview": ["Mail moves."],
            "change": {"kind": "constraint", "record": DAY_RULE.record.model_dump(mode="json")},
            "made_at": MORNING, "expires_at": MORNING,
        }
    )  # fmt: skip
    shown = [(b.label, b.action, b.target) for b in buttons(proposal_card(proposal))]
    (asked,) = pending_questions(NOW, (PROPOSED,))
    assert [(o.label, o.action, o.target) for o in asked.answers] == shown


async def test_going_on_is_no_answer_to_a_proposal() -> None:
    message = make_command("user_reply", text="ok")
    out = await run_turn(turn(NOW, message, proposals=(PROPOSED,)), ScriptedModel(GO_ON))
    assert lines(out) == (FIRST, PROPOSED.sentence)
    assert (out.effects, out.session.stage) == ((), Stage.REFINE)
