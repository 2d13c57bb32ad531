"""The three pilot workflows (S141, S142, S144; S169, part 1, criteria 2-4): the published example plans, step by step, and what each breaks.

What a published table does not question (changes are tracked, the plan for a small fix is approved) is given from the
start. A feature is complete with the commit of what was reviewed; a plan that closes its task has come to its end, any
other may go on.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fateforger.workflow.conformance import CheckedRule, Verdict, check
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.trace import plan_steps

TRACKED = {"one_task_in_progress": True, "changes_tracked_in_task": True}
USUAL = {
    "modifying_framework": False,
    "tests_fail_unexpectedly": False,
    "plan_needed": False,
    "tests_needed": False,
    "review_needed": False,
}
COARSE = {
    "at_least_one_actionable_task": True,
    "over_decomposed": False,
    "requirements_ambiguous": False,
    "unknown_discovered": False,
}


def check_plan(workflow: str, *steps: str, given: dict[str, bool] | None = None) -> tuple[CheckedRule, ...]:
    """Check a plan of steps; ``a+b`` does two things in one."""
    pilot = load_shipped(workflow)
    trace = plan_steps(list(pilot.predicates.values()), [step.split("+") for step in steps], given=given)
    return check(pilot.rules, trace, pilot.vocabulary, closed="close_task" in steps)


def list_broken(report: Sequence[CheckedRule]) -> list[str]:
    return [each.stated.id for each in report if each.verdict is Verdict.VIOLATED]


FEATURE_VALID = (
    "claim_task",
    "capture_user_story",
    "document_requirements",
    "define_success_criteria",
    "design_experiment",
    "write_tests",
    "see_tests_fail",
    "plan_implementation",
    "approve_plan",
    "implement",
    "run_tests",
    "review",
    "commit+complete",
    "update_spec",
    "close_task",
)
WITHOUT_A_HITCH = {**TRACKED, **USUAL, "implement_without_plan": False, "skip_critic_review": False}


@pytest.mark.parametrize(
    ("number", "workflow", "steps", "given", "expected"),
    [
        (1, "feature-dev", FEATURE_VALID, WITHOUT_A_HITCH, []),
        (
            2,
            "feature-dev",
            ("claim_task", "capture_user_story", "implement", "write_tests", "run_tests", "commit"),
            {**TRACKED, **USUAL},
            ["plan-approved", "tests-first", "reviewed"],
        ),
        (
            3,
            "feature-dev",
            ("claim_task", "write_tests", "see_tests_fail", "implement", "commit"),
            {**TRACKED, **USUAL, "plan_approved": True, "critic_reviewed": True},
            ["tests-pass", "commit-with-failing-tests"],
        ),
        (
            4,
            "decompose",
            (
                "claim_task",
                "articulate_goal",
                "document_assumptions",
                "identify_probes",
                "create_components",
                "create_review_task",
                "close_task",
            ),
            COARSE,
            [],
        ),
        (
            5,
            "decompose",
            ("claim_task", "articulate_goal", "create_components", "close_task"),
            COARSE,
            ["assumptions-first", "review-after", "hide-assumptions"],
        ),
        (
            6,
            "tdd-cycle",
            (
                "claim_task",
                "write_test",
                "see_test_fail",
                "implement",
                "run_test",
                "refactor",
                "verify_tests",
                "commit",
            ),
            None,
            [],
        ),
        (7, "tdd-cycle", ("claim_task", "write_test", "implement", "run_test", "commit"), None, ["red-first"]),
        (
            8,
            "tdd-cycle",
            ("claim_task", "implement", "write_test", "run_test", "commit"),
            None,
            ["red-first", "implement-before-test"],
        ),
    ],
)
def test_published_plans(
    number: int, workflow: str, steps: tuple[str, ...], given: dict[str, bool] | None, expected: list[str]
) -> None:
    """S141: 0, 3, 2 / 0, 3 / 0, 1, 2 violations; S138: the plan itself stays as it is."""
    report = check_plan(workflow, *steps, given=given)
    assert (number, list_broken(report)) == (number, expected)
    assert (len(expected) == 0) == all(each.verdict.passes for each in report)


@pytest.mark.parametrize("pilot", ["decompose", "feature-dev", "tdd-cycle"])
def test_pilots_load(pilot: str) -> None:
    """S141: each says what it is for, when, and has rules of its own that can all be kept together."""
    workflow = load_shipped(pilot)
    assert (workflow.name, bool(workflow.description), bool(workflow.applies_when), bool(workflow.not_when)) == (
        pilot,
        True,
        True,
        True,
    )
    assert len(workflow.rules) > 8


SEED = {
    "feature-dev": {
        "BEFORE implement: plan_approved",
        "BEFORE implement: tests_exist AND tests_fail",
        "BEFORE commit: tests_pass",
        "BEFORE commit: critic_reviewed",
        "AFTER implement: run_tests",
        "AFTER complete: update_spec",
        "ALWAYS: one_task_in_progress",
        "ALWAYS: changes_tracked_in_task",
        "NEVER: commit AND tests_fail",
        "NEVER: implement_without_plan",
        "NEVER: skip_critic_review",
        "IF modifying_framework THEN use_detailed_critic",
        "IF tests_fail_unexpectedly THEN halt_and_fix",
        "ON plan_needed: INVOKE plan-agent",
        "ON tests_needed: INVOKE tdd-cycle",
        "ON review_needed: INVOKE critic",
        "ON tests_fail_unexpectedly: INVOKE halt",
    },
    "tdd-cycle": {
        "BEFORE implement: test_exists AND test_fails",
        "BEFORE commit: test_passes AND tests_still_pass",
        "AFTER implement: run_test",
        "AFTER refactor: tests_still_pass",
        "NEVER: implement AND NOT test_exists",
        "NEVER: commit AND test_fails",
        "ON test_fails: INVOKE implement",
        "ON test_passes: INVOKE refactor OR commit",
    },
    "decompose": {
        "BEFORE create_components: goal_articulated",
        "BEFORE identify_probes: assumptions_documented",
        "BEFORE create_components: assumptions_documented AND probes_identified",
        "BEFORE work_on_subtask: review_task_exists AND review_approved",
        "AFTER create_components: create_review_task",
        "ALWAYS: at_least_one_actionable_task",
        "NEVER: create_components AND NOT assumptions_documented",
        "NEVER: over_decomposed",
        "IF requirements_ambiguous THEN create_placeholder",
        "IF unknown_discovered THEN create_probe",
    },
}


@pytest.mark.parametrize("pilot", sorted(SEED))
def test_nothing_is_lost_in_translation(pilot: str) -> None:
    """S144: each rule of the procedure it takes the place of is there. A name for two things at once is written as
    both; the red phase, in which a test has to fail, is no failure to halt for."""
    assert SEED[pilot] - {rule.text for rule in load_shipped(pilot).rules} == set()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("implement", "write_test"), ["red-first", "implement-before-test"]),
        (("write_test", "see_test_fail", "commit"), ["green-before-commit", "commit-failing-test"]),
        (("write_test", "see_test_fail", "implement", "run_test", "refactor", "commit"), ["green-before-commit"]),
        (("write_test", "see_test_fail", "implement", "refactor"), ["refactor-green"]),
        (("write_test", "see_test_fail", "implement", "run_test", "refactor", "run_test", "commit"), []),
    ],
)
def test_tdd_cycle(steps: tuple[str, ...], expected: list[str]) -> None:
    """S142: implement before test is rejected, commit with a failing test is rejected, and refactoring needs tests that
    still pass."""
    assert list_broken(check_plan("tdd-cycle", *steps)) == expected


def test_refactoring_is_not_done_until_tests_pass_again() -> None:
    """S142: at the end of a cycle that stays refactored and untested."""
    steps = ("write_test", "see_test_fail", "implement", "run_test", "refactor")
    pilot = load_shipped("tdd-cycle")
    trace = plan_steps(list(pilot.predicates.values()), [[step] for step in steps])
    assert list_broken(check(pilot.rules, trace, pilot.vocabulary)) == ["still-green"]


def test_any_order_of_work_that_keeps_the_rules_passes() -> None:
    """S133: documents in another order, tests after the plan."""
    first, others, rest = FEATURE_VALID[0], FEATURE_VALID[1:9], FEATURE_VALID[9:]
    for turn in range(3):
        moved = ("write_tests", "see_tests_fail", *(s for s in others if not s.endswith(("tests", "fail"))))
        order = moved if turn == 0 else (*moved[2:4][::-1], *moved[4:], *moved[:2]) if turn == 1 else others
        report = check_plan("feature-dev", first, *order, *rest, given=WITHOUT_A_HITCH)
        assert (turn, list_broken(report)) == (turn, [])


def test_a_violation_says_what_to_do() -> None:
    """S139: rule, kind, step and remedy, as the author of the workflow put it."""
    report = check_plan("tdd-cycle", "write_test", "implement", "run_test", "commit")
    [only] = (each for each in report if each.violations)
    assert (only.stated.title, only.stated.rule.kind.value, only.violations) == (
        "A test exists and fails before implementation begins",
        "BEFORE",
        (1,),
    )
    assert only.remedy.startswith("Write the test and see it fail before you implement")
