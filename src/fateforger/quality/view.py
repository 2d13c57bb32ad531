"""View of a plan and its day: the facts that the rubric judges.

Instants are in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from fateforger.drafting.check import Violation
from fateforger.drafting.ground import DraftContext, Occupied, build_context
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.keeping import check_blocks
from fateforger.drafting.model import UnplacedItem
from fateforger.drafting.naming import task_of
from fateforger.drafting.policy import Policy
from fateforger.plan import ET, Resolved, TBPlan, overlaps, resolve
from fateforger.values import replace

WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})
MEAL = timedelta(minutes=20)
"""Shortest pause that counts as a meal."""
_LONG_DAY = timedelta(hours=6)


@dataclass(frozen=True)
class View:
    """A plan and the day it is for.

    ``ground`` is the day without any plan. ``left`` lists the tasks that found no place when the day was drafted.
    """

    ground: DraftContext
    plan: TBPlan
    left: Sequence[UnplacedItem]

    @property
    def instance(self) -> Instance:
        return self.ground.instance

    @property
    def policy(self) -> Policy:
        return self.instance.policy

    @property
    def start(self) -> datetime:
        return self.ground.days[0].start.astimezone(UTC)

    @property
    def end(self) -> datetime:
        return self.ground.days[0].end.astimezone(UTC)

    @property
    def middle(self) -> datetime:
        """End of the first half of the day."""
        return self.start + (self.end - self.start) / 2

    @property
    def is_long(self) -> bool:
        """True when the day is long enough for a meal and a shutdown."""
        return self.end - self.start >= _LONG_DAY

    @cached_property
    def resolved_blocks(self) -> tuple[Resolved, ...]:
        return tuple(sorted(resolve(self.plan), key=lambda block: (begin(block), block.index)))

    @cached_property
    def blocks(self) -> tuple[Resolved, ...]:
        """Blocks in time order, without background."""
        return tuple(block for block in self.resolved_blocks if block.event.type is not ET.BACKGROUND)

    @cached_property
    def work(self) -> tuple[Resolved, ...]:
        return tuple(block for block in self.blocks if block.event.type in WORK)

    @cached_property
    def deep(self) -> tuple[Resolved, ...]:
        return tuple(block for block in self.blocks if block.event.type is ET.DEEP_WORK)

    @cached_property
    def meals(self) -> tuple[Resolved, ...]:
        return tuple(b for b in self.blocks if b.event.type is ET.REGENERATION and b.duration >= MEAL)

    @cached_property
    def overlaps(self) -> tuple[tuple[Resolved, Resolved], ...]:
        return overlaps(resolve(self.plan))

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        return check_blocks(self.ground, self.blocks)

    @cached_property
    def still_unplaced(self) -> tuple[UnplacedItem, ...]:
        """Tasks that still have no place.

        The person may have added a block of that name to the plan since.
        """
        named = {block.event.name.casefold() for block in self.blocks}
        return tuple(e for e in self.left if e.title.casefold() not in named and self.first_of(e.id) is None)

    @property
    def one(self) -> Task | None:
        """The task marked as the one thing."""
        return next((task for task in self.instance.tasks if task.one_thing), None)

    def first_of(self, task: str) -> Resolved | None:
        """Return the earliest block for a task."""
        return next((b for b in self.blocks if task_of(b.key, (task,)) is not None), None)

    def hit_by(self, block: Resolved) -> Occupied | None:
        """Return the event that a block runs into, if any."""
        start, stop = begin(block), finish(block)
        events = (e for e in self.ground.events if e.start.astimezone(UTC) < e.end.astimezone(UTC))
        return next((e for e in events if e.start.astimezone(UTC) < stop and start < e.end.astimezone(UTC)), None)


def build_view(instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = ()) -> View:
    """Return the view of a plan.

    Raises ``BadInput`` for an instance that makes no day. A plan whose blocks cannot be resolved raises
    ``PlanInvalid`` when its blocks are first read.
    """
    return View(build_context(replace(instance, previous=None)), plan, left)


def begin(block: Resolved) -> datetime:
    return block.start.astimezone(UTC)


def finish(block: Resolved) -> datetime:
    return block.end.astimezone(UTC)
