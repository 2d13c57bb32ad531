"""The tests of the calendar engine are tested: each seeded bug of ``calendar_engine.toml`` has to be noticed.

A bug is put into a copy of the package, and the tests that name it as theirs run against the copy in a process of
their own. A bug that survives is a missing test.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.forks import ROOT
from tests.mutants.mutant import Mutant, StaleMutant, read_mutants
from tests.mutants.runs import Runs

MUTANTS = read_mutants(Path(__file__).with_name("calendar_engine.toml"))
FEWEST = 20
PATIENCE = 600
"""Seconds that one run may take on a busy machine; it takes one or two on an idle one."""
pytestmark = pytest.mark.timeout(PATIENCE + 30)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    kept_out = shutil.ignore_patterns("static")
    return Path(
        shutil.copytree(
            ROOT / "src" / "fateforger", tmp_path_factory.mktemp("copy") / "src" / "fateforger", ignore=kept_out
        )
    )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    runs = Runs(tmp_path_factory.mktemp("hypothesis"))
    yield runs
    runs.close()


def test_nothing_is_wrong_without_a_bug(running: Runs, package: Path) -> None:
    """All tests of the list pass against an unbroken copy: so it is the bugs that they notice."""
    done = running.run(package, dict.fromkeys(test for mutant in MUTANTS for test in mutant.killed_by))
    assert done.status == 0, done.said


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_bug_is_noticed(running: Runs, mutant: Mutant, package: Path) -> None:
    with mutant.seeded(package):
        done = running.run(package, mutant.killed_by)
    verdict = {0: "survives: a test is missing", 1: "is killed"}.get(done.status, "breaks its tests, unjudged")
    assert verdict == "is killed", f"{mutant.name} {verdict}. {mutant.loses}\n{done.said}"


def test_the_list_is_whole() -> None:
    """Enough bugs, each with a name, a price and a test of its own choosing."""
    assert len(MUTANTS) >= FEWEST
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert [m.name for m in MUTANTS if not (m.loses.strip().endswith(".") and m.killed_by and m.old != m.new)] == []


def test_a_bug_whose_place_is_gone_is_no_pass(package: Path) -> None:
    """The gate fails when the code moved on and the list did not."""
    gone = Mutant("gone", "Nothing.", "sync/merge.py", "no such line", "", ())
    twice = Mutant("twice", "Nothing.", "sync/merge.py", "import", "", ())
    for mutant in (gone, twice):
        with pytest.raises(StaleMutant, match=mutant.name), mutant.seeded(package):
            pass
