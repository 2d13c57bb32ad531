"""A day as its two documents say it: the instance, and the plan drafted for it. Times are whole minutes since the
frame began. Nothing of the program is used here, so that a mistake there cannot hide itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
GRID = 5
POLICY: dict[str, Any] = {"lunch": {}, "shutdown": 30, "focus": [], "longest_focus": 90}
LUNCH = {"start": "12:30", "minutes": 45, "drift": 120, "shortest": 20}
TASK = {
    "required": False,
    "priority": 3,
    "one_thing": False,
    "min_chunk": 30,
    "max_pieces": 4,
    "after": [],
    "energy": [],
}
RECORD: dict[str, Any] = {"necessity": "should", "applies_event_types": [], "payload": {}}


@dataclass(frozen=True)
class Span:
    """Something that takes time. ``task`` is the id of what the planner placed; an event has none."""

    title: str
    type: str
    start: int
    end: int
    task: str | None = None

    @property
    def minutes(self) -> int:
        return self.end - self.start

    @property
    def is_rest(self) -> bool:
        """Meals, rest, habits and ways are no work, so a person breathes meanwhile."""
        return self.type in {"R", "H", "BU", "C"} and self.minutes >= 10


class Day:
    def __init__(self, instance: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        self.instance = instance
        self.zone = ZoneInfo(instance["tz"])
        self.date = date.fromisoformat(instance["date"])
        self.policy = POLICY | dict(instance.get("policy", {}))
        self.tasks = {each["id"]: fill_task(each) for each in instance.get("tasks", ())}
        self.rules = [fill_rule(each) for each in instance.get("constraints", ())]
        self.plan = plan
        self.begin = self._instant(instance["frame"]["start"])
        end = self._instant(instance["frame"]["end"])
        self.length = self._minute(end if end > self.begin else self._instant(instance["frame"]["end"], 1))
        timed = [e for e in instance.get("immovables", ()) if e.get("busy", True) and not e.get("all_day")]
        self.events = sorted(
            (
                Span(e.get("title", "Meeting"), e.get("type", "M"), self.minute(e["start"]), self.minute(e["end"]))
                for e in timed
                if e.get("type") != "BG"
            ),
            key=lambda span: span.start,
        )
        self.blocks = sorted(map(self._block, plan["placed"]), key=lambda span: span.start)

    def _instant(self, text: str, days: int = 0) -> datetime:
        if "T" in text:
            there = datetime.fromisoformat(text)
        else:
            there = datetime.combine(self.date + timedelta(days=days), time.fromisoformat(text))
        return (there if there.tzinfo else there.replace(tzinfo=self.zone)).astimezone(UTC)

    def _minute(self, instant: datetime) -> int:
        return int((instant - self.begin) / MINUTE)

    def _block(self, placed: Mapping[str, Any]) -> Span:
        start = self.minute(placed["start"])
        return Span(placed["title"], placed["type"], start, start + placed["minutes"], placed["id"])

    def minute(self, text: str) -> int:
        """Return the minute of a clock value of the instance."""
        return self._minute(self._instant(text))

    def clock(self, minute: int) -> str:
        """Return the wall clock at that minute."""
        return f"{(self.begin + minute * MINUTE).astimezone(self.zone):%H:%M}"

    def describe(self, span: Span | range) -> str:
        """Return ``09:00–10:30``."""
        start, end = (span.start, span.end) if isinstance(span, Span) else (span.start, span.stop)
        return f"{self.clock(start)}–{self.clock(end)}"

    @property
    def frame(self) -> set[int]:
        return set(range(self.length))

    @cached_property
    def entries(self) -> list[Span]:
        """Events and blocks in the order in which they are lived."""
        return sorted([*self.events, *self.blocks], key=lambda span: (span.start, span.end))

    @cached_property
    def free(self) -> set[int]:
        """Minutes of the frame that neither an event nor the way to one takes."""
        return self.frame - cover([*self.events, *(b for b in self.blocks if b.type == "C")])

    @cached_property
    def unplanned(self) -> set[int]:
        return self.free - cover(self.blocks)

    def within(self, windows: Iterable[Mapping[str, str]]) -> set[int]:
        """Return the minutes of the frame inside one of the windows, which recur each day."""
        found: set[int] = set()
        for window in windows:
            for days in (-1, 0, 1):
                start = self._instant(window["start"], days)
                end = self._instant(window["end"], days)
                if end <= start:
                    end = self._instant(window["end"], days + 1)
                found |= set(range(self._minute(start), self._minute(end)))
        return found & self.frame

    def on_grid(self, minutes: set[int]) -> set[int]:
        """Return the minutes in full stretches of five: a plan places nothing in a part of one."""
        first = int(self.begin.timestamp()) // 60
        cells = {(first + minute) // GRID for minute in minutes}
        full = {cell for cell in cells if all(cell * GRID + n - first in minutes for n in range(GRID))}
        return {minute for minute in minutes if (first + minute) // GRID in full}

    def limits(self, task: Mapping[str, Any]) -> set[int]:
        """Return the minutes of the frame that the task's own times and its predecessors allow."""
        allowed = self.frame
        if "not_before" in task:
            allowed &= set(range(self.minute(task["not_before"]), self.length))
        if "deadline" in task:
            allowed &= set(range(self.minute(task["deadline"])))
        if "start" in task:
            start = self.minute(task["start"])
            allowed &= set(range(start, start + task["minutes"]))
        for earlier in self.chain(task):
            allowed &= set(range(max((p.end for p in self.pieces(earlier)), default=0), self.length))
        return allowed

    def room(self, task: Mapping[str, Any], *, without: Collection[str] = (), shoulds: bool = False) -> set[int]:
        """Return the minutes where the person lets a task lie, whatever else the day holds.

        ``without`` names a must that is ignored; ``shoulds`` count as well.
        """
        room = self.limits(task)
        strong = {"must", "should"} if shoulds else {"must"}
        for rule in self.rules:
            if rule["necessity"] in strong and rule["words"] not in without and concerns(rule, task):
                room -= self._find_closed(rule)
        return room

    def _find_closed(self, rule: Mapping[str, Any]) -> set[int]:
        windows = rule["payload"].get("windows", ())
        wanted = [window for window in windows if window["kind"] == "prefer"]
        avoided = [window for window in windows if window["kind"] == "avoid"]
        return self.within(avoided) | (self.frame - self.within(wanted) if wanted else set())

    def chain(self, task: Mapping[str, Any]) -> set[str]:
        """Return the tasks that have to be done before a task, directly or not."""
        found: set[str] = set()
        waiting = list(task["after"])
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += self.tasks[each]["after"]
        return found

    def pieces(self, task: str) -> list[Span]:
        return [block for block in self.blocks if block.task == task]

    def best_hours(self, task: Mapping[str, Any]) -> set[int] | None:
        """Return the hours that the person named for a task, or for deep work; ``None`` if they named none."""
        windows = task["energy"] or (self.policy["focus"] if task["type"] == "DW" else ())
        return self.within(windows) if windows else None

    def fits(self, task: Mapping[str, Any], minutes: Iterable[int]) -> bool:
        """Check whether a task, in pieces if it may be split, has room in these minutes."""
        lengths = sorted((len(run) for run in runs(minutes)), reverse=True)
        if not task["splittable"]:
            return lengths[:1] >= [task["minutes"]]
        pieces = [length for length in lengths[: task["max_pieces"]] if length >= task["min_chunk"]]
        return sum(pieces) >= int(task["minutes"])

    @cached_property
    def lunch(self) -> Mapping[str, Any] | None:
        return None if self.policy["lunch"] is None else LUNCH | self.policy["lunch"]


def fill_task(document: Mapping[str, Any]) -> dict[str, Any]:
    task = {"type": "DW", **TASK, **document}
    usual = 60 if task["type"] == "DW" else 30
    task["minutes"] = document.get("minutes", document.get("blocks", 0) * 30 or usual)
    if task.get("splittable") is None:
        task["splittable"] = task["type"] == "DW" and task["minutes"] >= 60
    return task


def fill_rule(document: Mapping[str, Any]) -> dict[str, Any]:
    record = RECORD | dict(document["constraint_record"])
    return {**record, "words": record.get("description") or record["name"], "tasks": document.get("tasks", ())}


def concerns(rule: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Check whether a rule is about a task."""
    types, tasks = rule["applies_event_types"], rule["tasks"]
    return bool((not types or task["type"] in types) and (not tasks or task["id"] in tasks))


def cover(spans: Iterable[Span]) -> set[int]:
    return {minute for span in spans for minute in range(span.start, span.end)}


def runs(minutes: Iterable[int]) -> list[range]:
    """Return the unbroken stretches of some minutes, in order."""
    groups = groupby(enumerate(sorted(minutes)), key=lambda pair: pair[1] - pair[0])
    stretches = [[minute for _, minute in group] for _, group in groups]
    return [range(stretch[0], stretch[-1] + 1) for stretch in stretches]
