"""Every numbered behaviour of the product is named by a test that proves it, or stands here with the reason why not.

The numbers are those of the specification that this program was built from. A test names what it proves in its docstring
(``S73``, ``S26-S31``) or in its name (``test_s73_...``); the docstring of a file speaks for all tests in it.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
BEHAVIOURS = range(1, 243)
DECISIONS = range(1, 9)
WITHOUT_A_TEST = {
    69: "There is one model of a plan and never was another here, so there is nothing to convert from or to.",
}
"""Behaviours that are not for this project, each with the reason."""


def named(text: str, letter: str = "S") -> set[int]:
    """``S4, S7-S9`` names four of them."""
    spans = re.findall(rf"\b{letter}(\d+)\b(?:-{letter}(\d+)\b)?", text)
    return {n for first, last in spans for n in range(int(first), int(last or first) + 1)}


def said_in(source: str) -> str:
    """What the tests in a file say of themselves: docstrings, and names with the numbers in them spelled as elsewhere."""
    tree = ast.parse(source)
    said = [ast.get_docstring(tree) or ""]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            said += [ast.get_docstring(node) or "", re.sub(r"(?<=_)([sk])(\d+)(?=_|$)", _spelled, node.name)]
    return "\n".join(said)


def _spelled(found: re.Match[str]) -> str:
    return f" {found[1].upper()}{found[2]} "


@cache
def everything_said() -> str:
    return "\n".join(
        said_in(path.read_text())
        for path in sorted(TESTS.rglob("*.py"))
        if path.name.startswith("test_") or path.stem.endswith("_contract")
        if path != Path(__file__).resolve()
    )


def test_every_behaviour_is_named_by_a_test() -> None:
    missing = set(BEHAVIOURS) - named(everything_said()) - WITHOUT_A_TEST.keys()
    assert [f"S{n}" for n in sorted(missing)] == []


def test_every_decision_is_named_by_a_test() -> None:
    missing = set(DECISIONS) - named(everything_said(), "K")
    assert [f"K{n}" for n in sorted(missing)] == []


def test_nothing_is_excused_in_vain() -> None:
    """What has a test after all needs no excuse, and no number is named that is none."""
    said = named(everything_said())
    assert sorted(said & WITHOUT_A_TEST.keys()) == []
    assert sorted(said - set(BEHAVIOURS)) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""S4, S7-S9, but not XS3 or S2b"""', {4, 7, 8, 9}),
        ("def test_s26_s118_names() -> None: ...", {26, 118}),
        ('def test_x() -> None:\n    """S5: so it is."""', {5}),
        ('# S6\ndef test_x() -> None:\n    assert "S7"', set()),
    ],
)
def test_how_a_test_names_a_behaviour(source: str, found: set[int]) -> None:
    """A comment or a value proves nothing."""
    assert named(said_in(source)) == found
