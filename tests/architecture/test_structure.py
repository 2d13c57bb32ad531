"""Promises of the product about its own structure, checked in the code (the import contracts hold the rest)."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.sources import modules

from fateforger import __version__
from fateforger.cli.command_line import root_command
from fateforger.conversation.language.answer_types import build_schema
from fateforger.conversation.language.answers import PatchWords
from fateforger.ports.model import Prompt

ROOT = Path(__file__).resolve().parents[2]

AT_HOME = {
    "mem0": ("adapters/memory/",),
    "qdrant_client": ("adapters/memory/",),
    "authlib": ("adapters/google/", "adapters/microsoft/", "adapters/oauth.py"),
    "notion_client": ("adapters/notion/",),
    "autogen_ext": ("adapters/model/client.py",),
    "sqlalchemy": ("adapters/store/", "adapters/memory/", "adapters/mirror.py"),
    "sqlmodel": ("adapters/store/",),
    "mcp.client": ("adapters/calendar/", "adapters/tasklists.py"),
}
"""Packages that talk to the outside or to its database, and the modules that may import them."""


@cache
def imports() -> dict[str, frozenset[str]]:
    return {name: frozenset(module.find_imports()) for name, module in modules().items()}


def importers(package: str) -> list[str]:
    """Return the modules that import a package, or a name from it."""
    return [
        name
        for name, found in imports().items()
        if any(each == package or each.startswith(f"{package}.") for each in found)
    ]


def calls_of(function: str) -> list[str]:
    """Return the modules that call a function of that name."""
    return [
        name
        for name, module in modules().items()
        for node in module.find(ast.Call)
        if getattr(node.func, "id", getattr(node.func, "attr", None)) == function
    ]


TOOLS_OF_SERVERS = {
    "adapters/calendar/connection.py": "the tools that a calendar server says it has",
    "agents/server.py": "the tools of the program's own MCP server",
}
"""Modules that name tools, none of which a model is given."""


def test_models_get_no_tools() -> None:
    """K3, S96, S103: a request has no place for one, and nothing that asks a model passes any; so none can be loose."""
    assert set(Prompt.__dataclass_fields__) == {"name", "role", "system", "user", "schema", "notation", "history"}
    passing = {
        name
        for name, module in modules().items()
        for node in module.find(ast.keyword)
        if node.arg in {"tools", "tool_choice", "workbench", "handoffs"}
    }
    assert passing == set(TOOLS_OF_SERVERS)
    assert importers("autogen_core.tools") == importers("autogen_ext.tools") == []


BACKGROUND_WORK = {
    "app/web.py": "the web server has a loop of its own, and stops after its clients",
    "conversation/graph.py": "AutoGen's cancellation token has to hold the future of a run, which is awaited at once",
    "conversation/running_turns.py": "the work of a turn is awaited at once; as a task it can be cancelled by a stop",
    "adapters/tasklists.py": "the scopes of an MCP client end the task in which a connection breaks",
    "adapters/calendar/connection.py": "the scopes of an MCP client belong to the task that opened them",
    "adapters/oauth.py": "a renewal goes on when its caller gives up, or a rotated refresh token would be lost",
}
"""Modules outside ``workers`` that may start a task, and why."""


def test_background_work_belongs_to_one_package() -> None:
    """Lanes and timers are rows of ``workers.lanes``; what runs them, and every task, is made by the supervisor."""
    starting = {name for call in ("create_task", "ensure_future", "TaskGroup") for name in calls_of(call)}
    assert {name for name in starting if not name.startswith("workers/")} == set(BACKGROUND_WORK)
    assert set(calls_of("Lane")) <= {"workers/lanes.py", "ui/picture_layout.py"}
    assert set(calls_of("LaneWorkers")) == {"workers/supervisor.py"}
    assert set(calls_of("Timer")) == {"workers/lanes.py"}
    assert set(calls_of("Supervisor")) == {"app/program.py"}


def test_no_loop_is_endless_outside_the_supervisor() -> None:
    """A loop that ends only when it is cancelled, or when the program stops, is a timer without a row."""
    assert [
        f"{name}:{loop.lineno}"
        for name, module in modules().items()
        if name != "workers/supervisor.py"
        for loop in module.find(ast.While)
        if _is_endless(loop)
    ] == []


def _is_endless(loop: ast.While) -> bool:
    """Check whether a loop awaits and has neither a condition nor an exit."""
    inside = list(ast.walk(loop))
    leaves = any(isinstance(node, ast.Return | ast.Break | ast.Raise) for node in inside)
    waits = any(isinstance(node, ast.Await) for node in inside)
    return isinstance(loop.test, ast.Constant) and waits and not leaves


def test_each_broad_except_says_why() -> None:
    """Catching everything hides mistakes, so its line gives the reason; most errors are caught by their own class."""
    broad = re.compile(r"except( \(?([^:#]*, )?(Base)?Exception\b[^:#]*)?:(.*)")
    found = {
        f"{name}:{number}": caught[4]
        for name, module in modules().items()
        for number, line in enumerate(module.text.splitlines(), 1)
        if (caught := broad.fullmatch(line.strip())) is not None
    }
    assert found
    assert [
        place for place, comment in found.items() if not re.match(r"  # (noqa: [A-Z0-9]+  )?\w+ \w+", comment)
    ] == []


def test_context_is_put_together_in_one_room() -> None:
    """S108: only the coordinator assembles the input of a turn, and only the turn assembles a prompt."""
    assert set(calls_of("TurnInput")) == {"conversation/session_starter.py", "conversation/turns.py"}
    assert {name.rpartition("/")[0] for name in calls_of("prompt_for")} == {"conversation/language"}


def test_the_calendar_server_belongs_to_its_stand_in() -> None:
    """S110: the program knows the embedded server by its protocol alone."""
    assert importers("radicale") == importers("icalendar") == []


@pytest.mark.parametrize("package", AT_HOME)
def test_what_is_outside_is_spoken_to_in_one_place(package: str) -> None:
    """S110: clients of calendars, of the index and of databases live behind the adapter for it."""
    found = importers(package)
    assert found
    assert [name for name in found if not name.startswith(AT_HOME[package])] == []


def test_retrieval_is_in_one_place() -> None:
    """S110: how constraints are asked for is one pure module, and one class asks the store for a turn."""
    homes = {
        name: [path for path, module in modules().items() if name in _find_definitions(module.tree)]
        for name in ("query_types", "query_constraints", "ConstraintRetriever")
    }
    assert {name: len(paths) for name, paths in homes.items()} == dict.fromkeys(homes, 1)
    assert calls_of("ConstraintRetriever") == ["conversation/memory_service.py"]


def _find_definitions(tree: ast.Module) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in tree.body if isinstance(node, kinds)}


def test_what_a_person_told_comes_from_one_store() -> None:
    """K2, S37: the running program reads constraints through the port; Notion and the table of an earlier planner are
    read by the migration only."""
    assert importers("fateforger.memory.ports") != []
    for source in ("notion", "mirror"):
        outside = [n for n in importers(f"fateforger.adapters.{source}") if not n.startswith(f"adapters/{source}")]
        assert outside == ["app/migration.py"]


def test_the_only_plan_that_a_model_sees() -> None:
    """S111: blocks by name; rows of the database are known to the store alone."""
    kinds = set(build_schema(PatchWords)["$defs"])
    assert kinds == {"ET", *(f"{op}Op" for op in ("Add", "Edit", "Move", "Remove", "Resize", "Shift", "Swap", "ToDay"))}
    for row_maker in ("sqlmodel", "fateforger.adapters.store.tables"):
        assert [name for name in importers(row_maker) if not name.startswith("adapters/store/")] == []


def test_rules_check_and_do_not_solve() -> None:
    """K6, S170: the room of rules knows nothing that makes, changes or writes a plan, and keeps nothing."""
    known = {
        found.split(".")[1]
        for name, there in imports().items()
        if name.startswith("workflow/")
        for found in there
        if found.startswith("fateforger.")
    }
    assert known == {"workflow", "planning", "errors", "limits", "text", "values"}


def test_nothing_old_is_kept_beside_the_new() -> None:
    """S69, S125: no code waits to be removed, and nothing is there twice for the sake of an earlier version."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|(?i:deprecated|legacy|backwards?[- ]compat\w*))\b")
    lines = [
        f"{name}:{number}: {line.strip()}"
        for name, module in modules().items()
        for number, line in enumerate(module.text.splitlines(), 1)
        if marks.search(line)
    ]
    assert lines == []


SECOND_HELPERS = re.compile(
    r"""[\"'] and [\"']\.join|if [^{}]+ == 1 else '?s\b|'' if [^{}]+ == 1 else|\b(?P<noun>\w+)' if [^{}]+ == 1 else '(?P=noun)s'"""
    r"""|(?<!…)\ and \{[^{}]+\}\ more|\[: ?[\w.]+ - 1\].*…"""
)


def test_titles_lists_and_counts_are_put_into_sentences_in_one_place() -> None:
    """``text.py`` quotes and truncates titles, joins words and counts things; nothing else does so by itself."""
    helpers = _find_definitions(modules()["text.py"].tree)
    again = [(name, found) for name, module in modules().items() for found in _find_definitions(module.tree) & helpers]
    assert sorted(again) == sorted(("text.py", name) for name in helpers)
    by_hand = [
        f"{name}: {line.strip()}"
        for name, module in modules().items()
        if name not in {"text.py", "workflow/conformance.py"}  # the latter joins the operands of a formula
        for line in module.text.splitlines()
        if SECOND_HELPERS.search(line)
    ]
    assert by_hand == []


def test_a_name_of_a_module_is_set_once() -> None:
    """The second value would silently replace the first one everywhere in the module."""
    twice = []
    for name, module in modules().items():
        targets = [node.targets for node in module.tree.body if isinstance(node, ast.Assign)]
        targets += [[node.target] for node in module.tree.body if isinstance(node, ast.AnnAssign)]
        inside = [node for each in targets for target in each for node in ast.walk(target)]
        names = [node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        twice += [f"{name} {each}" for each, count in Counter(names).items() if count > 1]
    assert twice == []


def test_values_are_copied_by_one_typed_helper() -> None:
    """``values.py`` refuses names that are no fields; ``model_copy`` by itself would take any."""
    assert calls_of("model_copy") == ["values.py"]


def test_the_version_that_is_shown_is_that_of_the_file() -> None:
    """S191: there is one file with the version, which packages are built with and every command shows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    file = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text()
    (written,) = re.findall(r'^__version__ = "([^"]+)"$', file, re.MULTILINE)
    assert written == __version__
    assert CliRunner().invoke(root_command, ["--version"]).output == f"fateforger, version {written}\n"
    elsewhere = [n for n, module in modules().items() if n != "__init__.py" and f'"{written}"' in module.text]
    assert elsewhere == []
