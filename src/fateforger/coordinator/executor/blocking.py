"""Block time for a task of the queue."""

from __future__ import annotations

from fateforger.coordinator.dispositor.cards import SHOW, build_reply, build_task_card
from fateforger.coordinator.dispositor.known import read_queue
from fateforger.coordinator.executor.carried import Asker, Tools
from fateforger.coordinator.executor.kinds import carry_out_work
from fateforger.errors import BadInput
from fateforger.session.cards import Card
from fateforger.session.commands.queue import BlockTimeFor
from fateforger.tasks import BlockTime, TaskSpec
from fateforger.values import replace


async def block_for(tools: Tools, command: BlockTimeFor) -> Card:
    """Put a block for a task into the plan of a day, once; the task itself does not change. Raises ``StoreError``."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None:
        return build_reply(f"There is no task `{command.task_id}` in your queue.", SHOW)
    work = BlockTime(date=command.date, minutes=command.minutes, start=command.start, task=task.id)
    asker = Asker(command.user_id, command.at, command.channel, command.tz or tools.tz, task.mode)
    spec = TaskSpec(title=task.spec.title, work=work)
    try:
        carried = await carry_out_work(tools, spec, asker, key=command.command_id)
    except BadInput as error:
        return build_reply(error.message, SHOW)
    return build_task_card(replace(task, outcome=carried.outcome), await read_queue(tools.tasks, command.user_id))
