"""S197: tests of the tests of attacks. Each defense in ``safety.toml`` is taken away, and the attack then succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mutants.mutant import Mutant, read_mutants
from tests.mutants.runs import Runs
from tests.security.matrix import read_attacks

MUTANTS = read_mutants(Path(__file__).with_name("safety.toml"))
PAIRS = [(mutant, test) for mutant in MUTANTS for test in mutant.killed_by]
TESTS = tuple(dict.fromkeys(test for _, test in PAIRS))
WITHOUT = {
    "tests/security/test_doors_data.py::test_doctor_warns_of_a_page_that_others_reach": "a warning, no defense",
    "tests/security/test_doors.py::test_a_browser_shows_the_page_but_not_in_a_foreign_frame": "two defenses: a header of"
    " the guard, and one of the page",
    "tests/security/test_fuzzing.py::test_plans": "random: test_hostile_input has what it found",
    "tests/security/test_doors_slow.py::test_a_flood_of_connections_shuts_nobody_out": "how soon a flood shuts somebody out"
    " depends on the machine",
    "tests/security/test_answers.py::test_a_day_is_planned_with_hostile_services": "the limits of test_a_hostile_answer_is_given_up",
    "tests/scenarios/test_endless.py::test_a_day_is_planned_beside_events_that_never_end": "without it, nothing ends",
    "tests/scenarios/test_endless.py::test_a_server_that_answers_with_the_whole_calendar": "without it, nothing ends",
}
"""Tests of mended attacks for which no defense can be taken away, each with the reason."""
PATIENCE = 300
"""Seconds that one run may take on a busy machine; it takes a few on an idle one."""
pytestmark = pytest.mark.timeout(PATIENCE + 30)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    runs = Runs(tmp_path_factory.mktemp("holes"), TESTS)
    yield runs
    runs.close()


def test_all_attacks_fail_as_the_program_is(running: Runs) -> None:
    done = running.run(TESTS)
    assert done.status == 0, done.said


@pytest.mark.parametrize(("mutant", "test"), PAIRS, ids=lambda part: getattr(part, "name", None) or part.split("::")[1])
def test_the_attack_succeeds_without_the_defense(running: Runs, mutant: Mutant, test: str) -> None:
    """A broken program may also end in an error of its own, which is the aim of some attacks."""
    done = running.run((test,), mutant.module, mutant.broken())
    assert done.status in {1, 3}, f"{mutant.name} is not noticed. {mutant.loses}\n{done.said}"


def test_each_mended_attack_has_a_defense_that_can_be_taken_away() -> None:
    mended = {each.test for each in read_attacks() if each.result == "mended"}
    assert mended - {*TESTS} == {*WITHOUT}
    assert {*TESTS} <= mended
