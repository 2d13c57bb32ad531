"""Measure which tests take long, for ``make test`` to leave them to ``make test-all``.

``TIMES_WRITE=1 make test`` runs them all, and writes :data:`LISTED` from what each one took.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

LISTED = Path(__file__).with_name("long_tests.txt")
LONG = 0.8
"""Seconds that one test may take, on average of its parameters, to be run by ``make test``."""
LONG_IN_ALL = 8.0
"""Seconds for all parameters of a test together."""


def read_long_tests() -> frozenset[str]:
    """Return the listed tests, as :func:`name_test` names them."""
    return frozenset(LISTED.read_text().splitlines())


def name_test(node: str) -> str:
    """Return the name of a test for all its parameters, without the folder of the suite."""
    return node.partition("[")[0].removeprefix("tests/")


class Times:
    """A plugin that measures each test's call and writes the list at the end of the run."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            name = name_test(report.nodeid)
            self._seconds[name] += report.duration  # type: ignore[assignment]  # a counter of seconds
            self._calls[name] += 1

    def pytest_sessionfinish(self) -> None:
        long = [
            name
            for name, seconds in self._seconds.items()
            if seconds > LONG_IN_ALL or seconds / self._calls[name] > LONG
        ]
        LISTED.write_text("".join(f"{name}\n" for name in sorted(long)))
