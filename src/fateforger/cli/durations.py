"""``fateforger tasks durations``: view and forget the usual lengths of a person's tasks."""

from __future__ import annotations

from collections.abc import Sequence

import click

from fateforger.cli.documents import print_result
from fateforger.cli.task_queue import Queue, add_queue_options, run_with_queue
from fateforger.errors import BadInput
from fateforger.tasks.durations import Estimate, estimate_kinds, find_named, format_ratio
from fateforger.text import format_count


@click.command("durations")
@click.option("--forget", "kind", metavar="KIND", help="Forget what is known of tasks of this kind, such as report.")
@add_queue_options
def durations_command(
    ctx: click.Context, user_id: str | None, kind: str | None, as_json: bool, **where: str | None
) -> None:
    """The usual length of each kind of task, as observed on earlier days."""

    async def ask(queue: Queue) -> Sequence[Estimate]:
        gone = () if kind is None else find_named(await queue.durations.of(queue.user_id), kind)
        if kind is not None and not gone:
            raise BadInput(f"I know nothing about “{kind}”; tasks durations shows what I know.", where="forget")
        await queue.durations.keep(queue.user_id, (), gone=[each.id for each in gone])
        return estimate_kinds(await queue.durations.of(queue.user_id))

    estimates = run_with_queue(ctx, user_id, where, ask)
    lines = [
        f"{each.kind}: {format_ratio(each.ratio)} times as long as planned, {format_count(each.count, 'task')}"
        for each in estimates
    ] or ["No kind of task is known well enough; that takes three of them."]
    print_result({"durations": [each.model_dump(mode="json") for each in estimates]}, lines, as_json=as_json)
