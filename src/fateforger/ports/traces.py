"""Spans of what the program does for a person, and their one id. Nothing is recorded without a recorder.

A trace begins with a payload of Slack, and goes on in the jobs and messages that result from it. Work that begins by
itself is in none. Names and attributes are names from the code, and ids of causes: never words, titles, people or
addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol


class Span(Protocol):
    """A piece of work that is going on."""

    def set_attribute(self, key: str, value: str) -> None:
        """Note something about it, such as how it ended."""
        ...


class Recorder(Protocol):
    """Records spans."""

    def begin(self, name: str, attributes: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Record the work of a block as the first span of a trace."""
        ...

    def go_on(self, name: str, attributes: Mapping[str, str], position: str) -> AbstractContextManager[Span]:
        """Record the work of a block below a position, or below the span around it; outside of a trace, nothing."""
        ...

    def find_position(self) -> str:
        """Return the span that is going on, as a ``traceparent`` of the W3C; an empty string outside of a trace."""
        ...


class NoSpan:
    """A placeholder for a span that is not recorded."""

    def set_attribute(self, key: str, value: str) -> None:
        """Do nothing."""


NO_SPAN = NoSpan()
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
def begin_trace(name: str, **attributes: str) -> Iterator[Span]:
    """Record the work of the block as the beginning of a trace."""
    if not _recorders:
        yield NO_SPAN
        return
    with _recorders[-1].begin(name, attributes) as span, _note_error(span):
        yield span


@contextmanager
def trace(name: str, *, position: str = "", **attributes: str) -> Iterator[Span]:
    """Record the work of the block as a span of the trace that it belongs to.

    ``position`` is from :func:`find_position` of another task or process.
    """
    if not _recorders:
        yield NO_SPAN
        return
    with _recorders[-1].go_on(name, attributes, position) as span, _note_error(span):
        yield span


@contextmanager
def _note_error(span: Span) -> Iterator[None]:
    """Note the type of an exception. Its text may quote a person."""
    try:
        yield
    except BaseException as error:  # also when cancelled; it goes on
        span.set_attribute("error.type", type(error).__name__)
        raise


def find_position() -> str:
    """Return the position in the trace of what runs now, to go on elsewhere; empty outside of a trace."""
    return _recorders[-1].find_position() if _recorders else ""


_CAUSE: ContextVar[str] = ContextVar("cause", default="")


def find_cause() -> str:
    """Return the id of the command or job that the running task carries out; an empty string outside of one."""
    return _CAUSE.get()


@contextmanager
def caused_by(cause: str) -> Iterator[None]:
    """Name the cause of what runs in this block, and of the tasks that it starts."""
    token = _CAUSE.set(cause)
    try:
        yield
    finally:
        _CAUSE.reset(token)
