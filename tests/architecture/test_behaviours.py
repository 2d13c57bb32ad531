"""Hold ``docs/behaviours.md`` to the code: numbers, states and the tests that it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "behaviours.md"
LONGEST_ROW = 270
HEADERS = ("| number | behavior | state |", "| number | tests |")
STATE = re.compile(r"whole|by decision \d{3}|(?:partly|not yet): \S.*")
PROVED = re.compile(r"whole|by decision (\d{3})")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
NUMBER = re.compile(r"\b([SKA])(\d{1,3})\b(?:(?:-| to )\1(\d{1,3})\b)?")
LINTER_CODES = re.compile(r"noqa: [A-Z0-9, ]+")
PROVED_WITHOUT_NUMBER = {
    "K16": "The worker that keeps the index and the contract of the index prove it; their docstrings name no number.",
    "S99": "The tests of payload recognition prove it case by case.",
    "S123": "The tests of the outside task list prove it; the tests that name the number are about the calendar.",
}
"""Entries marked whole whose tests do not mention the number, each with the reason."""


@dataclass
class Entry:
    """A behavior of the page, with the tests that prove it as ``(file, name)``."""

    number: str
    section: str
    state: str
    tests: list[tuple[str, str]] = field(default_factory=list)


def table_rows() -> Iterator[tuple[str, list[str]]]:
    """Yield the section and the cells of each table row."""
    section = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if line.startswith("| ") and line not in HEADERS:
            yield section, [cell.strip() for cell in line.strip("|").split("|")]


@cache
def entries() -> tuple[Entry, ...]:
    """Return the entries in the order of the page."""
    found: list[Entry] = []
    for section, cells in table_rows():
        if len(cells) == 3:
            number, _, state = cells
            found.append(Entry(number, section, state))
            continue
        number, tests = cells
        named = TEST.findall(tests)
        assert tests == ", ".join(f"`{file}::{name}`" for file, name in named), number
        (entry,) = (each for each in found if (each.number, each.section) == (number, section))
        entry.tests += named
    return tuple(found)


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text; ``S4, S7-S9`` and ``A1 to A3`` are four and three."""
    spans = NUMBER.findall(LINTER_CODES.sub("", text))
    return {f"{kind}{n}" for kind, first, last in spans for n in range(int(first), int(last or first) + 1)}


def spell_numbers(name: str) -> str:
    """Return the name of a test with the numbers in it spelled as in a docstring: ``test_s73_ids``."""
    return re.sub(r"(?<=_)([ska])(\d+)(?=_|\b)", lambda found: f" {found[1].upper()}{found[2]} ", name)


def mentioned_in(source: str) -> set[str]:
    """Return the numbers that docstrings, comments and names of tests mention; values of the code do not count."""
    texts = [line.partition("#")[2] for line in source.splitlines() if "#" in line]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.append(node.value.value)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            texts.append(spell_numbers(node.name))
    return set().union(*map(numbers_in, texts))


@cache
def numbers_by_test(file: str) -> dict[str, set[str]]:
    """Return the numbers that each test of a file mentions, in its docstring, its name or the docstring of the file."""
    path = ROOT / file
    if not path.is_file():
        return {}
    tree = ast.parse(path.read_text())
    everywhere = numbers_in(ast.get_docstring(tree) or "")
    found: dict[str, set[str]] = {}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in (*tree.body, *(inner for each in classes for inner in each.body)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = numbers_in(f"{ast.get_docstring(node) or ''} {spell_numbers(node.name)}")
            found[node.name] = found.get(node.name, everywhere) | own
    return found


def test_numbers_are_unique_and_complete() -> None:
    numbers = [entry.number for entry in entries()]
    for kind in "SKA":
        of_kind = sorted(int(number[1:]) for number in numbers if number[0] == kind)
        assert of_kind == list(range(1, len(of_kind) + 1)), kind
    assert {number[0] for number in numbers} == set("SKA")


def test_numbers_are_in_order_within_their_section() -> None:
    def place(entry: Entry) -> tuple[str, int]:
        return entry.number[0], int(entry.number[1:])

    wrong = [b.number for a, b in pairwise(entries()) if a.section == b.section and place(a) >= place(b)]
    assert wrong == []


def test_rows_are_short() -> None:
    assert [line for line in PAGE.read_text().splitlines() if len(line) > LONGEST_ROW] == []


def test_states_say_what_is_missing() -> None:
    assert [entry.number for entry in entries() if not STATE.fullmatch(entry.state)] == []
    assert [entry.number for entry in entries() if entry.state.startswith("not yet") and entry.tests] == []


def test_each_decision_that_a_state_names_exists() -> None:
    known = {path.name[:3] for path in (ROOT / "docs" / "decisions").glob("*.md")}
    decided = (PROVED.fullmatch(entry.state) for entry in entries())
    assert {found[1] for found in decided if found and found[1]} <= known


@pytest.mark.core
def test_every_number_in_the_code_has_an_entry() -> None:
    known = {entry.number for entry in entries()}
    files = (path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.py")))
    sources = ((path, path.read_text()) for path in files if path != Path(__file__).resolve())
    # Most sources name no other numbers, in whatever place, so that they need not be parsed.
    sources = ((path, source) for path, source in sources if numbers_in(f"{source} {spell_numbers(source)}") - known)
    unknown = {
        f"{path.relative_to(ROOT)}: {number}" for path, source in sources for number in mentioned_in(source) - known
    }
    assert sorted(unknown) == []


@pytest.mark.core
def test_every_named_test_exists() -> None:
    gone = [
        f"{entry.number}: {file}::{name}"
        for entry in entries()
        for file, name in entry.tests
        if name not in numbers_by_test(file)
    ]
    assert gone == []


def test_every_whole_entry_has_a_proof() -> None:
    """Require a test that mentions the number, or an entry in the list of exceptions."""
    whole = [entry for entry in entries() if PROVED.fullmatch(entry.state)]
    assert [entry.number for entry in whole if not entry.tests] == []
    unnamed = {
        entry.number
        for entry in whole
        if not any(entry.number in numbers_by_test(file).get(name, ()) for file, name in entry.tests)
    }
    assert unnamed == PROVED_WITHOUT_NUMBER.keys()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""S4, S7-S9 and A1 to A3, but not XS3 or S2b"""', {"S4", "S7", "S8", "S9", "A1", "A2", "A3"}),
        ("def test_s26_k4_names() -> None: ...", {"S26", "K4"}),
        ('def test_x() -> None:\n    """S5: so it is."""', {"S5"}),
        ("x = 1\n'''The width (S6).'''", {"S6"}),
        ('x = "S7"  # S8  # noqa: S608  a constant', {"S8"}),
    ],
)
def test_what_counts_as_a_mention(source: str, found: set[str]) -> None:
    assert mentioned_in(source) == found
