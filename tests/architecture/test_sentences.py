"""Sentences are for people and may be in any language: no code compares them or takes them apart by position. What a later
step asks for has a code or a field of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.sources import Module, modules

PEOPLE = ("ui", "session", "conversation", "slack", "workers", "calendar", "quality", "tasks", "memory", "agents")
"""Packages whose texts people read."""
SAID = {"sentences", "lines", "details", "notices", "said", "room_words"}
"""Names of sentences that were shown to a person."""
STORED = {
    "calendar/submitter.py": "what the journal stores as the error of an operation",
    "workers/people.py": "what the database stores as the origin of an owner",
}
"""Modules that compare stored values with blanks, which are in no other language."""
CUT = {
    "memory/settings.py": "cuts a title to the length of its field",
    "conversation/calendar_watch.py": "lists the first lines and counts the others",
    "ui/picture_layout.py": "picks the longest wording that fits",
    "ui/picture_words.py": "lists the first lines and counts the others",
}
"""Modules that cut a list of lines to a length, for any content."""


def is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 2


@cache
def constants(name: str) -> frozenset[str]:
    """Return the names of a module's sentences, its own and those it imports."""
    found = set()
    for node in modules()[name].tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=constant)], value=value) if any(map(is_sentence, _texts(value))):
                found.add(constant)
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("fateforger."):
                source = f"{module.partition('.')[2].replace('.', '/')}.py"
                if source in modules():
                    found |= {each.asname or each.name for each in names if each.name in constants(source)}
    return frozenset(found)


def _texts(value: ast.expr) -> list[ast.expr]:
    return value.args if isinstance(value, ast.Call) else [value]


def spoken_modules() -> Iterator[tuple[str, Module]]:
    return ((name, module) for name, module in modules().items() if name.partition("/")[0] in PEOPLE)


def compares_sentence(node: ast.Compare, known: frozenset[str]) -> bool:
    sides = [node.left, *node.comparators]
    sides += [part for side in sides if isinstance(side, ast.Tuple | ast.Set | ast.List) for part in side.elts]
    return any(is_sentence(side) or (isinstance(side, ast.Name) and side.id in known) for side in sides)


def slices_sentence(node: ast.Subscript) -> bool:
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    first = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)
    return name in SAID and isinstance(node.ctx, ast.Load) and (first or isinstance(node.slice, ast.Slice))


def test_no_code_compares_sentences() -> None:
    found = {
        name
        for name, module in spoken_modules()
        for node in module.find(ast.Compare)
        if compares_sentence(node, constants(name))
    }
    assert found == set(STORED)


def test_no_code_takes_sentences_by_their_place() -> None:
    found = {name for name, module in spoken_modules() for node in module.find(ast.Subscript) if slices_sentence(node)}
    assert found == set(CUT)
