"""S378: limits on input are in one module of each package, with a reason; ``docs/limits.md`` is written from them."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest
from tests.security.limits_page import CALDAV, OWN, PAGE, name_of, read_limits, source_of, write_page

SOURCE = Path(__file__).resolve().parents[2] / "src"
SIZE = re.compile(r"max_length|max_items")
"""Arguments that limit input; the range of a number is part of what the number means."""
LARGE = 5
"""A smaller number is part of a format: a pair, a triple."""
NAMED = re.compile(r"_?(MAX|MIN|DEEPEST)(_|$)")
ELSEWHERE = {
    "fateforger/slack/access.py": "people whom it remembers",
    "fateforger/slack/blocks.py": "what Slack takes: a longer text of ours is cut or split",
    "fateforger/slack/delivery.py": "threads that it remembers",
    "fateforger/slack/forms.py": "what Slack takes: a longer text of ours is cut or split",
    "fateforger/slack/poster.py": "messages that it remembers",
    "localslack/delivery/transport.py": "connections of one app, which are no content",
    "localslack/live_pages.py": "frames to a page, which are ours",
}
"""Modules with numbers of such a name that limit no input."""


@cache
def trees() -> dict[str, ast.Module]:
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def is_number(node: ast.AST | None) -> bool:
    """Check whether an expression is made of numbers alone."""
    leaves = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
    return node is not None and all(isinstance(each, leaves) for each in ast.walk(node))


def test_no_other_module_defines_a_limit_of_input() -> None:
    found = {
        f"{name}: {named}"
        for name, tree in trees().items()
        if not name.endswith("/limits.py")
        for node in tree.body
        if (named := name_of(node)) and NAMED.match(named) and is_number(getattr(node, "value", None))
    }
    assert {each for each in found if each.partition(":")[0] not in ELSEWHERE} == set()
    assert {each.partition(":")[0] for each in found} == set(ELSEWHERE), "no exception without a case"


def test_no_size_is_written_where_it_is_checked() -> None:
    """Neither as the longest of a field, nor as a number that a length is compared with."""
    sizes = [
        f"{name}:{node.value.lineno}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and SIZE.fullmatch(node.arg or "") and _is_large(node.value)
    ]
    compared = [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("len(")
        if any(_is_large(each) for each in node.comparators)
    ]
    assert sizes == []
    assert {place.partition(":")[0] for place in compared} == set(FORMATS)


FORMATS = {
    "caldav_mcp/content_lines.py": "where a line is folded",
    "caldav_mcp/recurrence.py": "the digits of a number",
    "fateforger/conversation/redaction.py": "a name of ours, which is kept",
}
"""Modules that compare a length with a number which limits no input."""


def _is_large(node: ast.expr) -> bool:
    return is_number(node) and bool(eval(ast.unparse(node)) > LARGE)  # numbers of our own source alone


@pytest.mark.parametrize("module", [OWN, CALDAV])
def test_each_limit_has_a_reason_and_is_used(module: str) -> None:
    limits = read_limits(module)
    assert [limit.name for limit in limits if not limit.reason.endswith(".") or not limit.heading] == []
    assert [limit.name for limit in limits if not limit.name.startswith(("MAX_", "MIN_"))] == []
    used = {
        node.id
        for name, tree in trees().items()
        if SOURCE / name != source_of(module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
    }
    assert {limit.name for limit in limits} - used == set()


def test_the_page_is_what_the_modules_say() -> None:
    text = write_page()
    if os.environ.get("LIMITS_WRITE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "look at what changed, then run this test with LIMITS_WRITE=1"
