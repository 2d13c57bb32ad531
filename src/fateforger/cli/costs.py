"""``fateforger costs``: the use and cost of language models, by day and role."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import write_json
from fateforger.cli.options import add_place_options, as_json, load_settings

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.ports import Spent


@click.command("costs")
@add_place_options
@as_json
@click.option("--days", type=click.IntRange(1, 3660), default=30, show_default=True, help="How many days, with today.")
@click.pass_context
def command(ctx: click.Context, now: str | None, data_dir: str | None, as_json: bool, days: int) -> None:
    """Show the use and cost of language models, by day and role. Days end at midnight in
    FATEFORGER_TIME_ZONE; costs follow from FATEFORGER_MODEL_PRICES."""
    spent = asyncio.run(_read_spent(load_settings(ctx, now=now, data_dir=data_dir), days))
    if as_json:
        write_json({"days": [_to_document(each) for each in spent], "total": _sum_spent(spent)})
        return
    if not spent:
        click.echo(f"No language model was asked anything {'today' if days == 1 else f'in the last {days} days'}.")
        return
    for each in spent:
        click.echo(f"{each.day}  {each.role.value:<8} {each.model or '(no answer)':<28} {_format_counts(asdict(each))}")
    click.echo(f"{'Together':<50}{_format_counts(_sum_spent(spent))}")


async def _read_spent(settings: Settings, days: int) -> tuple[Spent, ...]:
    from fateforger.bootstrap.ground import build_clock, open_state  # noqa: PLC0415  heavy
    from fateforger.session.days import local_today  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        today = local_today(build_clock(settings).now(), settings.time_zone)
        return await store.usage.since(today - timedelta(days=days - 1))
    finally:
        await store.aclose()


def _to_document(spent: Spent) -> dict[str, Any]:
    return {**asdict(spent), "day": spent.day.isoformat(), "role": spent.role.value}


def _sum_spent(spent: Sequence[Spent]) -> dict[str, Any]:
    names = ("calls", "failed", "uncounted", "unpriced", "prompt_tokens", "completion_tokens")
    counts = {name: sum(getattr(each, name) for each in spent) for name in names}
    return {**counts, "cost": round(sum(each.cost for each in spent), 9)}


def _format_counts(counts: dict[str, Any]) -> str:
    tokens = f"{counts['prompt_tokens']} + {counts['completion_tokens']} tokens"
    cost = "no price set" if counts["calls"] and counts["unpriced"] == counts["calls"] else f"${counts['cost']:.4f}"
    failed = f", {counts['failed']} without an answer" if counts["failed"] else ""
    answers = "1 answer" if counts["calls"] == 1 else f"{counts['calls']} answers"
    return f"{answers}, {tokens}, {cost}{failed}"
