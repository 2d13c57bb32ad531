"""The coordinator's access to a person's queue, in threads and in App Home; each answer is a card or a sentence."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import assert_never

from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.language.tables import OutsideContext, RuledWork, list_uses
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.queue.cards import (
    SHOW,
    build_acknowledgment,
    build_queue_card,
    build_queue_parts,
    build_reply,
    build_unknown_queue,
    build_wanted_time,
)
from fateforger.conversation.queue.decisions import (
    block_for,
    build_parts_form,
    build_time_form,
    do_directly,
    do_now,
    read_parts,
    read_time,
    redirect,
    settle,
)
from fateforger.conversation.queue.dispatch import (
    DirectWork,
    RedirectedWork,
    Route,
    add_place,
    enqueue,
    read_queue,
    route_request,
    route_typed,
)
from fateforger.conversation.queue.execution import Puller
from fateforger.conversation.queue.forms import (
    TaskRules,
    build_add_form,
    build_done_form,
    build_edit_form,
    build_note_form,
    read_added,
    read_done,
    read_edited,
    read_note,
)
from fateforger.conversation.queue.leftovers import OtherDays, tell_returned, undo_return
from fateforger.conversation.queue.planned_tasks import PlannedTasks
from fateforger.conversation.queue.refinement import go_on, refine
from fateforger.conversation.queue.reminders import (
    build_asked_reminder,
    build_remind_form,
    read_reminder,
    remind,
    schedule,
)
from fateforger.conversation.queue.week import WeekPlanner
from fateforger.conversation.queue.work import Asker, Tools, mark_handled, write_parts
from fateforger.errors import BadInput, InternalError, StoreError
from fateforger.memory.credentials import redact_credentials
from fateforger.planning.task_details import find_circle
from fateforger.session.cards import Button, Card, Controls, Menu, Part, plain
from fateforger.session.commands import ACTIONS
from fateforger.session.commands.rules import AskToReplace, SettleConstraints, UndoMemory
from fateforger.session.commands.thread import Opening
from fateforger.session.forms import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.messages import Exchange, Focus, RecentTalk
from fateforger.session.model import CalendarWrite
from fateforger.session.queue_commands import (
    BlockTimeFor,
    CardCommand,
    ChangeTask,
    ChooseLanguage,
    CorrectDuration,
    DoTaskNow,
    DropWeek,
    EnqueueTask,
    ForgetDuration,
    HomeCommand,
    HomeCommandBase,
    MoveTask,
    OpenWeek,
    PlanWeek,
    PullTask,
    QueueCommand,
    QueueCommandBase,
    ReadAgain,
    RefineTasks,
    RemindTask,
    ReviseTask,
    RitualCommand,
    SettleTask,
    ShowTasks,
    TaskCommand,
    TickTask,
    TurnQueue,
    UndoReturn,
    WeekCommand,
    WriteParts,
)
from fateforger.session.tasks import describe_circle
from fateforger.tasks.gate import list_questions, list_steps
from fateforger.tasks.ports import Tasks
from fateforger.tasks.queue import describe_move, move_task
from fateforger.tasks.task import IN_HAND, QueuedTask
from fateforger.tasks.transitions import HydratedMessage, apply_action, describe_action, parse_command, replace_spec
from fateforger.tasks.workflows import state_words
from fateforger.text import gettext as _
from fateforger.text import mark_message, name_language, quote_title, use_language
from fateforger.ui.form_values import refuse_values
from fateforger.ui.home_card import list_durations
from fateforger.values import replace
from fateforger.workers.turns import build_notification_job

log = logging.getLogger(__name__)

LONGEST_SENTENCE = 400
SAID_FOR = timedelta(minutes=1)
"""Time for which App Home shows the result of the last action there."""
GONE = mark_message("That task is not in your queue any more.")


async def edit_task(tasks: Tasks, command: MoveTask | ChangeTask | ReviseTask, *, now: datetime) -> str:
    """Carry out an action and return its result, or the reason for a refusal. Raises ``StoreError``."""
    before = await tasks.get(command.user_id, command.task_id)
    if before is None:
        return _(GONE)
    try:
        if isinstance(command, MoveTask):
            return await _move(tasks, command, before, now)
        return await _change(tasks, command, now)
    except BadInput as error:
        return error.message


async def _move(tasks: Tasks, command: MoveTask, before: QueuedTask, now: datetime) -> str:
    def change(there: tuple[QueuedTask, ...]) -> Sequence[QueuedTask]:
        if any(command.command_id in task.handled for task in there):
            return ()
        others = move_task(there, command.task_id, command.where, before=command.other)
        return [mark_handled(task, command.command_id) if task.id == command.task_id else task for task in others]

    return describe_move(before, await tasks.rearrange(command.user_id, change, now=now))


async def _change(tasks: Tasks, command: ChangeTask | ReviseTask, now: datetime) -> str:
    def change(task: QueuedTask) -> QueuedTask:
        if command.command_id in task.handled:
            return task
        after = (
            apply_action(task, command.deed)
            if isinstance(command, ChangeTask)
            else replace_spec(task, command.apply_to(task.spec))
        )
        return mark_handled(after, command.command_id)

    if isinstance(command, ReviseTask):
        _refuse_circle(await read_queue(tasks, command.user_id), command)
    task = await tasks.change(command.user_id, command.task_id, change, now=now)
    if task is None:
        return _(GONE)
    if isinstance(command, ReviseTask):
        return _("{title} is saved.", title=quote_title(task.spec.title))
    return describe_action(task, command.deed, await read_queue(tasks, command.user_id))


def _refuse_circle(queue: Sequence[QueuedTask], command: ReviseTask) -> None:
    """Raise ``BadInput`` if tasks would wait for each other after a change."""
    specs = {task.id: command.apply_to(task.spec) if task.id == command.task_id else task.spec for task in queue}
    blocked = {task.id: task.blocked_by for task in queue}
    circle = find_circle({name: (*spec.details.after, *blocked.get(name, ())) for name, spec in specs.items()})
    if circle:
        raise BadInput(describe_circle([specs[name].title for name in circle]))


LEFT_OUT = "(left out)"
RECENT = timedelta(hours=1)
"""Time after which a message does not continue the last talk outside of plans."""


def list_buttons(card: Card) -> tuple[Button, ...]:
    """Return the buttons of a card that words can press: those that open no form, and whose text is not the message."""
    found: list[Button] = []
    for part in card.parts:
        for control in part.items if isinstance(part, Controls) else (getattr(part, "control", None),):
            if isinstance(control, Menu):
                found += (Button(label=c.label, action=c.value, target=control.target) for c in control.choices)
            elif isinstance(control, Button):
                found.append(control)
    return tuple(button for button in found if button.action in ACTIONS and button.action != ReadAgain.action.id)


_BuildForm = Callable[[QueuedTask], Form]
_ReadForm = Callable[[QueuedTask, FormSubmission, str], QueueCommand | FormErrors]
"""Reads a filled form; the text is the time zone of the person."""

_Cause = Opening | AskToReplace | SettleConstraints | UndoMemory
"""A message or an answer outside of plans that is answered, besides commands about the queue."""
_RULE_FORMS: Mapping[
    str,
    tuple[
        Callable[[QueuedTask, TaskRules], Form],
        Callable[[QueuedTask, TaskRules, FormSubmission], QueueCommand | FormErrors],
    ],
] = {
    "queue_done": (build_done_form, read_done),
    "queue_note": (build_note_form, read_note),
    "queue_parts": (lambda task, _rules: build_parts_form(task), read_parts),
}
FORMS = frozenset({"queue_add", "queue_save", "queue_time", "queue_edit", "queue_remind", *_RULE_FORMS})


class QueueService:
    """Carries out queue commands. ``executor`` names this program in its claims. All methods raise ``StoreError``."""

    def __init__(self, tools: Tools, executor: str) -> None:
        self._tools = tools
        self._puller = Puller(tools, executor)
        self.durations = tools.durations
        self.planned = PlannedTasks(tools, executor)
        self.other_days = OtherDays(tools)
        self._task_forms: dict[str, tuple[_BuildForm, _ReadForm]] = {
            "queue_edit": (build_edit_form, lambda task, filled, _tz: read_edited(task, filled)),
            "queue_time": (build_time_form, read_time),
            "queue_remind": (build_remind_form, read_reminder),
        }
        self._weeks: WeekPlanner | None = None
        self._answer_ritual: Callable[[RitualCommand], Awaitable[Card]] | None = None

    def plan_weeks(self, looker: Looker, memory: MemoryService, calendar_write: CalendarWrite) -> None:
        """Let people plan weeks, by what calendar and rules say of the days."""
        self._weeks = WeekPlanner(self._tools, self.planned, looker, memory, calendar_write)

    def use_rituals(self, answer: Callable[[RitualCommand], Awaitable[Card]]) -> None:
        """Answer what is about messages that the bot sends by itself with ``answer``."""
        self._answer_ritual = answer

    async def carry_out(self, command: CardCommand | HomeCommand) -> None:
        """Carry out a command, once, and send the answer to its origin; App Home updates itself."""
        if isinstance(command, HomeCommandBase):
            said = await self._carry_out_at_home(command)
            following = await self._go_on_refining(command, said)
            if following is not None:
                card, focus = following
                await self._send(card, replace(command, channel=focus.channel, thread_ts=focus.thread_ts))
            return
        await self._send(await self._answer(command), command)

    async def _carry_out_at_home(self, command: HomeCommandBase) -> str:
        """Carry out a command and return its result, which App Home shows as well."""
        said = ""
        if isinstance(command, TurnQueue):
            await self._tools.homes.turn_page(command.user_id, command.page)
        elif isinstance(command, ForgetDuration | CorrectDuration):
            said = await self.durations.correct(command)
        elif isinstance(command, MoveTask | ChangeTask | ReviseTask):
            said = await edit_task(self._tools.tasks, command, now=self._tools.clock.now())
        elif isinstance(command, ChooseLanguage):
            await self._tools.languages.choose(command.user_id, command.language)
            spoken = (await self._tools.languages.of(command.user_id)).code
            use_language(spoken)
            return _("From now on I speak {language}.", language=name_language(spoken, spoken))
        if said:
            await self._tools.homes.keep_result(command.user_id, said, at=self._tools.clock.now())
        return said

    async def queue(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that have not ended, in order."""
        return await self._tools.tasks.of(user_id)

    async def handle_typed(self, opening: Opening) -> bool:
        """Carry out a command that was typed as text; ``False`` if the message does not begin with a slash (S147)."""
        typed = parse_command(opening.text)
        if typed is None:
            return False
        await self.send(await self._follow(opening, route_typed(typed, opening)), opening)
        return True

    async def carry_out_request(self, request: HydratedMessage | QueueCommand, opening: Opening) -> Card:
        """Carry out the request of a message, once, answer in its thread, and return the answer (S147-S153, S276)."""
        route = route_request(request, opening) if isinstance(request, HydratedMessage) else add_place(request, opening)
        card = await self._follow(opening, route)
        await self.send(card, opening)
        return card

    async def _follow(self, opening: Opening, route: Route) -> Card:
        """Carry out the route of a message and return the answer."""
        if isinstance(route, HomeCommandBase):
            said = await self._carry_out_at_home(route)
            following = await self._go_on_refining(route, said)
            return build_reply(said, SHOW.localize()) if following is None else following[0]
        if isinstance(route, QueueCommandBase):
            if isinstance(route, ReadAgain):
                raise InternalError("A message is read again where first messages are read.")
            return await self._answer(route)
        about = opening.command_id
        if isinstance(route, DirectWork):
            asker = Asker(opening.user_id, opening.at, opening.channel, opening.tz, "direct")
            return await do_directly(self._tools, route.spec, asker, key=about, simple=route.simple)
        if isinstance(route, RedirectedWork):
            return redirect(await enqueue(self._tools.tasks, route.command), route.because)
        return route

    async def _go_on_refining(self, command: HomeCommandBase, said: str) -> tuple[Card, Focus] | None:
        return await go_on(self._tools, command, said) if isinstance(command, ReviseTask) else None

    async def send(self, card: Card, cause: _Cause, *, wrote: Sequence[str] = ()) -> None:
        """Send the answer to a message or a card to its place, once; ``wrote`` are the commands that wrote rules."""
        await self._send(card, cause, wrote)

    async def _send(self, card: Card, cause: _Cause | CardCommand | HomeCommand, wrote: Sequence[str] = ()) -> None:
        """Send a card, next to the plan where there is one, and keep what was said for the next message."""
        answer = build_notification_job(
            card,
            v=f"{cause.command_id}/card",
            channel=cause.channel,
            thread_ts=cause.thread_ts,
            ts=None if isinstance(cause, Opening) else cause.ts,
            beside=True,
        )
        person = (LEFT_OUT if wrote or cause.withheld else cause.text) if isinstance(cause, Opening) else cause.kind
        talk = RecentTalk.after(
            await self._tools.talks.of(cause.user_id),
            Exchange.of(person, card.text),
            at=self._tools.clock.now(),
            buttons=list_buttons(card),
            wrote=tuple(wrote),
        )
        await self._tools.talks.keep(cause.user_id, talk)
        await self._tools.jobs.enqueue(answer, now=self._tools.clock.now())

    async def find_context(self, user_id: str, at: datetime, channel: str, thread_ts: str | None) -> OutsideContext:
        """Return what a message of the person in a place may be about outside of plans.

        A talk of long ago is left out, and so is a focus of another place.
        """
        talk = await self._tools.talks.of(user_id)
        recent = talk is not None and at - talk.at <= RECENT
        focus = None if talk is None else talk.focus
        tasks = await self.queue(user_id)
        return OutsideContext(
            tasks=tasks,
            workflows=list_uses(self._tools.workflows),
            ruled=tuple(
                [await self._describe_rules(task) for task in tasks if task.state in IN_HAND and task.spec.workflow]
            ),
            estimates=await self.durations.estimates(user_id),
            talk=talk if recent else None,
            focus=focus.task_id if focus is not None and focus.covers(channel, thread_ts, at) else None,
        )

    async def _describe_rules(self, task: QueuedTask) -> RuledWork:
        workflow = self._tools.workflows.get(task.spec.workflow)
        if workflow is None:
            return RuledWork(task_id=task.id, title=task.spec.title)
        seen = await self._tools.look_up(task, workflow, at_once=True)
        return RuledWork(
            task_id=task.id,
            title=task.spec.title,
            steps=list_steps(workflow),
            questions=tuple((each.name, state_words(each)) for each in list_questions(task, workflow, seen)),
        )

    async def home(self, user_id: str, tz: str) -> tuple[Part, ...]:
        """Return the queue in App Home, on the current day in zone ``tz``, with the result of the last action there."""
        try:
            tasks = await read_queue(self._tools.tasks, user_id)
            estimates = await self.durations.estimates(user_id)
            view = await self._tools.homes.find_view(user_id)
        except StoreError as error:
            log.warning("the queue of %s cannot be looked up: %s", user_id, error.message)
            return build_unknown_queue()
        now = self._tools.clock.now()
        said = view.said if view.said_at is not None and now - view.said_at < SAID_FOR else ""
        queue = build_queue_parts(
            tasks, today=self._tools.today(tz), page=view.page, said=plain(said, LONGEST_SENTENCE)
        )
        return (*queue, *list_durations(estimates))

    async def _answer(self, command: CardCommand) -> Card:
        if not isinstance(command, RitualCommand):
            return await self._answer_about_tasks(command)
        if self._answer_ritual is None:
            raise InternalError("Messages by themselves are answered once the coordinator is built.")
        return await self._answer_ritual(command)

    async def _answer_about_tasks(self, command: TaskCommand | WeekCommand) -> Card:  # noqa: C901  one line per kind
        match command:
            case EnqueueTask():
                return await self._add(command)
            case RemindTask():
                return await remind(self._tools, command)
            case ShowTasks():
                tasks = await read_queue(self._tools.tasks, command.user_id)
                queue = build_queue_card(tasks, self._tools.today(command.tz))
                return await tell_returned(self._tools, command.user_id, queue)
            case RefineTasks():
                return await refine(self._tools, command)
            case UndoReturn():
                return await undo_return(self._tools, command)
            case PullTask():
                return await self._puller.pull(command)
            case SettleTask() | TickTask():
                return await settle(self._tools, command)
            case BlockTimeFor():
                return await block_for(self._tools, command)
            case WriteParts():
                return await write_parts(self._tools, command)
            case DoTaskNow():
                return await do_now(self._tools, command)
            case PlanWeek() | OpenWeek() | DropWeek():
                return await self._get_weeks().answer(command)
            case _:
                assert_never(command)

    async def _add(self, command: EnqueueTask) -> Card:
        task = await enqueue(self._tools.tasks, command)
        await schedule(self._tools, task, command)
        if command.wants_time:
            return build_wanted_time(task)
        if command.reminds:
            return build_asked_reminder(task)
        return build_acknowledgment(task, self._tools.workflows.get(task.spec.workflow))

    def _get_weeks(self) -> WeekPlanner:
        if self._weeks is None:
            raise InternalError("Weeks are planned once the coordinator is built.")
        return self._weeks

    async def is_carried_out(self, command: QueueCommand) -> bool:
        """Check whether the answer to a command is already queued."""
        everything = await self._tools.tasks.of(command.user_id, ended=True)
        return isinstance(command, ShowTasks | EnqueueTask | RefineTasks | UndoReturn | RitualCommand) or any(
            command.command_id in task.handled for task in everything
        )

    async def open_form(self, request: FormRequest) -> Form:
        """Return one of the forms in ``FORMS``. Raises ``BadInput`` if its task is gone."""
        if request.form == "queue_add" and request.target:  # the words of a message that nothing could read
            request = replace(request, target="", chosen={"text": request.target} | request.chosen)
        if "text" in request.chosen:
            kept, _ = redact_credentials(request.chosen["text"])
            request = replace(request, chosen=request.chosen | {"text": kept})
        if request.form in {"queue_add", "queue_save"}:
            others = await self.queue(request.user_id) if request.size else ()
            return build_add_form(request, others, self._tools.workflows.names)
        if request.form == "queue_edit":
            task = await self._task(request.user_id, request.target)
            others = await self.queue(request.user_id)
            return build_edit_form(task, others, request.size, names=self._tools.workflows.names)
        task = await self._task(request.user_id, request.target)
        if request.form in _RULE_FORMS:
            build_with_rules, _ = _RULE_FORMS[request.form]
            return build_with_rules(task, await self._find_rules(task))
        build, _ = self._task_forms[request.form]
        return build(task)

    async def read_form(self, submission: FormSubmission) -> QueueCommand | FormErrors:
        """Return the command of a filled form in ``FORMS``. Raises the errors of :meth:`open_form`."""
        refused = refuse_values(submission)
        if refused is not None:
            return refused
        if submission.form not in {*self._task_forms, *_RULE_FORMS}:
            return read_added(submission)
        task = await self._task(submission.user_id, submission.target)
        if submission.form in _RULE_FORMS:
            _, read_with_rules = _RULE_FORMS[submission.form]
            return read_with_rules(task, await self._find_rules(task), submission)
        _, read = self._task_forms[submission.form]
        return read(task, submission, await self._tools.find_zone(submission.user_id))

    async def _find_rules(self, task: QueuedTask) -> TaskRules:
        """Return the rules of a task as far as they are known at once. Raises ``BadInput`` if they are gone."""
        tools, workflow = self._tools, self._tools.workflows.of(task.spec)
        seen = await tools.look_up(task, workflow, at_once=True)
        return TaskRules(workflow, seen, final=workflow is None or not (tools.facts.allowed and workflow.looks))

    async def _task(self, user_id: str, task_id: str) -> QueuedTask:
        task = await self._tools.tasks.get(user_id, task_id)
        if task is None:
            raise BadInput(_(GONE))
        return task
