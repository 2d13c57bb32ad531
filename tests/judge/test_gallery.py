"""Each plan of the gallery is as it was looked at last, and so are the findings of the judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.judge.gallery import (
    FILES,
    FINDINGS,
    FOLDER,
    PAGE,
    TRADES,
    check_file,
    draft,
    print_findings,
    print_page,
    print_plan,
)

pytestmark = pytest.mark.extra  # drafting all days once takes long, in any test


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_plan_is_the_one_that_was_looked_at(file: Path) -> None:
    check_file(FOLDER / "plans" / f"{file.stem}.txt", print_plan(draft(file)))


def test_the_findings_are_the_known_ones() -> None:
    """S243: A new finding fails, and one that is gone fails until the file is written again: progress is recorded."""
    check_file(FINDINGS, print_findings())


def test_each_finding_is_explained() -> None:
    """S243"""
    assert {shown.name for shown in map(draft, FILES) if shown.findings} == set(TRADES)


def test_the_page_shows_each_day() -> None:
    """S243"""
    check_file(PAGE, print_page())


def test_there_is_a_plan_for_each_day_and_no_other() -> None:
    plans = {path.stem for path in (FOLDER / "plans").glob("*.txt")} - {FINDINGS.stem}
    assert plans == {file.stem for file in FILES}
    assert len(FILES) == 38


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_file_says_who_it_is_in_two_sentences(file: Path) -> None:
    document = json.loads(file.read_text())
    assert list(document) == ["title", "about", "instance"]
    assert document["about"].count(". ") == 1
    assert document["about"].endswith(".")
