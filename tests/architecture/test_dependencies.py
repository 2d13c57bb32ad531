"""Hold docs/dependencies.md to what is declared, imported, installed and locked."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from scripts.check_licenses import find_refused, is_allowed
from tests.sources import all_modules

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "dependencies.md").read_text()
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = PYPROJECT["project"]
OURS = {"caldav_mcp", "fateforger", "localslack"}
FOR_TYPES = {"_typeshed"}
TOOLS = {"build", "dev"}
LOADING = """
import sys
from importlib.abc import MetaPathFinder

class LeftOut(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {left_out}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, LeftOut())
import caldav_mcp.embedded, fateforger.adapters.memory.index, fateforger.adapters.model.client
import fateforger.app.program, fateforger.conversation.graph, radicale.app
"""


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return normalize(found[0])


def table(*header: str) -> list[list[str]]:
    """Return the rows of the table with that header, without backticks."""
    _, _, after = PAGE.partition(f"| {' | '.join(header)} |\n|")
    assert after, header
    rows = after.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def read_pins(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / lock).read_text(), re.MULTILINE))


def required_by(package: str) -> set[str]:
    """Return what a package asks for, with any of its extras."""
    return {name_of(requirement) for requirement in distribution(package).requires or ()}


def find_imports() -> set[str]:
    """Return the packages of others that our code imports."""
    found = {name.partition(".")[0] for module in all_modules().values() for name in module.find_imports()}
    return found - set(sys.stdlib_module_names) - OURS - FOR_TYPES


def test_each_dependency_has_a_row_that_says_what_it_is_for() -> None:
    """S386: those of the program and of its extras; a missing or a stale row fails."""
    rows = table("package", "what it is for")
    assert [row[0] for row in rows] == sorted(name_of(each) for each in PROJECT["dependencies"])
    extras = {
        (name_of(each), extra)
        for extra, listed in PROJECT["optional-dependencies"].items()
        if extra not in TOOLS
        for each in listed
    }
    assert {(name, extra) for name, extra, _ in table("package", "extra", "what it is for")} == extras
    assert all(row[-1] for row in rows)


@pytest.mark.core
def test_each_import_is_of_a_declared_package_or_said_to_come_with_one() -> None:
    declared = {name_of(each) for each in PROJECT["dependencies"]}
    declared |= {name_of(each) for listed in PROJECT["optional-dependencies"].values() for each in listed}
    homes = packages_distributions()
    rows = dict(table("module", "comes with"))
    strangers = {
        module for module in find_imports() if not {normalize(home) for home in homes.get(module, ())} & declared
    }
    assert strangers <= rows.keys() <= find_imports()
    assert set(rows.values()) <= declared


@pytest.mark.parametrize(
    "row", table("package", "asked for by", "loaded by", "what it does here"), ids=lambda row: row[0]
)
def test_what_a_parent_needs_is_loaded_by_it(row: list[str]) -> None:
    """S386: the parent asks for it, and the file that is named imports it as soon as it is loaded itself."""
    package, parent, file, _ = row
    assert package in required_by(parent)
    modules = {name for name, homes in packages_distributions().items() if package in map(normalize, homes)}
    path = Path(str(distribution(parent).locate_file(file)))
    at_once = {
        name.partition(".")[0]
        for node in ast.parse(path.read_text()).body
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert modules & at_once


def test_what_is_left_out_is_in_no_lock_file() -> None:
    """S386: and each is asked for by the parent that the page names."""
    rows = table("package", "asked for by", "what it would be for")
    left_out = {name for name, *_ in rows}
    assert left_out == {name_of(each) for each in PYPROJECT["tool"]["uv"]["override-dependencies"]}
    assert [name for name, parent, _ in rows if name not in required_by(parent)] == []
    assert left_out & (read_pins("requirements.lock") | read_pins("requirements-dev.lock")) == set()


def test_the_program_loads_without_what_is_left_out() -> None:
    """S386: in a process that cannot import it, the model, the memory, the calendar and the whole program are loaded."""
    left_out = {name for name, *_ in table("package", "asked for by", "what it would be for")}
    code = LOADING.replace("{left_out}", repr(left_out))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_license_is_allowed() -> None:
    """S387: of everything that the program is installed with."""
    assert find_refused((ROOT / "requirements.lock").read_text()) == {}


def test_a_license_that_is_not_allowed_is_named() -> None:
    """S387: a package under GPL is refused unless it is the one exception, and of a combination every part counts."""
    assert find_refused("radicale==3.9.0\n") == {}
    assert not is_allowed("GPL")
    assert not is_allowed("MIT AND GPL-3.0-only")
    assert is_allowed("GPL-3.0-only OR MIT")
    assert not is_allowed("Apache-2.0 AND (MIT OR AGPL-3.0-only)")


def test_the_bill_of_materials_lists_every_pin_with_its_hashes(tmp_path: Path) -> None:
    """S388: made as `make sbom` makes it, without a network, and the same each time."""
    recipe = re.search(r"\$\(BIN\)/python (-W.*) --output-file \$@", (ROOT / "Makefile").read_text())
    assert recipe
    written = tmp_path / "bill.json"
    words = recipe[1].replace("$<", "requirements.lock").split()
    subprocess.run([sys.executable, *words, "--output-file", str(written)], cwd=ROOT, check=True, capture_output=True)
    bill = json.loads(written.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "fateforger"
    assert {normalize(each["name"]) for each in bill["components"]} == read_pins("requirements.lock")
    assert [each["name"] for each in bill["components"] if not each["externalReferences"][0]["hashes"]] == []
