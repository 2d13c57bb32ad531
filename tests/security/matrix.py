"""The page ``docs/attacks.md``: a row for each test with the mark ``attack``, read from the source of the tests.

``ATTACKS_WRITE=1 pytest tests/security/test_matrix.py`` writes it; ``python -m tests.security.matrix`` prints it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "attacks.md"
RESULTS = ("held", "mended")
AUDIT = re.compile(r"-|\d+[a-z]?(, \d+[a-z]?)*")
HEAD = """\
# Attacks

Each attack that was tried at an entry point, and the test that repeats it. "Held" means that it failed when it was first
tried, in the security audit of 2026-11-22 or later; "mended" means that it succeeded then. The number is that of the audit's
finding. For each mended attack, `tests/mutants/safety.toml` takes away the defense, and the attack succeeds again. The few for
which that is not possible are listed in `tests/mutants/test_fixes.py`, with the reason. This page is written from the marks of the tests:
`ATTACKS_WRITE=1 .venv/bin/pytest tests/security/test_matrix.py`. [Limits](limits.md) lists the limits on input.

The program of the audit, commit f755753, was attacked once more on 2026-11-27, side by side with the present one. There the page, the
day, the calendar's tools and CalDAV answered without a token (5), pages of another port pressed buttons (7a), no answer kept frames
away (6), doctor printed two planted passwords (7c), a directory with mode 1777 became 700 (7d), 400 sessions of the calendar's tools
stayed (7e), 100 MB were read (7f), 100 half-sent requests were open after 32 seconds (7g), an event every minute closed the day (1),
and the search for passwords took four to seven times as long for a text twice as long (4). The present program refused these at once,
or did not do them; behind the login, (1), (4), (7e) and (7f) were not tried again that day, and the tests below stand for them.
"""


@dataclass(frozen=True, order=True)
class Attack:
    """One row: an attack at an entry point, and the test that tries it."""

    entry: str
    attack: str
    result: str
    audit: str
    test: str


class InvalidMark(Exception):
    """A mark that is not valid as a row of the page."""


def read_attacks(folder: Path = ROOT / "tests", *, root: Path = ROOT) -> list[Attack]:
    """Return the attacks in the marks of all tests below a folder, by entry point. Raises `InvalidMark`."""
    found = [attack for path in folder.rglob("test_*.py") for attack in _attacks_of(path, path.relative_to(root))]
    twice = [key for key, count in Counter((each.entry, each.attack) for each in found).items() if count > 1]
    if twice:
        raise InvalidMark(f"marked twice: {sorted(twice)}")
    return sorted(found)


def _attacks_of(path: Path, name: Path) -> Iterator[Attack]:
    """Yield the attacks in the marks of a file's tests, including the parameters of a test."""
    text = path.read_text()
    if "mark.attack" not in text:
        return
    tests = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for test in tests:
        for decorator in test.decorator_list:
            for node in ast.walk(decorator):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.attack":
                    yield _attack_of(node, f"{name.as_posix()}::{test.name}")


def _attack_of(mark: ast.Call, test: str) -> Attack:
    try:
        entry, attack, audit, result = (str(ast.literal_eval(argument)) for argument in mark.args)
    except ValueError:
        raise InvalidMark(
            f"{test}: a mark has four strings: entry point, attack, number of the audit, result"
        ) from None
    if mark.keywords or result not in RESULTS or AUDIT.fullmatch(audit) is None or "|" in entry + attack:
        raise InvalidMark(f"{test}: {ast.unparse(mark)} is no row")
    return Attack(entry, attack, result, audit, test)


def write_page(attacks: list[Attack]) -> str:
    """Return the page: the number of attacks, and a table of them."""
    by_result = Counter(each.result for each in attacks)
    count = f"{len(attacks)} attacks: {by_result['held']} held, {by_result['mended']} mended."
    rows = [f"| {each.entry} | {each.attack} | {each.result} | {each.audit} | `{each.test}` |" for each in attacks]
    return "\n".join(
        (HEAD, count, "", "| entry point | attack | result | audit | test |", "|---|---|---|---|---|", *rows, "")
    )


if __name__ == "__main__":
    print(write_page(read_attacks()), end="")  # noqa: T201  the page is what this program is for
