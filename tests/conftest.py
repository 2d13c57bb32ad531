"""For the whole suite: no time limits inside Hypothesis (machines are shared), no proxies, no Slack settings of the
person who runs the tests.

``HYPOTHESIS_PROFILE`` chooses how long Hypothesis looks: ``suite``, ``ci`` (as long, always at the same examples),
``long`` (by hand, or at night; the first failure as it is) or ``mutants`` (fewer, always the same examples, the first
failure as it is).
"""

from __future__ import annotations

import functools
import gc
import os
import shutil
import ssl
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from tests.statements import share_statements
from tests.times import Times, name_test, read_long_tests

from fateforger.cli.command_line import use_latest_zones

pytest_plugins = ["tests.postgres"]

HERE = Path(__file__).parent
EXTRA = frozenset({"caldav_mcp", "localslack", "mutants", "soak"})
"""Directories of tests that take long and seldom fail."""

MEMORY = Path("/dev/shm")
"""A file system in memory, which Linux has."""

WRITES_TIMES = "TIMES_WRITE" in os.environ
LONG_TESTS = frozenset[str]() if WRITES_TIMES else read_long_tests()


def _can_hold_files(folder: Path) -> bool:
    """Check whether tests can write their files here, and run programs from it."""
    if not os.access(folder, os.W_OK | os.X_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(folder).free > 4 << 30


settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("suite"), derandomize=True, database=None)
as_it_is = [Phase.explicit, Phase.reuse, Phase.generate]
settings.register_profile(
    "long", settings.get_profile("suite"), max_examples=4_000, phases=as_it_is, report_multiple_bugs=False
)
settings.register_profile(
    "mutants", settings.get_profile("suite"), max_examples=40, derandomize=True, database=None, phases=as_it_is
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

for name in list(os.environ):
    if name.lower() in {"http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"} or name.startswith(
        ("SLACK_", "FATEFORGER_")
    ):
        del os.environ[name]
# Each HTTP client reads all certificates that the machine trusts, which takes longer than most tests.
ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]  # same calls
use_latest_zones()  # as commands do, which run in this process too
share_statements()
# In memory where the system has room: databases wait for the disk at each commit, a tenth of the time of all tests.
if "TMPDIR" not in os.environ and _can_hold_files(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
# Not the data of the person who runs the tests, which may also be from another version.
DATA_HOME = tempfile.TemporaryDirectory(prefix="fateforger-tests-")
os.environ["XDG_DATA_HOME"] = DATA_HOME.name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Return two workers more than cores, or half as many again: many tests wait for programs and servers."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + max(2, cores // 2)


def pytest_configure(config: pytest.Config) -> None:
    if WRITES_TIMES and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Times())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what ``make test`` leaves to ``make test-all``: also long tests, and the contracts' runs on PostgreSQL."""
    for item in items:
        if item.path.relative_to(HERE).parts[0] in EXTRA or _needs_postgres(item) or _is_long(item):
            item.add_marker(pytest.mark.extra)


def _is_long(item: pytest.Item) -> bool:
    return name_test(item.nodeid) in LONG_TESTS and item.get_closest_marker("core") is None


def _needs_postgres(item: pytest.Item) -> bool:
    values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return "postgres" in values or "postgres_server" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze the objects of collection, so that the garbage collector never scans them.

    Later collections are rare. Tests make many objects and few cycles, and collection took a fifth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 10)
