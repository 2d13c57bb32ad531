"""Each kind of work, carried out as far as possible without the person (S168), and how long their tasks take."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812  as in the commands
from datetime import datetime, time
from typing import Protocol, assert_never

from fateforger.conversation.language.plan_proposals import decompose_goal
from fateforger.conversation.queue.cards import SHOW, build_reply, build_task_card
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.errors import BadInput, ModelError, ModelTimedOut, ModelUnusable
from fateforger.memory.versions import Version
from fateforger.planning.task_details import task_of
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.ports.model import Model
from fateforger.ports.people import Homes, Zones
from fateforger.session.cards import Card
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.day import AddTasks
from fateforger.session.commands.plan import AddBlock
from fateforger.session.commands.thread import StartTimeboxing, format_session_id
from fateforger.session.day import local_today
from fateforger.session.gate import is_committed
from fateforger.session.model import Session, SessionStatus, Task
from fateforger.session.placement import find_first_free
from fateforger.session.queue_commands import CorrectDuration, ForgetDuration, WriteParts
from fateforger.session.rulebook import RuleBook, unsaved_session
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import Sessions, Talks
from fateforger.session.tasks import observe
from fateforger.tasks.durations import Estimate, correct_ratio, estimate_kinds, find_named, format_ratio, name_of
from fateforger.tasks.gate import Report, Seen, complete_task, keep_progress, look_up
from fateforger.tasks.parts import approve_parts, lay_out_parts, recall_parts
from fateforger.tasks.ports import Change, Durations, Tasks
from fateforger.tasks.task import (
    BlockTime,
    Decompose,
    Do,
    Mode,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
)
from fateforger.tasks.workflows import Workflows
from fateforger.text import format_day, format_length, join_sentences, mark_message, ngettext
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.people import LanguageService
from fateforger.workers.turns import build_command_job
from fateforger.workflow.definition import Workflow
from fateforger.workflow.trace import Facts, NothingAllowed

MOST_HANDLED = 20


def mark_handled(task: QueuedTask, command_id: str) -> QueuedTask:
    """Return the task with a command that is not to be carried out on it again."""
    return replace(task, handled=(*task.handled, command_id)[-MOST_HANDLED:])


class Rules(Protocol):
    """All rules of a person. Raises ``StoreError``."""

    async def versions(self, user_id: str) -> tuple[Version, ...]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The resources for carrying out tasks.

    ``model`` and ``rules`` are ``None`` where there are none. ``tz`` is used for people without a known time zone.
    ``facts`` are what the rules of ``workflows`` may look at.
    """

    tasks: Tasks
    sessions: Sessions
    jobs: Jobs
    clock: Clock
    tz: str
    durations: DurationService
    languages: LanguageService
    talks: Talks
    homes: Homes
    zones: Zones
    rules: Rules | None = None
    model: Model | None = None
    workflows: Workflows = field(default_factory=Workflows)
    facts: Facts = field(default_factory=NothingAllowed)

    def today(self, tz: str = "") -> Date:
        """Return the current day of a person; ``tz`` is their zone, if it is known."""
        return local_today(self.clock.now(), tz or self.tz)

    async def find_zone(self, user_id: str) -> str:
        """Return the time zone of a person, as Slack gave it last. Raises ``StoreError``."""
        known = await self.zones.of(user_id)
        return self.tz if known is None else known[0]

    async def look_up(self, task: QueuedTask, workflow: Workflow | None, *, at_once: bool = False) -> Seen:
        """Return the states that can be determined now. See :func:`fateforger.tasks.gate.look_up`."""
        if workflow is None:
            return {}
        everything = await self.tasks.of(task.user_id, ended=True)
        return await look_up(task, workflow, everything, self.facts, at_once=at_once)


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who pulled a task, and the channel in which a new plan is opened. ``tz`` is their time zone."""

    user_id: str
    at: datetime
    channel: str
    tz: str
    mode: Mode = "executor"


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The state of a task after it was carried out as far as possible now, with a sentence about it.

    ``progress`` is the task with the steps that were done, if there are any, and with its new context.
    """

    state: TaskState
    outcome: str
    place: str = ""
    progress: QueuedTask | None = None

    def on(self, task: QueuedTask, command_id: str, mode: Mode = "executor") -> QueuedTask:
        """Return the task with this result."""
        done = self.progress or task
        after = replace(
            keep_progress(task, done),
            spec=replace(task.spec, context=done.spec.context),
            state=self.state,
            outcome=self.outcome,
            place=self.place or task.place,
            mode=mode,
        )
        return mark_handled(after, command_id)


PLANNED = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


async def plan_day(tools: Tools, asker: Asker, day: PlanDay, *, key: str) -> TaskResult:
    """Open a thread for the day, once per ``key``, or use the one that is open.

    Raises ``BadInput`` for a day that is over.
    """
    name = format_day(day.date)
    _check_not_over(asker, day.date)
    session = await find_session(tools, asker.user_id, day.date)
    if session is not None and is_committed(session):
        return TaskResult(TaskState.DONE, _("{day} is on your calendar already.", day=name), session.id)
    if session is not None:
        return TaskResult(
            TaskState.WAITING, _("The plan for {day} is open; go on in its thread.", day=name), session.id
        )
    note = _("I'll tick this task off once the day is on your calendar.") if asker.mode == "executor" else ""
    start = _build_start(asker, day.date, key, note=note)
    await tools.jobs.enqueue(build_command_job(start, key=start.command_id), now=tools.clock.now())
    opened = _(
        "I opened the plan for {day} in a thread of its own. This is done when the day is on your calendar.", day=name
    )
    return TaskResult(TaskState.WAITING, opened, format_session_id(start))


def _find_start(session: Session, work: BlockTime) -> time:
    """Return where the plan first has room for a block. Raises ``BadInput`` if it has none."""
    start = find_first_free(session, work.minutes)
    if start is None:
        raise BadInput(
            _(
                "The plan of {day} has no {length} free in one piece. Say when it should start, or make room first.",
                length=format_length(work.minutes),
                day=format_day(work.date),
            )
        )
    return start


async def block_time(tools: Tools, asker: Asker, work: BlockTime, title: str, *, key: str) -> TaskResult:
    """Add a block to the plan of a day, once per ``key``; before Refine, add a task for that day instead.

    The place of the result holds the id of the session and the key of the block or task in it. Raises ``BadInput``.
    """
    _check_not_over(asker, work.date)
    name = format_day(work.date)
    session = await find_session(tools, asker.user_id, work.date)
    asked = {"command_id": mint_key("block", key), "user_id": asker.user_id, "at": asker.at}
    task = Task(id=mint_key("t", key), title=title, minutes=work.minutes)
    if session is None or session.status is SessionStatus.CANCELLED:
        start = _build_start(asker, work.date, key, inputs=(task,))
        await tools.jobs.enqueue(build_command_job(start, key=start.command_id), now=tools.clock.now())
        said = join_sentences(
            _("No plan of {day} was open, so I opened one with this as something to do.", day=name),
            _note_requested_time(work),
        )
        return TaskResult(TaskState.WAITING, said, f"{format_session_id(start)} {task.id}")
    if session.stage in PLANNED:
        begin = work.start or _find_start(session.at_time(tools.clock.now()), work)
        block = AddBlock(**asked, session_id=session.id, title=title, start=begin, minutes=work.minutes)
        await tools.jobs.enqueue(build_command_job(block, key=session.id), now=tools.clock.now())
        said = _("I put it into the plan of {day} at {begin}; see its thread.", day=name, begin=f"{begin:%H:%M}")
        return TaskResult(TaskState.WAITING, said, f"{session.id} {mint_key('b', block.command_id)}")
    if any(each.id == task.id for each in session.day.inputs.tasks):
        return TaskResult(
            TaskState.WAITING,
            _("It is on the list of what is to be done on {day}.", day=name),
            f"{session.id} {task.id}",
        )
    more = AddTasks(**asked, session_id=session.id, tasks=(task,))
    await tools.jobs.enqueue(build_command_job(more, key=session.id), now=tools.clock.now())
    said = _("{day} is being planned, so I added it to what is to be done; it gets its time in the draft.", day=name)
    return TaskResult(TaskState.WAITING, join_sentences(said, _note_requested_time(work)), f"{session.id} {task.id}")


async def check_planned_day(tools: Tools, place: str, day: Date) -> TaskResult | None:
    """Return the result of a day that is being planned in the session ``place``; ``None`` while it is open."""
    session = await tools.sessions.load(place)
    if session is None:
        return None
    name = format_day(session.date)
    if session.date != day:
        return TaskResult(
            TaskState.FAILED, _("That thread plans {day} now, not {other}.", day=name, other=format_day(day))
        )
    if is_committed(session):
        return TaskResult(TaskState.DONE, _("{day} is on your calendar.", day=name))
    if session.status is SessionStatus.CANCELLED:
        return TaskResult(TaskState.FAILED, _("The plan for {day} was ended before it was on your calendar.", day=name))
    return None


async def check_block(tools: Tools, task: QueuedTask, work: BlockTime) -> TaskResult | None:
    """Return the result of a block that was to be added to a plan; ``None`` while it is open.

    If its key is unknown, because another agent added it, a block of the same title counts.
    """
    if not task.place:
        return await _find_block_by_title(tools, task, work)
    session_id, _blank, name = task.place.partition(" ")
    session = await tools.sessions.load(session_id)
    if session is None:
        return None
    day = format_day(session.date)
    keys = () if session.planning.plan is None else tuple(event.block_key for event in session.planning.plan.events)
    if any(key == name or task_of(key, (name,)) is not None for key in keys):
        return TaskResult(TaskState.DONE, _("It has its time in the plan of {day}.", day=day))
    if session.status is SessionStatus.CANCELLED:
        return TaskResult(TaskState.FAILED, _("The plan of {day} was ended without it.", day=day))
    refused = any(mint_key("b", command_id) == name for command_id in session.thread.handled)
    if refused:
        return TaskResult(TaskState.FAILED, _("It found no place in the plan of {day}; its thread says why.", day=day))
    return None


async def _find_block_by_title(tools: Tools, task: QueuedTask, work: BlockTime) -> TaskResult | None:
    session = await find_session(tools, task.user_id, work.date)
    if session is None or session.planning.plan is None or session.sync.written is None:
        return None
    if task.spec.title not in {event.name for event in session.planning.plan.events}:
        return None
    return TaskResult(
        TaskState.DONE, _("It has its time in the plan of {date}.", date=format_day(session.date)), session.id
    )


async def find_session(tools: Tools, user_id: str, day: Date) -> Session | None:
    """Return the session in which a person is planning, or has planned, that day."""
    of_day = await tools.sessions.on_days(user_id, day, day)
    running = (session for session in of_day if session.status is SessionStatus.ACTIVE)
    return next(running, next((session for session in of_day if is_committed(session)), None))


def _note_requested_time(work: BlockTime) -> str:
    """Return a note about the requested start time, which a draft does not take into account."""
    if work.start is None:
        return ""
    return _("The draft chooses when: you wanted {start}, so move it there in Refine.", start=f"{work.start:%H:%M}")


def _build_start(
    asker: Asker, day: Date, key: str, *, inputs: tuple[Task, ...] = (), note: str = ""
) -> StartTimeboxing:
    return StartTimeboxing(
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
        raise BadInput(_("{day} is over, so there is nothing left to plan on it.", day=format_day(day)))


log = logging.getLogger(__name__)

BY_HAND = mark_message("Which parts does it have? Write them down, with what you assume; I put them into your queue.")
TOO_SLOW = mark_message("The language model took too long, so I propose no parts.")
NO_USE = mark_message("The language model gave no answer that I can use, so I propose no parts.")
NO_ANSWER = mark_message("The language model does not answer at the moment, so I propose no parts.")
PROPOSED = mark_message("These are the parts that I propose. They wait until you approve them in the review.")
APPROVED = mark_message("You approved the parts.")
NO_MODEL = mark_message(
    "Without a language model I cannot propose parts at once; pull the goal from your queue and write them down."
)


async def propose_parts(tools: Tools, task: QueuedTask, key: str) -> TaskResult:
    """Propose parts and put them into the queue, once per ``key``; without a model, ask the person for them."""
    workflow = tools.workflows.of(task.spec)
    there = [each for each in await tools.tasks.of(task.user_id, ended=True) if each.goal == task.id]
    if there:  # an earlier attempt added all of them
        recalled = task if workflow is None or len(task.steps) > 1 else recall_parts(task, workflow)
        return TaskResult(TaskState.WAITING, _(PROPOSED), progress=recalled)
    if tools.model is None:
        return TaskResult(TaskState.WAITING, _(BY_HAND))
    try:
        parts = await decompose_goal(task.spec, tools.model, now=tools.clock.now(), tz=tools.tz)
        seen = await tools.look_up(task, workflow)
        after, new = lay_out_parts(task, workflow, parts, seen)
    except (ModelError, BadInput) as error:
        log.warning("no parts are proposed for %s: %s", task.id, error.message)
        return TaskResult(TaskState.WAITING, f"{_explain_failure(error)} {_(BY_HAND)}")
    await tools.tasks.add(task.user_id, new, cause=f"{key}/parts", now=tools.clock.now())
    return TaskResult(TaskState.WAITING, _(PROPOSED), progress=after)


def _explain_failure(error: ModelError | BadInput) -> str:
    match error:
        case ModelTimedOut():
            return _(TOO_SLOW)
        case ModelUnusable() | BadInput():
            return _(NO_USE)
        case _:
            return _(NO_ANSWER)


async def list_parts(tools: Tools, spec: TaskSpec) -> TaskResult:
    """Return the parts as text, without adding tasks. Raises ``ModelError`` and ``BadInput``."""
    if tools.model is None:
        raise BadInput(_(NO_MODEL))
    parts = await decompose_goal(spec, tools.model, now=tools.clock.now(), tz=tools.tz)
    listed = "\n".join(f"- {f'[{part.tag}] ' if part.tag else ''}{part.title}" for part in parts.parts)
    return TaskResult(TaskState.DONE, f"{parts.goal}\n{listed}")


async def write_parts(tools: Tools, command: WriteParts) -> Card:
    """Put the parts that the person wrote down into the queue, once. Raises ``StoreError``."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None or not isinstance(task.spec.work, Decompose):
        return build_reply(_("There is no goal `{task_id}` in your queue.", task_id=command.task_id), SHOW)
    if command.command_id not in task.handled:
        if task.state is not TaskState.WAITING:
            return build_reply(_("“{title}” was not pulled, so it has no parts yet.", title=task.spec.title), SHOW)
        try:
            workflow = tools.workflows.of(task.spec)
            after, new = lay_out_parts(task, workflow, command.parts, await tools.look_up(task, workflow))
        except BadInput as error:
            return build_reply(error.message, SHOW)
        await tools.tasks.add(command.user_id, new, cause=command.command_id, now=command.at)

        def add_parts(now: QueuedTask) -> QueuedTask:
            return TaskResult(now.state, _(PROPOSED), progress=after).on(now, command.command_id, now.mode)

        task = await tools.tasks.change(command.user_id, task.id, add_parts, now=tools.clock.now()) or task
    return build_task_card(task, await read_queue(tools.tasks, command.user_id), tools.today(command.tz))


async def check_approval(tools: Tools, goal: QueuedTask) -> TaskResult | None:
    """Return the result of a goal whose parts have to be approved; ``None`` until they are."""
    parts = [each for each in await tools.tasks.of(goal.user_id, ended=True) if each.goal == goal.id]
    reviews = [each for each in parts if isinstance(each.spec.work, ReviewParts)]
    if not any(review.state is TaskState.DONE for review in reviews):
        return None
    try:
        workflow = tools.workflows.of(goal.spec)
        done = approve_parts(goal, workflow, await tools.look_up(goal, workflow))
    except BadInput as error:
        return None if goal.outcome == error.message else TaskResult(TaskState.WAITING, error.message)
    return TaskResult(TaskState.DONE, _(APPROVED), progress=done)


async def build_completion(tools: Tools, task: QueuedTask, report: Report) -> Change:
    """Return the change that makes a task done, after a look at what its rules depend on. It may raise ``BadInput``."""
    seen = await tools.look_up(task, tools.workflows.get(task.spec.workflow))
    return lambda now: complete_task(now, tools.workflows.of(now.spec), report, seen)


YOURS = mark_message("This one is yours. Tell me when it is done.")
NO_RULE_WAITS = mark_message("No rule waits for your word.")


async def carry_out_work(
    tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, task: QueuedTask | None = None
) -> TaskResult:
    """Carry out work, with or without its ``task``; anything that it starts is started once per ``key``.

    Raises ``BadInput`` or ``ModelError`` if that is not possible.
    """
    match spec.work:
        case PlanDay():
            return await plan_day(tools, asker, spec.work, key=key)
        case BlockTime():
            return await block_time(tools, asker, spec.work, spec.title, key=key)
        case ReviewConstraints():
            return await review_rules(tools, asker.user_id, asker.tz)
        case Do():
            return TaskResult(TaskState.WAITING, _(YOURS))
        case ReviewParts():
            return TaskResult(TaskState.WAITING, _("Are these the right parts? Until you approve them, they wait."))
        case Decompose():
            return await list_parts(tools, spec) if task is None else await propose_parts(tools, task, key)
        case _:
            assert_never(spec.work)


async def check_completion(tools: Tools, task: QueuedTask) -> TaskResult | None:
    """Return the result of a waiting task; ``None`` while it is open."""
    work = task.spec.work
    match work:
        case PlanDay():
            return await check_planned_day(tools, task.place, work.date)
        case BlockTime():
            return await check_block(tools, task, work)
        case ReviewConstraints():
            seen = await review_rules(tools, task.user_id, tools.tz)
            return seen if seen.state is TaskState.DONE else None
        case Decompose():
            return await check_approval(tools, task)
        case Do() | ReviewParts():
            return None  # the person decides
        case _:
            assert_never(work)


async def review_rules(tools: Tools, user_id: str, tz: str) -> TaskResult:
    """Return the result for a review: how many rules wait for the person's decision."""
    versions = () if tools.rules is None else await tools.rules.versions(user_id)
    book = RuleBook(unsaved_session(user_id, tz, tools.clock.now()), versions)
    count = sum(row.unsure and not row.retired for row in book.rows)
    if not count:
        return TaskResult(TaskState.DONE, _(NO_RULE_WAITS))
    said = ngettext(
        "One rule waits for your word: right, or not?", "{count} rules wait for your word: right, or not?", count
    )
    return TaskResult(TaskState.WAITING, said)


@dataclass(frozen=True, slots=True)
class DurationService:
    """Keeps a person's observed durations up to date with their sessions. All methods raise ``StoreError``."""

    durations: Durations

    async def estimates(self, user_id: str) -> tuple[Estimate, ...]:
        """Return an estimate of each kind of task that is known well enough."""
        return estimate_kinds(await self.durations.of(user_id))

    async def find_for(self, session: Session) -> tuple[Estimate, ...] | None:
        """Return the estimates for a day that is not refined yet; ``None`` for any other, which keeps those it has."""
        return (
            await self.estimates(session.user_id) if session.stage.number <= TimeboxingStage.SKELETON.number else None
        )

    async def follow(self, before: Session, after: Session) -> None:
        """Store what a change of a session shows about its tasks, and delete what it no longer shows.

        Observations that the change leaves as they are may have been forgotten, and stay so.
        """
        was, now = {each.id: each for each in observe(before)}, {each.id: each for each in observe(after)}
        kept = [each for name, each in now.items() if was.get(name) != each]
        await self.durations.keep(after.user_id, kept, gone=sorted(was.keys() - now.keys()))

    async def correct(self, command: CorrectDuration | ForgetDuration) -> str:
        """Replace or forget what is known about a kind of task, and return a sentence about it."""
        known = find_named(await self.durations.of(command.user_id), command.name)
        name = name_of(command.name)
        if isinstance(command, ForgetDuration):
            await self.durations.keep(command.user_id, (), gone=[each.id for each in known])
            return _("I forgot how long “{name}” takes you.", name=name)
        own = correct_ratio(command.name, command.percent / 100, command.at.date())
        await self.durations.keep(command.user_id, [own])
        ratio = format_ratio(own.ratio)
        return _("From now on I plan {ratio} times as long for “{name}”.", name=name, ratio=ratio)
