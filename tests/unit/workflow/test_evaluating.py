"""Predicates evaluated: each kind with its three answers, and the reason for each (S132, S136, S137)."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.workflow.trace import (
    Check,
    CheckAnswer,
    EvaluatedState,
    KnownValues,
    Predicate,
    Step,
    answer_check,
    build_step,
    evaluate,
    evaluate_state,
)

KNOWN = KnownValues(
    session={"plan_valid": True, "date_confirmed": False},
    task={"body": "## Approved Plan", "tags": ["ui", "later"], "priority": 2, "notes": "", "done": False},
    stated=["approval"],
)


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (Check("session", "plan_valid"), CheckAnswer(holds=True, why="The session says so of “plan_valid”.")),
        (Check("session", "date_confirmed"), CheckAnswer(holds=False, why="The session says so of “date_confirmed”.")),
        (Check("session", "moon_full"), CheckAnswer(None, "The session knows nothing of “moon_full”.")),
        (
            Check("task", "body", contains="Approved"),
            CheckAnswer(holds=True, why="“body” of the task holds “Approved”."),
        ),
        (Check("task", "tags", contains="ui"), CheckAnswer(holds=True, why="“tags” of the task holds “ui”.")),
        (Check("task", "tags", contains="u"), CheckAnswer(holds=False, why="“tags” of the task does not hold “u”.")),
        (
            Check("task", "priority", contains="2"),
            CheckAnswer(holds=False, why="“priority” of the task does not hold “2”."),
        ),
        (Check("task", "priority", equals="2"), CheckAnswer(holds=True, why="“priority” of the task is “2”.")),
        (Check("task", "body", equals="x"), CheckAnswer(holds=False, why="“body” of the task is not “x”.")),
        (Check("task", "notes"), CheckAnswer(holds=False, why="“notes” of the task is empty.")),
        (Check("task", "body"), CheckAnswer(holds=True, why="“body” of the task is there.")),
        (Check("task", "owner", equals="Anna"), CheckAnswer(None, "The task has no “owner”.")),
        (Check("user_stated", "approval"), CheckAnswer(holds=True, why="The person stated “approval”.")),
        (Check("user_stated", "refusal"), CheckAnswer(holds=False, why="The person stated no “refusal”.")),
        (Check("file", "a", contains="b"), CheckAnswer(None, "Nobody looked.")),
        (Check("command", "a"), CheckAnswer(None, "Nobody looked.")),
        (Check("judged", "It reads well"), CheckAnswer(None, "Somebody has to judge it: It reads well")),
    ],
)
def test_each_kind_is_told_by_what_is_known(check: Check, told: CheckAnswer) -> None:
    """S136: an unknown fact is unknown, never false."""
    assert answer_check(check, KNOWN) == told


def test_where_nobody_read_what_was_stated_that_is_unknown() -> None:
    assert answer_check(Check("user_stated", "approval"), KnownValues()) == CheckAnswer(
        None, "Nobody read what the person stated."
    )


@pytest.mark.parametrize(
    ("checks", "holds", "why"),
    [
        (("plan_valid", "moon"), True, ("The session says so of “plan_valid”.",)),
        (("date_confirmed", "moon"), None, ("The session knows nothing of “moon”.",)),
        (("date_confirmed",), False, ("The session says so of “date_confirmed”.",)),
        ((), None, ("Nothing says how it can be told.",)),
    ],
)
def test_one_of_its_checks_is_enough_and_the_reasons_are_those_that_decide(
    checks: tuple[str, ...], *, holds: bool | None, why: tuple[str, ...]
) -> None:
    """S132."""
    predicate = Predicate("p", tuple(Check("session", check) for check in checks))
    assert evaluate_state(predicate, KNOWN, {}) == EvaluatedState("p", holds, why)


class FactTable:
    """Facts as a table that records its queries. Facts that are not in it are unknown."""

    allowed = True

    def __init__(self, **answers: bool) -> None:
        self.answers: dict[str, bool] = answers
        self.asked: list[Any] = []

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        self.asked.append((pattern, text))
        return CheckAnswer(self.answers.get(pattern), f"I looked at {pattern}.")

    async def succeeds(self, command: str) -> CheckAnswer:
        self.asked.append(command)
        return CheckAnswer(self.answers.get(command), f"I ran {command}.")


async def test_files_and_commands_are_looked_at_once_each() -> None:
    """“succeeds: false” inverts the result; unknown stays unknown."""
    machine = FactTable(tests=False, plan=True)
    predicates = (
        Predicate("tests_pass", (Check("command", "tests"),)),
        Predicate("tests_fail", (Check("command", "tests", succeeds=False), Check("session", "moon"))),
        Predicate("planned", (Check("file", "plan", contains="## Approved"), Check("judged", "It reads well"))),
        Predicate("lint_fails", (Check("command", "lint", succeeds=False),)),
    )
    states = await evaluate(predicates, KnownValues(), machine)
    assert [(state.name, state.holds, state.why) for state in states] == [
        ("tests_pass", False, ("I ran tests.",)),
        ("tests_fail", True, ("I ran tests.",)),
        ("planned", True, ("I looked at plan.",)),
        ("lint_fails", None, ("I ran lint.",)),
    ]
    assert machine.asked == ["tests", "lint", ("plan", "## Approved")]
    assert build_step({state.name: state.holds for state in states}, ["commit"]) == Step(
        do=("commit",), true=("tests_fail", "planned"), unknown=("lint_fails",)
    )
