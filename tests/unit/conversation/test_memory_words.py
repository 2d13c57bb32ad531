"""Requests about memory in words: the same commands as by its card, and the plan stays as it is (S23-S31, S214)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.wishes import rule, wish
from tests.factories.words import wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.rules import CALLS, QUIET, RULES, make_reading
from tests.unit.conversation.sessions import MONDAY, MORNING, make_command, plan_session, task, turn

from fateforger.conversation.language.memory_requests import NO_WRITE, WHICH
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import TurnOutcome, WriteMemory
from fateforger.memory.vocabulary import Necessity, Scope, Status, WindowKind
from fateforger.session.commands.rules import JudgeConstraint, RememberConstraint, ReviseConstraint, UndoMemory
from fateforger.session.memory import MemoryWrite
from fateforger.session.model import Session
from fateforger.session.recall import nameable_constraints, recall
from fateforger.session.stages import TimeboxingStage

Stage = TimeboxingStage
NOW = plan_session(Stage.REFINE, task("Report", 60), task("Mail", 60))
LISTED = [v.uid for v in nameable_constraints(NOW.with_rules(recalled=recall(NOW, RULES, MORNING)), RULES)]
"""The order in which a model sees them."""


def row(uid: str) -> int:
    return LISTED.index(uid) + 1


async def hear_reply(*lines: Line, now: Session = NOW) -> tuple[TurnOutcome, ScriptedModel]:
    model = ScriptedModel(wants("memory"), *lines)
    outcome = await run_turn(turn(now, make_command("user_reply", text="…"), memory=make_reading(*RULES)), model)
    assert model.asked == ["decide", *["memory"] * len(lines)]
    return outcome, model


def words(outcome: TurnOutcome) -> tuple[str, ...]:
    notice = outcome.session.thread.notice.lines if outcome.session.thread.notice else ()
    return (*notice, *(line for write in outcome.session.rules.memory_writes[-1:] for line in write.lines))


@pytest.mark.parametrize("stage", [s for s in Stage if s not in {Stage.DATE, Stage.SKELETON}])
async def test_s24_memory_leaves_the_plan_untouched(stage: Stage) -> None:
    """A draft follows the rules instead (S46)."""
    now = plan_session(stage, task("Report", 60))
    out, _ = await hear_reply(wish("memory_archive_constraint", 1, reason="that is over"), now=now)
    assert (out.session.planning.plan, out.session.stage) == (now.planning.plan, stage)
    assert [type(effect) for effect in out.effects] == [WriteMemory]


async def test_a_row_is_named_by_its_number_and_never_by_an_id() -> None:
    out, model = await hear_reply(wish("memory_archive_constraint", row("quiet"), reason="no longer"))
    (command,) = out.heard
    assert isinstance(command, JudgeConstraint)
    assert (command.uid, command.verdict, command.reason, command.seen) == ("quiet", "archive", "no longer", 2)
    assert "memory[4]{number,name,words,said,necessity,status,applies}:" in model.prompts[1].user
    assert "niets voor half tien, alsjeblieft" in model.prompts[1].user
    shown = "\n".join(prompt.system + prompt.user for prompt in model.prompts).split()
    assert {"U1", "s1", *(v.uid for v in RULES if v.uid not in {"calls", "quiet", "deep", "lunch"})} & set(
        shown
    ) == set()


async def test_a_change_of_a_rule() -> None:
    window = {"kind": "avoid", "start": "00:00", "end": "09:00"}
    said_ = rule(description="no calls before 9", windows=[window], days_of_week=["MO", "TU"], minutes_max=30)
    out, _ = await hear_reply(wish("memory_update_constraint", row("calls"), rule=said_))
    (command,) = out.heard
    assert isinstance(command, ReviseConstraint)
    record = command.record
    assert (record.uid, record.name, record.words) == ("calls", CALLS.record.name, "no calls before 9")
    assert [(w.kind, f"{w.end:%H:%M}") for w in record.payload.windows] == [(WindowKind.AVOID, "09:00")]
    assert (record.payload.scalar_params.duration_max, record.necessity) == (30, Necessity.MUST)
    assert record.applicability.days_of_week == ("MO", "TU")
    assert record.payload.rule_kind is CALLS.record.payload.rule_kind


async def test_a_new_rule_in_the_place_of_an_old_one() -> None:
    out, _ = await hear_reply(
        wish("memory_supersede_constraint", row("calls"), rule=rule(description="calls any time"))
    )
    (command,) = out.heard
    assert isinstance(command, RememberConstraint)
    assert (command.supersedes, command.record.words) == ("calls", "calls any time")
    assert (command.record.status, command.record.lifecycle.uid) == (Status.LOCKED, None)


async def test_a_new_rule() -> None:
    """An explicit statement is saved as confirmed."""
    out, _ = await hear_reply(wish("remember", rule=rule(description="Kids at 15:00 on Tuesdays", days_of_week=["TU"])))
    (command,) = out.heard
    assert isinstance(command, RememberConstraint)
    record = command.record
    assert (record.status, record.scope, record.necessity) == (Status.LOCKED, Scope.PROFILE, Necessity.SHOULD)
    assert (record.words, record.applicability.days_of_week) == ("Kids at 15:00 on Tuesdays", ("TU",))


async def test_a_rule_over_the_order_of_the_day() -> None:
    """It is new, or replaces the text of a rule; a text that is no rule goes back to the model."""
    told = rule(description="a break after each meeting", day_rule="AFTER meeting: break", event_types=["M", "R"])
    out, _ = await hear_reply(wish("remember", rule=told))
    (command,) = out.heard
    assert isinstance(command, RememberConstraint)
    assert (command.record.payload.day_rule, command.record.applies_event_types) == ("AFTER meeting: break", ())
    no_rule = wish("memory_update_constraint", row("calls"), rule=rule(day_rule="AFTER meeting: nap"))
    changed = wish("memory_update_constraint", row("calls"), rule=rule(day_rule="NEVER: meeting_before_10"))
    out, model = await hear_reply(no_rule, changed)
    (command,) = out.heard
    assert isinstance(command, ReviseConstraint)
    assert command.record.payload.day_rule == "NEVER: meeting_before_10"
    ((_, sentence),) = model.prompts[-1].history
    assert sentence.startswith("At line 1, column 16: Nothing is declared with the name “nap”.")


@pytest.mark.parametrize("verdict", ["accept", "decline", "restore", "set_aside", "use_again"])
async def test_a_word_about_a_rule(verdict: str) -> None:
    out, _ = await hear_reply(wish(verdict, row("deep")))
    (command,) = out.heard
    assert isinstance(command, JudgeConstraint)
    assert (command.uid, command.verdict) == ("deep", verdict)


async def test_several_rows_at_once() -> None:
    out, _ = await hear_reply(wish("memory_archive_constraint", row("deep"), row("lunch"), row("deep")))
    assert [command.uid for command in out.heard if isinstance(command, JudgeConstraint)] == ["deep", "lunch"]
    (effect,) = out.effects
    assert isinstance(effect, WriteMemory)
    assert [version.uid for version in effect.versions] == ["deep", "lunch"]


async def test_what_do_you_know_about_it_shows_those_rows() -> None:
    """Nothing is written, and the card next to the plan holds only the rows in question."""
    out, _ = await hear_reply(wish("memory_list_constraints", row("calls"), row("quiet")))
    assert out.session.thread.memory is not None
    assert ({r.uid for r in out.session.thread.memory.rows}, out.session.thread.memory.total) == ({"calls", "quiet"}, 2)
    assert out.effects == ()
    whole, _ = await hear_reply(wish("memory_list_constraints"))
    assert whole.session.thread.memory is not None
    assert whole.session.thread.memory.total == 4


async def test_taking_back_what_was_last_written() -> None:
    write = MemoryWrite(cause="c0", lines=("Noted.",), versions=(QUIET,))
    out, _ = await hear_reply(wish("undo"), now=NOW.with_rules(memory_writes=(write,)))
    (command,) = out.heard
    assert isinstance(command, UndoMemory)
    assert command.write == "c0"


@pytest.mark.parametrize(
    ("said_", "sentence"),
    [
        (wish("undo"), NO_WRITE),
        (wish("memory_archive_constraint"), WHICH),
        (wish("memory_archive_constraint", question="Which lunch rule?"), "Which lunch rule?"),
        (wish("accept", 0), "There is no number 0 in the list; the numbers are 1 to 4."),
        (wish("accept", -1), "There is no number -1 in the list; the numbers are 1 to 4."),
        (wish("memory_update_constraint", 99, rule=rule()), "There is no number 99 in the list; the numbers are 1 to 4."),
        (wish("memory_update_constraint", 1), "I did not understand how that rule shall be; please say it once more."),
        (wish("remember"), "I did not understand what to remember; please say the rule once more."),
        (wish("remember", rule=rule(name="x")), "I did not understand what to remember; please say the rule once more."),
    ],
)  # fmt: skip
async def test_what_makes_no_sense_is_said_and_writes_nothing(said_: dict[str, Any], sentence: str) -> None:
    out, _ = await hear_reply(said_)
    assert (words(out), out.effects, out.session.rules.said) == ((sentence,), (), ())
    assert out.session.planning.plan == NOW.planning.plan


@pytest.mark.parametrize(
    "said_",
    [
        wish("memory_update_constraint", 1, rule=rule(start_date="2026-03-09", end_date="2026-03-02")),
        wish("remember", rule=rule(description="x", minutes_min=90, minutes_max=30)),
        wish("remember", rule=rule(description="x", minutes_min=-5)),
    ],
)
async def test_a_rule_that_cannot_be_written_down_writes_nothing(said_: dict[str, Any]) -> None:
    """S30."""
    out, _ = await hear_reply(said_)
    assert (out.effects, out.session.rules.said, out.session.thread.notice is not None) == ((), (), True)


HOSTILE: tuple[Line, ...] = (
    wish("memory_drop_everything", 1),
    {**wish("memory_archive_constraint", 1), "uid": "quiet"},
    wish("memory_archive_constraint", 1, reason=7),
    {**wish("accept", 1), "numbers": ["quiet"]},
    {**wish("accept", 1), "numbers": list(range(1, 400))},
    wish("remember", rule={**rule(description="x"), "lifecycle": {"uid": "quiet"}}),
    wish("remember", rule=rule(description="x" * 5_000)),
    "no idea",
)


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_answers_write_nothing(line: Line) -> None:
    """S26, S30: the answer goes back once, and then a note says that it cannot be used."""
    out, _ = await hear_reply(line, line)
    assert (out.effects, out.session.rules.said, out.session.rules.set_aside) == ((), (), ())
    assert out.session.planning.plan == NOW.planning.plan


async def test_rules_that_were_put_away_can_be_named_and_those_of_others_cannot() -> None:
    gone = version_of("gone", seq=8, status="declined", event={"action": "archive", "reason": None})
    theirs = version_of("theirs", user="U2", seq=9)
    known = nameable_constraints(NOW, (*RULES, gone, theirs))
    assert [v.uid for v in known][-1] == "gone"
    model = ScriptedModel(wants("memory"), wish("restore", len(known)))
    out = await run_turn(
        turn(NOW, make_command("user_reply", text="…"), memory=make_reading(*RULES, gone, theirs)), model
    )
    (effect,) = out.effects
    assert isinstance(effect, WriteMemory)
    assert [(v.uid, v.record.status) for v in effect.versions] == [("gone", Status.LOCKED)]
    assert out.session.rules.recalled is not None
    assert out.session.rules.recalled.day == MONDAY
