"""Runs of tests against copies of the package, each in a fork of a process that has loaded everything but our own code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.forks import ROOT, Forks

COPY = "MUTATED_PACKAGE"
"""The environment variable that names the copy of the package."""
OPTIONS = (
    *("-x", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.mutants.verdict"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # Hypothesis is loaded already
)
LOADED = (
    "tests.mutants.runs", "_pytest.terminal", "autogen_agentchat.teams", "autogen_core", "dateutil.rrule", "httpx",
    "hypothesis.stateful", "mcp.client.streamable_http", "psycopg", "pydantic_settings", "slack_bolt.async_app",
    "slack_sdk.web.async_client", "sqlalchemy.ext.asyncio", "sqlmodel", "starlette.applications", "uvicorn", "yaml",
)  # fmt: skip
"""What our code and its tests import. What is missing here is loaded by each run that needs it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """``status`` is pytest's exit code, as :mod:`tests.mutants.verdict` sees it."""

    status: int
    said: str


class Runs:
    """``folder`` is for what Hypothesis leaves."""

    def __init__(self, folder: Path) -> None:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "HYPOTHESIS_"))}
        self._environment = {
            **plain,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",  # two bugs in one file and second could be taken for each other
            "HYPOTHESIS_PROFILE": "mutants",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder),
        }
        self._forks = Forks(*LOADED, environment=self._environment)

    def run(self, package: Path, tests: Iterable[str]) -> Ended:
        """The tests against a copy of the package: deterministic, without shrinking, leaving nothing behind."""
        where, output = package.parent, package.parent / "output"
        output.unlink(missing_ok=True)
        environment = {
            **self._environment,
            COPY: str(package),
            "PYTHONPATH": os.pathsep.join([str(where), str(ROOT)]),
        }
        fork = self._forks.start("tests.mutants.runs:judge", str(where), *tests, environment=environment, output=output)
        return Ended(fork.wait(), output.read_text())

    def close(self) -> None:
        self._forks.close()


def judge(where: str, *tests: str) -> int:
    """In the fork: run tests with the package that is in a folder."""
    assert "fateforger" not in sys.modules
    sys.path.insert(0, where)
    return int(pytest.main([*OPTIONS, *tests]))
