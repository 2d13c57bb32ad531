"""The words of tests, benchmarks and scripts are those of the program: plain English, and terms of the field."""

from __future__ import annotations

from functools import cache

import pytest
from tests.architecture.test_prose import find_metaphors, find_mistakes, find_participles
from tests.sources import SOURCE, Module

pytestmark = pytest.mark.extra  # to parse all of them takes seconds
ROOT = SOURCE.parent
FOLDERS = ("benchmarks", "scripts", "tests")


@cache
def read_modules(folder: str) -> dict[str, Module]:
    return {str(path.relative_to(ROOT)): Module(path) for path in sorted((ROOT / folder).rglob("*.py"))}


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_plain_english(folder: str) -> None:
    assert [each for name, module in read_modules(folder).items() for each in find_mistakes(name, module)] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_are_named_by_verbs(folder: str) -> None:
    assert [each for name, module in read_modules(folder).items() for each in find_participles(name, module)] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_are_no_metaphors(folder: str) -> None:
    assert [each for name, module in read_modules(folder).items() for each in find_metaphors(name, module)] == []
