"""Spans of the work of the program, from a click to the calendar. Nothing is recorded until there is a recorder.

Names and attributes of spans are names from the code, and ids of causes: never words, titles, people or addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Span(Protocol):
    """A piece of work that is going on."""

    def set_attribute(self, key: str, value: str) -> None:
        """Note something about it, such as how it ended."""
        ...


class Recorder(Protocol):
    """Records spans, each below the one that surrounds it."""

    def record(self, name: str, attributes: Mapping[str, str], parent: str) -> AbstractContextManager[Span]:
        """Record the work of a block; ``parent`` is from :meth:`find_position`, empty for the surrounding span."""
        ...

    def find_position(self) -> str:
        """Return the span that is going on, as a ``traceparent`` of the W3C; an empty string without one."""
        ...


class _NoSpan:
    def set_attribute(self, key: str, value: str) -> None:
        """Do nothing."""


_NO_SPAN = _NoSpan()
_recorders: list[Recorder] = []
"""The recorder of the program, if it has one."""


@contextmanager
def record_with(recorder: Recorder) -> Iterator[None]:
    """Record with ``recorder`` until the block ends."""
    _recorders.append(recorder)
    try:
        yield
    finally:
        _recorders.remove(recorder)


@contextmanager
def trace(name: str, *, parent: str = "", **attributes: str) -> Iterator[Span]:
    """Record the work of the block as a span. An exception is noted by its type alone, because its text may quote."""
    if not _recorders:
        yield _NO_SPAN
        return
    with _recorders[-1].record(name, attributes, parent) as span:
        try:
            yield span
        except BaseException as error:  # also when cancelled; it goes on
            span.set_attribute("error.type", type(error).__name__)
            raise


def find_position() -> str:
    """Return the position in the trace of what runs now, to be continued elsewhere; empty if nothing is recorded."""
    return _recorders[-1].find_position() if _recorders else ""
