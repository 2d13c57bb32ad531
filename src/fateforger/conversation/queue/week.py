"""A person's week: drafted from the queue on one card, and each accepted day opened in a thread of its own.

The card keeps the week, so nothing is stored before a day is opened. Each step can be repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import assert_never

from fateforger.conversation.calendar_reads import Looker, build_reading
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.queue.cards import ADD, SHOW, build_reply
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.leftovers import begin_day
from fateforger.conversation.queue.planned_tasks import PlannedTasks
from fateforger.conversation.queue.work import Tools, find_session
from fateforger.conversation.session_messages import build_session
from fateforger.conversation.turn_values import apply_reading
from fateforger.errors import BadInput
from fateforger.session.cards import Card
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.thread import StartTimeboxing, format_session_id
from fateforger.session.gate import is_committed
from fateforger.session.model import CalendarWrite, InputFacts, Session, Task
from fateforger.session.open_work import to_task
from fateforger.session.queue_commands import DaysTasks, DropWeek, OpenWeek, PlanWeek, WeekCommand
from fateforger.session.recall import recall
from fateforger.session.stages import WEEK_WAIT, TimeboxingStage
from fateforger.session.week import (
    LeftTask,
    can_be_planned,
    draft_day,
    open_tasks,
    spread_tasks,
    working_days,
)
from fateforger.tasks.task import Do, QueuedTask, TaskState
from fateforger.text import format_day, mark_message
from fateforger.text import gettext as _
from fateforger.ui.day_cards import WeekView, week_card
from fateforger.values import replace

AGAIN = PlanWeek.action
OVER = mark_message("that day is over, so nothing is planned on it")
OPENED = mark_message("✓ open in a thread of its own")
MOVES = ("frame", "draft", "refine")
"""Moves of the thread of an accepted day, up to the plan that can be refined and committed. A day without tasks asks
for them first."""


@dataclass(frozen=True, slots=True)
class WeekPlanner:
    """Drafts weeks and opens their days. All methods raise ``StoreError`` and can be repeated."""

    tools: Tools
    planned: PlannedTasks
    looker: Looker
    memory: MemoryService
    calendar_write: CalendarWrite

    async def answer(self, command: WeekCommand) -> Card:
        """Carry out a command and return its card."""
        match command:
            case PlanWeek():
                return await self._plan(command)
            case OpenWeek():
                return await self._open(command)
            case DropWeek():
                return build_reply(_("I dropped that week. Your tasks are in your queue as before."), SHOW)
            case _:
                assert_never(command)

    async def _plan(self, command: PlanWeek) -> Card:
        tz = command.tz or self.tools.tz
        days = working_days(command.span, command.at, tz)
        if not days:
            return build_reply(_("This week has no working day left."), AGAIN.button("next", label=_("Plan next week")))
        queue = await read_queue(self.tools.tasks, command.user_id)
        able, waiting = open_tasks(queue, days)
        if not able:
            return build_reply(
                _("Your queue has nothing to plan on these days. Add what there is to do."), ADD.localize()
            )
        key = command.command_id
        others = await self._find_planned(command, days, key)
        try:
            sessions = await self._build_days(command, [day for day in days if day not in others], key)
        except BadInput as error:
            return build_reply(error.message, AGAIN.button(command.span, label=_("Try again")))
        others |= {session.date: OVER for session in sessions if not can_be_planned(session)}
        open_ = [session for session in sessions if session.date not in others]
        week = await asyncio.to_thread(spread_tasks, open_, able)
        drafts = {session.date: session for session in week.days}
        shown = tuple(DaysTasks(date=day, tasks=_ids(drafts.get(day))) for day in days)
        return week_card(WeekView(key, command.span, shown, drafts, others, (*week.left, *waiting)))

    async def _open(self, command: OpenWeek) -> Card:
        wanted = {day.date for day in command.days if not day.opened and command.chosen in {None, day.date}}
        others = await self._find_planned(command, [day.date for day in command.days], command.key)
        queue = {task.id: task for task in await read_queue(self.tools.tasks, command.user_id)}
        begun: set[date] = set()
        for day in command.days:
            if day.date in wanted and day.date not in others:
                await self._begin(command, day, queue)
                begun.add(day.date)
        shown = tuple(replace(day, opened=day.opened or day.date in begun) for day in command.days)
        rest = [day for day in shown if not day.opened and day.date not in others]
        others |= {day.date: OPENED for day in shown if day.opened}
        try:
            sessions = await self._build_days(command, [day.date for day in rest], command.key)
        except BadInput as error:
            sessions, others = (), others | {day.date: error.message for day in rest}
        open_ = [session for session in sessions if can_be_planned(session)]
        drafts = await asyncio.to_thread(_draft_days, open_, {day.date: _find_tasks(day, queue) for day in rest})
        others = {day.date: OVER for day in rest if day.date not in drafts} | others
        return week_card(WeekView(command.key, command.span, shown, drafts, others, _find_left(queue, shown)))

    async def _begin(self, command: OpenWeek, day: DaysTasks, queue: Mapping[str, QueuedTask]) -> None:
        """Hand the tasks of a day over to its session, and begin its thread; both only once."""
        start = _build_start(command, day.date, command.key, self.tools.tz)
        session = build_session(start, await self._earlier(command), calendar_write=self.calendar_write)
        if await self.tools.sessions.load(session.id) is None:
            tasks = _find_tasks(day, queue, session.id)
            await self.planned.follow(session, session.with_day(inputs=InputFacts(tasks=tasks)))
            start = replace(start, inputs=tasks)
        await begin_day(self.tools, start, MOVES if day.tasks else MOVES[:1])

    async def _find_planned(self, command: WeekCommand, days: Sequence[date], key: str) -> dict[date, str]:
        """Return the days that have a plan which is not of this week, with a few words about it."""
        found: dict[date, str] = {}
        for day in days:
            session = await find_session(self.tools, command.user_id, day)
            if session is not None and session.id != _session_id(command, day, key, self.tools.tz):
                found[day] = (
                    _("is on your calendar already")
                    if is_committed(session)
                    else _("is being planned already, in its own thread")
                )
        return found

    async def _build_days(self, command: WeekCommand, days: Sequence[date], key: str) -> tuple[Session, ...]:
        """Return the sessions of days that have not begun, with calendar and rules. Raises ``BadInput``."""
        if not days:
            return ()
        versions = await self.memory.versions(command.user_id)
        estimates = await self.tools.durations.estimates(command.user_id)
        earlier = await self._earlier(command)
        starts = [_build_start(command, day, key, self.tools.tz) for day in days]
        begun = [build_session(start, earlier, calendar_write=self.calendar_write) for start in starts]
        looks = await asyncio.gather(*(self.looker.wait(s.user_id, s.date, s.tz, seconds=WEEK_WAIT) for s in begun))
        found = []
        for empty, look in zip(begun, looks, strict=True):
            if look is None or look.snapshot is None:
                why = "" if look is None or look.error is None else f" {look.error}"
                raise BadInput(
                    _("I cannot read your calendar of {day}, so I planned no week.", day=format_day(empty.date)) + why
                )
            session = replace(apply_reading(empty, build_reading(empty, look)), stage=TimeboxingStage.SKELETON)
            known = recall(session, versions, command.at)
            session = session.with_rules(recalled=known).with_day(estimates=estimates)
            found.append(session.with_planning(drafted_at=session.now))
        return tuple(found)

    async def _earlier(self, command: WeekCommand) -> tuple[Session, ...]:
        return await self.tools.sessions.of_user(command.user_id)


def _build_start(command: WeekCommand, day: date, key: str, tz: str) -> StartTimeboxing:
    return StartTimeboxing(
        command_id=mint_key("week", key, day),
        user_id=command.user_id,
        at=command.at,
        channel=command.channel,
        tz=command.tz or tz,
        date=day,
    )


def _session_id(command: WeekCommand, day: date, key: str, tz: str) -> str:
    return format_session_id(_build_start(command, day, key, tz))


def _ids(session: Session | None) -> tuple[str, ...]:
    return () if session is None else tuple(task.id for task in session.day.inputs.tasks)


def _find_tasks(day: DaysTasks, queue: Mapping[str, QueuedTask], session_id: str = "") -> tuple[Task, ...]:
    """Return the tasks of a day that nothing but its session has taken since the card was made."""
    found = [queue[name] for name in day.tasks if name in queue]
    return tuple(to_task(task) for task in found if task.state is TaskState.ACTIVE or task.place == session_id != "")


def _find_left(queue: Mapping[str, QueuedTask], days: Sequence[DaysTasks]) -> tuple[LeftTask, ...]:
    """Return the open tasks that no day has."""
    taken = {name for day in days for name in day.tasks}
    left = (task for task in queue.values() if task.state is TaskState.ACTIVE and task.id not in taken)
    return tuple(
        LeftTask(to_task(task), "")
        for task in left
        if isinstance(task.spec.work, Do) and (task.spec.details.from_day or days[-1].date) <= days[-1].date
    )


def _draft_days(sessions: Sequence[Session], tasks: Mapping[date, tuple[Task, ...]]) -> dict[date, Session]:
    return {session.date: draft_day(session, tasks[session.date]) for session in sessions}
