"""Work around the queue: done at once where the program can do it, and never claimed where it cannot (S163-S166)."""

from __future__ import annotations

from fateforger.conversation.queue.cards import (
    ADD,
    REVIEW_RULES,
    SHOW,
    build_missing_reply,
    build_pull_button,
    build_reply,
    build_time_button,
    describe_state,
    format_title,
)
from fateforger.conversation.queue.work import Asker, Tools, carry_out_work, mark_handled
from fateforger.errors import BadInput, ModelError
from fateforger.limits import MAX_CARRIED_CHARS, MAX_NOTES_CHARS
from fateforger.session.cards import Button, Card, plain
from fateforger.session.queue_commands import DoTaskNow, EnqueueTask
from fateforger.tasks.task import Do, QueuedTask, ReviewConstraints, ReviewParts, TaskSpec, TaskState, Work
from fateforger.tasks.workflows import reason_for_queue
from fateforger.text import gettext as _
from fateforger.text import mark_message, name_commands, quote_title, truncate
from fateforger.values import replace

UNTRACKED = mark_message("I go ahead right away. Note that this isn't tracked in your queue.")
LOST = mark_message(
    "I go ahead right away. Without the queue that means: no rule is checked, nobody can look up later what was done,"
    " and it cannot be paused or put back."
)
UNABLE = mark_message(
    "I cannot do {title} myself. I plan days, block time, break goals into parts, remind you, answer questions,"
    " and keep what you tell me."
)
STAYS = mark_message("It stays in your queue. Take it in hand, or give it time in a day.")
KEEP = mark_message("Shall I keep it as a task, or find time for it?")
NOT_LOST = mark_message("Shall I keep it as a task, so that it is not lost?")
TAKEN_OUT = mark_message("It was done directly, without the queue.")
_OPEN = frozenset({TaskState.ACTIVE, TaskState.PAUSED, TaskState.FAILED})


def can_do(work: Work) -> bool:
    """Check whether the program carries out this work itself. The rest is the person's."""
    return not isinstance(work, Do | ReviewParts)


async def do_now(tools: Tools, command: DoTaskNow) -> Card:
    """Do a task at once and take it out of the queue, or say why it stays there.

    Raises ``StoreError``.
    """
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None:
        return build_missing_reply(command.task_id)
    repeated = command.command_id in task.handled
    if task.state not in _OPEN and not repeated:
        sentence = _(
            "There is nothing to skip: the state of {task} is “{state}”.",
            task=format_title(task),
            state=describe_state(task, ()),
        )
        return build_reply(sentence, SHOW)
    if not can_do(task.spec.work):
        sentence = f"{_explain_unable(task.spec)} {_(STAYS)}"
        return build_reply(sentence, *_build_ways(task), SHOW.localize(), mode="dispositor")
    because = reason_for_queue(task.spec)
    if because is not None and not command.insists:
        return redirect(task, because)
    asker = Asker(command.user_id, command.at, command.channel, command.tz or tools.tz, "direct")
    try:
        card = await _carry_out(tools, task.spec, asker, key=command.command_id)
    except (BadInput, ModelError) as error:
        return build_reply(error.message, *_build_ways(task), mode="dispositor")
    if not repeated:
        await tools.tasks.change(command.user_id, task.id, lambda now: _take_out(now, command), now=tools.clock.now())
    return card


def redirect(task: QueuedTask, why: str) -> Card:
    """Return the card that explains why a task should stay in the queue, with a button to insist (S164)."""
    anyway = DoTaskNow.anyway.button(task.id)
    sentence = name_commands(
        mark_message("{why} I keep {task} there: run `{pull} {id}` to do it with all that."),
        why=why,
        task=format_title(task),
        id=task.id,
    )
    return build_reply(sentence, build_pull_button(task, _("Pull it now")), anyway, mode="dispositor")


async def do_directly(tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, simple: bool = True) -> Card:
    """Do work without a task; anything that it starts is started once per ``key`` (S163, S165).

    What cannot be done is said, and offered as a task.
    """
    if not can_do(spec.work):
        return build_reply(f"{_explain_unable(spec)} {_(KEEP)}", *_build_offers(spec), mode="direct")
    try:
        return await _carry_out(tools, spec, asker, key=key, simple=simple)
    except (BadInput, ModelError) as error:
        return build_reply(f"{error.message} {_(NOT_LOST)}", *_build_offers(spec)[:1], mode="direct")


async def _carry_out(tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, simple: bool = True) -> Card:
    """Carry out work and return the card about it. Raises ``BadInput`` or ``ModelError`` if that is not possible."""
    note = _(UNTRACKED) if simple and reason_for_queue(spec) is None else _(LOST)
    carried = await carry_out_work(tools, spec, asker, key=key)
    waits = isinstance(spec.work, ReviewConstraints) and carried.state is TaskState.WAITING
    return build_reply(f"{note}\n\n{carried.outcome}", *((REVIEW_RULES.localize(),) if waits else ()), mode="direct")


def _explain_unable(spec: TaskSpec) -> str:
    return _(UNABLE, title=quote_title(plain(spec.title, 120), 240))


def _build_ways(task: QueuedTask) -> tuple[Button, ...]:
    """Return the buttons for a task that stays in the queue."""
    pull = (build_pull_button(task, _("Pull it now")),) if task.state is TaskState.ACTIVE else ()
    return (*pull, *((build_time_button(task),) if isinstance(task.spec.work, Do) else ()))


def _build_offers(spec: TaskSpec) -> tuple[Button, ...]:
    """Return the buttons that keep work as a task; where its description is too long, with the beginning of it."""
    described = (replace(spec, context=truncate(spec.context, most)) for most in (MAX_NOTES_CHARS, 1_200, 500))
    bare = TaskSpec(title=spec.title, work=spec.work, priority=spec.priority, workflow=spec.workflow)
    texts = (each.model_dump_json(exclude_defaults=True) for each in (*described, bare))
    target = next((text for text in texts if len(text) <= MAX_CARRIED_CHARS), None)
    if target is None:
        return (ADD.localize(),)
    return EnqueueTask.keep.button(target, style="primary"), EnqueueTask.keep_for_day.button(target)


def _take_out(task: QueuedTask, command: DoTaskNow) -> QueuedTask:
    taken = replace(task, state=TaskState.STOPPED, outcome=_(TAKEN_OUT), mode="direct")
    return mark_handled(taken, command.command_id)
