"""Tasks that are carried out in the plan of a day: planning the day, or adding a block to it."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as in the commands

from fateforger.background.turns import build_command_job
from fateforger.coordinator import starting
from fateforger.coordinator.executor.carried import Asker, TaskResult, Tools
from fateforger.coordinator.forms.block import find_first_free
from fateforger.drafting.naming import task_of
from fateforger.errors import BadInput
from fateforger.session.commands import AddBlock, AddTasks, Start
from fateforger.session.days import day_words, local_today
from fateforger.session.gates import is_committed
from fateforger.session.keys import mint_key
from fateforger.session.model import Session, SessionStatus, Task
from fateforger.stages import TimeboxingStage
from fateforger.tasks import BlockTime, Mode, PlanDay, QueuedTask, TaskState

PLANNED = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


async def plan_day(tools: Tools, asker: Asker, day: PlanDay, *, key: str) -> TaskResult:
    """Open a thread for the day, once per ``key``, or use the one that is open.

    Raises ``BadInput`` for a day that is over.
    """
    name = day_words(day.date)
    _check_not_over(asker, day.date)
    session = await find_session(tools, asker.user_id, day.date)
    if session is not None and is_committed(session):
        return TaskResult(TaskState.DONE, f"{name} is on your calendar already.", session.id)
    if session is not None:
        return TaskResult(TaskState.WAITING, f"The plan for {name} is open; go on in its thread.", session.id)
    note = "I'll tick this task off once the day is on your calendar." if asker.mode is Mode.EXECUTOR else ""
    start = _build_start(asker, day.date, key, note=note)
    await tools.jobs.enqueue(build_command_job(start, key=start.command_id), now=tools.clock.now())
    opened = f"I opened the plan for {name} in a thread of its own. This is done when the day is on your calendar."
    return TaskResult(TaskState.WAITING, opened, starting.format_session_id(start))


async def block_time(tools: Tools, asker: Asker, work: BlockTime, title: str, *, key: str) -> TaskResult:
    """Add a block to the plan of a day, once per ``key``; before Refine, add a task for that day instead.

    The place of the result holds the id of the session and the key of the block or task in it. Raises ``BadInput``.
    """
    _check_not_over(asker, work.date)
    name = day_words(work.date)
    session = await find_session(tools, asker.user_id, work.date)
    asked = {"command_id": mint_key("block", key), "user_id": asker.user_id, "at": asker.at}
    task = Task(id=mint_key("t", key), title=title, minutes=work.minutes)
    if session is None or session.status is SessionStatus.CANCELLED:
        start = _build_start(asker, work.date, key, inputs=(task,))
        await tools.jobs.enqueue(build_command_job(start, key=start.command_id), now=tools.clock.now())
        said = f"No plan of {name} was open, so I opened one with this as something to do.{_note_requested_time(work)}"
        return TaskResult(TaskState.WAITING, said, f"{starting.format_session_id(start)} {task.id}")
    if session.stage in PLANNED:
        begin = work.start or find_first_free(session.at_time(tools.clock.now()))
        block = AddBlock(**asked, session_id=session.id, title=title, start=begin, minutes=work.minutes)
        await tools.jobs.enqueue(build_command_job(block, key=session.id), now=tools.clock.now())
        said = f"I put it into the plan of {name} at {begin:%H:%M}; see its thread."
        return TaskResult(TaskState.WAITING, said, f"{session.id} {mint_key('b', block.command_id)}")
    if any(each.id == task.id for each in session.inputs.tasks):
        return TaskResult(
            TaskState.WAITING, f"It is on the list of what is to be done on {name}.", f"{session.id} {task.id}"
        )
    more = AddTasks(**asked, session_id=session.id, tasks=(task,))
    await tools.jobs.enqueue(build_command_job(more, key=session.id), now=tools.clock.now())
    said = f"{name} is being planned, so I added it to what is to be done; it gets its time in the draft."
    return TaskResult(TaskState.WAITING, f"{said}{_note_requested_time(work)}", f"{session.id} {task.id}")


async def check_planned_day(tools: Tools, place: str, day: Date) -> TaskResult | None:
    """Return the result of a day that is being planned in the session ``place``; ``None`` while it is open."""
    session = await tools.sessions.load(place)
    if session is None:
        return None
    name = day_words(session.date)
    if session.date != day:
        return TaskResult(TaskState.FAILED, f"That thread plans {name} now, not {day_words(day)}.")
    if is_committed(session):
        return TaskResult(TaskState.DONE, f"{name} is on your calendar.")
    if session.status is SessionStatus.CANCELLED:
        return TaskResult(TaskState.FAILED, f"The plan for {name} was ended before it was on your calendar.")
    return None


async def check_block(tools: Tools, task: QueuedTask, work: BlockTime) -> TaskResult | None:
    """Return the result of a block that was to be added to a plan; ``None`` while it is open.

    If its key is unknown, because another agent added it, a block of the same title counts.
    """
    if not task.place:
        return await _find_block_by_title(tools, task, work)
    session_id, _, name = task.place.partition(" ")
    session = await tools.sessions.load(session_id)
    if session is None:
        return None
    day = day_words(session.date)
    keys = () if session.plan is None else tuple(event.block_key for event in session.plan.events)
    if any(key == name or task_of(key, (name,)) is not None for key in keys):
        return TaskResult(TaskState.DONE, f"It has its time in the plan of {day}.")
    if session.status is SessionStatus.CANCELLED:
        return TaskResult(TaskState.FAILED, f"The plan of {day} was ended without it.")
    refused = any(mint_key("b", command_id) == name for command_id in session.handled)
    if refused:
        return TaskResult(TaskState.FAILED, f"It found no place in the plan of {day}; its thread says why.")
    return None


async def _find_block_by_title(tools: Tools, task: QueuedTask, work: BlockTime) -> TaskResult | None:
    session = await find_session(tools, task.user_id, work.date)
    if session is None or session.plan is None or session.written is None:
        return None
    if task.spec.title not in {event.name for event in session.plan.events}:
        return None
    return TaskResult(TaskState.DONE, f"It has its time in the plan of {day_words(session.date)}.", session.id)


async def find_session(tools: Tools, user_id: str, day: Date) -> Session | None:
    """Return the session in which a person is planning, or has planned, that day."""
    of_day = [session for session in await tools.sessions.of_user(user_id) if session.date == day]
    running = (session for session in of_day if session.status is SessionStatus.ACTIVE)
    return next(running, next((session for session in of_day if is_committed(session)), None))


def _note_requested_time(work: BlockTime) -> str:
    """Return a note about the requested start time, which a draft does not take into account."""
    if work.start is None:
        return ""
    return f" The draft chooses when: you wanted {work.start:%H:%M}, so move it there in Refine."


def _build_start(asker: Asker, day: Date, key: str, *, inputs: tuple[Task, ...] = (), note: str = "") -> Start:
    return Start(
        command_id=mint_key("pull", key),
        user_id=asker.user_id,
        at=asker.at,
        channel=asker.channel,
        tz=asker.tz,
        date=day,
        mode=asker.mode,
        inputs=inputs,
        note=note,
    )


def _check_not_over(asker: Asker, day: Date) -> None:
    if day < local_today(asker.at, asker.tz):
        raise BadInput(f"{day_words(day)} is over, so there is nothing left to plan on it.")
