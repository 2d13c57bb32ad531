"""Reminders of tasks: a job that is due at their time brings a card to where they were asked for, once.

The time is kept in the task. A job whose task is over, or has another time by now, does nothing.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from functools import partial

from fateforger.conversation.queue.cards import (
    SHOW,
    build_missing_reply,
    build_remind_button,
    build_reply,
    build_task_card,
    format_title,
)
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.forms import WHICH_DAY, build_envelope, build_task_form
from fateforger.conversation.queue.work import Tools, mark_handled
from fateforger.errors import BadInput
from fateforger.planning.timing import instant_of, zone
from fateforger.ports.jobs import Job
from fateforger.session.cards import Card, Prose, plain
from fateforger.session.forms import DateField, Form, FormErrors, FormSubmission, TimeField
from fateforger.session.queue_commands import EnqueueTask, RemindTask
from fateforger.tasks.task import ENDED, QueuedTask, TaskState, describe_reminder
from fateforger.text import current_language, mark_message, speak
from fateforger.text import gettext as _
from fateforger.ui.form_values import Filled
from fateforger.values import replace
from fateforger.workers.lanes import REMINDER, DueReminder, JobHandler, ZoneChange
from fateforger.workers.turns import build_notification_job

OVER = mark_message("That time is over; choose a later one.")
REMINDED = mark_message("I reminded you at {time:%H:%M}.")


async def schedule(tools: Tools, task: QueuedTask, command: EnqueueTask | RemindTask) -> None:
    """Queue the job of a task's reminder, once, if it has one. Raises ``StoreError``."""
    at = task.spec.remind_at
    if at is None:
        return
    due = DueReminder(
        user_id=task.user_id,
        task_id=task.id,
        at=at,
        channel=command.channel,
        thread_ts=command.thread_ts,
        language=current_language(),
    )
    await _queue(tools, due, command.command_id)


async def _queue(tools: Tools, due: DueReminder, cause: str) -> None:
    key = _build_key(due.task_id, due.at)
    job = REMINDER.build_job(due, key=key, dedupe=f"{key}/{cause}")
    await tools.jobs.enqueue(dataclasses.replace(job, run_at=due.at), now=tools.clock.now())


def _build_key(task_id: str, at: datetime) -> str:
    """Return the key of a reminder, of its own for each time: a job waits for the earlier ones of its key."""
    return f"{task_id}/{at.timestamp():.0f}"


def build_asked_reminder(task: QueuedTask) -> Card:
    """Return the answer to the wish to be reminded: the time, or the question for it."""
    if task.spec.remind_at is None:
        sentence = _("When shall I remind you of {title}? It is in your queue.", title=format_title(task))
        return build_reply(sentence, build_remind_button(task), SHOW.localize())
    when = describe_reminder(task.spec.remind_at)
    sentence = _("I will remind you of {title} on {when}.", title=format_title(task), when=when)
    cancel = RemindTask.cancel.button(task.id)
    return build_reply(sentence, build_remind_button(task), cancel, SHOW.localize())


async def remind(tools: Tools, command: RemindTask) -> Card:
    """Set or cancel the reminder of a task, once. Raises ``StoreError``."""

    def change(task: QueuedTask) -> QueuedTask:
        if command.command_id in task.handled:
            return task
        if task.state in ENDED:
            raise BadInput(_("{title} is over, so there is nothing to remind you of.", title=format_title(task)))
        return mark_handled(replace(task, spec=replace(task.spec, remind_at=command.remind_at)), command.command_id)

    try:
        task = await tools.tasks.change(command.user_id, command.task_id, change, now=tools.clock.now())
    except BadInput as error:
        return build_reply(error.message, SHOW.localize())
    if task is None:
        return build_missing_reply(command.task_id)
    await schedule(tools, task, command)
    if task.spec.remind_at is not None:
        return build_asked_reminder(task)
    sentence = _("I will not remind you of {title}; it stays in your queue.", title=format_title(task))
    return build_reply(sentence, build_remind_button(task), SHOW.localize())


def build_remind_form(task: QueuedTask) -> Form:
    """Return the form that sets the time of a reminder."""
    at = task.spec.remind_at
    return build_task_form(
        "queue_remind",
        task,
        DateField(name="date", label=_("Day"), value=None if at is None else at.date()),
        TimeField(name="time", label=_("Time"), value=None if at is None else at.time()),
        title=_("Remind me"),
        submit=_("Remind me"),
    )


def read_reminder(task: QueuedTask, submission: FormSubmission, tz: str) -> RemindTask | FormErrors:
    """Return the command of a filled form, or the errors per field."""
    filled = Filled(submission)
    day = filled.day("date", needed=_(WHICH_DAY))
    clock = filled.clock("time", needed=_("At what time shall I remind you?"))
    if day is None or clock is None:
        return FormErrors(errors=filled.errors)
    at = instant_of(datetime.combine(day, clock), zone(tz))
    if at <= submission.at:
        return FormErrors(errors={"time": _(OVER)})
    return RemindTask(**build_envelope(submission), task_id=task.id, remind_at=at)


def build_reminder_handler(tools: Tools) -> JobHandler:
    """Return the handler that reminds people of their tasks."""

    async def perform(due: DueReminder | ZoneChange, _job: Job) -> None:
        if isinstance(due, ZoneChange):
            await _move_reminders(tools, due)
            return
        task = await tools.tasks.get(due.user_id, due.task_id)
        if task is None or task.state in ENDED or task.spec.remind_at != due.at:
            return
        now = tools.clock.now()
        with speak(due.language):
            reminded = _mark_reminded(task)
            others = await read_queue(tools.tasks, due.user_id)
            shown = build_task_card(reminded, others, tools.today(await tools.find_zone(due.user_id)))
            text = _("⏰ You asked me to remind you: {title}", title=plain(task.spec.title, 200))
        card = replace(shown, text=text, parts=(Prose(text=text), *shown.parts[1:]))
        name = f"{task.id}/remind/{due.at.timestamp():.0f}"
        job = build_notification_job(card, v=name, channel=due.channel, thread_ts=due.thread_ts)
        await tools.jobs.enqueue(job, now=now)

        def change(there: QueuedTask) -> QueuedTask:
            return _mark_reminded(there) if there.spec.remind_at == due.at else there

        with speak(due.language):
            await tools.tasks.change(due.user_id, due.task_id, change, now=now)

    return REMINDER.handle(perform)


async def _move_reminders(tools: Tools, change: ZoneChange) -> None:
    """Set the reminders of a person to the same times of day in another zone; those of a third zone stay.

    One whose time is over there comes at once. What an interrupted try has moved is queued again.
    """
    for task in await tools.tasks.of(change.user_id):
        at = task.spec.remind_at
        if at is None:
            continue
        then, moved = (instant_of(at.replace(tzinfo=None), zone(tz)) for tz in (change.before, change.after))
        jobs = await tools.jobs.list_unfinished(REMINDER.name, _build_key(task.id, then))
        if not jobs or at not in {then, moved}:
            continue
        await tools.tasks.change(change.user_id, task.id, partial(_move, then=then, moved=moved), now=tools.clock.now())
        for job in jobs:
            due = REMINDER.parse(job)
            if isinstance(due, DueReminder):
                await _queue(tools, replace(due, at=moved), job.dedupe)


def _move(task: QueuedTask, then: datetime, moved: datetime) -> QueuedTask:
    return replace(task, spec=replace(task.spec, remind_at=moved)) if task.spec.remind_at == then else task


def _mark_reminded(task: QueuedTask) -> QueuedTask:
    """Return the task without its reminder; one that can be pulled is in the person's hands now."""
    at = task.spec.remind_at
    given = replace(task, spec=replace(task.spec, remind_at=None))
    if task.state is not TaskState.ACTIVE or at is None:
        return given
    return replace(given, state=TaskState.WAITING, outcome=_(REMINDED, time=at))
