"""Runs of tests with a bug in the program, each in a fork of a process that has loaded the program and these tests."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.command_line import SEEDED, programs
from tests.forks import ROOT, Forks
from tests.mutants.swap import break_module

PLUGINS = ("pytest_asyncio.plugin", "pytest_timeout", "_hypothesis_pytestplugin")
OPTIONS = (
    *("-x", "-q", "--tb=native", "-p", "no:cacheprovider", "-p", "tests.mutants.verdict", "--disable-plugin-autoload"),
    *(argument for plugin in PLUGINS for argument in ("-p", plugin)),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # all is loaded already
)

LOADED = (
    "tests.mutants.runs",
    "tests.mutants.programs",
    "tests.mutants.verdict",
    "tests.conftest",
    "_pytest.terminal",
    *PLUGINS,
    "deepdiff",
    "fateforger.conversation.graph",
)
"""Also what the program loads only when it needs it, half a second in each fork."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """``status`` is pytest's exit code, as :mod:`tests.mutants.verdict` sees it."""

    status: int
    said: str


class PytestRuns:
    """Of some tests; ``folder`` is for what they say, and what Hypothesis leaves."""

    def __init__(self, folder: Path, tests: Iterable[str]) -> None:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "HYPOTHESIS_"))}
        self._environment = {
            **plain,
            "HYPOTHESIS_PROFILE": "mutants",
            "SCENARIO_DEADLINE": "12",  # with a bug, most waiting is in vain; CalDAV gives up a request after 20 s
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }
        self._output = folder / "output"
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        modules = [file.removesuffix(".py").replace("/", ".") for file in files]
        self._forks = Forks(*LOADED, *modules, environment=self._environment)

    def run(self, tests: Iterable[str], module: str = "", broken: str = "") -> RunResult:
        """Run tests with another source of a module: deterministic, without shrinking, without leftovers."""
        self._output.unlink(missing_ok=True)
        fork = self._forks.start(
            "tests.mutants.runs:judge", module, broken, *tests, environment=self._environment, output=self._output
        )
        return RunResult(fork.wait(), self._output.read_text())

    def close(self) -> None:
        self._forks.close()


def judge(module: str, broken: str, *tests: str) -> int:
    """Run tests in the fork, with a module broken if one is named. The programs that they start are broken, too."""
    if module:
        break_module(importlib.import_module(module), broken)
        os.environ[SEEDED] = json.dumps([module, broken])
    os.chdir(ROOT)
    try:
        return int(pytest.main([*OPTIONS, *tests]))
    finally:
        programs().kill()
