"""A copy with other values: its names are checked when the program runs, and its types by mypy."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from fateforger.values import Value, replace

ROOT = Path(__file__).parents[2]


class Block(BaseModel):
    model_config = ConfigDict(frozen=True)
    title: str
    minutes: int = 30


@dataclass(frozen=True)
class Task:
    title: str
    minutes: int = 30


@pytest.mark.parametrize("kind", [Block, Task])
def test_a_copy_has_the_new_values_and_the_original_keeps_its_own(kind: type[Block | Task]) -> None:
    block = kind(title="Report")
    assert replace(block, minutes=45) == kind(title="Report", minutes=45)
    assert block.minutes == 30


def test_a_name_that_is_no_field_is_refused() -> None:
    wrong: dict[str, Any] = {"minuets": 45}
    with pytest.raises(TypeError, match="Block has no field minuets"):
        replace(Block(title="Report"), **wrong)


def test_mypy_refuses_a_wrong_name_and_a_wrong_type(tmp_path: Path) -> None:
    """With the settings that the checks use."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from fateforger.drafting.day_draft import Work\n"
        "from fateforger.quality.model import Fix\n"
        "from fateforger.values import replace\n\n\n"
        "def change(fix: Fix) -> Fix:\n"
        "    named = replace(fix, lable='x')\n"
        "    return replace(named, label=1)\n\n\n"
        "def rename(work: Work) -> Work:\n"
        "    return replace(work, nmae='x')\n"
    )
    settings = ("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache"))
    # In a process of its own, since mypy changes the recursion limit of the one that it runs in.
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, str(wrong)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ended.returncode == 1, ended.stderr
    said = ended.stdout
    assert 'Unexpected keyword argument "lable" for "replace"' in said
    assert 'Unexpected keyword argument "nmae" for "replace"' in said
    assert 'Argument "label" to "replace" has incompatible type "int"' in said


class Pair(Value):
    """A value with a property that is computed once."""

    one: int
    other: int

    @cached_property
    def sum(self) -> int:
        return self.one + self.other


def test_a_copy_computes_its_cached_properties_again() -> None:
    pair = Pair(one=1, other=2)
    assert (pair.sum, replace(pair, other=3).sum, pair.model_copy(update={"one": 5}).sum) == (3, 4, 7)
    assert (pair.sum, pair == Pair(one=1, other=2), pair.model_dump()) == (3, True, {"one": 1, "other": 2})
