"""S197: tests of the tests of fixes. Each defense in ``safety.toml`` is taken away, and the attack then succeeds; each fix in
``audit.toml`` is taken away, and a test then shows the finding again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mutants.mutant import Mutant, read_mutants
from tests.mutants.runs import PytestRuns
from tests.security.matrix import read_attacks

DEFENSES, FIXES, RULES = (
    read_mutants(Path(__file__).with_name(f"{name}.toml")) for name in ("safety", "audit", "calendar_engine")
)
PAIRS = [(mutant, test) for mutant in (*DEFENSES, *FIXES) for test in mutant.killed_by]
TESTS = tuple(dict.fromkeys(test for _, test in PAIRS))
FINDINGS = {
    "behaviours": "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18",
    "calendar": "F1 F2 F3 F4 F5 F6 F7 F8 F9",
    "conversation": "B1 B2 M1 M2 M3 M4 M5 M6 M7 M8 M9 M10 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11",
    "planning": "P1 P2 P3 P4 P5 R1 H1 H2 H3 H4 H5 H6 H7 H8 H9",
    "slack-and-scale": "B.1 B.2 B.3 B.4 B.5 B.6 B.7 C D D.6 E F.1 F.2 F.3 F.4 F.5",
}
"""The findings of the audit of 2026-11-22, by its page. Those on security are in ``safety.toml``; those on structure and prose are
held by ``tests/architecture``."""
FINDINGS_WITHOUT = {
    "behaviours F16": "code that was deleted, or is used now; that a docstring proves no number is held by"
    " test_every_whole_entry_has_a_proof",
    "slack-and-scale F.5": "documentation (admin.md, operations.md): test_documents_name_only_what_exists holds it to the code",
    "calendar F7": "no mistake: a deletion of most blocks is asked about (“no brake for a mass deletion”), and the exit code says so",
}
"""Findings whose fix cannot be taken away, each with the reason."""
WITHOUT = {
    "tests/security/test_entry_points_data.py::test_doctor_warns_of_a_page_that_others_reach": "a warning, no defense",
    "tests/security/test_entry_points.py::test_a_browser_shows_the_page_but_not_in_a_foreign_frame": "two defenses: a header of"
    " the guard, and one of the page",
    "tests/security/test_fuzzing.py::test_plans": "random: test_hostile_input has what it found",
    "tests/security/test_entry_points_slow.py::test_a_flood_of_connections_shuts_nobody_out": "how soon a flood shuts somebody out"
    " depends on the machine",
    "tests/security/test_answers.py::test_a_day_is_planned_with_hostile_services": "the limits of test_a_hostile_answer_is_given_up",
    "tests/scenarios/test_endless.py::test_a_day_is_planned_beside_events_that_never_end": "without it, nothing ends",
    "tests/scenarios/test_endless.py::test_a_server_that_answers_with_the_whole_calendar": "without it, nothing ends",
}
"""Tests of fixed attacks for which no defense can be removed, each with the reason."""
PATIENCE = 600
"""Seconds that one run may take on a busy machine; it takes a few on an idle one."""
pytestmark = pytest.mark.timeout(PATIENCE + 30)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PytestRuns]:
    runs = PytestRuns(tmp_path_factory.mktemp("holes"), TESTS)
    yield runs
    runs.close()


@pytest.mark.parametrize("mutants", [DEFENSES, FIXES], ids=["safety", "audit"])
def test_nothing_is_wrong_as_the_program_is(running: PytestRuns, mutants: tuple[Mutant, ...]) -> None:
    done = running.run(dict.fromkeys(test for mutant in mutants for test in mutant.killed_by))
    assert done.status == 0, done.said


@pytest.mark.parametrize(("mutant", "test"), PAIRS, ids=lambda part: getattr(part, "name", None) or part.split("::")[1])
def test_each_fix_that_is_taken_away_is_missed(running: PytestRuns, mutant: Mutant, test: str) -> None:
    """Without a defense, the program may also end in an error of its own, which is the aim of some attacks."""
    done = running.run((test,), mutant.module, mutant.break_source())
    noticed = {1, 3} if mutant in DEFENSES else {1}
    assert done.status in noticed, f"{mutant.name} is not noticed. {mutant.loses}\n{done.said}"


def test_each_mended_attack_has_a_defense_that_can_be_taken_away() -> None:
    mended = {each.test for each in read_attacks() if each.result == "mended"}
    attacked = {test.partition("[")[0] for mutant in DEFENSES for test in mutant.killed_by}
    assert mended - attacked == {*WITHOUT}
    assert attacked <= mended


def test_each_finding_has_a_fix_that_can_be_taken_away() -> None:
    """A fix of the calendar engine is a rule in ``calendar_engine.toml``, where :mod:`tests.mutants.test_gate` takes it away."""
    taken_away = {mutant.finding for mutant in (*FIXES, *RULES)} - {""}
    findings = {f"{page} {number}" for page, numbers in FINDINGS.items() for number in numbers.split()}
    assert taken_away | {*FINDINGS_WITHOUT} == findings
    assert taken_away.isdisjoint(FINDINGS_WITHOUT)


def test_the_list_is_whole() -> None:
    """Each fix has a name and a finding of its own, and says what is lost without it."""
    assert len({mutant.name for mutant in (*DEFENSES, *FIXES, *RULES)}) == len((*DEFENSES, *FIXES, *RULES))
    assert [
        m.name for m in FIXES if not (m.loses.strip().endswith(".") and m.killed_by and m.finding and m.old != m.new)
    ] == []
