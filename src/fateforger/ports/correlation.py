"""The cause of what runs now: one id from a click to what it does on the calendar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
