"""Day to fill, and its drafts from its meetings, frame, lunch, and tasks.

Meetings stay where they are (S121). The one thing comes first and early, then deep work, then shallow work, each in
order of priority. Nothing overlaps, and everything left out is reported. Work without minutes gets a usual length, so a
day without any numbers still plans (S106).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from fateforger.drafting.axis import stretches
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import (
    LUNCH_DRIFT,
    LUNCH_TITLE,
    SHORTEST_LUNCH,
    Frame,
    Immovable,
    Instance,
    Lunch,
    Pin,
    Policy,
    Task,
    Told,
)
from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.model import Draft, UnplacedItem
from fateforger.drafting.routines import with_routines
from fateforger.drafting.solver import (
    STEPS,
    Optimum,
    ShouldStop,
    Solution,
    is_materially_better,
    solve_context,
    with_optimum,
)
from fateforger.drafting.solver import to_draft as draft_of
from fateforger.drafting.task_fields import TaskDay, with_details
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, TBPlan
from fateforger.planning.task_details import PLAIN, TaskDetails, TaskKind
from fateforger.planning.timing import GRID, Busy, Stretch, busy_stretches, ceil, floor, gaps, instant, on_grid, zone
from fateforger.text import gettext as _
from fateforger.values import replace

FIRST_STEPS = 0
"""Steps of the first plan that is shown while a better one is looked for: the best of a few greedy placements."""
LONG_STEPS = 3 * STEPS
"""Steps of the better plan that follows the first one: about a second."""
_SHORTEST_LUNCH = timedelta(minutes=SHORTEST_LUNCH)
PIECE = 30
"""Shortest piece that deep work is split into, in minutes."""
SPLITTABLE = 60
"""Shortest deep work that may be split, in minutes."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work to be placed.

    Without ``minutes`` it takes a usual length for its kind. ``id`` becomes the block's key.
    """

    id: str
    title: str
    minutes: int | None
    details: TaskDetails = PLAIN
    first: bool = False
    notes: str = ""

    @property
    def length(self) -> int:
        """Its minutes, or the usual length."""
        return self.minutes or self.details.kind.usual_minutes

    @property
    def is_splittable(self) -> bool:
        """True when it may be split into pieces."""
        if self.details.splittable is not None:
            return self.details.splittable
        deep = self.details.kind is TaskKind.DEEP
        return deep and self.minutes is not None and on_grid(self.minutes) >= SPLITTABLE


@dataclass(frozen=True, slots=True)
class LunchWish:
    """Preferred start and length of lunch; it yields to meetings."""

    key: str
    start: datetime
    minutes: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day to fill.

    ``start`` to ``end`` is the frame, and ``works`` are in order of priority. ``next_start`` is the start of the day
    after, if it differs from this one's, because the day is under way. ``now`` is an instant before ``start`` on a day
    whose frame has not begun: what lies outside of the frame is not planned before it. ``done`` are titles of what was
    done before.
    When the day ``fills``, no time has to stay free. ``deep_blocks`` and ``longest_focus`` are those of the policy, if
    the person gave them for this day.
    """

    date: Date
    tz: str
    start: datetime
    end: datetime
    busy: tuple[Busy, ...] = ()
    lunch: LunchWish | None = None
    works: tuple[Work, ...] = ()
    next_start: time | None = None
    now: datetime | None = None
    done: tuple[str, ...] = ()
    fills: bool = False
    deep_blocks: int | None = None
    longest_focus: int | None = None

    @property
    def frame(self) -> Stretch:
        """Frame of the day, rounded inward to the grid."""
        return Stretch(ceil(self.start), max(ceil(self.start), floor(self.end)))

    @property
    def wants_lunch(self) -> bool:
        """True if the preferred time of lunch lies in the frame and nothing near it is a lunch already.

        A plan for an afternoon has no lunch.
        """
        wish, frame = self.lunch, self.frame
        if wish is None or wish.minutes <= 0 or not frame.start <= floor(wish.start) < frame.end:
            return False
        return self.find_lunch() is None

    def find_lunch(self) -> tuple[str, datetime] | None:
        """Return title and start of the event, or of the task at a given time, that is the lunch of the day."""
        if self.lunch is None:
            return None
        wish = floor(self.lunch.start)
        for title, start, end in self._find_meals():
            if _is_lunch(title) and abs(floor(start) - wish) <= LUNCH_DRIFT and end - start >= _SHORTEST_LUNCH:
                return title, start
        return None

    def _find_meals(self) -> Iterator[tuple[str, datetime, datetime]]:
        """Yield title, start and end of what may be a lunch: events, and tasks whose start is given."""
        yield from ((busy.title, busy.start, busy.end) for busy in self.busy)
        day = TaskDay(self.date, self.tz, self.start, self.end)
        for work in self.works:
            if work.details.at is not None:
                start = day.instant(work.details.at)
                yield work.title, start, start + timedelta(minutes=work.length)

    @property
    def middle(self) -> datetime:
        """End of the first half of the time that the one thing could have; the end of the day, when none is named."""
        context = build_context(self.instance())
        late = next((context.late_starts(task) for task in context.instance.tasks if task.one_thing), 0)
        return context.axis.when((late & -late).bit_length() - 1) if late else self.end.astimezone(UTC)

    @property
    def policy(self) -> Policy:
        """The one policy for the day (K10).

        It is the usual policy, with lunch at the time and length wished for, or without lunch when the wish lies
        outside the frame.
        """
        given: dict[str, Any] = {"slack_percent": None} if self.fills else {}
        own = {"deep_blocks": self.deep_blocks, "longest_focus": self.longest_focus}
        usual = Policy(**given, **{name: value for name, value in own.items() if value is not None})
        if self.lunch is None or not self.wants_lunch:
            return replace(usual, lunch=None)
        minutes = max(GRID, self.lunch.minutes)
        start = self.lunch.start.astimezone(zone(self.tz)).time()
        lunch = Lunch(start=start, minutes=minutes, shortest=min(SHORTEST_LUNCH, minutes), drift=LUNCH_DRIFT)
        return replace(usual, lunch=lunch)

    def instance(self, told: Sequence[Told] = ()) -> Instance:
        """Return the day as an instance, with lunch pinned where there is room for it.

        Raises :class:`BadInput` for a frame without time.
        """
        instance = Instance(
            date=self.date,
            tz=self.tz,
            frame=Frame(start=self.start, end=self.end, next_start=self.next_start),
            immovables=tuple(
                Immovable(title=b.title[:300] or "Meeting", start=b.start, end=b.end)
                for b in self.busy
                if b.start < b.end
            ),
            tasks=tuple(self.task(work, 1 + 5 * place // len(self.works)) for place, work in enumerate(self.works)),
            constraints=tuple(told),
            policy=self.policy,
            now=self.now if self.next_start is None else self.start,
        )
        instance = with_routines(instance, done=self.done)
        lunch = _pin_lunch(self, instance)
        return instance if lunch is None else replace(instance, pinned=(*instance.pinned, lunch))

    def task(self, work: Work, priority: int = 3) -> Task:
        """Return work as a task of the engine, of that priority unless it has its own."""
        task = Task(
            id=work.id,
            title=work.title,
            minutes=work.length,
            splittable=work.is_splittable,
            min_chunk=PIECE,
            max_pieces=6,
            priority=priority,
            one_thing=work.first,
            notes=work.notes,
        )
        day = TaskDay(self.date, self.tz, self.start, self.end)
        return with_details(task, work.details, day, {each.id for each in self.works})

    def draft(self, told: Sequence[Told] = (), *, steps: int = STEPS, trial_steps: int | None = STEPS) -> Draft:
        """Place the work that fits, keep the constraints in ``told``, and report the rest (S21).

        The order of ``busy`` does not matter. Lunch lies where it would lie without any work. The policy and the
        search are those of :func:`fateforger.drafting.solver.draft_instance` (K10). ``steps`` limits the search, and
        ``trial_steps`` that of each option for work without a place; ``None`` offers no option that promises a place.
        """
        if self.frame.minutes == 0:
            lost = [UnplacedItem.of_work(w.id, w.title, w.length, frame=0, longest=0, left=0) for w in self.works]
            return Draft(TBPlan(date=self.date, tz=self.tz), tuple(lost))
        return draft_of(_solve(self.instance(told), steps), trial_steps=trial_steps)

    def draft_lunch(self, told: Sequence[Told] = ()) -> Draft:
        """Return a draft of lunch alone, placed as :meth:`draft` places it, or the reason it has no place."""
        bare = replace(self, works=())
        if bare.frame.minutes == 0:
            return bare.draft(told)
        instance = bare.instance(told)
        return draft_of(_solve(replace(instance, policy=replace(instance.policy, shutdown=0)), TRIAL_STEPS))

    def search_again(self, told: Sequence[Told], plan: TBPlan, stop: ShouldStop | None = None) -> LongSearch | None:
        """Return a long search for the day whose plan was found by a short one. Takes about a second.

        ``stop`` is polled to end it early, and whatever follows from it.

        Returns ``None`` if a short search finds another plan, which then was made otherwise.
        """
        if self.frame.minutes == 0:
            return None
        for steps in (FIRST_STEPS, STEPS):
            first = _solve(self.instance(told), steps)
            if draft_of(first).plan == plan:
                return LongSearch(first, _solve(self.instance(told), LONG_STEPS, stop), stop)
        return None


@dataclass(frozen=True, slots=True)
class LongSearch:
    """The solutions that a short and a long search found for a day."""

    first: Solution
    best: Solution
    stop: ShouldStop | None = None

    def to_draft(self, optimum: Optimum | None = None) -> Draft:
        """Return the draft of the better solution, or of an optimizer's, if it is materially better than the first.

        Otherwise it is the first one again. Its options are tried by the search that taking one leads to.
        """
        best = self.best if optimum is None else with_optimum(self.best, optimum)
        return draft_of(
            best if is_materially_better(best, self.first) else self.first, trial_steps=STEPS, stop=self.stop
        )


def lunch_stretch(frame: Stretch, taken: Sequence[Stretch], wish: LunchWish) -> Stretch | None:
    """Return the free stretch nearest to the wish, shorter than wished if necessary.

    Returns ``None`` when there is none.
    """
    for minutes in _wanted_lunch(wish).lengths:
        starts = [s for gap in gaps(frame, taken) for s in _starts(gap, minutes, floor(wish.start))]
        near = [s for s in starts if abs(s - floor(wish.start)) <= LUNCH_DRIFT]
        if near:
            start = min(near, key=lambda s: (abs(s - floor(wish.start)), s))
            return Stretch(start, start + minutes)
    return None


def _wanted_lunch(wish: LunchWish) -> Lunch:
    minutes = on_grid(max(GRID, wish.minutes))
    return Lunch(minutes=minutes, shortest=min(SHORTEST_LUNCH, minutes), drift=LUNCH_DRIFT)


def _starts(gap: Stretch, minutes: int, wish: int) -> tuple[int, ...]:
    """Return the start in this gap that is nearest to the wish, if lunch fits."""
    latest = gap.end - minutes
    if latest < gap.start:
        return ()
    return (min(max(wish, gap.start), latest - (latest - gap.start) % GRID),)


def _solve(instance: Instance, steps: int, stop: ShouldStop | None = None) -> Solution:
    """Solve a day; if a pinned lunch or routine conflicts with the rules, solve it without that pin."""
    result = solve_context(build_context(instance), steps=steps, stop=stop)
    if result.conflict is not None and any(pin.key in result.conflict.ids for pin in instance.pinned):
        pinned = tuple(pin for pin in instance.pinned if pin.key not in result.conflict.ids)
        result = solve_context(build_context(replace(instance, pinned=pinned)), steps=steps, stop=stop)
    return result


# --- lunch ---


def _is_lunch(title: str) -> bool:
    """Check whether a title contains the word for lunch, in English or the person's language."""
    words = title.casefold()
    return any(re.search(rf"(?<![\w-]){re.escape(word.casefold())}\b", words) for word in (LUNCH_TITLE, _(LUNCH_TITLE)))


def _pin_lunch(day: Day, instance: Instance) -> Pin | None:
    """Return lunch near its wish, where meetings leave room and rules allow it.

    Tasks whose start the person gave count as meetings if that leaves room for it. Weaker rules are dropped as needed;
    musts always count.
    """
    if day.lunch is None or not day.wants_lunch:
        return None
    fixed = [*day.busy, *_pinned_times(instance)]
    timed = [t for t in _given_times(instance) if not any(b.start < t.end and t.start < b.end for b in fixed)]
    closed_times = tuple(_closed_times(instance))
    for taken, closed in product((busy_stretches((*fixed, *timed)), busy_stretches(fixed)), closed_times):
        stretch = lunch_stretch(day.frame, [*taken, *closed], day.lunch)
        if stretch is not None:
            start = instant(stretch.start)
            return Pin(
                key=day.lunch.key, title=_(LUNCH_TITLE), type=ET.REGENERATION, start=start, minutes=stretch.minutes
            )
    return None


def _pinned_times(instance: Instance) -> Iterator[Busy]:
    """Yield the times of the pinned blocks."""
    for pin in instance.pinned:
        if isinstance(pin.start, datetime):
            yield Busy(pin.start, pin.start + timedelta(minutes=pin.minutes or 0))


def _given_times(instance: Instance) -> Iterator[Busy]:
    """Yield the times of the tasks whose start the person gave, with the ways there and back."""
    for task in instance.tasks:
        if isinstance(task.start, datetime):
            way = timedelta(minutes=task.travel)
            yield Busy(task.start - way, task.start + timedelta(minutes=task.length(instance.policy)) + way)


def _closed_times(instance: Instance) -> Iterator[tuple[Stretch, ...]]:
    """Yield the times closed to lunch: by all rules about it, then by ever fewer, down to the musts alone."""
    if not instance.constraints:
        yield ()
        return
    context = build_context(instance)
    rules = [rule for rule in context.rules if rule.applies_to(ET.REGENERATION, None) and rule.closed]
    tried: set[int] = set()
    for last in range(len(Necessity), 0, -1):
        strong = tuple(Necessity)[:last]
        closed = reduce(or_, (rule.closed for rule in rules if rule.necessity in strong), 0)
        if closed not in tried:
            tried.add(closed)
            origin = context.axis.origin
            yield tuple(Stretch(origin + at * GRID, origin + (at + slots) * GRID) for at, slots in stretches(closed))
