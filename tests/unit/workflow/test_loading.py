"""Workflow files (S134, S135, S140, S143; S169, part 1, criterion 6): what they hold, what is refused, what is inherited."""

from __future__ import annotations

import pytest

from fateforger.errors import BadInput
from fateforger.workflow.definition import Workflow, read_workflow
from fateforger.workflow.trace import Check

FEATURE = """\
workflow: feature
description: A feature
context:
  applies_when: [adding features, building things]
  not_when:
    - bug fixes
actions: [implement, commit, run_tests, halt]
predicates:
  approved:
    check: {task: body, contains: "## Approved Plan"}
    or: {user_stated: approval}
    set_by: [run_tests]
  green: {check: {command: tests}}
  careful: somebody has to look
constraints:
  - BEFORE implement: approved
  - BEFORE commit: green   # a comment
    id: green-first
    title: Green before a commit
    remedy: Run the tests first.
    necessity: should
  - IF green THEN run_tests
  - "ALWAYS: careful"
triggers:
  - ON green: INVOKE halt
"""


def load_workflow(text: str, **parents: str) -> Workflow:
    return read_workflow(text, parents.get)


def expect_refusal(text: str, **parents: str) -> tuple[str | None, str]:
    with pytest.raises(BadInput) as raised:
        read_workflow(text, parents.get)
    return raised.value.where, raised.value.message


def test_a_file_holds_all_of_it() -> None:
    """S134: workflow, description, context, constraints, triggers, predicates {check, or}, and the actions."""
    feature = load_workflow(FEATURE)
    assert (feature.name, feature.description) == ("feature", "A feature")
    assert (feature.applies_when, feature.not_when) == (("adding features", "building things"), ("bug fixes",))
    assert feature.actions == ("implement", "commit", "run_tests", "halt")
    assert [(rule.id, rule.text, rule.title, rule.remedy, rule.necessity) for rule in feature.rules] == [
        ("BEFORE implement: approved", "BEFORE implement: approved", None, None, "must"),
        ("green-first", "BEFORE commit: green", "Green before a commit", "Run the tests first.", "should"),
        ("IF green THEN run_tests", "IF green THEN run_tests", None, None, "must"),
        ("ALWAYS: careful", "ALWAYS: careful", None, None, "must"),
        ("ON green: INVOKE halt", "ON green: INVOKE halt", None, None, "must"),
    ]
    assert {name: predicate.checks for name, predicate in feature.predicates.items()} == {
        "approved": (Check("task", "body", contains="## Approved Plan"), Check("user_stated", "approval")),
        "green": (Check("command", "tests"),),
        "careful": (Check("judged", "somebody has to look"),),
    }
    assert feature.predicates["approved"].set_by == {"run_tests"}


def test_every_plain_value_is_a_text() -> None:
    """YAML takes some words for truth values and numbers; here they are names."""
    workflow = load_workflow(
        "workflow: on\nactions: [yes, no, off]\npredicates: {null: , true: }\nconstraints: [NEVER: yes]\n"
    )
    assert (workflow.name, sorted(workflow.actions), sorted(workflow.predicates)) == (
        "on",
        ["no", "off", "yes"],
        ["null", "true"],
    )


HEAD = "workflow: w\nactions: [a, b]\npredicates: {p: , q: }\n"


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("", "line 1", "This file is empty; a workflow has at least a name: “workflow: my-name”."),
        ("- a\n", "line 1, column 1", "A workflow is written as “key: value” lines."),
        ("description: d\n", "line 1, column 1", "A workflow has a name: “workflow: my-name”."),
        ("workflow: two words\n", "line 1, column 11", "“two words” cannot be the name of a workflow."),
        (f"{HEAD}workflow: w\n", "line 4, column 1", "“workflow” is here twice."),
        (
            f"{HEAD}context: {{when: [x]}}\n",
            "line 4, column 11",
            "A context has no “when”; it has applies_when, not_when.",
        ),
        (f"{HEAD}constraints: NEVER a\n", "line 4, column 14", "“constraints” is a list: one “- …” a line."),
        (f"{HEAD}constraints:\n  - BEFORE a: r\n", "line 5, column 15", "Nothing is declared with the name “r”."),
        (f"{HEAD}constraints:\n  - BEFORE c: p\n", "line 5, column 12", "Nothing is declared with the name “c”."),
        (f'{HEAD}constraints:\n  - "BEFORE a: r"\n', "line 5, column 16", "Nothing is declared with the name “r”."),
        (f"{HEAD}constraints:\n  - IF p THEN r\n", "line 5, column 15", "Nothing is declared with the name “r”."),
        (f"{HEAD}constraints:\n  - rule: IF p THEN r\n", "line 5, column 21", "Nothing is declared with the name “r”."),
        (
            f"{HEAD}constraints:\n  - ALWAYS:\n",
            "line 5, column 12",
            "There should be a state or an action here, not the end.",
        ),
        (
            f"{HEAD}constraints:\n  - id: x\n",
            "line 5, column 5",
            "A rule is its text; id, title, remedy and necessity may stand beside it.",
        ),
        (
            f"{HEAD}constraints:\n  - BEFORE a: p\n    BEFORE b: p\n",
            "line 5, column 5",
            "There are 2 rules in this item; begin each with its own “- ”.",
        ),
        (f"{HEAD}constraints:\n  - BEFORE a: [p, q]\n", "line 5, column 15", "What a rule wants is a text."),
        (
            f"{HEAD}constraints:\n  - NEVER: a\n    necessity: maybe\n",
            "line 6, column 16",
            "A rule is a must or a should, not “maybe”.",
        ),
        (
            f"{HEAD}constraints:\n  - NEVER: a\n  - NEVER:   a\n",
            "line 6, column 5",
            "There is a rule “NEVER: a” already; each needs an id of its own.",
        ),
        (
            f"{HEAD}triggers:\n  - NEVER: a\n",
            "line 5, column 5",
            "Among the triggers stand ON rules only; this one belongs to the constraints.",
        ),
        (
            f"{HEAD}additional_constraints: []\n",
            "line 4, column 25",
            "“additional_constraints” is for a workflow that extends another one; this one does not.",
        ),
        (f"{HEAD}extends: other\n", "line 4, column 10", "I know no workflow “other” that could be extended."),
        (f"{HEAD}extends: ../other\n", "line 4, column 10", "I know no workflow “../other” that could be extended."),
        (
            "workflow: w\nactions: [a]\npredicates: {a: }\n",
            "line 3, column 13",
            "“a” is declared both as an action and as a state; it can be one of them.",
        ),
        ("workflow: w\nactions: [AND]\n", "line 2, column 11", "“AND” cannot be the name of an action."),
        (
            "workflow: w\npredicates: {p: {chek: x}}\n",
            "line 2, column 18",
            "A predicate has no “chek”; it has check, cleared_by, or, set_by, title.",
        ),
        ("workflow: w\npredicates: {p: {or: x}}\n", "line 2, column 17", "A predicate with “or” has a “check” first."),
        (
            "workflow: w\npredicates: {p: {check: {shell: x}}}\n",
            "line 2, column 26",
            "A check has no “shell”; it has command, contains, equals, file, session, succeeds, task, user_stated.",
        ),
        ("workflow: w\npredicates: {p: {check: {file: x}}}\n", "line 2, column 25", "Beside “file” stands contains."),
        (
            "workflow: w\npredicates: {p: {check: {file: /etc/x, contains: y}}}\n",
            "line 2, column 25",
            "The pattern of a file is relative and stays inside its folder.",
        ),
        (
            "workflow: w\npredicates: {p: {check: {file: ../x, contains: y}}}\n",
            "line 2, column 25",
            "The pattern of a file is relative and stays inside its folder.",
        ),
        (
            "workflow: w\npredicates: {p: {check: {command: rm -rf x}}}\n",
            "line 2, column 25",
            "A command is the name under which it was allowed; “succeeds” is true or false.",
        ),
        ("workflow: w\npredicates: {p: {set_by: [x]}}\n", "line 2, column 27", "“x” is no declared action."),
        (
            "workflow: w\nfoo: &a [*a]\n",
            "line 2, column 1",
            "A workflow has no “foo”; it has actions, additional_constraints, constraints, context, description, disable, extends, predicates, triggers, workflow.",
        ),
        ("workflow: [\n", "line 2, column 1", "This is not YAML: expected the node content, but found '<stream end>'."),
    ],
)
def test_what_cannot_be_used_is_refused_where_it_stands(text: str, where: str, sentence: str) -> None:
    """S134: unknown keys and everything else that is wrong, with line, column and one sentence."""
    assert expect_refusal(text) == (where, sentence)


def test_nesting_without_end_is_refused() -> None:
    assert expect_refusal("workflow: " + "[" * 5_000) == (None, "This is nested too deeply to be a workflow.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ALWAYS: p", "NEVER: p"),
        ("NEVER: a", "ALWAYS: a AND q"),
        ("ALWAYS: p AND q", "ALWAYS: NOT q"),
        ("NEVER: p OR q", "ALWAYS: p OR q"),
    ],
)
def test_rules_that_no_trace_can_keep_are_refused(one: str, other: str) -> None:
    """S143: ALWAYS x with NEVER x, and what comes to the same by its truth table, also across inheritance."""
    sentence = f"“{one}” and “{other}” cannot both be kept; change one of them, or disable it."
    assert expect_refusal(f"{HEAD}constraints:\n  - {one}\n  - {other}\n") == ("line 6, column 5", sentence)
    child = f"workflow: c\nextends: w\nadditional_constraints:\n  - {other}\n"
    parent = f"{HEAD}constraints:\n  - {one}\n"
    assert expect_refusal(child, w=parent) == ("line 4, column 5", sentence)
    assert [rule.text for rule in load_workflow(f"{child}disable: ['{one}']\n", w=parent).rules] == [other]


def test_a_rule_that_nothing_can_keep_is_refused() -> None:
    assert expect_refusal(f"{HEAD}constraints: [NEVER: p OR NOT p]\n") == (
        "line 4, column 15",
        "No step can keep “NEVER: p OR NOT p”.",
    )


@pytest.mark.parametrize(
    "rules", [("ALWAYS: p OR q", "NEVER: p"), ("BEFORE a: p", "NEVER: p"), ("ALWAYS: p", "NEVER: q")]
)
def test_rules_that_can_be_kept_together_are_not(rules: tuple[str, str]) -> None:
    load_workflow(f"{HEAD}constraints:\n  - {rules[0]}\n  - {rules[1]}\n")


CHILD = """\
workflow: child
extends: feature
actions: [review]
predicates: {reviewed: }
additional_constraints:
  - BEFORE commit: reviewed AND green
    id: reviewed-first
disable:
  - green-first
  - BEFORE implement: approved
"""


def test_a_child_adds_and_disables_by_id() -> None:
    """S140: extends with additional constraints; what takes the place of a rule of the parent disables that by its id."""
    child = load_workflow(CHILD, feature=FEATURE)
    assert [rule.id for rule in child.rules] == [
        "IF green THEN run_tests",
        "ALWAYS: careful",
        "ON green: INVOKE halt",
        "reviewed-first",
    ]
    assert child.actions == ("implement", "commit", "run_tests", "halt", "review")
    assert sorted(child.predicates) == ["approved", "careful", "green", "reviewed"]
    assert (child.description, child.applies_when) == ("A feature", ("adding features", "building things"))


@pytest.mark.parametrize(
    ("changed", "where", "sentence"),
    [
        (
            "disable: [nothing]",
            "line 2, column 11",
            "“feature” has no rule with the id “nothing” that could be disabled.",
        ),
        (
            "constraints: []",
            "line 2, column 14",
            "A workflow that extends another one adds to its rules: say “additional_constraints”.",
        ),
        ("additional_constraints: [NEVER: {}]", "line 2, column 33", "What a rule wants is a text."),
        (
            "additional_constraints: ['BEFORE implement: approved']",
            "line 2, column 26",
            "A rule “BEFORE implement: approved” is inherited already; disable that one if this one takes its place.",
        ),
    ],
)
def test_what_a_child_cannot_do(changed: str, where: str, sentence: str) -> None:
    assert expect_refusal(f"workflow: child\n{changed}\nextends: feature\n", feature=FEATURE) == (where, sentence)


def test_a_mistake_of_a_parent_is_shown_there() -> None:
    assert expect_refusal("workflow: c\nextends: w\n", w=f"{HEAD}constraints: [NEVER: r]\n") == (
        "w, line 4, column 22",
        "Nothing is declared with the name “r”.",
    )


def test_nothing_extends_itself() -> None:
    family = {"a": "workflow: a\nextends: b\n", "b": "workflow: b\nextends: a\n"}
    assert expect_refusal(family["a"], **family) == (
        "b, line 2, column 10",
        "a extends b extends a: a workflow cannot extend itself.",
    )


def test_session_facts_and_files_can_be_asked() -> None:
    text = "workflow: w\npredicates:\n  p:\n    check: [{session: ready}, {file: 'tests/*.py', contains: x}]\n    or: {command: t, succeeds: 'false'}\n"
    assert load_workflow(text).predicates["p"].checks == (
        Check("session", "ready"),
        Check("file", "tests/*.py", contains="x"),
        Check("command", "t", succeeds=False),
    )
