"""Occurrences of a calendar's objects in a span of time, within a budget of time and number for each of them.

Objects of plain recurrence are expanded in a thread. All others are expanded in a process that is given a second of
computing time for each of them, and is killed when it does not keep to it. What exceeds its budget is left out.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from caldav_mcp.content_lines import unfold
from caldav_mcp.limits import (
    MAX_OBJECT_SECONDS,
    MAX_PLAIN_SPAN,
    MAX_PLAIN_YEAR,
    MAX_PROCESS_SECONDS,
    MAX_QUESTION_SECONDS,
)
from caldav_mcp.objects import Resource, end_of, start_of
from caldav_mcp.occurrences import Occurrence, TooMany, around, occurrences, own_occurrence, stamp_of
from caldav_mcp.recurrence import repeats

_REST = 60.0
"""Seconds until an object is tried again over which the process was killed."""
_now = time.monotonic
_REFUSALS = {"endless": math.inf, "unreadable": math.inf, "late": _REST}
_REMEMBERED = 300
_LONGEST_TITLE = 80
_PROCESS = "caldav_mcp.expansion_process"

_log = logging.getLogger(__name__)
_Key = tuple[str, datetime | None, datetime | None, str]


@dataclass(frozen=True)
class Expansion:
    """The events to show, and the objects that were left out."""

    found: tuple[Occurrence, ...] = ()
    left_out: tuple[Resource, ...] = ()


@dataclass
class Expander:
    """Expands the objects of a calendar. Remembers what took a process, until the object is another one."""

    _known: dict[_Key, Expansion] = field(default_factory=dict)
    _refused: dict[str, float] = field(default_factory=dict)
    """Until when each text is left out, in the time of the process."""
    _logged: dict[str, str] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def expand(
        self, resources: Sequence[Resource], earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
    ) -> Expansion:
        """Return the occurrences of objects that end after `earliest` and start before `latest`."""
        plain, others = await asyncio.to_thread(_expand_plain, resources, earliest, latest, zone)
        parts = [plain]
        if others:
            async with self._turn:
                parts += await self._expand_apart(others, earliest, latest, zone)
        self._log_new(resource for part in parts for resource in part.left_out)
        return Expansion(
            tuple(occurrence for part in parts for occurrence in part.found),
            tuple(resource for part in parts for resource in part.left_out),
        )

    async def occurrence_at(self, resource: Resource, stamp: str, zone: ZoneInfo) -> Occurrence | None:
        """Return the occurrence of that original start: `20270308T080000Z`, or `20270308` for an all-day series."""
        span = around(stamp, zone)
        if span is None or not resource.is_series:
            return None
        own = own_occurrence(resource, stamp, zone)
        if own is not None:
            return own
        near = (await self.expand([resource], *span, zone)).found
        return next((found for found in near if stamp_of(found.event, zone) == stamp), None)

    def _log_new(self, left_out: Iterable[Resource]) -> None:
        """Name what is left out in the log, once: the same day is read every few seconds."""
        new = {resource.href: resource.etag for resource in left_out}
        for href, etag in new.items():
            if self._logged.get(href) != etag:
                _log.warning(
                    "the calendar object %s is left out: it cannot be read, repeats too often, or takes too long", href
                )
        self._logged |= new

    async def _expand_apart(
        self, resources: list[Resource], earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
    ) -> list[Expansion]:
        def key(resource: Resource) -> _Key:
            return resource.text, earliest, latest, zone.key

        now = _now()
        new = [r for r in resources if key(r) not in self._known and self._refused.get(r.text, now) <= now]
        fresh: dict[_Key, Expansion] = {}
        if new:
            answers = await asyncio.to_thread(_ask_process, new, earliest, latest, zone)
            for resource, (expansion, refused_for) in zip(new, answers, strict=True):
                fresh[key(resource)] = expansion
                if refused_for:
                    self._refused[resource.text] = _now() + refused_for
                elif not expansion.left_out:
                    self._known[key(resource)] = expansion
        found = [fresh.get(key(r)) or self._known.get(key(r)) or Expansion((), (r,)) for r in resources]
        for memory in (self._known, self._refused, self._logged):
            if len(memory) > _REMEMBERED:
                memory.clear()
        return found


def shown_title(resource: Resource) -> str:
    """Return the title of an object's first event, read from its text; private events have none."""
    title, in_event = "", False
    for line in unfold(resource.text):
        name, _, value = line.partition(":")
        match name.partition(";")[0].upper():
            case "BEGIN" if value.strip().upper() == "VEVENT":
                in_event = True
            case "END" if in_event and value.strip().upper() == "VEVENT":
                break
            case "CLASS" if in_event and value.strip().upper() in {"PRIVATE", "CONFIDENTIAL"}:
                return "A private event"
            case "SUMMARY" if in_event:
                title = value.replace("\\n", " ").replace("\\N", " ").replace("\\", "")
    words = " ".join("".join(c if c.isprintable() else " " for c in title[: 4 * _LONGEST_TITLE]).split())
    return f"{words[: _LONGEST_TITLE - 1]}…" if len(words) > _LONGEST_TITLE else words or "Untitled"


def _expand_plain(
    resources: Sequence[Resource], earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> tuple[Expansion, list[Resource]]:
    """Expand the objects of plain recurrence one by one; return the others as they are."""
    found: list[Occurrence] = []
    left_out: list[Resource] = []
    others: list[Resource] = []
    is_calm = _is_calm(earliest, latest)
    ends = time.thread_time() + MAX_QUESTION_SECONDS
    for resource in resources:
        if not resource.is_plain or (not is_calm and repeats(resource.text)):
            others.append(resource)
        elif (time.thread_time() > ends and repeats(resource.text)) or not resource.is_readable:
            left_out.append(resource)
        else:
            try:
                found += occurrences(resource, earliest, latest, zone)
            except (TooMany, ValueError, TypeError, OverflowError):
                left_out.append(resource)
    return Expansion(tuple(found), tuple(left_out)), others


def _is_calm(earliest: datetime | None, latest: datetime | None) -> bool:
    """Check whether plain rules have few occurrences in a span of time, and few before it.

    Of an open span the first ones are listed.
    """
    if earliest is None or latest is None:
        return earliest is latest
    return latest - earliest <= MAX_PLAIN_SPAN and latest.year < MAX_PLAIN_YEAR


def _ask_process(
    resources: Sequence[Resource], earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[tuple[Expansion, float]]:
    """Return for each object what the process found, and for how many seconds it is not to be tried again."""
    bounds = [bound and bound.isoformat() for bound in (earliest, latest)]
    question = {"bounds": bounds, "zone": zone.key, "texts": [r.text if r.may_be_parsed else None for r in resources]}
    answers = _answers(
        json.dumps(question | {"seconds": MAX_OBJECT_SECONDS, "in_all": MAX_QUESTION_SECONDS}), len(resources)
    )
    return [_read(resource, answer, zone) for resource, answer in zip(resources, answers, strict=True)]


def _answers(question: str, number: int) -> list[str | None]:
    try:
        done = subprocess.run(  # noqa: S603  our own module; the objects are its input
            [sys.executable, "-m", _PROCESS],
            input=question.encode(),
            capture_output=True,
            timeout=MAX_PROCESS_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        said, last = error.stdout or b"", ["late"]
    except subprocess.CalledProcessError as error:
        _log.warning("a process that expands series failed: %s", error.stderr.decode(errors="replace")[-500:])
        said, last = error.stdout, ["late"]
    else:
        said, last = done.stdout, []
    answers: list[str | None] = [*map(json.loads, said.rpartition(b"\n")[0].splitlines()), *last]
    return [*answers, *[None] * number][:number]


def _read(resource: Resource, answer: str | None, zone: ZoneInfo) -> tuple[Expansion, float]:
    """Parse an answer of the process into the expansion and the seconds it took.

    The answer is a calendar of all occurrences; `unreadable` or `endless` for an object that has none, `late` if the
    process was killed over it, None if there was no time left.
    """
    if answer is None or answer in _REFUSALS:
        return Expansion((), (resource,)), _REFUSALS.get(answer or "", 0)
    if not resource.is_readable:  # parses it, here in a thread, so that the loop does not have to
        return Expansion((), (resource,)), math.inf
    found = tuple(
        Occurrence(resource, event, start_of(event, zone), end_of(event, zone), "RECURRENCE-ID" in event)
        for event in Resource(resource.href, resource.etag, answer).events
    )
    return Expansion(found), 0
