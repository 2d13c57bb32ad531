"""The registry of predicates (S132, S136, S137, S143; S169, part 1, criterion 5): what can be asked, what is allowed, and what stays unknown."""

from __future__ import annotations

import pytest

from fateforger.workflow.predicates import (
    Allowed,
    Check,
    CommandOutput,
    Described,
    FileContent,
    Predicate,
    SessionState,
    TaskState,
    UserStatement,
    evaluate_predicate,
    is_permitted,
    observe_step,
    plan_steps,
)
from fateforger.workflow.trace import Step

ALLOWED = Allowed(commands=frozenset({"tests"}), files=frozenset({"tests/*"}))


@pytest.mark.parametrize(
    ("check", "by_default", "when_allowed"),
    [
        (SessionState("ready"), True, True),
        (TaskState("body", contains="x"), True, True),
        (UserStatement("approval"), True, True),
        (FileContent("tests/test_a.py", "def test_"), False, True),
        (FileContent("secrets/key", "BEGIN"), False, False),
        (CommandOutput("tests"), False, True),
        (CommandOutput("deploy"), False, False),
        (Described("somebody has to look"), False, False),
    ],
)
def test_files_and_commands_only_as_far_as_they_were_allowed(
    check: Check, *, by_default: bool, when_allowed: bool
) -> None:
    """S136: five kinds; two of them are off until they are allowed by name."""
    assert (is_permitted(check, Allowed()), is_permitted(check, ALLOWED)) == (by_default, when_allowed)
    predicate = Predicate("p", (check,))
    answered = evaluate_predicate(predicate, {check: True}, ALLOWED)
    assert answered is (True if when_allowed or isinstance(check, Described) else None)


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
    """S132, S143: one of the checks is enough; what nobody can tell is unknown and not false."""
    one, other = SessionState("one"), UserStatement("other")
    answers: dict[Check, bool] = {check: value for check, value in ((one, first), (other, second)) if value is not None}
    assert evaluate_predicate(Predicate("p", (one, other)), answers, Allowed()) is together


def test_a_state_without_a_check_is_unknown() -> None:
    assert evaluate_predicate(Predicate("p"), {}, ALLOWED) is None


def test_at_run_time_the_checks_tell() -> None:
    """S137."""
    predicates = [Predicate(name, (SessionState(name),)) for name in ("ready", "late", "odd")]
    answers: dict[Check, bool] = {SessionState("ready"): True, SessionState("late"): False}
    assert observe_step(predicates, answers, Allowed(), do=("go",)) == Step(
        do=("go",), true=("ready",), unknown=("odd",)
    )


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
