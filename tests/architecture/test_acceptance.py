"""The acceptance criteria of rules and tasks each map to tests that there are (S169)."""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from pathlib import Path

import pytest

from fateforger.workflow.definition import read_shipped, read_workflow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "workflows.md"
RULES = tuple(f"1.{n}" for n in range(1, 7))
TASKS = tuple(f"2.{n}" for n in range(1, 9))


def rows() -> dict[str, list[str]]:
    """Return the tests that each criterion names, by its number."""
    found: dict[str, list[str]] = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0] in {*RULES, *TASKS}:
            assert cells[0] not in found, cells[0]
            found[cells[0]] = [name.strip("`") for name in cells[2].split(", ")]
    return found


@cache
def named_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_every_criterion_of_rules_is_there_and_of_tasks_all_or_none() -> None:
    assert [number for number in rows() if number in RULES] == list(RULES)
    assert [number for number in rows() if number in TASKS] in ([], list(TASKS))


@pytest.mark.parametrize("number", rows())
def test_its_tests_exist(number: str) -> None:
    named = rows()[number]
    assert named
    for name in named:
        file, _, test = name.partition("::")
        path = ROOT / "tests" / file
        assert path.is_file(), name
        assert test in named_in(path), name


def test_the_workflow_on_the_page_can_be_read() -> None:
    """The example on the page is a valid workflow, with the rules that it inherits."""
    text = PAGE.read_text().partition("    workflow: ship\n")
    example = textwrap.dedent("".join(text[1:]).partition("\n\n")[0])
    workflow = read_workflow(example, read_shipped)
    assert workflow.name == "ship"
    assert {"reviewed-first", "ON reviewed: INVOKE ship"} <= {rule.id for rule in workflow.rules}
