"""The ``triggers`` of ``timeboxing.yaml`` are carried out: the turn in which X begins ends with the action Y.

Y does what it declares (S131, S52, S87).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.fakes.google_calendar import Answer, CallFailure
from tests.unit.conversation.person import Harness, Person

from fateforger.calendar.ports import Rejected
from fateforger.conversation.write_results import NOT_ALL
from fateforger.errors import CalendarUnreachable
from fateforger.session.gate import WORKFLOW
from fateforger.workflow.conformance import StatedRule
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.rules import RuleKind, write_rule

Breaking = Callable[[Harness, Person], Awaitable[None]]


async def half_a_commit(harness: Harness, anna: Person) -> None:
    """Commit three blocks, one of which is refused."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("Calendar usage limits exceeded.")), verb="create", nth=1)
    await anna.press("Commit to calendar")


async def half_a_change(harness: Harness, anna: Person) -> None:
    """Do the same where each change is written at once."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("Calendar usage limits exceeded.")), verb="create", nth=1)
    await anna.choose("Mail", "15 min later")


async def no_commit_at_all(harness: Harness, anna: Person) -> None:
    """Commit while the calendar cannot be read, so that nothing is written."""
    await anna.to_refine("Report", "Mail")
    for nth in range(8):
        harness.calendar.inject(
            CallFailure(CalendarUnreachable("The calendar does not answer.")), verb="window", nth=nth
        )
    await anna.press("Commit to calendar")
    harness.calendar.calm()


DECLARED = {rule.id: rule for rule in load_shipped(WORKFLOW).rules if rule.rule.kind is RuleKind.ON}
CASES: list[tuple[str, Breaking, tuple[str, ...]]] = [
    ("offer-undo", half_a_commit, ("Undo",)),
    ("offer-undo", half_a_change, ("Undo last update", "Take all of it off the calendar")),
    ("offer-to-try-again", half_a_commit, ("Try again",)),
    ("offer-to-try-again", half_a_change, ("Try again",)),
    ("offer-to-try-again", no_commit_at_all, ("Try again",)),
]


def test_every_trigger_is_carried_out_below() -> None:
    assert {name for name, _, _ in CASES} == set(DECLARED)
    assert {write_rule(rule.rule) for rule in DECLARED.values()} == {
        "ON sync_failed: INVOKE offer_undo",
        "ON write_stopped: INVOKE offer_to_try_again",
    }


def names(rule: StatedRule) -> tuple[str, str]:
    """Return the state that begins, and the action that is invoked."""
    [state, action] = [
        name for part in (rule.rule.activation, rule.rule.target) for name in [getattr(part, "name", "")]
    ]
    return state, action


@pytest.mark.parametrize(("trigger", "breaking", "labels"), CASES)
async def test_what_begins_is_answered_in_the_same_turn(
    harness: Harness, anna: Person, trigger: str, breaking: Breaking, labels: tuple[str, ...]
) -> None:
    """On the trace of the session, and on the card in front of the person."""
    state, action = names(DECLARED[trigger])
    await breaking(harness, anna)
    last = (await anna.session()).thread.trace[-1]
    assert (state in last.true, action in last.do, "end_turn" in last.do) == (True, True, True)
    assert [label for label in labels if label in anna.labels()] == list(labels)


@pytest.mark.parametrize("breaking", [half_a_commit, half_a_change])
@pytest.mark.parametrize("again", [False, True], ids=["undo", "try again, then undo"])
async def test_what_is_offered_works(harness: Harness, anna: Person, breaking: Breaking, *, again: bool) -> None:
    """The undo takes off what got there; trying again puts the rest there first."""
    await breaking(harness, anna)
    assert len(harness.on_calendar()) == 2
    if again:
        await anna.press("Try again")
        assert len(harness.on_calendar()) == 3
    undo = next(label for label in ("Take all of it off the calendar", "Undo") if label in anna.labels())
    await anna.press(undo)
    assert harness.on_calendar() == {}
    assert "sync_failed" not in (await anna.session()).thread.trace[-1].true


async def test_a_write_that_went_well_triggers_nothing(anna: Person) -> None:
    """Undo is there after any write; what is offered because of trouble is not."""
    await anna.to_committed("Report")
    last = (await anna.session()).thread.trace[-1]
    assert {"sync_failed", "write_stopped"}.isdisjoint(last.true)
    assert "offer_to_try_again" not in last.do


async def test_an_undo_that_is_not_whole_names_no_button_that_is_not_there(harness: Harness, anna: Person) -> None:
    """The button that undoes is not called Undo where each change is written at once."""
    await half_a_change(harness, anna)
    harness.calendar.inject(Answer(Rejected("Calendar usage limits exceeded.")), verb="delete")
    await anna.press("Take all of it off the calendar")
    assert NOT_ALL in anna.words
    await anna.press("Take all of it off the calendar")
    assert harness.on_calendar() == {}
