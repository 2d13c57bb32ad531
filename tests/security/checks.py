"""Checks of every test with hostile input: one clear sentence, time that grows with the input, and bounded memory."""

from __future__ import annotations

import gc
import re
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from fateforger.errors import FateforgerError

PLAIN = re.compile(r"(?!.*(?:Traceback|pydantic|input_value|object at 0x))[^\n]{5,1000}", re.DOTALL)
"""A sentence, or two; no words of a parser, and nothing that fills a page."""
GENEROUS = 9.0
"""Four times the input may take nine times as long; with quadratic growth it takes sixteen times."""
NOISE = 0.02
"""Seconds below which a measured time means little."""


def refusal(read: Callable[[], object]) -> FateforgerError | None:
    """Return the error that refuses an input, and check that it is one of the program's, in a sentence."""
    try:
        read()
    except FateforgerError as error:
        found = error
    else:
        return None
    assert PLAIN.fullmatch(found.message), found.message[:2_000]
    assert found.where is None or len(found.where) <= 200
    return found


def grows_linearly(read: Callable[[Any], object], make: Callable[[int], Any], size: int) -> bool:
    """Check whether four times the input takes about four times as long, in processor time, in one of a few tries."""
    short, long = make(size), make(4 * size)
    return any(_seconds(read, long) < GENEROUS * _seconds(read, short) + NOISE for _ in range(4))


def _seconds(read: Callable[[Any], object], given: Any) -> float:
    # Neither other threads nor what other tests left for the collector counts.
    gc.disable()
    try:
        begun = time.thread_time()
        refusal(lambda: read(given))
        return time.thread_time() - begun
    finally:
        gc.enable()


def peak_of(read: Callable[[], object]) -> int:
    """Return the most bytes that were in use at once while an input was read."""
    tracemalloc.start()
    try:
        refusal(read)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
