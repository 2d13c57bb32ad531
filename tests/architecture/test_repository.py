"""Laws for the repository itself: documents, settings and lock files that cannot rot."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from pydantic import AliasChoices
from tests.mutants.mutant import read_mutants
from tests.times import read_long_tests

from fateforger.config import Settings

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fateforger"


def list_tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def rooms() -> list[str]:
    return sorted(
        p.stem if p.is_file() else p.name
        for p in SOURCE.iterdir()
        if not p.name.startswith("_") and p.suffix in {"", ".py"} and p.name != "py.typed"
    )


def decisions() -> list[Path]:
    return sorted((ROOT / "docs" / "decisions").glob("*.md"))


def test_what_is_no_text_is_a_picture_or_a_typeface() -> None:
    """No file is committed that was only downloaded or generated."""
    odd = [file for file in list_tracked() if b"\0" in file.read_bytes()]
    assert {file.suffix for file in odd} == {".png", ".ttf"}


def test_every_room_is_described() -> None:
    """A newcomer finds each room in ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert [room for room in rooms() if not re.search(rf"\b{room}(/|\.py|`)", text)] == []


def test_the_way_of_a_message_can_be_followed() -> None:
    """Each step names where to begin reading, and that is there."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    steps = re.findall(r"^\| \d+ \|.*$", text, re.MULTILINE)
    places = [re.findall(r"`([\w/]+\.py)::(\w+)`", step) for step in steps]
    assert len(steps) == 10
    assert [step for step, found in zip(steps, places, strict=True) if not found] == []
    gone = [
        f"{file}::{name}"
        for found in places
        for file, name in found
        if not (SOURCE / file).is_file()
        or not re.search(rf"^(?:async )?(?:def|class) {name}\b", (SOURCE / file).read_text(), re.MULTILINE)
    ]
    assert gone == []


def test_the_architecture_can_be_read_at_once() -> None:
    """One page of ten kilobytes."""
    assert (ROOT / "ARCHITECTURE.md").stat().st_size <= 10_240


def test_each_decision_is_listed_once_by_its_title() -> None:
    listed = re.findall(r"^- \[(.+)\]\(decisions/(.+\.md)\)$", (ROOT / "docs/decisions.md").read_text(), re.MULTILINE)
    there = {path.name: path.read_text().splitlines()[0] for path in decisions()}
    assert {name: f"# {name[:3]}. {title}" for title, name in listed} == there
    assert len(listed) == len(there)


@pytest.mark.parametrize("path", decisions(), ids=lambda path: path.stem)
def test_a_decision_says_why_what_and_what_follows(path: Path) -> None:
    """At most 150 words below its three headings, and the files that it names are there."""
    text = path.read_text()
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    assert [section.splitlines()[0] for section in sections] == ["Context", "Decision", "Consequence"]
    assert sum(len(section.split()) - 1 for section in sections) <= 150
    named = re.findall(r"`([\w-]+(?:/[\w-]+)+\.\w+)`", text)
    assert [file for file in named if not (SOURCE / file).exists() and not (ROOT / file).exists()] == []


@pytest.mark.core
def test_the_glossary_defines_each_word_once() -> None:
    """At most 90 terms, each with one meaning: one a line, none twice; a name of the code that it gives exists."""
    text = (ROOT / "GLOSSARY.md").read_text()
    terms = re.findall(r"^- \*\*([^*,/]+)\*\*(?: \(`(\w+)`[^)]*\))?: \S", text, re.MULTILINE)
    names = [name.lower() for name, _ in terms]
    assert len(names) == text.count("**") / 2 <= 90
    assert len(set(names)) == len(names)
    code = "\n".join(path.read_text() for path in list_tracked("src/*.py"))
    assert [known for _, known in terms if known and not re.search(rf"\b{known}\b", code)] == []


def test_every_setting_is_in_the_example() -> None:
    """Each setting with the sentence that describes it, and no setting that does not exist."""
    example = (ROOT / ".env.example").read_text()
    assert example == render_example()


def render_example() -> str:
    lines = [
        "# Every setting of fateforger, none of them required. Copy this file to .env and take away the # where you",
        "# want something other than the default. Secrets belong here or in the environment, never in the repository.",
        "",
    ]
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        variable = str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"FATEFORGER_{name.upper()}"
        default = "" if field.default in (None, {}) or field.default_factory is not None else field.default
        if name == "data_dir":
            default = "~/.local/share/fateforger"
        assert field.description, name
        lines += [f"# {field.description}", f"#{variable}={default}", ""]
    return "\n".join(lines)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock", "requirements-docs.lock"])
def test_lock_files_pin_by_hash_and_name_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    pins = re.findall(r"^([a-z0-9][a-z0-9._-]*)==", text, re.MULTILINE)
    assert len(pins) > 10
    assert text.count("--hash=sha256:") >= len(pins)


def test_every_dependency_is_used_and_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[<>=\[]", d)[0] for d in project["dependencies"]]
    lock = (ROOT / "requirements.lock").read_text()
    assert [n for n in names if f"\n{n}==" not in f"\n{lock}"] == []


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in list_tracked("*.md")
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_no_suppression_without_its_reason() -> None:
    """`noqa` and `type: ignore` name the rule and say why, on the line."""
    bare = []
    for path in list_tracked("src/*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            marks = re.findall(r"#\s*(?:noqa|type:\s*ignore)[^#]*(?:#.*)?$", line)
            if marks and not re.search(r"(noqa: (?:[A-Z]+\d+,? ?)+\s+\S|ignore\[[a-z, -]+\]\s+#\s*\S)", line):
                bare.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert bare == []


def test_tests_wait_on_conditions() -> None:
    """No test sleeps for a fixed time; polling with a deadline is what the wait helpers are for."""
    sleepers = []
    for path in list_tracked("tests/*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\btime\.sleep\(", line) and "condition" not in line:
                sleepers.append(f"{path.relative_to(ROOT)}:{number}")
    assert sleepers == []


def test_every_proof_of_a_property_names_it() -> None:
    """The properties P1-P20 in TICKET_SYNC_ENGINE.md: each has tests, and each of these says so in its docstring (a
    file that is named as a whole does somewhere)."""
    rows = re.findall(r"^\| (P\d+) \|.*$", text := (ROOT / "TICKET_SYNC_ENGINE.md").read_text(), re.MULTILINE)
    assert rows == [f"P{n}" for n in range(1, 21)]
    silent = [
        f"{row[1]}: {file}::{test}"
        for row in re.finditer(r"^\| (P\d+) \|.*$", text, re.MULTILINE)
        for file, test in re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", row[0])
        if row[1] not in properties(said_by(ROOT / "tests" / file, test))
    ]
    assert silent == []


def said_by(file: Path, test: str) -> str:
    """Return the docstring of a test; all of a file when no test is named."""
    return docstrings(file).get(test, "") if test else file.read_text()


@cache
def docstrings(file: Path) -> dict[str, str]:
    """Return the docstring of each function in a file; of the first where several have one name."""
    functions = [
        n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {n.name: ast.get_docstring(n) or "" for n in reversed(functions)}


def properties(text: str) -> set[str]:
    """Return the properties in a text: ``P4, P6-P8`` are four of them; ``P6b`` is one of P6."""
    spans = re.findall(r"\bP(\d+)[abc]?(?:-P(\d+))?", text)
    return {f"P{n}" for first, last in spans for n in range(int(first), int(last or first) + 1)}


def test_every_proof_that_is_named_exists() -> None:
    """TICKET_SYNC_ENGINE.md names tests; a renamed or deleted test must not leave a hollow promise behind."""
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", (ROOT / "TICKET_SYNC_ENGINE.md").read_text())
    assert len(named) > 30
    hollow = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / "tests" / file).is_file() or (test and f"def {test}(" not in (ROOT / "tests" / file).read_text())
    ]
    assert hollow == []


@pytest.mark.parametrize("seeded", list_tracked("tests/mutants/*.toml"), ids=lambda path: path.stem)
def test_every_seeded_bug_has_its_place(seeded: Path) -> None:
    """``make test-all`` seeds them; that the code moved on without the list is seen by ``make test`` already."""
    mutants = read_mutants(seeded)
    assert [mutant.name for mutant in mutants if not mutant.break_source()] == []
    places = {test.partition("[")[0] for mutant in mutants for test in mutant.killed_by}
    assert sorted(place for place in places if not is_test(*place.split("::"))) == []


def test_every_test_that_is_listed_as_long_exists() -> None:
    assert [name for name in sorted(read_long_tests()) if not is_test(*f"tests/{name}".split("::"))] == []


def is_test(file: str, name: str = "", *_inherited: str) -> bool:
    """Check for a file of tests, or a function or class in it."""
    path = ROOT / file
    return path.is_file() and (not name or bool(re.search(rf"\b(def|class) {name}\b", path.read_text())))
