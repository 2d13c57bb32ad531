"""A checker of drafted days: minute by minute in wall clock time, without slots, masks or other parts of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations, pairwise
from typing import Any
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class PlacedPiece:
    task: str
    key: str
    type: str
    start: datetime
    end: datetime

    @property
    def minutes(self) -> int:
        return int((self.end - self.start) / MINUTE)


class InstanceChecker:
    """One instance, as its JSON document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.zone = ZoneInfo(document["tz"])
        self.day = date.fromisoformat(document["date"])
        self.start, self.end = self._span(document["frame"])
        self.events = [
            (e.get("type", "M"), *self._span(e)) for e in document["immovables"] if e["busy"] and not e.get("all_day")
        ]
        self.events = [(t, s, e) for t, s, e in self.events if s < e]

    def _span(self, named: Mapping[str, Any]) -> tuple[datetime, datetime]:
        start, end = self.instant(named["start"]), self.instant(named["end"])
        if end < start or (end == start and named is self.document["frame"]):
            end = self.instant(named["end"], 1)
        return start, end

    def instant(self, text: str, days: int = 0) -> datetime:
        if "T" in text:
            there = datetime.fromisoformat(text)
        else:
            there = datetime.combine(self.day + timedelta(days=days), time.fromisoformat(text))
        return (there if there.tzinfo else there.replace(tzinfo=self.zone)).astimezone(UTC)

    def pieces(self, result: Mapping[str, Any]) -> list[PlacedPiece]:
        placed = [
            PlacedPiece(b["id"], b["key"], b["type"], start, start + b["minutes"] * MINUTE)
            for b in result["placed"]
            for start in [datetime.fromisoformat(b["start"]).astimezone(UTC)]
        ]
        return sorted(placed, key=lambda p: p.start)

    # --- everything ---

    def faults(self, result: Mapping[str, Any]) -> list[str]:
        """Return the faults of a draft; an empty list if it is correct."""
        pieces = self.pieces(result)
        relaxed = set(result["relaxed"])
        found = [*self._time(pieces), *self._tasks(pieces, result, relaxed), *self._pins(pieces, relaxed)]
        for said in self.document["constraints"]:
            if said["constraint_record"]["necessity"] == "must" and said["uid"] not in relaxed:
                found += [f"{said['uid']}: {fault}" for fault in self.find_breaches(said["constraint_record"], pieces)]
        if relaxed and not result["conflict"]:
            found.append("something was let go without a conflict")
        return found

    def _time(self, pieces: Sequence[PlacedPiece]) -> Iterator[str]:
        pinned = {p["key"] for p in self.document.get("pinned", ())}
        for one, two in pairwise(pieces):
            if two.start < one.end:
                yield f"{one.key} and {two.key} overlap"
        for piece in pieces:
            if piece.key not in pinned and piece.type != "C" and not self.start <= piece.start < piece.end <= self.end:
                yield f"{piece.key} leaves the day"
            for _, start, end in self.events:
                if start < piece.end and piece.start < end:
                    yield f"{piece.key} runs into an event"

    def _tasks(self, pieces: Sequence[PlacedPiece], result: Mapping[str, Any], relaxed: set[str]) -> Iterator[str]:
        left = {u["id"] for u in result["unplaced"]}
        ends = {p.task: max(q.end for q in pieces if q.task == p.task) for p in pieces}
        for task in self.document["tasks"]:
            mine = [p for p in pieces if p.task == task["id"]]
            if bool(mine) == (task["id"] in left):
                yield f"{task['id']} is both there and left out, or neither"
            if not mine:
                if task["required"] and task["id"] not in relaxed:
                    yield f"{task['id']} is required and not there"
                continue
            wanted = task.get("minutes", 60 if task["type"] == "DW" else 30)
            if sum(p.minutes for p in mine) != wanted:
                yield f"{task['id']} got {sum(p.minutes for p in mine)} of {wanted} minutes"
            yield from self._piecework(task, mine)
            for other in task.get("after", ()):
                if other not in ends or ends[other] > mine[0].start:
                    yield f"{task['id']} does not come after {other}"

    def _piecework(self, task: Mapping[str, Any], mine: Sequence[PlacedPiece]) -> Iterator[str]:
        if len(mine) > 1:
            if not task.get("splittable") or len(mine) > task.get("max_pieces", 4):
                yield f"{task['id']} is in {len(mine)} pieces"
            if min(p.minutes for p in mine[:-1]) < task.get("min_chunk", 30) or mine[-1].minutes + 4 < task.get(
                "min_chunk", 30
            ):
                yield f"{task['id']} has too short a piece"
        for piece in mine:
            if "deadline" in task and piece.end > self.instant(task["deadline"]):
                yield f"{task['id']} is late"
            if "not_before" in task and piece.start < self.instant(task["not_before"]):
                yield f"{task['id']} is early"

    def _pins(self, pieces: Sequence[PlacedPiece], relaxed: set[str]) -> Iterator[str]:
        for pin in self.document.get("pinned", ()):
            mine = [p for p in pieces if p.key == pin["key"]]
            if pin["key"] not in relaxed and (
                len(mine) != 1 or mine[0].start != self._grid(pin) or mine[0].minutes != pin["minutes"]
            ):
                yield f"{pin['key']} moved"

    def _grid(self, pin: Mapping[str, Any]) -> datetime:
        return self.instant(pin["start"])

    # --- one must ---

    def find_breaches(self, record: Mapping[str, Any], pieces: Sequence[PlacedPiece]) -> Iterator[str]:
        """Yield the ways in which the pieces break a rule."""
        payload, types = record["payload"], record["applies_event_types"]
        mine = [p for p in pieces if (not types or p.type in types) and not p.key.startswith("way-")]
        kind, numbers = payload["rule_kind"], payload["scalar_params"]
        for piece in mine:
            if any(self._is_closed(payload, piece.start + n * MINUTE) for n in range(piece.minutes)):
                yield f"{piece.key} lies in closed time"
        match kind:
            case "min_sleep":
                next_start = self.instant(self.document["frame"]["start"], 1)
                if any(p.end > next_start - numbers["duration_min"] * MINUTE for p in mine):
                    yield "too little sleep"
            case "buffer":
                yield from self._buffer(numbers["duration_min"], types, mine, pieces)
            case "capacity":
                yield from self._capacity(numbers, types, mine)
            case "sequencing":
                yield from self._sequence(types, mine)

    def _is_closed(self, payload: Mapping[str, Any], minute: datetime) -> bool:
        wall = minute.astimezone(self.zone).time()
        wanted = [w for w in payload["windows"] if w["kind"] == "prefer" and payload["rule_kind"] != "fixed_bedtime"]
        avoided = [w for w in payload["windows"] if w not in wanted]
        return (bool(wanted) and not any(_in(w, wall) for w in wanted)) or any(_in(w, wall) for w in avoided)

    def _buffer(
        self, minutes: int, types: Sequence[str], mine: Sequence[PlacedPiece], all_: Sequence[PlacedPiece]
    ) -> Iterator[str]:
        gap = minutes * MINUTE
        if set(types) - {"M"} or not types:
            for piece in mine:
                begins = [p.start for p in all_ if p.start >= piece.end]
                begins += [s for _, s, e in self.events if e > piece.end]
                if any(begin < piece.end + gap for begin in begins):
                    yield f"too little time behind {piece.key}"
        if "M" in types or not types:
            yield from self.near_meetings(all_, gap)

    def near_meetings(self, pieces: Sequence[PlacedPiece], gap: timedelta) -> Iterator[str]:
        """Name the pieces that begin or end too near to a meeting."""
        for piece in pieces:
            if not piece.key.startswith("way-"):
                yield from self._near(piece, gap)

    def _near(self, piece: PlacedPiece, gap: timedelta) -> Iterator[str]:
        for kind, start, end in self.events:
            if kind == "M" and start - gap < piece.end and piece.start < end + gap:
                yield f"{piece.key} is too near to a meeting"

    def _capacity(self, numbers: Mapping[str, Any], types: Sequence[str], mine: Sequence[PlacedPiece]) -> Iterator[str]:
        counted = [p for p in mine if types or p.type not in {"R", "BU"}]
        total = sum(p.minutes for p in counted)
        if "duration_max" in numbers and total > numbers["duration_max"]:
            yield f"{total} minutes are too much"
        if "duration_min" in numbers and total + 4 * len(counted) < numbers["duration_min"]:
            yield f"{total} minutes are too little"
        if "count_max" in numbers and len(counted) > numbers["count_max"]:
            yield f"{len(counted)} blocks are too many"

    def _sequence(self, types: Sequence[str], mine: Sequence[PlacedPiece]) -> Iterator[str]:
        for one, two in combinations(mine, 2):
            if types.index(one.type) > types.index(two.type):
                yield f"{one.key} comes before {two.key}"
        if "M" in types:
            for piece in mine:
                for kind, start, end in self.events:
                    first = types.index(piece.type) < types.index("M")
                    if (
                        kind == "M"
                        and self._same_day(start, end)
                        and (piece.end > start if first else piece.start < end)
                    ):
                        yield f"{piece.key} is on the wrong side of a meeting"

    def _same_day(self, start: datetime, end: datetime) -> bool:
        midnight = datetime.combine(self.day, time(), self.zone).astimezone(UTC)
        return end > midnight - timedelta(hours=2)


def _in(window: Mapping[str, str], wall: time) -> bool:
    start, end = time.fromisoformat(window["start"]), time.fromisoformat(window["end"])
    return start <= wall < end if start < end else wall >= start or wall < end
