"""Tasks that are carried out in the plan of a day: planning the day, or adding a block to it."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as in the commands

from fateforger.background.turns import command_job
from fateforger.coordinator import starting
from fateforger.coordinator.executor.carried import Asker, Carried, Tools
from fateforger.coordinator.forms.block import first_free
from fateforger.drafting.naming import task_of
from fateforger.errors import BadInput
from fateforger.session.commands import AddBlock, AddTasks, Start
from fateforger.session.days import day_words, local_today
from fateforger.session.gates import committed
from fateforger.session.keys import minted
from fateforger.session.model import Session, SessionStatus, Task
from fateforger.stages import TimeboxingStage
from fateforger.tasks import BlockTime, Mode, PlanDay, QueuedTask, TaskState

PLANNED = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


async def plan_day(tools: Tools, asker: Asker, day: PlanDay, *, key: str) -> Carried:
    """Open a thread for the day, once per ``key``, or use the one that is open.

    Raises ``BadInput`` for a day that is over.
    """
    name = day_words(day.date)
    _not_over(asker, day.date)
    session = await session_of(tools, asker.user_id, day.date)
    if session is not None and committed(session):
        return Carried(TaskState.DONE, f"{name} is on your calendar already.", session.id)
    if session is not None:
        return Carried(TaskState.WAITING, f"The plan for {name} is open; go on in its thread.", session.id)
    note = "I'll tick this task off once the day is on your calendar." if asker.mode is Mode.EXECUTOR else ""
    start = _start(asker, day.date, key, note=note)
    await tools.jobs.enqueue(command_job(start, key=start.command_id), now=tools.clock.now())
    opened = f"I opened the plan for {name} in a thread of its own. This is done when the day is on your calendar."
    return Carried(TaskState.WAITING, opened, starting.session_id(start))


async def block_time(tools: Tools, asker: Asker, work: BlockTime, title: str, *, key: str) -> Carried:
    """Add a block to the plan of a day, once per ``key``; before Refine, add a task for that day instead.

    The place of the result holds the id of the session and the key of the block or task in it. Raises ``BadInput``.
    """
    _not_over(asker, work.date)
    name = day_words(work.date)
    session = await session_of(tools, asker.user_id, work.date)
    asked = {"command_id": minted("block", key), "user_id": asker.user_id, "at": asker.at}
    task = Task(id=minted("t", key), title=title, minutes=work.minutes)
    if session is None or session.status is SessionStatus.CANCELLED:
        start = _start(asker, work.date, key, inputs=(task,))
        await tools.jobs.enqueue(command_job(start, key=start.command_id), now=tools.clock.now())
        said = f"No plan of {name} was open, so I opened one with this as something to do.{_wished(work)}"
        return Carried(TaskState.WAITING, said, f"{starting.session_id(start)} {task.id}")
    if session.stage in PLANNED:
        begin = work.start or first_free(session.at_time(tools.clock.now()))
        block = AddBlock(**asked, session_id=session.id, title=title, start=begin, minutes=work.minutes)
        await tools.jobs.enqueue(command_job(block, key=session.id), now=tools.clock.now())
        said = f"I put it into the plan of {name} at {begin:%H:%M}; see its thread."
        return Carried(TaskState.WAITING, said, f"{session.id} {minted('b', block.command_id)}")
    if any(each.id == task.id for each in session.inputs.tasks):
        return Carried(
            TaskState.WAITING, f"It is on the list of what is to be done on {name}.", f"{session.id} {task.id}"
        )
    more = AddTasks(**asked, session_id=session.id, tasks=(task,))
    await tools.jobs.enqueue(command_job(more, key=session.id), now=tools.clock.now())
    said = f"{name} is being planned, so I added it to what is to be done; it gets its time in the draft."
    return Carried(TaskState.WAITING, f"{said}{_wished(work)}", f"{session.id} {task.id}")


async def planned_by_now(tools: Tools, place: str, day: Date) -> Carried | None:
    """Return the result of a day that is being planned in the session ``place``; ``None`` while it is open."""
    session = await tools.sessions.load(place)
    if session is None:
        return None
    name = day_words(session.date)
    if session.date != day:
        return Carried(TaskState.FAILED, f"That thread plans {name} now, not {day_words(day)}.")
    if committed(session):
        return Carried(TaskState.DONE, f"{name} is on your calendar.")
    if session.status is SessionStatus.CANCELLED:
        return Carried(TaskState.FAILED, f"The plan for {name} was ended before it was on your calendar.")
    return None


async def blocked_by_now(tools: Tools, task: QueuedTask, work: BlockTime) -> Carried | None:
    """Return the result of a block that was to be added to a plan; ``None`` while it is open.

    If its key is unknown, because another agent added it, a block of the same title counts.
    """
    if not task.place:
        return await _seen_by_now(tools, task, work)
    session_id, _, name = task.place.partition(" ")
    session = await tools.sessions.load(session_id)
    if session is None:
        return None
    day = day_words(session.date)
    keys = () if session.plan is None else tuple(event.block_key for event in session.plan.events)
    if any(key == name or task_of(key, (name,)) is not None for key in keys):
        return Carried(TaskState.DONE, f"It has its time in the plan of {day}.")
    if session.status is SessionStatus.CANCELLED:
        return Carried(TaskState.FAILED, f"The plan of {day} was ended without it.")
    refused = any(minted("b", command_id) == name for command_id in session.handled)
    if refused:
        return Carried(TaskState.FAILED, f"It found no place in the plan of {day}; its thread says why.")
    return None


async def _seen_by_now(tools: Tools, task: QueuedTask, work: BlockTime) -> Carried | None:
    session = await session_of(tools, task.user_id, work.date)
    if session is None or session.plan is None or session.written is None:
        return None
    if task.spec.title not in {event.name for event in session.plan.events}:
        return None
    return Carried(TaskState.DONE, f"It has its time in the plan of {day_words(session.date)}.", session.id)


async def session_of(tools: Tools, user_id: str, day: Date) -> Session | None:
    """Return the session in which a person is planning, or has planned, that day."""
    of_day = [session for session in await tools.sessions.of_user(user_id) if session.date == day]
    running = (session for session in of_day if session.status is SessionStatus.ACTIVE)
    return next(running, next((session for session in of_day if committed(session)), None))


def _wished(work: BlockTime) -> str:
    """Return a note about the requested start time, which a draft does not take into account."""
    if work.start is None:
        return ""
    return f" The draft chooses when: you wanted {work.start:%H:%M}, so move it there in Refine."


def _start(asker: Asker, day: Date, key: str, *, inputs: tuple[Task, ...] = (), note: str = "") -> Start:
    return Start(
        command_id=minted("pull", key),
        user_id=asker.user_id,
        at=asker.at,
        channel=asker.channel,
        tz=asker.tz,
        date=day,
        mode=asker.mode,
        inputs=inputs,
        note=note,
    )


def _not_over(asker: Asker, day: Date) -> None:
    if day < local_today(asker.at, asker.tz):
        raise BadInput(f"{day_words(day)} is over, so there is nothing left to plan on it.")
