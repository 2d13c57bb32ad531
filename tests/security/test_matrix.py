"""``docs/attacks.md`` has a row for each attack that a test tries, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.security.matrix import PAGE, Attack, InvalidMark, read_attacks, write_page

MARKED = """
import pytest

@pytest.mark.attack("MCP", "{attack}", "{audit}", "{result}")
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.attack("MCP", "second", "-", "held"))])
async def test_frames(x): ...
"""


def test_the_page_is_what_the_marks_say() -> None:
    text = write_page(read_attacks())
    if os.environ.get("ATTACKS_WRITE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "look at what changed, then run this test with ATTACKS_WRITE=1"


def read_marked(folder: Path, attack: str = "first", audit: str = "7h", result: str = "mended") -> list[Attack]:
    (folder / "test_it.py").write_text(MARKED.format(attack=attack, audit=audit, result=result))
    return read_attacks(folder, root=folder)


def test_marks_of_tests_and_of_their_parameters_become_rows(tmp_path: Path) -> None:
    assert read_marked(tmp_path) == [
        Attack("MCP", "first", "mended", "7h", "test_it.py::test_frames"),
        Attack("MCP", "second", "held", "-", "test_it.py::test_frames"),
    ]


@pytest.mark.parametrize(
    "wrong", [{"result": "maybe"}, {"audit": "seven"}, {"attack": "a | b"}, {"attack": "second"}], ids=str
)
def test_a_mark_that_makes_no_row_is_noticed(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidMark):
        read_marked(tmp_path, **wrong)
