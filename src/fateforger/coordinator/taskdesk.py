"""The coordinator's access to a person's queue: add tasks, carry them out, and send each answer as a card."""

from __future__ import annotations

from typing import assert_never

from fateforger.background.letters import build_notification_job
from fateforger.constraints.credentials import redact_credentials
from fateforger.coordinator.dispositor import forms as front_forms
from fateforger.coordinator.dispositor.desk import Dispositor
from fateforger.coordinator.dispositor.routing import DirectWork, RedirectedWork, Route, route_request, route_typed
from fateforger.coordinator.executor import forms
from fateforger.coordinator.executor.blocking import block_for
from fateforger.coordinator.executor.carried import Asker, Tools
from fateforger.coordinator.executor.decomposing import write_parts
from fateforger.coordinator.executor.direct import do_directly, do_now, redirect
from fateforger.coordinator.executor.planned import PlannedTasks
from fateforger.coordinator.executor.pulling import Puller
from fateforger.coordinator.executor.settling import settle
from fateforger.coordinator.executor.watching import WaitingTasks
from fateforger.coordinator.forms.reading import refuse_values
from fateforger.coordinator.queue_editing import HomeQueue
from fateforger.coordinator.queue_form import build_edit_form, read_edited
from fateforger.errors import BadInput
from fateforger.session.cards import Card, Form, FormErrors, FormRequest, FormSubmission, Part
from fateforger.session.commands import Opening
from fateforger.session.commands.queue import (
    BlockTimeFor,
    CardCommand,
    DoTaskNow,
    EnqueueTask,
    HomeCommandBase,
    PullTask,
    QueueCommand,
    QueueCommandBase,
    SettleTask,
    ShowTasks,
    WriteParts,
)
from fateforger.tasks import Mode, QueuedTask
from fateforger.tasks.hydrated import HydratedMessage, parse_command
from fateforger.values import replace

FORMS = frozenset({"queue_add", "queue_save", "queue_done", "queue_time", "queue_parts", "queue_edit"})
GONE = "That task is not in your queue any more."


class QueueService:
    """Carries out queue commands. ``executor`` names this program in its claims. All methods raise ``StoreError``."""

    def __init__(self, tools: Tools, executor: str) -> None:
        self._tools = tools
        self._front = Dispositor(tools.tasks)
        self._puller = Puller(tools, executor)
        self.planned = PlannedTasks(tools, executor)
        self._home = HomeQueue(tools.tasks, tools.clock)
        self.waiting = WaitingTasks(tools)

    async def carry_out(self, command: QueueCommand) -> None:
        """Carry out a command, once, and send the answer to its origin; App Home updates itself."""
        if isinstance(command, HomeCommandBase):
            await self._home.carry_out(command)
            return
        card = await self._answer(command)
        answer = build_notification_job(
            card, v=f"{command.command_id}/card", channel=command.channel, thread_ts=command.thread_ts, ts=command.ts
        )
        await self._tools.jobs.enqueue(answer, now=self._tools.clock.now())

    async def queue(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that have not ended, in order."""
        return await self._front.list_queued(user_id)

    async def handle_typed(self, opening: Opening) -> bool:
        """Carry out a command that was typed as text; ``False`` if the message does not begin with a slash (S147)."""
        typed = parse_command(opening.text)
        if typed is None:
            return False
        await self._go(opening, route_typed(typed, opening))
        return True

    async def route(self, opening: Opening, wanted: HydratedMessage) -> bool:
        """Carry out the request of a message, once, and answer in its thread (S147-S153)."""
        await self._go(opening, route_request(wanted, opening))
        return True

    async def _go(self, opening: Opening, route: Route) -> None:
        if isinstance(route, QueueCommandBase):
            await self.carry_out(route)
            return
        about = opening.command_id
        if isinstance(route, DirectWork):
            asker = Asker(opening.user_id, opening.at, opening.channel, opening.tz, Mode.DIRECT)
            card = await do_directly(self._tools, route.spec, asker, key=about, simple=route.simple)
        elif isinstance(route, RedirectedWork):
            card = redirect(await self._front.put(route.command), route.because)
        else:
            card = route
        answer = build_notification_job(card, v=f"{about}/card", channel=opening.channel, thread_ts=opening.thread_ts)
        await self._tools.jobs.enqueue(answer, now=self._tools.clock.now())
        self.waiting.wake()

    async def home(self, user_id: str) -> tuple[Part, ...]:
        """Return the queue in App Home, with the result of the last action there."""
        return await self._home.parts(user_id)

    async def _answer(self, command: CardCommand) -> Card:
        match command:
            case EnqueueTask():
                return await self._front.enqueue(command)
            case ShowTasks():
                return await self._front.show_queue(command)
            case PullTask():
                return await self._puller.pull(command)
            case SettleTask():
                return await settle(self._tools, command)
            case BlockTimeFor():
                return await block_for(self._tools, command)
            case WriteParts():
                return await write_parts(self._tools, command)
            case DoTaskNow():
                return await do_now(self._tools, command)
            case _:
                assert_never(command)

    async def is_carried_out(self, command: QueueCommand) -> bool:
        """Check whether the answer to a command is already queued."""
        everything = await self._tools.tasks.of(command.user_id, ended=True)
        return isinstance(command, ShowTasks | EnqueueTask) or any(
            command.command_id in task.handled for task in everything
        )

    async def open_form(self, request: FormRequest) -> Form:
        """Return one of the forms in ``FORMS``. Raises ``BadInput`` if its task is gone."""
        if "text" in request.chosen:
            kept, _ = redact_credentials(request.chosen["text"])
            request = replace(request, chosen=request.chosen | {"text": kept})
        match request.form:
            case "queue_done":
                return forms.build_done_form(await self._task(request.user_id, request.target))
            case "queue_edit":
                return build_edit_form(await self._task(request.user_id, request.target))
            case "queue_time":
                return forms.build_time_form(await self._task(request.user_id, request.target))
            case "queue_parts":
                return forms.build_parts_form(await self._task(request.user_id, request.target))
            case _:
                return front_forms.build_add_form(request)

    async def read_form(self, submission: FormSubmission) -> QueueCommand | FormErrors:
        """Return the command of a filled form in ``FORMS``. Raises the errors of :meth:`open_form`."""
        refused = refuse_values(submission)
        if refused is not None:
            return refused
        match submission.form:
            case "queue_done":
                return forms.read_done(await self._task(submission.user_id, submission.target), submission)
            case "queue_edit":
                return read_edited(await self._task(submission.user_id, submission.target), submission)
            case "queue_time":
                task = await self._task(submission.user_id, submission.target)
                return forms.read_time(task, submission, self._tools.tz)
            case "queue_parts":
                return forms.read_parts(await self._task(submission.user_id, submission.target), submission)
            case _:
                return front_forms.read_added(submission)

    async def _task(self, user_id: str, task_id: str) -> QueuedTask:
        task = await self._tools.tasks.get(user_id, task_id)
        if task is None:
            raise BadInput(GONE)
        return task
