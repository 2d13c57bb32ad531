"""Missing packages stop the start, all named at once (S222)."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import fateforger
from fateforger.cli import NEEDED, describe_missing, find_missing

SOURCE = Path(fateforger.__file__).parents[1]
BARE = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from fateforger.cli import main; main()"


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Return the program in a Python that knows no installed packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE, *arguments], capture_output=True, text=True, check=False
    )


def test_s222_a_start_without_its_packages_lists_them() -> None:
    told = bare("up")
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr == f"{describe_missing(tuple(NEEDED))}\n"
    as_json = bare("doctor", "--json")
    assert as_json.returncode == 3
    assert json.loads(as_json.stdout)["error"]["kind"] == "not_installed"


def test_s222_one_that_is_missing_is_named_and_nothing_else() -> None:
    assert find_missing() == ()
    lacking = find_missing(lambda module: None if module == "yaml" else module)
    assert lacking == ("pyyaml",)
    assert describe_missing(lacking) == (
        "fateforger needs a package that is not installed here: pyyaml."
        " In its folder, make install (or pip install -r requirements.lock) installs everything."
    )


def test_the_list_is_that_of_the_project() -> None:
    """A package that is added there is looked for at the start as well."""
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    assert sorted(NEEDED) == sorted(re.split(r"[<>=\[]", line)[0] for line in project["dependencies"])


def test_the_way_in_is_a_function_whatever_was_imported() -> None:
    """A module of the same name would take its place once it is imported."""
    importlib.import_module("fateforger.cli.command_line")
    assert callable(vars(importlib.import_module("fateforger.cli"))["main"])
