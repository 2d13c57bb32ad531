"""Tests for putting a bug into a module that is already loaded."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.mutants.swap import NotInFunctions, break_module

NAME = "a_module_to_break"
SOURCE = """
import functools
from contextlib import contextmanager

LIMIT = 1

def plain(value):
    return value + 1

@functools.cache
def kept(value):
    return value + 2

@contextmanager
def around(value):
    yield value + 3

def maker(value):
    def inner():
        return value + 4
    return inner

class Thing:
    size = 5

    def __init__(self, value):
        self.value = value

    @property
    def seen(self):
        return self.value + 6

    @staticmethod
    def still(value):
        return value + 7
"""


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / f"{NAME}.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield made
    del sys.modules[NAME]


def everything(module: ModuleType) -> list[int]:
    with module.around(0) as around:
        return [
            module.plain(0), module.kept(0), around, module.maker(0)(), module.Thing(0).seen, module.Thing.still(0)
        ]  # fmt: skip


@pytest.mark.parametrize("broken", range(6))
def test_what_was_taken_before_is_broken_too(module: ModuleType, broken: int) -> None:
    """A name that was imported, what wraps a function, and each kind of method."""
    plain = module.plain
    assert len(break_module(module, SOURCE.replace(f"value + {broken + (1 if broken < 4 else 2)}", "value + 100"))) == 1
    assert everything(module) == [100 if n == broken else right for n, right in enumerate([1, 2, 3, 4, 6, 7])]
    assert plain(0) == everything(module)[0]


@pytest.mark.parametrize(
    ("old", "new"), [("LIMIT = 1", "LIMIT = 2"), ("size = 5", "size = 6"), ("value + 1", "value + 1  # the same")]
)
def test_what_would_change_nothing_is_refused(module: ModuleType, old: str, new: str) -> None:
    """So no bug can count as put in that is not: a value was worked out when the module was imported."""
    with pytest.raises(NotInFunctions):
        break_module(module, SOURCE.replace(old, new))
    assert everything(module) == [1, 2, 3, 4, 6, 7]
