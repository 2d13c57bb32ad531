"""Texts that people read are messages of a catalogue: whole, with named placeholders, and all of them in its template."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po
from tests.sources import modules

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fateforger"
TEMPLATE = SOURCE / "locales" / "fateforger.pot"
MARKS = {"_", "gettext", "ngettext", "mark_message"}
Found = tuple[str, ast.Call]


@cache
def calls() -> tuple[Found, ...]:
    return tuple(find_calls())


def find_calls() -> Iterator[Found]:
    for name, module in modules().items():
        for node in module.find(ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in MARKS:
                yield f"{name}:{node.lineno}", node


def messages(node: ast.Call) -> list[str]:
    """Return the literal messages of a call; none if it translates a constant."""
    given = node.args[:2] if isinstance(node.func, ast.Name) and node.func.id == "ngettext" else node.args[:1]
    return [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def is_call_of(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


def labels() -> Iterator[str]:
    """Yield the literal labels of card actions."""
    for module in modules().values():
        for node in module.find(ast.Call):
            if is_call_of(node, "CardAction"):
                yield from (
                    each.value
                    for each in node.args[1:2]
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(message) if name is not None}


@cache
def extract() -> dict[str, frozenset[str | tuple[str, ...]]]:
    """Extract the messages as ``make messages`` does: by each of its methods, which read different files."""
    keywords = {**DEFAULT_KEYWORDS, "mark_message": None, "CardAction": (2,)}
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    return {
        each["method"]: frozenset(
            found[2] for found in extract_from_dir(SOURCE, [(each["pattern"], each["method"])], keywords=keywords)
        )
        for each in mappings
    }


@pytest.mark.core
def test_the_template_is_up_to_date() -> None:
    """``make messages`` writes it."""
    with TEMPLATE.open("rb") as file:
        template = {message.id for message in read_po(file) if message.id}
    assert frozenset().union(*extract().values()) == template


def test_no_message_escapes_the_extraction() -> None:
    """Babel does not read what is inside an f-string, so a message there would stay English."""
    extracted = {text for each in extract()["python"] for text in ([each] if isinstance(each, str) else each)}
    assert {text for _, node in calls() for text in messages(node)} | set(labels()) == extracted


def test_messages_go_by_the_names_that_are_extracted() -> None:
    """Another alias of ``gettext`` would hide its messages."""
    aliases = {
        (each.name, each.asname)
        for module in modules().values()
        for node in module.find(ast.ImportFrom)
        if node.module == "fateforger.text"
        for each in node.names
        if each.asname is not None
    }
    assert aliases == {("gettext", "_")}


def test_messages_are_whole() -> None:
    """No message is a fragment to be put between others."""
    broken = {place: text for place, node in calls() for text in messages(node) if not text or text != text.strip()}
    assert broken == {}


def test_each_placeholder_has_a_name_and_a_value() -> None:
    wrong = []
    for place, node in calls():
        texts = messages(node)
        if isinstance(node.func, ast.Name) and node.func.id == "mark_message":
            continue
        given = {each.arg for each in node.keywords}
        counted = {"count"} if isinstance(node.func, ast.Name) and node.func.id == "ngettext" else set()
        wanted = set().union(*map(placeholders, texts)) if texts and (given or counted) else given
        if not wanted <= given | counted or not given <= wanted or not all(map(str.isidentifier, wanted - {None})):  # type: ignore[arg-type]
            wrong.append((place, wanted, given))
    assert wrong == []


def test_only_constants_and_whole_texts_are_translated() -> None:
    """A message that is put together at run time is in no catalogue."""
    wrong = [
        place
        for place, node in calls()
        for each in node.args[:1]
        if isinstance(each, ast.JoinedStr | ast.BinOp | ast.Call)
    ]
    assert wrong == []


def test_no_constant_is_translated_when_its_module_is_imported() -> None:
    """It would keep the language in which the program was started."""
    wrong = []
    for name, module in modules().items():
        for node in module.tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                calls = (each for each in ast.walk(node.value) if isinstance(each, ast.Call))
                names = {ast.unparse(call.func).rpartition(".")[2] for call in calls}
                lazy = any(isinstance(each, ast.Lambda) for each in ast.walk(node.value))
                if names & {"_", "gettext", "ngettext", "button", "menu_entry"} and not lazy:
                    wrong.append(f"{name}:{node.lineno}")
    assert wrong == []


def deliveries(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.search("[A-Za-z]{2}", node.value))


def is_message(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS


@pytest.mark.parametrize("package", ["ui"])
def test_no_sentence_is_put_together_from_messages(package: str) -> None:
    wrong = []
    for path in sorted((SOURCE / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            parts: list[ast.expr] = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                parts = [node.left, node.right]
            if isinstance(node, ast.JoinedStr):
                parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
            if any(map(is_message, parts)) and any(map(deliveries, parts)):
                wrong.append(f"{path.relative_to(SOURCE)}: {ast.unparse(node)}")
    assert wrong == []
