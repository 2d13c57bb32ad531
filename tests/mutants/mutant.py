"""Seeded bugs: what is broken where, what a person would lose, and which tests have to notice."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class StaleMutant(AssertionError):
    """The text that a mutant replaces is not in the source exactly once: the list has to follow the code."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug. ``loses`` is what the person would lose, in a sentence; ``file`` is relative to the package, ``old``
    is replaced by ``new`` there; at least one of ``killed_by`` (test ids) has to notice."""

    name: str
    loses: str
    file: str
    old: str
    new: str
    killed_by: tuple[str, ...]

    @contextmanager
    def seeded(self, package: Path) -> Iterator[None]:
        """A copy of the package is broken for as long as the block lasts. Raises :class:`StaleMutant`."""
        path = package / self.file
        source = path.read_text() if path.is_file() else ""
        if (found := source.count(self.old)) != 1:
            raise StaleMutant(f"{self.name}: its text is {found} times in {self.file}, not once:\n{self.old}")
        then = path.stat()
        path.write_text(source.replace(self.old, self.new))
        try:
            yield
        finally:
            path.write_text(source)
            os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))  # so that what was compiled of it counts again


def read_mutants(path: Path) -> tuple[Mutant, ...]:
    """The mutants of a list, in its order."""
    entries = tomllib.loads(path.read_text())["mutant"]
    return tuple(Mutant(**{**entry, "killed_by": tuple(entry["killed_by"])}) for entry in entries)
