"""Each question that several parts of the program ask has one function that answers it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.architecture.test_structure import calls_of
from tests.sources import Module, modules

from fateforger.session import gate
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.stages import Move
from fateforger.workflow.definition import load_shipped

ASKING = ("ui/", "conversation/", "slack/")


def definitions(name: str) -> list[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [
        path for path, module in modules().items() for n in module.tree.body if isinstance(n, kinds) and n.name == name
    ]


def importers_of(module: str, *names: str) -> set[str]:
    return {
        path
        for path, each in modules().items()
        for node in each.find(ast.ImportFrom)
        if node.module == module and {a.name for a in node.names} & set(names)
    }


def asking() -> Iterator[tuple[str, Module]]:
    return ((path, module) for path, module in modules().items() if path.startswith(ASKING))


def mentions(node: ast.AST, *names: str) -> bool:
    return any(getattr(n, "id", getattr(n, "attr", None)) in names for n in ast.walk(node))


# --- may this command run now, and if not, which message is shown? ---


def test_one_module_is_the_gate() -> None:
    for name in ("find_refusal", "is_offered", "take_steps", "Refusal"):
        assert [path for path in definitions(name) if not path.startswith("adapters/")] == ["session/gate.py"], name


def test_only_the_gate_reads_its_sources() -> None:
    """The graph draws its edges from the table; whether one may be taken is the answer of the gate."""
    table = importers_of("fateforger.session.stages", "TRANSITIONS", "target")
    assert table == {"session/gate.py", "conversation/graph.py"}
    rules = ("objections", "broken_rules", "make_step", "record_steps", "rules_about", "known_facts")
    assert importers_of("fateforger.session.gate", *rules) == set()
    checks = {path for path in importers_of("fateforger.workflow.conformance", "check") if path.startswith(ASKING)}
    assert checks == set()


def test_no_other_table_says_where_commands_belong() -> None:
    commands = {kind.__name__ for kind in SessionCommandBase.__subclasses__()}
    tables = {
        path
        for path, module in asking()
        for node in module.find(ast.Dict)
        if any(isinstance(key, ast.Name) and key.id in commands for key in node.keys)
        and any(mentions(value, "TimeboxingStage") for value in node.values)
    }
    assert tables == set()


def test_no_other_module_refuses_because_of_the_stage() -> None:
    refusing = {
        path
        for path, module in asking()
        for node in module.find(ast.If)
        if mentions(node.test, "stage", "TimeboxingStage")
        and any(mentions(each, "BadInput", "UserError", "refuse") for each in node.body)
    }
    assert refusing == set()


def test_each_refusal_has_one_sentence_and_one_id() -> None:
    fixed = [each for each in vars(gate).values() if isinstance(each, gate.Refusal)]
    fixed += gate._NOT_HERE.values()
    pairs = {(each.id, each.sentence) for each in fixed}
    pairs |= {(rule.id, rule.remedy or "") for rule in load_shipped(gate.WORKFLOW).rules}
    assert len({id_ for id_, _ in pairs}) == len({sentence for _, sentence in pairs}) == len(pairs)


def test_every_move_that_is_not_in_the_table_has_a_refusal() -> None:
    free = {Move.STAY, Move.REDO, Move.CANCEL}
    assert set(Move) - free <= gate._NOT_HERE.keys() | gate._ACTIONS.keys()


# --- which rules are in force? ---

EXCEPTIONS = {
    "cli/constraints.py": "answers a query that a person types, without a session",
    "memory/retrieval.py": "adds retrieval to the same answer, from the context of its caller",
    "session/memory_changes.py": "asks about rules before they are in a session",
    "session/recall.py": "keeps all that a day may need, what was set aside included, so that it can be used again",
}
"""Further callers of ``decide_applicability``, and why they ask another question than a session does."""


def test_the_rules_in_force_are_decided_in_one_place() -> None:
    assert definitions("rules_in_force") == ["session/rulebook.py"]
    assert set(calls_of("decide_applicability")) == {"session/rulebook.py", *EXCEPTIONS}
    assert calls_of("decide_applicability").count("session/rulebook.py") == 1


# --- undo, the basis of a draft, the policy of a day, the audience ---


@pytest.mark.parametrize(
    ("name", "home", "callers"),
    [
        ("plan_undo", "calendar/undo_plan.py", {"calendar/undo.py"}),
        ("policy_of", "session/draft.py", {"session/draft.py"}),
        (
            "Policy",
            "drafting/instance.py",
            {"drafting/instance.py", "drafting/day_draft.py", "drafting/solver.py", "ui/forms.py"},
        ),
        ("find_private_place", "slack/access.py", {"slack/delivery.py", "slack/access.py", "slack/notices.py"}),
    ],
)
def test_one_place_answers(name: str, home: str, callers: set[str]) -> None:
    """An undo from the history and of a late create; the policy of a day, and of a plan that stays as it is,
    and of no plan, which the form shows."""
    assert definitions(name) == [home]
    assert set(calls_of(name)) == callers


def test_one_place_knows_what_a_draft_was_made_from() -> None:
    for name in ("basis_of", "is_current", "carry_basis"):
        assert definitions(name) == ["session/draft.py"], name
    compared = {
        path
        for path, module in modules().items()
        for node in module.find(ast.Compare)
        if mentions(node, "basis", "draft_basis")
    }
    assert compared == {"session/draft.py"}
