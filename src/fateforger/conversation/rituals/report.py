"""Reports of days and weeks: the tasks that were planned, done and moved, and those that kept being moved. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import chain
from typing import Literal

from fateforger.conversation.rituals.schedule import NUMBERS
from fateforger.memory.vocabulary import Weekday
from fateforger.planning.block_times import task_of
from fateforger.planning.plan import resolve
from fateforger.session.frame import frame_in_force
from fateforger.session.model import Session
from fateforger.session.open_work import OWED
from fateforger.session.placement import by_time
from fateforger.session.queue_commands import Advice
from fateforger.session.replanning import task_id_of
from fateforger.tasks.task import read_task_id
from fateforger.values import replace

State = Literal["done", "moved", "open"]
OFTEN = 2
"""Days on which a task was left before it counts as one that keeps being moved."""
USUAL_MINUTES = 60
MOST_ADVISED = 4 * 60
"""Most minutes that a suggestion blocks for one task."""


@dataclass(frozen=True, slots=True)
class DayItem:
    """A task of a day's plan, and what became of it on that day."""

    id: str
    title: str
    minutes: int
    state: State


@dataclass(frozen=True, slots=True)
class DayReport:
    day: date
    items: tuple[DayItem, ...]

    def titles(self, state: State) -> tuple[str, ...]:
        """Return the titles of the tasks in a state."""
        return tuple(item.title for item in self.items if item.state == state)

    def count_minutes(self, state: State) -> int:
        """Return the minutes of the tasks in a state."""
        return sum(item.minutes for item in self.items if item.state == state)


def report_day(session: Session) -> DayReport:
    """Return how the committed plan of a session went, as far as the person said; planned tasks first, in order."""
    done = session.open_work.settled
    found: dict[str, DayItem] = {}
    for item in chain(_list_planned(session), _list_finished(session), _list_unplaced(session)):
        state: State = "done" if task_of(item.id, done) is not None else "open"
        found.setdefault(item.id, replace(item, state=state))
    moved = (*session.open_work.deferred, *(sent.task for sent in session.open_work.sent))
    for task in moved:
        there = found.get(task.id)
        item = DayItem(task.id, task.title, task.minutes or USUAL_MINUTES, "moved")
        found[task.id] = item if there is None else replace(there, state="moved")
    return DayReport(session.date, tuple(found.values()))


def _list_planned(session: Session) -> Iterator[DayItem]:
    """Yield the work and errands that have blocks."""
    plan = session.planning.plan
    if plan is None:
        return
    titles = {task.id: task.title for task in session.day.inputs.tasks}
    minutes: Counter[str] = Counter()
    names: dict[str, str] = {}
    for block in by_time(plan):
        if block.event.type in OWED:
            name = task_of(block.key, session.open_work.settled) or task_id_of(session, block)
            minutes[name] += block.minutes
            names.setdefault(name, titles.get(name, block.event.name))
    yield from (DayItem(name, title, minutes[name], "open") for name, title in names.items())


def _list_finished(session: Session) -> Iterator[DayItem]:
    """Yield the tasks that were done before their blocks began. These are gone; an earlier change knows them."""
    for step in session.sync.refine_undo:
        if step.facts_before is None:
            continue
        blocks = resolve(step.plan_before)
        for task in step.facts_before.inputs.tasks:
            if task_of(task.id, session.open_work.settled) is not None:
                mine = sum(block.minutes for block in blocks if task_of(block.key, [task.id]))
                yield DayItem(task.id, task.title, mine or task.minutes or USUAL_MINUTES, "done")


def _list_unplaced(session: Session) -> Iterator[DayItem]:
    """Yield the tasks that found no place."""
    tasks = {task.id: task for task in session.day.inputs.tasks}
    for each in session.planning.unplaced:
        task = tasks.get(each.task_id)
        if task is not None:
            yield DayItem(task.id, task.title, task.minutes or USUAL_MINUTES, "open")


@dataclass(frozen=True, slots=True)
class Moved:
    """A task that was left on several ``days``, and is not done."""

    item: DayItem
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class WeekReport:
    """Report of a week. Each task counts once: as done if it was done on any day, else as its last day left it."""

    days: tuple[DayReport, ...]
    tasks: tuple[DayItem, ...]
    kept_moving: tuple[Moved, ...]

    def number_of(self, state: State) -> int:
        """Return the number of tasks in a state."""
        return sum(item.state == state for item in self.tasks)


def report_week(sessions: Iterable[Session], ended: frozenset[str] = frozenset()) -> WeekReport:
    """Return how the days with a plan on the calendar went. ``ended`` are tasks of the queue that are over by now."""
    committed = sorted((s for s in sessions if s.sync.written is not None), key=lambda s: (s.date, s.touched_at))
    latest = {session.date: session for session in committed}
    aliases = _find_aliases(latest.values())
    days = tuple(_rename(report_day(session), aliases) for session in latest.values())
    tasks: dict[str, DayItem] = {}
    left: dict[str, list[date]] = {}
    for report in days:
        for item in report.items:
            if item.state != "done":
                left.setdefault(item.id, []).append(report.day)
            if item.id not in tasks or tasks[item.id].state != "done":
                tasks[item.id] = item
    tasks = {name: replace(item, state="done") if name in ended else item for name, item in tasks.items()}
    often = (Moved(tasks[name], tuple(on)) for name, on in left.items() if len(on) >= OFTEN)
    kept = sorted((each for each in often if each.item.state != "done"), key=lambda each: -len(each.days))
    return WeekReport(days, tuple(tasks.values()), tuple(kept))


def _find_aliases(sessions: Iterable[Session]) -> Mapping[str, str]:
    """Return the ids in the queue of tasks that days gave to it."""
    found: dict[str, str] = {}
    for session in sessions:
        returned = session.open_work.returned
        found |= {each.id: each.queued for each in (() if returned is None else returned.tasks)}
        found |= {sent.task.id: sent.place for sent in session.open_work.sent if read_task_id(sent.place) == sent.place}
    return found


def _rename(report: DayReport, aliases: Mapping[str, str]) -> DayReport:
    return replace(report, items=tuple(replace(item, id=aliases.get(item.id, item.id)) for item in report.items))


def advise(report: WeekReport, sessions: Sequence[Session], days: Sequence[Weekday]) -> Advice | None:
    """Return time for the task that was moved most often, as the next week begins; ``None`` without such a task.

    ``sessions`` are those of the week, of which the latest one says when days begin; ``days`` are those with messages.
    """
    if not report.kept_moving:
        return None
    task, last = report.kept_moving[0].item, max(session.date for session in sessions)
    latest = max(sessions, key=lambda session: session.date)
    wanted = {NUMBERS[each] for each in days}
    monday = last + timedelta(days=7 - last.weekday())
    day = next(day for n in range(7) if (day := monday + timedelta(days=n)).weekday() in wanted)
    start = frame_in_force(latest).day_start
    return Advice(
        task=task.id,
        title=task.title[:300],
        minutes=max(1, min(task.minutes, MOST_ADVISED)),
        date=day,
        start=time(start.hour, start.minute),
    )
