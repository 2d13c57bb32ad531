"""A copy with other values: its names are checked when the program runs, and its types by mypy."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api
from pydantic import BaseModel, ConfigDict

from fateforger.values import replace

ROOT = Path(__file__).parents[2]


class Block(BaseModel):
    model_config = ConfigDict(frozen=True)
    title: str
    minutes: int = 30


def test_a_copy_has_the_new_values_and_the_original_keeps_its_own() -> None:
    block = Block(title="Report")
    assert replace(block, minutes=45) == Block(title="Report", minutes=45)
    assert block.minutes == 30


def test_a_name_that_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="Block has no field minuets"):
        replace(Block(title="Report"), minuets=45)


def test_mypy_refuses_a_wrong_name_and_a_wrong_type(tmp_path: Path) -> None:
    """With the settings that the checks use."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from fateforger.quality import Fix\n"
        "from fateforger.values import replace\n\n\n"
        "def change(fix: Fix) -> Fix:\n"
        "    named = replace(fix, lable='x')\n"
        "    return replace(named, label=1)\n"
    )
    said, _, status = api.run([
        "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache"), str(wrong),
    ])  # fmt: skip
    assert status == 1
    assert 'Unexpected keyword argument "lable" for "replace"' in said
    assert 'Argument "label" to "replace" has incompatible type "int"' in said
