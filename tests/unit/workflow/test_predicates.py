"""The registry of predicates (S132, S136, S137, S143; S169, part 1, criterion 5): what can be asked, and what stays unknown."""

from __future__ import annotations

import pytest

from fateforger.workflow.trace import Check, CheckAnswer, KnownValues, Predicate, Step, evaluate_state, plan_steps


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (True, None, True),
        (None, True, True),
        (False, False, False),
        (False, None, None),
        (None, None, None),
        (False, True, True),
    ],
)
def test_or_with_what_is_not_known(*, first: bool | None, second: bool | None, together: bool | None) -> None:
    """S132, S143: one of the checks is enough; an unknown fact is unknown and not false."""
    one, other = Check("file", "one", contains="x"), Check("command", "other")
    answers: dict[Check, CheckAnswer] = {
        check: CheckAnswer(value, "So it is.") for check, value in ((one, first), (other, second)) if value is not None
    }
    assert evaluate_state(Predicate("p", (one, other)), KnownValues(), answers).holds is together


def test_a_state_without_a_check_is_unknown() -> None:
    assert evaluate_state(Predicate("p"), KnownValues(), {}).holds is None


def test_on_a_plan_the_actions_tell() -> None:
    """S137: a state is set and cleared by actions, from the next step on; without such actions it is as given, or
    unknown."""
    predicates = [
        Predicate("green", set_by=frozenset({"test"}), cleared_by=frozenset({"write"})),
        Predicate("asked"),
        Predicate("told"),
    ]
    assert plan_steps(predicates, [["test"], ["write"], []], given={"told": True}) == (
        Step(do=("test",), true=("told",), unknown=("asked",)),
        Step(do=("write",), true=("green", "told"), unknown=("asked",)),
        Step(true=("told",), unknown=("asked",)),
    )
