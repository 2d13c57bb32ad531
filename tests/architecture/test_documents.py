"""Laws for the documents: their length, the pages of the site, and every command that they name."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from fateforger import __version__
from fateforger.cli.command_line import root_command

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PREFIX = re.compile(r"^(docker compose exec bot |\.venv/bin/)")


def test_the_first_pages_are_short() -> None:
    """As ``wc -w`` counts."""
    words = {page: len((ROOT / page).read_text().split()) for page in ("README.md", "CONTRIBUTING.md")}
    assert words["README.md"] <= 700
    assert words["CONTRIBUTING.md"] <= 450


NOT_OURS = {"OLLAMA_CONTEXT_LENGTH", "meeting_after_17_30"}
"""Names of other programs, and of an example."""


@pytest.mark.core
def test_documents_name_only_what_exists() -> None:
    """S192: each function, class, field, table and setting that a page puts into backticks is in the code."""
    files = (path for folder in ("src", "tests", "scripts", "benchmarks") for path in (ROOT / folder).rglob("*"))
    code = [path.read_text() for path in files if path.suffix in {".py", ".yaml", ".j2", ".json"}]
    known = set(re.findall(r"\w+", "\n".join((*code, (ROOT / ".env.example").read_text()))))
    decisions = (ROOT / "docs" / "decisions").glob("*.md")
    named = {
        (path.name, found[1])
        for path in (*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "GLOSSARY.md", ROOT / "TICKET_SYNC_ENGINE.md", *decisions)
        for text in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL))
        if (found := re.fullmatch(r"(?:\w+\.)*([A-Za-z_]\w+)(?:\(.*\))?", text))
        and ("_" in found[1] or "(" in text or re.search(r"[a-z][A-Z]", found[1]))
    }
    assert len(named) > 100
    assert {(page, name) for page, name in named if name not in known | NOT_OURS} == set()


def test_the_site_has_every_page() -> None:
    """The navigation names each page in ``docs/`` and at the root, and nothing else. docs/decisions.md lists decisions."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "docs"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    pages = {file for file in listed if file.startswith("docs/") or "/" not in file}
    elsewhere = {file for file in pages if file.endswith(".png") or file.startswith("docs/decisions/")}
    nav = list(leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(nav) == sorted(pages - elsewhere)


def leaves(nav: Any) -> Iterator[str]:
    """Yield the files in a navigation of MkDocs."""
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(item)


def test_every_proof_in_the_page_of_threats_exists() -> None:
    """S389: each row of what stops an attack names a test, and that is there."""
    _, _, tried = (
        (ROOT / "docs" / "threats.md").read_text().partition("| attack | what stops it | proof |\n|---|---|---|\n")
    )
    rows = tried.split("\n\n")[0].splitlines()
    named = [re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row) for row in rows]
    assert len(rows) > 10
    assert [row for row, found in zip(rows, named, strict=True) if not found] == []
    assert [
        f"{file}::{test}"
        for found in named
        for file, test in found
        if not (ROOT / file).is_file() or f"def {test}(" not in (ROOT / file).read_text()
    ] == []


def test_the_changelog_begins_with_what_is_unreleased_and_this_version() -> None:
    headings = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d{2}-\d{2})?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[:2] == ["Unreleased", __version__]


def test_hooks_and_workflows_run_what_developers_run() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["entry"] for repository in hooks for hook in repository["hooks"]] == ["make check"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert workflow["jobs"]["ci"]["steps"][-1] == {"run": ".ci/run"}


def commands(page: Path) -> Iterator[str]:
    """Yield each command line in a page: lines of code blocks, and code within sentences."""
    text = page.read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```|^((?: {4}[^\n]*\n)+)", text, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in "".join(block).splitlines()]
    for line in (*lines, *re.findall(r"`([^`\n]+)`", text)):
        command = PREFIX.sub("", line)
        if command.startswith(("fateforger ", "make ")):
            yield command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    """Commands with their options, and targets of the Makefile; placeholders are in capitals."""
    assert [(line, why) for line in commands(page) if (why := mistake(line))] == []


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert mistake("fateforger sync undo --force TRANSACTION") is None
    assert mistake("fateforger tasks list   # the queue") is None
    assert mistake("make up") is None
    assert mistake("fateforger sync redo") == "redo"
    assert mistake("fateforger sync undo --yes") == "--yes"
    assert mistake("make coffee") == "coffee"


def mistake(line: str) -> str | None:
    """Return the first word of a command line that is no command, option or target; ``None`` if there is none."""
    program, *words = shlex.split(re.split(r" {4,}", line)[0], comments=True)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return next((word for word in words if "=" not in word and word not in targets), None)
    command: click.Command = root_command
    context = click.Context(command)
    options = names(command)
    for word in words:
        if word.startswith("--"):
            if word.partition("=")[0] not in options:
                return word
        elif isinstance(command, click.Group) and word[0].islower():
            found = command.get_command(context, word)
            if found is None:
                return word
            command = found
            options |= names(command)
    return None


def names(command: click.Command) -> set[str]:
    """Return the options of a command as they are typed."""
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


def test_the_examples_of_the_guide_work_as_typed(tmp_path: Path) -> None:
    """S455: the guide's rule counts for the person who types it, and its plan is valid."""
    examples = re.findall(r"^    (echo '.* \| fateforger .*)$", (ROOT / "docs/guide.md").read_text(), re.MULTILINE)
    shell = f"fateforger() {{ '{sys.executable}' -m fateforger \"$@\"; }}"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    said = [
        subprocess.run(
            ["bash", "-c", f"{shell}; {line}"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in (*examples, "fateforger constraints list")
    ]
    assert "Noted: “Lunch at one”" in said[0]
    assert said[1].endswith("Add “Mail” 11:00–11:30\n2 to add\n")
    assert said[2].startswith("should Lunch at one")
