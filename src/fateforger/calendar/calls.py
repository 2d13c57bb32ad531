"""Calls of calendars, counted by provider, operation and result, and traced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fateforger.metrics import CALENDAR_CALLS
from fateforger.ports.traces import trace

OK = "ok"
NO_ANSWER = "no_answer"


@dataclass(slots=True)
class Call:
    """A call that is going on. ``code`` is ``ok``, a status, or a name of the code; never a text of the calendar."""

    code: str = NO_ANSWER


@contextmanager
def count_call(provider: str, operation: str) -> Iterator[Call]:
    """Count the call of the block; the block sets the code. One that never ends with an answer counts as such."""
    call = Call()
    with trace("calendar", provider=provider, operation=operation) as span:
        try:
            yield call
        finally:
            span.set_attribute("code", call.code)
            CALENDAR_CALLS.labels(provider, operation, call.code).inc()
