"""Open work of missed days: it goes back to the queue by itself, is told once, and can be taken out again.

The plan of the next day still asks about it, by its id in the queue (decision 027).
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import partial

from fateforger.conversation.queue.cards import SHOW, build_reply
from fateforger.conversation.queue.other_days import to_spec
from fateforger.conversation.queue.planned_tasks import hand_over
from fateforger.conversation.queue.work import Tools
from fateforger.conversation.session_lifecycle import IDLE
from fateforger.errors import VersionConflict
from fateforger.planning.timing import local_day, zone
from fateforger.session.cards import Card, Prose, plain
from fateforger.session.commands.base import mint_key
from fateforger.session.day import day_words
from fateforger.session.messages import RecentTalk
from fateforger.session.model import OfferedInput, ReturnedTask, ReturnedWork, Session
from fateforger.session.open_work import LOOK_BACK, work_of_missed_day
from fateforger.session.queue_commands import UndoReturn
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import ENDED, Origin, QueuedTask, TaskState, read_task_id
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, ngettext, quote_title, speak
from fateforger.values import replace

log = logging.getLogger(__name__)

MOST_NAMED = 5
MOST_SESSIONS = 20
ALREADY = mark_message("That is taken back already; your queue is as it was.")


def is_missed(session: Session, now: datetime) -> bool:
    """Check whether the day of a plan on the calendar is over, and the person has not been there for a while."""
    if session.sync.written is None or session.open_work.returned is not None:
        return False
    over = local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now
    return over and now - session.touched_at >= IDLE and now - session.touched_at <= LOOK_BACK


async def return_leftovers(tools: Tools) -> None:
    """Put what missed days left open into the queue, once for each day. Raises ``StoreError``."""
    now = tools.clock.now()
    for session in await tools.sessions.touched_since(now - LOOK_BACK):
        if is_missed(session, now):
            try:
                with speak(session.options.language):
                    await _return(tools, session, now)
            except VersionConflict:
                log.info("the plan %s is in use; what it left open waits", session.id)


async def _return(tools: Tools, session: Session, now: datetime) -> None:
    others = await tools.sessions.of_user(session.user_id, limit=MOST_SESSIONS)
    things = work_of_missed_day(session, others, now=now)
    found = [await _put_into_queue(tools, session, each, now) for each in things]
    returned = ReturnedWork(tasks=tuple(each for each in found if each is not None))
    await tools.sessions.save(session.with_open_work(returned=returned), expected=session.version)
    if returned.tasks:
        talk = await tools.talks.of(session.user_id) or RecentTalk(at=now)
        told = tuple(dict.fromkeys((*talk.missed, session.id)))
        await tools.talks.keep(session.user_id, replace(talk, missed=told[-MOST_SESSIONS:]))


async def _put_into_queue(tools: Tools, session: Session, thing: OfferedInput, now: datetime) -> ReturnedTask | None:
    """Put one task into the queue; return ``None`` if it is over there."""
    task, said = thing.task, _("Back from {day}, where it was left open.", day=day_words(session.date))
    if read_task_id(task.id) == task.id:
        change = partial(_activate, session=session, outcome=said)
        queued = await tools.tasks.change(session.user_id, task.id, change, now=now)
        if queued is None or queued.state in ENDED:
            return None
        return ReturnedTask(id=task.id, queued=task.id, added=False)
    new = NewTask(to_spec(task, task.details), Origin(door="task", reference=day_words(session.date)))
    (queued,) = await tools.tasks.add(session.user_id, (new,), cause=mint_key("missed", session.id, task.id), now=now)
    await tools.tasks.change(session.user_id, queued.id, partial(_explain, outcome=said), now=now)
    return ReturnedTask(id=task.id, queued=queued.id, added=True)


def _activate(task: QueuedTask, session: Session, outcome: str) -> QueuedTask:
    if task.state is not TaskState.WAITING or task.place != session.id:
        return task
    return replace(task, state=TaskState.ACTIVE, outcome=outcome, place="")


def _explain(task: QueuedTask, outcome: str) -> QueuedTask:
    return replace(task, outcome=outcome) if task.state is TaskState.ACTIVE else task


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
        day=day_words(session.date),
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


def _take_out(task: QueuedTask, session: Session, *, added: bool) -> QueuedTask:
    if task.state is not TaskState.ACTIVE:
        return task
    return replace(task, state=TaskState.STOPPED, outcome="") if added else hand_over(task, session)
