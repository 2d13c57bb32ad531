"""Tasks between days: open work of missed days goes back to the queue, and a day gives tasks to another one.

The plan of the next day still asks about such work, by its id in the queue (decision 027).

The session says in ``open_work.sent`` where its tasks shall be; this makes it so. Each step can be repeated: commands
are queued once, and a task is added to the queue once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from fateforger.conversation.queue.cards import SHOW, build_reply
from fateforger.conversation.queue.planned_tasks import hand_over
from fateforger.conversation.queue.work import Tools, find_session
from fateforger.conversation.session_messages import IDLE, is_over
from fateforger.errors import VersionConflict
from fateforger.planning.task_details import TaskDetails
from fateforger.session.cards import Card, Prose, plain
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.base import PLANNED, mint_key
from fateforger.session.commands.day import ReceiveTasks, ReturnTasks, TimeboxingCommitDate
from fateforger.session.commands.thread import StageAction, StartTimeboxing, format_session_id, session_id_of
from fateforger.session.day import local_today
from fateforger.session.gate import is_committed
from fateforger.session.messages import RecentTalk
from fateforger.session.model import ReturnedTask, ReturnedWork, SentTask, Session, SessionStatus, Task
from fateforger.session.open_work import LOOK_BACK, work_of_missed_day
from fateforger.session.other_days import name_day, with_sent_at
from fateforger.session.queue_commands import UndoReturn
from fateforger.session.stages import Move
from fateforger.session.store import HeadFilter, iter_heads
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import ENDED, NORMAL, Do, Origin, QueuedTask, TaskSpec, TaskState, read_task_id
from fateforger.text import format_day, join_words, label_text, mark_message, ngettext, quote_title, speak
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.turns import build_command_job


@dataclass(frozen=True, slots=True)
class OtherDays:
    """Gives tasks to other days of their person. All methods raise ``StoreError`` and can be repeated."""

    tools: Tools

    async def find_settled(self, session: Session) -> tuple[str, ...]:
        """Return the ids of the sent tasks that are on the calendar of the day they were sent to."""
        sent = [each for each in session.open_work.sent if not each.plan]
        return tuple([each.task.id for each in sent if await self._is_settled(session, each)])

    async def follow(self, before: Session, after: Session, cause: str, at: datetime) -> Session:
        """Carry out the changes of ``open_work.sent``, and return ``after`` with where the tasks are now."""
        known, wanted = ({each.task.id: each for each in s.open_work.sent} for s in (before, after))
        back = [each for name, each in known.items() if name not in wanted or wanted[name].day != each.day]
        new = [each for each in wanted.values() if not each.place]
        for place, each in groupby(sorted(back, key=lambda each: each.place), key=lambda each: each.place):
            sent = tuple(each)
            if await self._is_alone(place, sent):
                await self._end(place, after, cause, at)
            else:
                await self._take_back(after, place, [one.task for one in sent], cause, at)
        for day, each in groupby(sorted(new, key=lambda each: each.day), key=lambda each: each.day):
            after = await self._send(after, day, [sent.task for sent in each], cause, at)
        return after

    async def keep(self, session: Session, command: ReceiveTasks) -> None:
        """Put tasks into the queue for the day of a session that ended before it could receive them."""
        await self._enqueue(session, command.source, session.date, command.tasks, command.command_id, command.at)

    async def _send(self, session: Session, day: date, given: Sequence[Task], cause: str, at: datetime) -> Session:
        tasks = [replace(task, details=task.details.allow_on(day)) for task in given]
        other = await find_session(self.tools, session.user_id, day)
        plan = any(each.plan for each in session.open_work.sent if each.task in given)
        if plan and (other is None or other.id == _begun_id(session, day, cause)):
            return await self._begin(session, day, tasks, cause, at)
        if other is None or (is_committed(other) and not plan):
            queued = await self._enqueue(session, session.date, day, tasks, cause, at)
            name = name_day(day, seen_from=session.date)
            line = (
                _("{day} is not being planned yet, so it is in your queue for that day.", day=name)
                if other is None
                else _("The plan of {day} is on your calendar already, so it is in your queue.", day=name)
            )
            return with_sent_at(session, {task.id: each.id for task, each in zip(tasks, queued, strict=True)}).say(line)
        command = ReceiveTasks(
            command_id=mint_key("give", cause, session.id, day),
            user_id=session.user_id,
            at=at,
            session_id=other.id,
            tasks=tuple(tasks),
            source=session.date,
        )
        await self.tools.jobs.enqueue(build_command_job(command, key=other.id), now=self.tools.clock.now())
        return with_sent_at(session, dict.fromkeys((task.id for task in tasks), other.id))

    async def _begin(self, session: Session, day: date, tasks: Sequence[Task], cause: str, at: datetime) -> Session:
        """Begin a thread for the day with these tasks, and go on in it to the draft."""
        start = StartTimeboxing(
            command_id=_start_id(session, day, cause),
            user_id=session.user_id,
            at=at,
            channel=session.channel,
            tz=session.tz,
            date=day,
            inputs=tuple(tasks),
        )
        name = await begin_day(self.tools, start)
        return with_sent_at(session, dict.fromkeys((task.id for task in tasks), name), begun=True)

    async def _end(self, session_id: str, session: Session, cause: str, at: datetime) -> None:
        """End a thread that was begun for a plan: what it wrote goes off the calendar first."""
        other = await self.tools.sessions.load(session_id)
        undo = (Move.UNDO_SYNC,) if other is not None and other.sync.written is not None else ()
        for move in (*undo, Move.CANCEL):
            command = StageAction(
                command_id=mint_key("end", cause, session_id, move),
                user_id=session.user_id,
                at=at,
                session_id=session_id,
                move=move,
            )
            await self.tools.jobs.enqueue(build_command_job(command, key=session_id), now=self.tools.clock.now())

    async def _enqueue(
        self, session: Session, source: date, day: date, tasks: Sequence[Task], cause: str, at: datetime
    ) -> tuple[QueuedTask, ...]:
        """Put tasks into the queue for a day; one that came from there goes back there."""
        found = []
        origin = Origin(door="task", reference=format_day(source))
        for task in tasks:
            there = await self._change_days(session.user_id, task.id, task.details.move_to(day))
            if there is None:
                new = NewTask(to_spec(task, task.details.move_to(day)), origin)
                (there,) = await self.tools.tasks.add(
                    session.user_id, (new,), cause=mint_key("later", cause, task.id), now=at
                )
            found.append(there)
        return tuple(found)

    async def _change_days(self, user_id: str, task_id: str, details: TaskDetails) -> QueuedTask | None:
        if read_task_id(task_id) != task_id:
            return None
        return await self.tools.tasks.change(
            user_id, task_id, lambda task: _with_days(task, details), now=self.tools.clock.now()
        )

    async def _take_back(self, session: Session, place: str, tasks: Sequence[Task], cause: str, at: datetime) -> None:
        """Take tasks back from the thread or the queue that has them."""
        if read_task_id(place) != place:
            await self._return_from(place, session, tasks, cause, at)
            return
        (task,) = tasks
        if task.id == place:
            queued = await self._change_days(session.user_id, place, task.details)
        else:
            now = self.tools.clock.now()
            queued = await self.tools.tasks.get(session.user_id, place)
            await self.tools.tasks.change(session.user_id, place, _stop, now=now)
        if queued is not None and queued.place not in {"", session.id}:
            await self._return_from(queued.place, session, (replace(task, id=place),), cause, at)

    async def _return_from(
        self, session_id: str, session: Session, tasks: Sequence[Task], cause: str, at: datetime
    ) -> None:
        command = ReturnTasks(
            command_id=mint_key("back", cause, session_id, *(task.id for task in tasks)),
            user_id=session.user_id,
            at=at,
            session_id=session_id,
            tasks=tuple(tasks),
            source=session.date,
        )
        await self.tools.jobs.enqueue(build_command_job(command, key=session_id), now=self.tools.clock.now())

    async def _is_alone(self, place: str, sent: Sequence[SentTask]) -> bool:
        """Check whether a thread was begun for these tasks, and has no others."""
        if not all(each.begun for each in sent):
            return False
        other = await self.tools.sessions.load(place)
        return other is None or {task.id for task in other.day.inputs.tasks} <= {each.task.id for each in sent}

    async def find_planned(self, session: Session, cause: str) -> tuple[date, ...]:
        """Return the other days from now on that are planned or on the calendar, once the session is refined.

        A day that an interrupted attempt of the command ``cause`` began is not among them.
        """
        if session.stage not in PLANNED:
            return ()
        today = local_today(self.tools.clock.now(), session.tz)
        others = await self.tools.sessions.on_days(session.user_id, today)
        days = {
            each.date
            for each in others
            if (each.status is SessionStatus.ACTIVE or is_committed(each))
            and each.id != _begun_id(session, each.date, cause)
        }
        return tuple(sorted(days - {session.date}))

    async def _is_settled(self, session: Session, sent: SentTask) -> bool:
        place = sent.place
        if read_task_id(place) == place:
            queued = await self.tools.tasks.get(session.user_id, place)
            if queued is None or queued.state is TaskState.DONE:
                return True
            place = queued.place
        other = await self.tools.sessions.load(place) if place else None
        return other is not None and other.id != session.id and is_committed(other)


def _start_id(session: Session, day: date, cause: str) -> str:
    return mint_key("move", cause, session.id, day)


def _begun_id(session: Session, day: date, cause: str) -> str:
    """Return the id of the session that the command ``cause`` of a session begins on a day."""
    return session_id_of(_start_id(session, day, cause))


async def begin_day(tools: Tools, start: StartTimeboxing, moves: Sequence[str] = ("frame", "draft")) -> str:
    """Begin a thread for a day, and go on in it by so many moves, each named; return the id of its session.

    It can be repeated: a start of the same id begins one thread.
    """
    name = format_session_id(start)
    about: dict[str, Any] = {"user_id": start.user_id, "at": start.at, "session_id": name}
    steps: tuple[InboxCommand, ...] = (
        start,
        TimeboxingCommitDate(command_id=mint_key("date", name), **about),
        *(StageAction(command_id=mint_key(step, name), move=Move.PROCEED, **about) for step in moves),
    )
    for each in steps:
        await tools.jobs.enqueue(build_command_job(each, key=name), now=tools.clock.now())
    return name


def to_spec(task: Task, details: TaskDetails) -> TaskSpec:
    """Return a task of a day as one of the queue, with these details."""
    return TaskSpec(
        title=task.title,
        work=Do(minutes=task.minutes),
        context=task.notes,
        acceptance_criteria=task.done_when,
        priority=NORMAL if details.priority is None else details.priority,
        details=details,
    )


def _with_days(task: QueuedTask, details: TaskDetails) -> QueuedTask:
    return replace(task, spec=replace(task.spec, details=task.spec.details.with_days_of(details)))


def _stop(task: QueuedTask) -> QueuedTask:
    return task if task.state in {TaskState.DONE, TaskState.STOPPED} else replace(task, state=TaskState.STOPPED)


log = logging.getLogger(__name__)

MOST_NAMED = 5
MOST_SESSIONS = 20
ALREADY = mark_message("That is taken back already; your queue is as it was.")


async def return_leftovers(tools: Tools) -> bool:
    """Put what missed days left open into the queue, once for each day; return ``True`` if days are left over.

    Raises ``StoreError``.
    """
    now, loaded = tools.clock.now(), 0
    left = HeadFilter(since=now - LOOK_BACK, until=now - IDLE, last=now.date() + timedelta(days=1), unreturned=True)
    async for head in iter_heads(tools.sessions, left):
        if not is_over(head, now):
            continue
        if loaded == ROUND_SIZE:
            return True
        loaded += 1
        session = await tools.sessions.load(head.id)
        if session is not None and session.version == head.version:
            try:
                with speak(session.options.language):
                    await _return(tools, session, now)
            except VersionConflict:
                log.info("the plan %s is in use; what it left open waits", session.id)
    return False


async def _return(tools: Tools, session: Session, now: datetime) -> None:
    returned = await close_day(tools, session, now=now)
    if returned.tasks:
        talk = await tools.talks.of(session.user_id) or RecentTalk(at=now)
        told = tuple(dict.fromkeys((*talk.missed, session.id)))
        await tools.talks.keep(session.user_id, replace(talk, missed=told[-MOST_SESSIONS:]))


async def close_day(tools: Tools, session: Session, *, now: datetime, day: date | None = None) -> ReturnedWork:
    """Put the open work of a day into the queue as of an instant, kept for ``day`` if given, and record that.

    Raises ``StoreError``; a repetition adds nothing.
    """
    others = await tools.sessions.of_user(session.user_id, limit=MOST_SESSIONS)
    things = work_of_missed_day(session, others, now=now)
    found = [await put_into_queue(tools, session, each.task, day=day) for each in things]
    returned = ReturnedWork(tasks=tuple(each for each in found if each is not None))
    await tools.sessions.save(session.with_open_work(returned=returned), expected=session.version)
    return returned


async def put_into_queue(tools: Tools, session: Session, task: Task, *, day: date | None = None) -> ReturnedTask | None:
    """Put a task of a day into the queue, kept for ``day`` if given; return ``None`` if it is over there."""
    said, now = _("Back from {day}, where it was left open.", day=format_day(session.date)), tools.clock.now()
    if read_task_id(task.id) == task.id:
        change = partial(_activate, session=session, outcome=said, day=day)
        queued = await tools.tasks.change(session.user_id, task.id, change, now=now)
        if queued is None or queued.state in ENDED:
            return None
        return ReturnedTask(id=task.id, queued=task.id, added=False)
    details = task.details if day is None else task.details.move_to(day)
    new = NewTask(to_spec(task, details), Origin(door="task", reference=format_day(session.date)))
    (queued,) = await tools.tasks.add(session.user_id, (new,), cause=mint_key("missed", session.id, task.id), now=now)
    change = partial(_explain, session=session, spec=new.spec, outcome=said)
    await tools.tasks.change(session.user_id, queued.id, change, now=now)
    return ReturnedTask(id=task.id, queued=queued.id, added=True)


def _activate(task: QueuedTask, session: Session, outcome: str, day: date | None) -> QueuedTask:
    if task.state is not TaskState.WAITING or task.place != session.id:
        return task
    spec = task.spec if day is None else replace(task.spec, details=task.spec.details.move_to(day))
    return replace(task, spec=spec, state=TaskState.ACTIVE, outcome=outcome, place="")


def _explain(task: QueuedTask, session: Session, spec: TaskSpec, outcome: str) -> QueuedTask:
    """Return a task that was added, with the reason; one that an undo has taken out is open again."""
    if task.state is TaskState.STOPPED and task.place == session.id:
        return replace(task, spec=spec, state=TaskState.ACTIVE, outcome=outcome, place="")
    return replace(task, outcome=outcome) if task.state is TaskState.ACTIVE else task


async def reopen_day(tools: Tools, session: Session) -> Session:
    """Take the open work of a closed day out of the queue, as far as it was not begun, and return the open day.

    Raises ``StoreError``.
    """
    returned = session.open_work.returned or ReturnedWork()
    planned = {task.id: task for task in (*session.day.inputs.tasks, *session.open_work.deferred)}
    for each in returned.tasks:
        change = partial(_take_out, session=session, added=each.added, planned=planned.get(each.id))
        await tools.tasks.change(session.user_id, each.queued, change, now=tools.clock.now())
    opened = session.with_open_work(returned=None)
    return await tools.sessions.save(opened, expected=session.version)


async def tell_returned(tools: Tools, user_id: str, card: Card) -> Card:
    """Return a card of the queue that says once what came back from missed days, with *Undo*."""
    talk = await tools.talks.of(user_id)
    if talk is None or not talk.missed:
        return card
    await tools.talks.keep(user_id, replace(talk, missed=()))
    found = [await _describe(tools, name) for name in talk.missed]
    return replace(card, parts=(*(part for part in found if part is not None), *card.parts))


async def _describe(tools: Tools, session_id: str) -> Prose | None:
    session = await tools.sessions.load(session_id)
    returned = None if session is None else session.open_work.returned
    if session is None or returned is None or returned.undone:
        return None
    queued = [await tools.tasks.get(session.user_id, each.queued) for each in returned.tasks]
    names = [
        quote_title(plain(task.spec.title, 120)) for task in queued if task is not None and task.state not in ENDED
    ]
    if not names:
        return None
    said = _(
        "{day} is over. Back in your queue: {names}.",
        day=format_day(session.date),
        names=join_words(names, MOST_NAMED),
    )
    return Prose(text=said, control=UndoReturn.action.button(session.id, spoken=label_text(_("Undo"), said)))


async def undo_return(tools: Tools, command: UndoReturn) -> Card:
    """Take the open work of a missed day out of the queue again, as far as it was not begun. Raises ``StoreError``."""
    session = await tools.sessions.load(command.session)
    returned = None if session is None or session.user_id != command.user_id else session.open_work.returned
    if session is None or returned is None or returned.undone:
        return build_reply(_(ALREADY), SHOW.localize())
    now = tools.clock.now()
    for each in returned.tasks:
        take_out = partial(_take_out, session=session, added=each.added)
        await tools.tasks.change(session.user_id, each.queued, take_out, now=now)
    undone = session.with_open_work(returned=replace(returned, undone=True))
    await tools.sessions.save(undone, expected=session.version)
    said = ngettext(
        "{count} task is out of your queue again. When you plan your next day, I ask you about it.",
        "{count} tasks are out of your queue again. When you plan your next day, I ask you about them.",
        len(returned.tasks),
    )
    return build_reply(said, SHOW.localize())


def _take_out(task: QueuedTask, session: Session, *, added: bool, planned: Task | None = None) -> QueuedTask:
    """Return a task without what the end of its day changed; ``planned`` is the task as the day has it."""
    if task.state is not TaskState.ACTIVE:
        return task
    if added:
        return replace(task, state=TaskState.STOPPED, outcome="", place=session.id)
    if planned is not None:
        task = replace(task, spec=replace(task.spec, details=task.spec.details.with_days_of(planned.details)))
    return hand_over(task, session)
