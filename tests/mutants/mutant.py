"""Seeded bugs: what is broken where, what a person would lose, and which tests have to notice."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.forks import ROOT

SOURCE = ROOT / "src"


class StaleMutant(AssertionError):
    """The text that a mutant replaces is not in the source exactly once: the list has to follow the code."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug. ``loses`` is what the person would lose, in a sentence; ``file`` is relative to the import package, ``old``
    is replaced by ``new`` there, within a function; at least one of ``killed_by`` (test ids) has to notice. ``package`` is the import package;
    ``finding`` is the finding of an audit whose fix is taken away."""

    name: str
    loses: str
    file: str
    old: str
    new: str
    killed_by: tuple[str, ...]
    package: str = "fateforger"
    finding: str = ""

    @property
    def module(self) -> str:
        return f"{self.package}.{self.file.removesuffix('.py').replace('/', '.')}"

    def break_source(self) -> str:
        """Return the source of the file with the bug. Raises :class:`StaleMutant`."""
        path = SOURCE / self.package / self.file
        source = path.read_text() if path.is_file() else ""
        if (found := source.count(self.old)) != 1:
            raise StaleMutant(f"{self.name}: its text is {found} times in {self.file}, not once:\n{self.old}")
        return source.replace(self.old, self.new)


def read_mutants(path: Path) -> tuple[Mutant, ...]:
    """Return the mutants of a list, in its order."""
    entries = tomllib.loads(path.read_text())["mutant"]
    return tuple(Mutant(**{**entry, "killed_by": tuple(entry["killed_by"])}) for entry in entries)
