"""Execution of tasks: pulled from the queue under their rules, and checked while they wait (S158-S162)."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from fateforger.conversation.queue.cards import (
    ADD,
    EMPTY,
    SHOW,
    build_missing_reply,
    build_reply,
    build_task_card,
    describe_state,
    format_title,
)
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.work import Asker, TaskResult, Tools, carry_out_work, check_completion
from fateforger.errors import BadInput, ModelError, StoreError, StoreUnavailable
from fateforger.session.cards import Card
from fateforger.session.queue_commands import PullTask
from fateforger.session.store import HeadFilter, iter_heads
from fateforger.tasks.gate import Report, begin_task, judge_report
from fateforger.tasks.queue import blockers
from fateforger.tasks.task import QueuedTask, ReviewParts, TaskState
from fateforger.text import gettext as _
from fateforger.text import mark_message, speak
from fateforger.values import replace
from fateforger.workers.supervisor import renew_meanwhile
from fateforger.workers.turns import build_notification_job
from fateforger.workflow.conformance import explain_refusal

log = logging.getLogger(__name__)

LEASE_SECONDS = 5.0
"""Shorter than the lease of a job: when another program takes over the command, the claim is free, too."""
WORK_ON = "work_on_subtask"
LOST = mark_message("Somebody else took that task over in the meantime; it is with them now.")


class Puller:
    """Pulls tasks.

    ``executor`` names this program in its claims: it is unique among running programs and the same after a restart.
    Methods raise ``StoreError``; the command can then be repeated.
    """

    def __init__(self, tools: Tools, executor: str) -> None:
        self._tools = tools
        self._executor = executor

    async def pull(self, command: PullTask) -> Card:
        """Claim a task and carry it out. Return a card with its state, or with the reason why none was pulled."""
        task = await self._pulled_by(command)
        if task is None:
            claimed = await self._claim(command)
            if claimed is None:
                return await self._nothing(command)
            task = await self._carry_out(claimed, command)
        queue = await read_queue(self._tools.tasks, command.user_id)
        return build_task_card(task, queue, self._tools.today(command.tz))

    async def _claim(self, command: PullTask) -> QueuedTask | None:
        return await self._tools.tasks.claim(
            command.user_id,
            self._executor,
            now=self._tools.clock.now(),
            lease_seconds=LEASE_SECONDS,
            task_id=command.task_id,
            today=self._tools.today(command.tz),
        )

    async def _carry_out(self, task: QueuedTask, command: PullTask) -> QueuedTask:
        try:
            async with renew_meanwhile(partial(self._renew_claim, task), seconds=LEASE_SECONDS / 2):
                carried = await self._attempt(task, command)
        except BaseException:  # also when cancelled; the error goes on
            # A retry must find the task free. If even this write fails, the claim expires by itself.
            with contextlib.suppress(StoreError):
                await self._tools.tasks.settle(task, _activate, now=self._tools.clock.now())
            raise
        settled = await self._tools.tasks.settle(
            task, lambda now: carried.on(now, command.command_id), now=self._tools.clock.now()
        )
        if settled is None:
            raise StoreUnavailable(_(LOST))
        return settled

    async def _attempt(self, task: QueuedTask, command: PullTask) -> TaskResult:
        try:
            workflow = self._tools.workflows.of(task.spec)
            seen = await self._tools.look_up(task, workflow, at_once=True)
            claimed = begin_task(task, workflow, seen, by_agent=False)
        except BadInput as error:
            return TaskResult(TaskState.FAILED, error.message)
        if task.goal is not None:
            unreviewed = await self._check_review(task, task.goal)
            if unreviewed:
                return TaskResult(TaskState.FAILED, unreviewed)
        asker = Asker(command.user_id, command.at, command.channel, command.tz or self._tools.tz)
        try:
            key = f"{task.id}/{len(task.handled)}"
            carried = await carry_out_work(self._tools, task.spec, asker, key=key, task=claimed)
        except (BadInput, ModelError) as error:
            return TaskResult(TaskState.FAILED, error.message)
        return replace(carried, progress=carried.progress or claimed)

    async def _check_review(self, task: QueuedTask, goal_id: str) -> str:
        """Return the reason why a part of a goal cannot be worked on before its review; empty if it can (S168)."""
        goal = await self._tools.tasks.get(task.user_id, goal_id)
        workflow = None if goal is None else self._tools.workflows.get(goal.spec.workflow)
        if (
            goal is None
            or workflow is None
            or WORK_ON not in workflow.actions
            or isinstance(task.spec.work, ReviewParts)
        ):
            return ""
        seen = await self._tools.look_up(goal, workflow, at_once=True)
        judged = judge_report(goal, workflow, Report(((WORK_ON,),)), seen, closes=False)
        return " ".join(explain_refusal((*judged.broken, *judged.open)))

    async def _renew_claim(self, task: QueuedTask) -> bool:
        """Extend the claim; return ``False`` if it was lost."""
        now = self._tools.clock.now()
        if await self._tools.tasks.extend(task, now=now, lease_seconds=LEASE_SECONDS) is not None:
            return True
        log.warning("the claim of %s was lost", task.id)
        return False

    async def _pulled_by(self, command: PullTask) -> QueuedTask | None:
        """Return the task that an earlier attempt of this command carried out."""
        everything = await self._tools.tasks.of(command.user_id, ended=True)
        return next((task for task in everything if command.command_id in task.handled), None)

    async def _nothing(self, command: PullTask) -> Card:
        """Return the card that explains why nothing was pulled (S160)."""
        tasks = await read_queue(self._tools.tasks, command.user_id)
        if command.task_id is None:
            if not tasks:
                return build_reply(_("{empty} There is nothing to pull.", empty=_(EMPTY)), ADD.localize())
            return build_reply(
                _("Nothing can be pulled just now: what is in your queue waits for something, or is for a later day."),
                SHOW,
            )
        task = await self._tools.tasks.get(command.user_id, command.task_id)
        if task is None:
            return build_missing_reply(command.task_id)
        first = blockers(task, tasks)
        if task.state is TaskState.ACTIVE and first:
            return build_reply(
                _(
                    "{task} has to wait: {first} (`{id}`) comes first.",
                    task=format_title(task),
                    first=format_title(first[0]),
                    id=first[0].id,
                ),
                SHOW,
            )
        if task.state is TaskState.WAITING:
            return build_task_card(task, tasks, self._tools.today(command.tz))
        return build_reply(
            _(
                "{task} cannot be pulled: its state is “{state}”.",
                task=format_title(task),
                state=describe_state(task, tasks),
            ),
            SHOW,
        )


def _activate(task: QueuedTask) -> QueuedTask:
    return replace(task, state=TaskState.ACTIVE)


WAITING_AT_ONCE = 100
"""Waiting tasks that a round checks, besides those of people who have just done something."""
OVERLAP = timedelta(minutes=1)
"""Time before the latest round in which a person counts as active again: clocks of programs differ."""


@dataclass(slots=True)
class CompletionRounds:
    """Detects that waiting tasks are done: those of active people at once, the others in turn."""

    tools: Tools
    _after: str = field(init=False, default="")
    """The last of the tasks that are checked in turn."""
    _since: datetime | None = field(init=False, default=None)

    async def run_once(self) -> None:
        """Check the next tasks. An interrupted check can be repeated. Raises ``StoreError``."""
        now = self.tools.clock.now()
        since = now if self._since is None else self._since  # another program may have run the rounds until now
        page = await self.tools.tasks.waiting(after=self._after, limit=WAITING_AT_ONCE)
        tasks = {task.id: task for task in page}
        if self._after or len(page) == WAITING_AT_ONCE:
            tasks |= await self._find_of_active(since)
        for task in tasks.values():
            result = await check_completion(self.tools, task)
            if result is not None:
                await _settle(self.tools, task, result)
        self._since = now
        self._after = page[-1].id if len(page) == WAITING_AT_ONCE else ""

    async def _find_of_active(self, since: datetime) -> Mapping[str, QueuedTask]:
        """Return the tasks of the people who were active since the latest round, as far as one round can check them."""
        lately = HeadFilter(since=since - OVERLAP)
        people = {head.user_id async for head in iter_heads(self.tools.sessions, lately)}
        found = await self.tools.tasks.waiting(of=sorted(people)[:WAITING_AT_ONCE], limit=WAITING_AT_ONCE)
        return {task.id: task for task in found}


async def _settle(tools: Tools, task: QueuedTask, result: TaskResult) -> None:
    """Announce the result once, and then store it, so that no result goes unannounced."""
    cause = f"{task.id}/{task.version}/{result.state.value}"
    after = result.on(task, cause, task.mode)
    session = await tools.sessions.load(after.place.partition(" ")[0])
    now = tools.clock.now()
    if session is not None and session.thread_ts is not None:
        others = [each for each in await tools.tasks.of(task.user_id) if each.id != task.id]
        with speak(session.options.language):
            card = build_task_card(after, others, tools.today(session.tz))
        news = build_notification_job(card, v=cause, channel=session.channel, thread_ts=session.thread_ts, beside=True)
        await tools.jobs.enqueue(news, now=now)

    def apply_if_waiting(there: QueuedTask) -> QueuedTask:
        return result.on(there, cause, there.mode) if there.state is TaskState.WAITING else there

    try:
        await tools.tasks.change(task.user_id, task.id, apply_if_waiting, now=now)
    except BadInput as error:
        log.info("the task %s went on by itself: %s", task.id, error.message)
