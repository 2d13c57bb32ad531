"""Do work without the queue, on the person's request (S163-S166).

Simple work is done at once, complex work only if the person insists. The reply always explains the consequences.
"""

from __future__ import annotations

from fateforger.coordinator.dispositor.cards import SHOW, build_pull_button, build_reply, describe_state, quote_title
from fateforger.coordinator.executor.carried import MOST_HANDLED, Asker, Tools
from fateforger.coordinator.executor.kinds import carry_out_work
from fateforger.errors import BadInput, ModelError
from fateforger.session.cards import Button, Card
from fateforger.session.commands.queue import DoTaskNow
from fateforger.tasks import Do, Mode, QueuedTask, TaskSpec, TaskState
from fateforger.tasks.complexity import reason_for_queue
from fateforger.values import replace

UNTRACKED = "I go ahead right away. Note that this isn't tracked in your queue."
LOST = (
    "I go ahead right away. Without the queue that means: no rule is checked, nobody can look up later what was done,"
    " and it cannot be paused or put back."
)
YOURS = "It is yours to do, and I keep no list of it."
TAKEN_OUT = "It was done directly, without the queue."
_OPEN = frozenset({TaskState.ACTIVE, TaskState.PAUSED, TaskState.FAILED})


async def do_now(tools: Tools, command: DoTaskNow) -> Card:
    """Do a task at once and take it out of the queue, or explain why it should stay there and how to insist.

    Raises ``StoreError``.
    """
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None:
        return build_reply(f"There is no task `{command.task_id}` in your queue.", SHOW)
    repeated = command.command_id in task.handled
    if task.state not in _OPEN and not repeated:
        return build_reply(f"{quote_title(task)} is {describe_state(task, ())}, so there is nothing to skip.", SHOW)
    because = reason_for_queue(task.spec)
    if because is not None and not command.insists:
        return redirect(task, because)
    asker = Asker(command.user_id, command.at, command.channel, command.tz or tools.tz, Mode.DIRECT)
    card = await do_directly(tools, task.spec, asker, key=command.command_id)
    if not repeated:
        await tools.tasks.change(command.user_id, task.id, lambda now: _take_out(now, command), now=tools.clock.now())
    return card


def redirect(task: QueuedTask, why: str) -> Card:
    """Return the card that explains why a task should stay in the queue, with a button to insist (S164)."""
    anyway = Button(label="Do it anyway", action="queue.anyway", target=task.id)
    sentence = f"{why} I keep {quote_title(task)} there: run `/pull {task.id}` to do it with all that."
    return build_reply(sentence, build_pull_button(task, "Pull it now"), anyway, mode=Mode.DISPOSITOR)


async def do_directly(tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, simple: bool = True) -> Card:
    """Do work without a task; anything that it starts is started once per ``key`` (S163, S165)."""
    note = UNTRACKED if simple and reason_for_queue(spec) is None else LOST
    try:
        carried = await carry_out_work(tools, spec, asker, key=key)
    except (BadInput, ModelError) as error:
        return build_reply(error.message, mode=Mode.DIRECT)
    outcome = YOURS if isinstance(spec.work, Do) else carried.outcome
    return build_reply(f"{note}\n\n{outcome}", mode=Mode.DIRECT)


def _take_out(task: QueuedTask, command: DoTaskNow) -> QueuedTask:
    return replace(
        task,
        state=TaskState.STOPPED,
        outcome=TAKEN_OUT,
        mode=Mode.DIRECT,
        handled=(*task.handled, command.command_id)[-MOST_HANDLED:],
    )
