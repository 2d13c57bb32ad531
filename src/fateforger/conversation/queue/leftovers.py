"""Open work of missed days: it goes back to the queue by itself, is told once, and can be taken out again.

The plan of the next day still asks about it, by its id in the queue (decision 027).
"""

from __future__ import annotations

import logging
from datetime import date, datetime, timedelta
from functools import partial

from fateforger.conversation.queue.cards import SHOW, build_reply
from fateforger.conversation.queue.other_days import to_spec
from fateforger.conversation.queue.planned_tasks import hand_over
from fateforger.conversation.queue.work import Tools
from fateforger.conversation.session_lifecycle import IDLE, is_over
from fateforger.errors import VersionConflict
from fateforger.session.cards import Card, Prose, plain
from fateforger.session.commands.base import mint_key
from fateforger.session.messages import RecentTalk
from fateforger.session.model import ReturnedTask, ReturnedWork, Session, Task
from fateforger.session.open_work import LOOK_BACK, work_of_missed_day
from fateforger.session.queue_commands import UndoReturn
from fateforger.session.store import HeadFilter, iter_heads
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import ENDED, Origin, QueuedTask, TaskSpec, TaskState, read_task_id
from fateforger.text import format_day, join_words, mark_message, ngettext, quote_title, speak
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.lanes import ROUND_SIZE

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
    return Prose(text=said, control=UndoReturn.action.button(session.id, spoken=_("Take that out of my queue again")))


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
