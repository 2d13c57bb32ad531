"""A change against what must be followed waits for the person's word; why a block is where it is (S22, S175, S196)."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest
from tests.factories.wishes import rule, wish
from tests.factories.words import also, block, build_move, patch, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import CALLS, DEEP, LUNCH, QUIET, avoiding, knowing, make_reading
from tests.unit.conversation.sessions import event, make_command, plan_session, session, task, turn

from fateforger.conversation.plan_nodes import ANYWAY, GOES_AGAINST, NOT_MADE
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import MemoryReading, TurnOutcome, WriteCalendar
from fateforger.memory.versions import Version
from fateforger.planning.task_details import TaskDetails, TaskKind, Travel
from fateforger.session.model import Session
from fateforger.session.overview import NO_RULE
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage

Stage = TimeboxingStage
CALLS_SAID = "On 1 February 2026 you said: “no calls before 10, ever”."
QUIET_SAID = "On 1 February 2026 you said: “niets voor half tien, alsjeblieft”."
NOW = plan_session(Stage.REFINE, task("Report", 60), task("Mail", 60))
"""Report 09:00-10:00, Mail 10:10-11:10, Lunch 12:30-13:15."""
FIRST, SECOND, MIDDAY = [b.key for b in by_time(NOW.planning.plan)] if NOW.planning.plan else ("", "", "")


async def after(now: Session, command: Any, *rules: Version) -> TurnOutcome:
    return await run_turn(turn(now, command, memory=make_reading(*rules)))


def lines(out: TurnOutcome) -> tuple[str, ...]:
    return out.session.thread.notice.lines if out.session.thread.notice else ()


EARLY = {"key": SECOND, "minutes": -190}
"""To 07:00, in a quiet hour."""


async def test_a_change_against_a_must_is_not_made_and_says_which() -> None:
    out = await after(NOW, make_command("shift_block", **EARLY), QUIET)
    assert (out.session.planning.plan, out.effects) == (NOW.planning.plan, ())
    assert out.session.thread.notice is not None
    assert (out.session.thread.notice.refused, lines(out)) == (True, (f"{NOT_MADE} {QUIET_SAID}", ANYWAY))
    assert out.session.sync.held is not None
    assert (out.session.sync.held.uid, out.session.sync.held.seq) == ("quiet", 2)


async def test_a_block_of_a_kind_that_is_new_to_the_day_is_held_to_its_rules() -> None:
    """Until then the rule about calls had nothing to do with the day."""
    command = make_command("apply_patch", patch={"ops": [{"kind": "add", "after": None, "events": [call("09:00")]}]})
    out = await after(NOW.with_planning(plan=None), command, CALLS)
    assert lines(out) == (f"{NOT_MADE} {CALLS_SAID}", ANYWAY)
    later = make_command("apply_patch", patch={"ops": [{"kind": "add", "after": None, "events": [call("10:00")]}]})
    assert (await after(NOW.with_planning(plan=None), later, CALLS)).session.sync.held is None


def call(start: str) -> dict[str, Any]:
    return {"n": "Call", "t": "M", "p": {"a": "fs", "st": start, "dur": "PT30M"}, "key": "call"}


async def test_set_aside_for_the_day_the_change_is_made() -> None:
    """One click: the rule does not count in this session, and the block is where it was wanted."""
    held = (await after(NOW, make_command("shift_block", **EARLY), QUIET)).session
    out = await after(held, make_command("judge_constraint", uid="quiet", verdict="set_aside", seen=2), QUIET)
    assert out.session.rules.set_aside == ("quiet",)
    assert out.session.sync.held is None
    assert out.session.planning.plan is not None
    assert [f"{b.start:%H:%M} {b.event.name}" for b in by_time(out.session.planning.plan)][:2] == [
        "07:00 Mail",
        "09:00 Report",
    ]
    assert [type(effect) for effect in out.effects] == [WriteCalendar]
    assert len(out.session.sync.refine_undo) == 1
    assert out.session.thread.notice is not None
    assert out.session.thread.notice.refused is False


async def test_put_away_for_good_it_is_made_too() -> None:
    held = (await after(NOW, make_command("shift_block", **EARLY), QUIET)).session
    out = await after(held, make_command("judge_constraint", uid="quiet", verdict="archive", seen=2), QUIET)
    assert out.session.planning.plan != NOW.planning.plan
    assert [effect.kind for effect in out.effects] == ["write_memory", "write_calendar"]


async def test_of_two_rules_each_is_asked_about() -> None:
    also = avoiding("also", "05:00", "08:00")
    held = (await after(NOW, make_command("shift_block", **EARLY), QUIET, also)).session
    assert held.sync.held is not None
    first = held.sync.held.uid
    other = ({"quiet", "also"} - {first}).pop()
    again = (await after(held, make_command("judge_constraint", uid=first, verdict="set_aside"), QUIET, also)).session
    assert again.sync.held is not None
    assert (again.sync.held.uid, again.planning.plan) == (other, NOW.planning.plan)
    out = await after(again, make_command("judge_constraint", uid=other, verdict="set_aside"), QUIET, also)
    assert out.session.planning.plan != NOW.planning.plan


async def test_another_word_lets_it_go() -> None:
    held = (await after(NOW, make_command("shift_block", **EARLY), QUIET)).session
    looked = (await after(held, make_command("show_history"), QUIET)).session
    assert looked.sync.held == held.sync.held
    moved = (await after(held, make_command("shift_block", key=SECOND, minutes=15), QUIET)).session
    assert moved.sync.held is not None
    assert moved.sync.held.writes == "change", "what is asked now is whether that may be written"
    out = await after(moved, make_command("judge_constraint", uid="quiet", verdict="set_aside"), QUIET)
    assert out.session.planning.plan == moved.planning.plan


async def test_what_was_broken_before_stands_in_nobodys_way() -> None:
    """Report begins at 09:00, in a quiet hour, as it was drafted: it can be changed, and is not written without a yes
    (K9)."""
    for command in (
        make_command("edit_block", key=FIRST, title="Essay"),
        make_command("shift_block", key=FIRST, minutes=15),
    ):
        out = await after(NOW, command, QUIET)
        assert (out.session.planning.plan != NOW.planning.plan, out.effects) == (True, ())
        assert out.session.sync.held is not None
        assert out.session.sync.held.writes == "change"
        yes = await after(
            out.session, make_command("judge_constraint", uid="quiet", verdict="set_aside", seen=2), QUIET
        )
        assert [type(effect) for effect in yes.effects] == [WriteCalendar]
        assert yes.session.planning.plan == out.session.planning.plan


async def test_what_should_be_is_only_said() -> None:
    out = await after(NOW, make_command("edit_block", key=MIDDAY, start="16:00"), LUNCH)
    assert out.session.sync.held is None
    assert lines(out)[-1] == f"{GOES_AGAINST} On 1 February 2026 you said: “I eat outside”."
    assert out.session.planning.plan != NOW.planning.plan


async def test_in_words_the_plan_comes_first_and_memory_second() -> None:
    """S23, S25: three questions, one message; the rule that stood in the way is left out for the day, so it is made."""
    model = ScriptedModel(wants("answer", also("memory")), patch(build_move(1, "07:00", 60)), wish("set_aside", 1))
    out = await run_turn(turn(NOW, make_command("user_reply", text="…"), memory=make_reading(QUIET)), model)
    assert [command.kind for command in out.heard] == ["apply_patch", "judge_constraint"]
    assert (model.asked, out.session.rules.set_aside, out.session.sync.held) == (
        ["decide", "patch", "memory"],
        ("quiet",),
        None,
    )
    assert out.session.planning.plan != NOW.planning.plan


@pytest.mark.parametrize("reading", [None, make_reading()], ids=["the store is away", "nothing is known yet"])
async def test_the_memory_half_counts_where_no_constraint_is_known(reading: MemoryReading | None) -> None:
    """S25: both halves are read, in that order, also when there is nothing that the model could be shown."""
    told = wish("remember", rule=rule(name="No calls before ten", description="no calls before ten"))
    model = ScriptedModel(wants("answer", also("memory")), patch(build_move(1, "07:00", 60)), told)
    out = await run_turn(turn(NOW, make_command("user_reply", text="…"), memory=reading), model)
    assert [command.kind for command in out.heard] == ["apply_patch", "remember_constraint"]
    assert [version.record.words for version in out.session.rules.said] == ["no calls before ten"]
    assert out.session.planning.plan != NOW.planning.plan


async def test_in_words_it_is_held_like_a_click() -> None:
    model = ScriptedModel(wants("answer"), patch(block("Walk", "07:00", 30, "H")))
    out = await run_turn(turn(NOW, make_command("user_reply", text="…"), memory=make_reading(QUIET)), model)
    assert lines(out) == (f"{NOT_MADE} {QUIET_SAID}", ANYWAY)
    assert out.session.planning.plan == NOW.planning.plan


async def test_a_rule_that_cannot_be_read_keeps_no_change_from_being_made() -> None:
    """S25: the plan is changed; the unusable request about memory gets a note."""
    model = ScriptedModel(
        wants("answer", also("memory")), patch(build_move(1, "14:00", 60)), wish("memory_archive_constraint", 9)
    )
    out = await run_turn(turn(NOW, make_command("user_reply", text="…"), memory=make_reading(QUIET)), model)
    assert out.session.planning.plan != NOW.planning.plan
    assert lines(out)[-1] == "There is no number 9 in the list; the numbers are 1 to 1."


# --- why ---


async def test_why_a_block_is_where_it_is() -> None:
    now = knowing(NOW, DEEP, QUIET)
    out = await after(now, make_command("explain_block", key=FIRST), DEEP, QUIET)
    assert lines(out) == (
        "“Report”, 09:00–10:00:",
        f"That goes against a rule of yours. {QUIET_SAID}",
        "It is at a time that you want for it. On 1 February 2026 you said: “deep work belongs in the morning”.",
    )
    assert (out.session.planning.plan, out.effects) == (NOW.planning.plan, ())


async def test_why_of_a_block_that_the_person_put_there() -> None:
    """S277: the person's own change is the reason, not the draft's; after another move it no longer is."""
    moved = (await after(NOW, make_command("shift_block", key=SECOND, minutes=290))).session
    (why,) = lines(await after(moved, make_command("explain_block", key=SECOND)))[1:]
    assert why.startswith("You put it there: “Mail” is now 15:00–16:00")
    swapped = (await after(NOW, make_command("swap_block", key=FIRST, direction=1))).session
    for key in (FIRST, SECOND):
        (_, first, *_rest) = lines(await after(swapped, make_command("explain_block", key=key)))
        assert first.startswith("You put it there: ")


async def test_why_when_no_rule_is_about_it() -> None:
    """As when the block was moved on the calendar."""
    moved = (await after(NOW, make_command("shift_block", key=SECOND, minutes=290))).session.with_sync(refine_undo=())
    assert lines(await after(moved, make_command("explain_block", key=SECOND)))[1:] == (NO_RULE,)


async def test_why_by_what_lies_beside_it_and_what_it_is() -> None:
    """Only causes that would move it count: each of them keeps it in its place."""
    met = plan_session(Stage.REFINE, task("Report", 60), events=(event("Standup", "09:00", "10:00"),))
    out = await after(met, make_command("explain_block", key="report"))
    assert lines(out)[1:] == ("It comes after “Standup”; without that it would begin at 09:00.",)
    assert lines(await after(NOW, make_command("explain_block", key=SECOND)))[1:] == (
        "It comes after “Report”; without that it would begin at 09:00.",
    )
    assert lines(await after(NOW, make_command("explain_block", key=MIDDAY)))[1:] == (
        "It is here because this is about when you have lunch.",
    )


async def test_why_here_of_a_block_with_a_way_and_of_its_way() -> None:
    """S432: with a limit on the clock of the person."""
    details = TaskDetails(kind=TaskKind.ERRAND, travel=Travel(minutes=20), from_time=time(14))
    met = plan_session(Stage.REFINE, task("Dentist", 30, details=details))
    assert lines(await after(met, make_command("explain_block", key="dentist")))[1:] == (
        "It is here because it cannot begin before 14:00; otherwise it would begin at 09:20.",
    )
    assert lines(await after(met, make_command("explain_block", key="way-to-dentist")))[1:] == (
        "It is as long as the way takes, right before or after what it leads to.",
    )


async def test_why_of_a_block_that_is_gone() -> None:
    out = await after(NOW, make_command("explain_block", key="nobody"), DEEP)
    assert lines(out) == ("That block is not in the plan any more.",)


async def test_why_before_there_is_a_plan() -> None:
    out = await after(
        session(Stage.CAPTURE_INPUTS, event("Standup", "09:30", "10:00")), make_command("explain_block", key="x")
    )
    assert lines(out) == ("That block is not in the plan any more.",)
