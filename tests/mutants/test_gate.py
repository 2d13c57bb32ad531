"""The tests of the calendar engine are tested: each seeded bug of ``calendar_engine.toml`` has to be noticed.

The functions that a bug changes get their broken code in a process of their own, and the tests that name it as theirs run
there. A bug that survives is a missing test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mutants.mutant import Mutant, StaleMutant, read_mutants
from tests.mutants.runs import PytestRuns

MUTANTS = read_mutants(Path(__file__).with_name("calendar_engine.toml"))
TESTS = tuple(dict.fromkeys(test for mutant in MUTANTS for test in mutant.killed_by))
FEWEST = 20
PATIENCE = 600
"""Seconds that one run may take on a busy machine; it takes one or two on an idle one."""
pytestmark = pytest.mark.timeout(PATIENCE + 30)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PytestRuns]:
    runs = PytestRuns(tmp_path_factory.mktemp("mutants"), TESTS)
    yield runs
    runs.close()


def test_nothing_is_wrong_without_a_bug(running: PytestRuns) -> None:
    """All tests of the list pass with the program as it is: so it is the bugs that they notice."""
    done = running.run(TESTS)
    assert done.status == 0, done.said


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_bug_is_noticed(running: PytestRuns, mutant: Mutant) -> None:
    done = running.run(mutant.killed_by, mutant.module, mutant.break_source())
    verdict = {0: "survives: a test is missing", 1: "is killed"}.get(done.status, "breaks its tests, unjudged")
    assert verdict == "is killed", f"{mutant.name} {verdict}. {mutant.loses}\n{done.said}"


def test_the_list_is_whole() -> None:
    """Enough bugs, each with a name, a price and a test of its own choosing."""
    assert len(MUTANTS) >= FEWEST
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert [m.name for m in MUTANTS if not (m.loses.strip().endswith(".") and m.killed_by and m.old != m.new)] == []


def test_a_bug_whose_place_is_gone_is_no_pass() -> None:
    """The gate fails when the code moved on and the list did not."""
    gone = Mutant("gone", "Nothing.", "calendar/conflicts.py", "no such line", "", ())
    twice = Mutant("twice", "Nothing.", "calendar/conflicts.py", "import", "", ())
    for mutant in (gone, twice):
        with pytest.raises(StaleMutant, match=mutant.name):
            mutant.break_source()
