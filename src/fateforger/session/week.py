"""A person's open tasks, spread over several days. Pure: each day is a session that has not begun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.policy import policy_in_force
from fateforger.errors import BadInput
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import find_circle
from fateforger.planning.timing import Busy, Stretch, busy_stretches, ceil, floor, gaps
from fateforger.session.day import busy_meetings, day_to_plan, frame_of
from fateforger.session.draft import day_of, draft_constraints, with_own_draft, work_of
from fateforger.session.model import Session, Task
from fateforger.session.open_work import given_day, to_task
from fateforger.session.queue_commands import WeekSpan
from fateforger.session.tasks import describe_circle
from fateforger.tasks.task import NORMAL, Do, QueuedTask, TaskState
from fateforger.text import format_day, format_length
from fateforger.text import gettext as _
from fateforger.values import replace

WORKING_DAYS = 5
_WEEK = timedelta(days=7)
MOST_TASKS = 60
"""Most tasks of a week, so that its card stays readable and its buttons can name them all."""
MOST_TRIALS = 12
"""Most further drafts that look for another day for tasks without room."""
MOST_LOAD = 1.3
"""Share of a day's room, as reckoned before it is drafted, beyond which another task is not tried there."""


def working_days(span: WeekSpan, now: datetime, tz: str) -> tuple[date, ...]:
    """Return the days of a span: the next five working days, the rest of this week's, or those of the next week."""
    first = day_to_plan(now, tz)
    monday = first - timedelta(days=first.weekday())
    if span == "next":
        first = monday = monday + _WEEK
    days = (first + timedelta(days=n) for n in range(2 * 7))
    working = [day for day in days if day.weekday() < WORKING_DAYS]
    if span == "this":
        working = [day for day in working if day < monday + _WEEK]
    return tuple(working[:WORKING_DAYS])


@dataclass(frozen=True, slots=True)
class WeekTask:
    """A task that can be done on any day from ``first`` to ``last``."""

    task: Task
    first: date = date.min
    last: date = date.max

    @property
    def is_overdue(self) -> bool:
        """True when it was due before any of the days on which it can be done."""
        return self.last < self.first


@dataclass(frozen=True, slots=True)
class LeftTask:
    """A task that has no place in the week, with the reason."""

    task: Task
    reason: str


@dataclass(frozen=True, slots=True)
class Week:
    """The drafted days, in order, and the tasks that have no place on them."""

    days: tuple[Session, ...]
    left: tuple[LeftTask, ...] = ()


def open_tasks(queue: Sequence[QueuedTask], days: Sequence[date]) -> tuple[tuple[WeekTask, ...], tuple[LeftTask, ...]]:
    """Return the tasks of a queue that can be done on the days, and those that wait for something else.

    Work that is kept for a later day is neither.
    """
    known = {task.id: task for task in queue}
    able: list[WeekTask] = []
    left: list[LeftTask] = []
    for queued in queue:
        if queued.state is not TaskState.ACTIVE or not isinstance(queued.spec.work, Do):
            continue
        task = to_task(queued)
        first = task.details.from_day or date.min
        if first > days[-1]:
            continue
        blockers = (known[name] for name in queued.blocked_by if name in known)
        waits = next((each for each in blockers if each.state not in {TaskState.ACTIVE, TaskState.DONE}), None)
        if waits is not None:
            left.append(LeftTask(task, _("it waits for “{title}”", title=waits.spec.title)))
            continue
        due = min(task.details.due_day or date.max, given_day(queued) or date.max)
        able.append(WeekTask(task, max(first, days[0]), due))
    while circle := find_circle({each.task.id: each.task.details.after for each in able}):
        titles = [each.task.title for each in able if each.task.id in circle]
        left += [LeftTask(each.task, describe_circle(titles)) for each in able if each.task.id in circle]
        able = [each for each in able if each.task.id not in circle]
    left += [LeftTask(each.task, _("it comes after {count} others", count=MOST_TASKS)) for each in able[MOST_TASKS:]]
    return tuple(able[:MOST_TASKS]), tuple(left)


def spread_tasks(days: Sequence[Session], tasks: Sequence[WeekTask]) -> Week:
    """Return the week with each task on a day on which it can be done, and all days drafted.

    Due dates and the order between tasks hold across the days. Among the days that are left, the emptiest is chosen.
    """
    if not days:
        return Week((), tuple(LeftTask(each.task, _("none of these days can be planned")) for each in tasks))
    spread = _Spread(days, tasks)
    for each in _by_urgency(tasks):
        spread.assign(each)
    spread.draft_all()
    spread.find_other_days()
    spread.leave_followers()
    spread.use_room()
    return Week(tuple(spread.drafts[day] for day in spread.drafts), tuple(spread.left.values()))


def draft_day(day: Session, tasks: Sequence[Task]) -> Session:
    """Return a day with these tasks as its plan, by a short search; its thread will search longer."""
    day = day.with_day(inputs=replace(day.day.inputs, tasks=tuple(tasks)))
    return with_own_draft(day, day_of(day).draft(draft_constraints(day), steps=TRIAL_STEPS, trial_steps=None))


def planned_minutes_of(session: Session) -> int:
    """Return the minutes of the tasks that are placed on a drafted day."""
    left = {each.task_id for each in session.planning.unplaced}
    return sum(work_of(session, task).length for task in session.day.inputs.tasks if task.id not in left)


def free_minutes_of(session: Session) -> int:
    """Return the minutes of a drafted day that neither meetings nor its plan take."""
    try:
        start, end = frame_of(session)
    except BadInput:
        return 0
    blocks = () if session.planning.plan is None else resolve(session.planning.plan)
    taken = [Busy(meeting.start, meeting.end) for meeting in busy_meetings(session)]
    taken += [Busy(block.start, block.end) for block in blocks]
    return sum(gap.minutes for gap in gaps(Stretch(ceil(start), floor(end)), busy_stretches(taken)))


def _by_urgency(tasks: Sequence[WeekTask]) -> Iterator[WeekTask]:
    """Yield the tasks in an order that follows the one between them: the important ones first, each the sooner due."""
    waiting = {each.task.id: each for each in tasks}
    before = {name: {a for a in each.task.details.after if a in waiting} for name, each in waiting.items()}
    due = {name: each.last for name, each in waiting.items()}
    for _round in tasks:
        for name, first in before.items():
            for each in first:
                due[each] = min(due[each], due[name])
    place = {name: number for number, name in enumerate(waiting)}

    def urgency(name: str) -> tuple[bool, date, int, int]:
        own = waiting[name].task.details.priority
        priority = NORMAL if own is None else own
        return priority >= NORMAL, due[name], priority, place[name]

    while before:
        free = [name for name, first in before.items() if not first & before.keys()] or list(before)
        chosen = min(free, key=urgency)
        del before[chosen]
        yield waiting[chosen]


@dataclass(slots=True)
class _Spread:
    """Tasks on their way to days. ``of_day`` are the tasks of each day, in order of urgency."""

    days: Sequence[Session]
    tasks: Sequence[WeekTask]
    of_day: dict[date, list[Task]] = field(default_factory=dict)
    room: dict[date, int] = field(default_factory=dict)
    """Minutes for tasks on each day when it has none yet."""
    drafts: dict[date, Session] = field(default_factory=dict)
    left: dict[str, LeftTask] = field(default_factory=dict)
    trials: int = 0

    def __post_init__(self) -> None:
        self.of_day = {day.date: [] for day in self.days}
        self.room = {day.date: _room_of(day) for day in self.days}

    def assign(self, each: WeekTask) -> None:
        """Put a task on the best of its days."""
        open_ = self._open_days(each)
        if not open_:
            self._leave(each.task, _("it is due before it can be done; the tasks before it end too late"))
            return
        behind = self._count_followers(each.task.id)
        early = open_[: max(1, len(open_) - behind)]
        self.of_day[self._best(each, early if self._fits(each, early) else open_)].append(each.task)

    def draft_all(self) -> None:
        self.drafts = {day.date: draft_day(day, self.of_day[day.date]) for day in self.days}

    def find_other_days(self) -> None:
        """Give a task that its day has no room for to another day, if that keeps all that it has."""
        for each in _by_urgency(self.tasks):
            here = self._day_of(each.task.id)
            if here is None or (lost := _list_unplaced(self.drafts[here]).get(each.task.id)) is None:
                continue
            self._leave(each.task, self._explain(each, here, lost))
            self._place(each, besides=here)

    def _explain(self, each: WeekTask, here: date, lost: str) -> str:
        """Say why a task has no place, from the reason of its day; what is too long for all days has a way out."""
        minutes = self._length(each.task)
        if any(minutes <= self.room[day] for day in self._open_days(each)):
            return _("{day}: {reason}", day=format_day(here), reason=lost)
        return _(
            "it needs {length}, and none of these days has that much room. Make smaller tasks of it, or pull it and"
            " block time for it on several days.",
            length=format_length(minutes),
        )

    def use_room(self) -> None:
        """Place what was left, where others that were left since made room."""
        for each in _by_urgency(self.tasks):
            if each.task.id in self.left and not any(name in self.left for name in each.task.details.after):
                self._place(each)

    def leave_followers(self) -> None:
        """Leave out the tasks that come after others which have no place."""
        while follower := next(self._followers_of_left(), None):
            task, first = follower
            self._leave(task, _("it comes after “{title}”, which has no place", title=self.left[first].task.title))

    def _followers_of_left(self) -> Iterator[tuple[Task, str]]:
        for tasks in self.of_day.values():
            for task in tasks:
                yield from ((task, name) for name in task.details.after if name in self.left)

    def _leave(self, task: Task, reason: str) -> None:
        self.left[task.id] = LeftTask(task, reason)
        here = self._day_of(task.id)
        if here is None:
            return
        self.of_day[here].remove(task)
        draft = self.drafts[here]
        if task.id in _list_unplaced(draft):
            unplaced = tuple(each for each in draft.planning.unplaced if each.task_id != task.id)
            draft = draft.with_day(inputs=replace(draft.day.inputs, tasks=tuple(self.of_day[here])))
            self.drafts[here] = draft.with_planning(unplaced=unplaced)
        else:
            self._redraft(here)

    def _redraft(self, day: date) -> None:
        self.drafts[day] = draft_day(self._session(day), self.of_day[day])

    def _place(self, each: WeekTask, besides: date | None = None) -> None:
        """Place a task that was left on the first of its days where that costs no other task its place."""
        days = [day for day in self._open_days(each) if day != besides and self._load(day, each) <= MOST_LOAD]
        for day in sorted(days, key=lambda day: self._load(day, each)):
            if self.trials >= MOST_TRIALS:
                return
            self.trials += 1
            tried = draft_day(self._session(day), (*self.of_day[day], each.task))
            if not _list_unplaced(tried).keys() - _list_unplaced(self.drafts[day]).keys():
                self.of_day[day].append(each.task)
                self.drafts[day] = tried
                del self.left[each.task.id]
                return

    def _session(self, day: date) -> Session:
        return next(each for each in self.days if each.date == day)

    def _open_days(self, each: WeekTask) -> list[date]:
        """Return the days on which a task can be done, given where the tasks before and after it are."""
        name = each.task.id
        before = [day for other in each.task.details.after if (day := self._day_of(other)) is not None]
        behind = [day for day, tasks in self.of_day.items() for task in tasks if name in task.details.after]
        first, last = max([each.first, *before]), min([each.last, *behind])
        if each.is_overdue:
            last = min([date.max, *behind])
        return [day for day in self.of_day if first <= day <= last]

    def _day_of(self, name: str) -> date | None:
        return next((day for day, tasks in self.of_day.items() if any(task.id == name for task in tasks)), None)

    def _count_followers(self, name: str) -> int:
        """Return how many tasks come one after the other behind a task, in the longest row."""
        row, count = {name}, 0
        while row := {each.task.id for each in self.tasks if row.intersection(each.task.details.after)}:
            count += 1
        return count

    def _length(self, task: Task) -> int:
        return work_of(self.days[0], task).length

    def _fits(self, each: WeekTask, days: Sequence[date]) -> bool:
        return any(self._load(day, each) <= 1 for day in days)

    def _best(self, each: WeekTask, days: Sequence[date]) -> date:
        """Return the first day with room for an urgent task, and the emptiest day for any other."""
        urgent = each.is_overdue or each.task.details.priority == 0
        fitting = [day for day in days if self._load(day, each) <= 1]
        return fitting[0] if urgent and fitting else min(days, key=lambda day: (self._load(day, each), day))

    def _load(self, day: date, each: WeekTask) -> float:
        """Return the share of a day's room that its tasks and this one would take."""
        taken = sum(map(self._length, (*self.of_day[day], each.task)))
        return taken / self.room[day] if self.room[day] else float("inf")


def _list_unplaced(session: Session) -> dict[str, str]:
    tasks = {task.id for task in session.day.inputs.tasks}
    return {each.task_id: each.reason for each in session.planning.unplaced if each.task_id in tasks}


def _room_of(session: Session) -> int:
    """Return the minutes for tasks on a day: what is free by its meetings, lunch and routines, without the slack."""
    day = day_of(session)
    if day.frame.minutes == 0:
        return 0
    policy = policy_in_force(day.policy, draft_constraints(session), day.date)
    free = free_minutes_of(draft_day(session, ()))
    return max(0, free * (100 - (policy.slack_percent or 0)) // 100 - policy.shutdown)


def can_be_planned(session: Session) -> bool:
    """Check whether part of the session's frame is left to plan."""
    try:
        start, end = frame_of(session)
    except BadInput:
        return False
    return start.astimezone(UTC) < end.astimezone(UTC)
