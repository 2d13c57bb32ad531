"""The page ``docs/limits.md``, made from the modules of limits: the name, value and reason of each limit.

``LIMITS_WRITE=1 pytest tests/architecture/test_limits.py`` writes it.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "limits.md"
OWN, CALDAV = "fateforger.limits", "caldav_mcp.limits"
HEAD = """\
# Limits

The limits on input, and the reason for each, as in `fateforger.limits` and, for the embedded calendar and CalDAV, in
`caldav_mcp.limits`. This page is written from them: `LIMITS_WRITE=1 .venv/bin/pytest tests/architecture/test_limits.py`.
Input that exceeds a limit is refused with a sentence, or left out and named. Of texts that are only read, the beginning
is used. [Attacks](attacks.md) lists the tests.
"""


@dataclass(frozen=True)
class Limit:
    """A limit, the heading above it, and its reason."""

    name: str
    value: int | float | timedelta | date
    heading: str
    reason: str


def read_limits(module: str) -> list[Limit]:
    """Return the limits of a module in their order."""
    values = vars(importlib.import_module(module))
    text = source_of(module).read_text()
    body = ast.parse(text).body
    headings = [(number, line[2:]) for number, line in enumerate(text.splitlines(), 1) if line.startswith("# ")]
    found = []
    for node, following in zip(body, [*body[1:], None], strict=True):
        name = name_of(node)
        if name is not None:
            heading = max((each for each in headings if each[0] < node.lineno), default=(0, ""))[1]
            found.append(Limit(name, values[name], heading, _reason(following)))
    return found


def source_of(module: str) -> Path:
    return ROOT / "src" / f"{module.replace('.', '/')}.py"


def name_of(node: ast.stmt) -> str | None:
    """Return the name that a statement gives to a value."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _reason(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def write_page() -> str:
    return "\n".join((HEAD, *_section("The program", OWN), *_section("The embedded calendar and CalDAV", CALDAV)))


def _section(title: str, module: str) -> Iterator[str]:
    yield f"## {title}\n"
    for heading, limits in groupby(read_limits(module), key=lambda limit: limit.heading):
        yield f"### {heading}\n\n| limit | value | reason |\n|---|---|---|"
        for limit in limits:
            yield f"| `{limit.name}` | {_words(limit)} | {re.sub(r'`+', '`', limit.reason)} |"
        yield ""


def _words(limit: Limit) -> str:
    """Return a value with its unit, which is in its name."""
    if isinstance(limit.value, timedelta):
        hours = limit.value.total_seconds() / 3600
        return f"{hours:g} hours" if hours <= 48 else f"{limit.value.days} days"
    if isinstance(limit.value, date):
        return limit.value.isoformat()
    unit = re.search(r"_(CHARS|BYTES|SECONDS|MINUTES|DAYS)$", limit.name)
    words = {"CHARS": "characters"}.get(unit[1], unit[1].lower()) if unit else ""
    return f"{limit.value:,} {words}".strip()
