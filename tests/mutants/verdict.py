"""A pytest plugin for the run of a broken program: it makes the exit code say *why* the run failed.

1: a test noticed something, by an assertion or because the program itself refused to go on: so a mutant is
killed; 3: a test stumbled over any other error, which proves nothing. The others are pytest's own (0 all passed, 2 not
even collected).
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from fateforger.errors import FateforgerError

STUMBLED = 3
_noticed = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_noticed] = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and call.excinfo is not None:
        item.config.stash[_noticed] |= notices(call.excinfo.value)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.TESTS_FAILED and not session.config.stash[_noticed]:
        session.exitstatus = STUMBLED


def notices(error: BaseException) -> bool:
    """Return true if a test failed on a wrong result, and not because it could not continue."""
    if isinstance(error, BaseExceptionGroup):
        return any(notices(each) for each in error.exceptions)
    return isinstance(error, AssertionError | pytest.fail.Exception | FateforgerError)
