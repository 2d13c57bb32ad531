"""A day that was drafted, and a meeting of it that is moved: which blocks move with it, and whether fewer could."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

from tests.factories.instances import Document

from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.feasibility import check_feasibility
from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import Block, write_draft
from fateforger.drafting.solver import draft_instance

FROM, TO = "2026-03-02T11:00:00+01:00", "2026-03-02T11:30:00+01:00"


@dataclass(frozen=True)
class Share:
    """``clear``: the blocks that the meeting does not touch where it is now; ``moved``: those of them that moved."""

    document: Document
    clear: tuple[Block, ...]
    touched: tuple[Block, ...]
    moved: tuple[Block, ...]

    def fewer_would_do(self, share: float) -> bool:
        """Check whether the whole plan can stay within every must while only that share of the clear blocks moves.

        It tries each set of blocks of that size.
        """
        allowed = int(share * len(self.clear))
        return any(self._can(loose) for loose in combinations(self.clear, allowed))

    def _can(self, loose: Sequence[Block]) -> bool:
        ids = {task["id"] for task in self.document["tasks"]}
        there = {block.id for block in (*self.clear, *self.touched)}
        pins = [_pin(block, ids) for block in self.clear if block not in loose]
        tasks = [
            {**task, "required": True, "after": [a for a in task.get("after", ()) if a in there]}
            for task in self.document["tasks"]
            if task["id"] in there
        ]
        problem = compile_problem(build_context(read_instance({**self.document, "pinned": pins, "tasks": tasks})))
        return check_feasibility(problem)[0] != "no"


def moved_share(document: Document, steps: int) -> Share:
    """Move the first meeting that takes time to eleven, and draft the day again from its plan."""
    before = draft_instance(read_instance(document), steps=steps)
    event = next(e for e in document["immovables"] if e["busy"])
    events = [{**e, "start": FROM, "end": TO} if e is event else e for e in document["immovables"]]
    changed = {**document, "immovables": events}
    again = draft_instance(read_instance({**changed, "previous": write_draft(before)["plan"]}), steps=steps)
    after = {block.key: block.start for block in again.placed}
    start, end = datetime.fromisoformat(FROM), datetime.fromisoformat(TO)
    mine = [b for b in before.placed if not b.key.startswith("way-")]
    clear = tuple(b for b in mine if b.start >= end or b.start + timedelta(minutes=b.minutes) <= start)
    touched = tuple(b for b in mine if b not in clear)
    return Share(changed, clear, touched, tuple(b for b in clear if after.get(b.key) != b.start))


def _pin(block: Block, ids: set[str]) -> dict[str, Any]:
    pin = {
        "key": block.key,
        "title": block.title,
        "type": block.type.value,
        "start": block.start.isoformat(),
        "minutes": block.minutes,
    }
    return pin | ({"task": block.id} if block.id in ids else {})
