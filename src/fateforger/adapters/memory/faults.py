"""Translate errors of Mem0 and its stores into one sentence for a person."""

from __future__ import annotations

import sqlite3

from fateforger.adapters.memory.places import Embedded, Place
from fateforger.errors import MemoryUnavailable, RebuildNeeded

_LONGEST = 200


def translate_error(error: Exception, place: Place) -> MemoryUnavailable:
    """Return the error to raise instead."""
    said = " ".join(str(error).split())[:_LONGEST].rstrip(".") or type(error).__name__
    if not isinstance(place, Embedded):
        return MemoryUnavailable(f"The index of constraints cannot be used: {place.words} says: {said}.")
    if isinstance(error, OSError | sqlite3.OperationalError):
        return MemoryUnavailable(f"The index of constraints cannot be used: {said}.")
    return RebuildNeeded("The files of the index of constraints are damaged; it has to be made anew.")
