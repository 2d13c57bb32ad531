"""Expands calendar objects in a process of its own, with a second of computing time or so for each.

Reads a question as JSON and answers with a line of JSON for each object, as soon as it is known: a calendar of its
occurrences, `endless` when it has too many or takes too long, `unreadable`, or null when the time for all of them was
over before.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from types import FrameType
from typing import Any
from zoneinfo import ZoneInfo

import icalendar

from caldav_mcp.limits import MAX_EXPANDED_BYTES
from caldav_mcp.objects import Resource
from caldav_mcp.occurrences import TooMany, occurrences


class _TimeIsUp(BaseException):
    """Not an `Exception`, so that nothing on the way takes it for one of its own."""


def main() -> None:
    os.nice(5)
    signal.signal(signal.SIGPROF, _stop)
    for answer in _answers(json.load(sys.stdin)):
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _answers(question: dict[str, Any]) -> Iterator[str | None]:
    ends = time.process_time() + question["in_all"]
    for text in question["texts"]:
        if text is None:
            yield "endless"
        elif time.process_time() > ends:
            yield None
        else:
            yield _within(question["seconds"], text, question)


def _within(seconds: float, text: str, question: dict[str, Any]) -> str:
    try:
        # Again and again, in case the first time it comes where exceptions are swallowed.
        signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
        try:
            return _expand(text, question)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except (_TimeIsUp, TooMany, MemoryError):
        signal.setitimer(signal.ITIMER_PROF, 0)
        return "endless"
    except (ValueError, TypeError, OverflowError, LookupError, ArithmeticError, RecursionError):
        return "unreadable"


def _expand(text: str, question: dict[str, Any]) -> str:
    earliest, latest = (bound and datetime.fromisoformat(bound) for bound in question["bounds"])
    resource = Resource("", "", text)
    if not resource.is_readable:
        return "unreadable"
    shown = occurrences(resource, earliest, latest, ZoneInfo(question["zone"]))
    calendar = icalendar.Calendar()
    calendar.subcomponents = [
        *(part for part in resource.calendar.subcomponents if part.name == "VTIMEZONE"),
        *(occurrence.event for occurrence in shown),
    ]
    answer: str = calendar.to_ical().decode()
    if len(answer) > MAX_EXPANDED_BYTES:
        raise TooMany
    return answer


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsUp


if __name__ == "__main__":
    main()
