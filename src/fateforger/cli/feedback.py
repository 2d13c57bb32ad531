"""``fateforger feedback``: people's ratings of the cards that a language model took part in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from fateforger.cli.documents import write_json
from fateforger.cli.options import add_place_options, as_json, load_settings

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.session.feedback import Rating


@click.command("feedback")
@add_place_options
@as_json
@click.pass_context
def command(ctx: click.Context, now: str | None, data_dir: str | None, as_json: bool) -> None:
    """Every thumb up or down, oldest first, with its session, its turn and the versions of the prompts behind it."""
    ratings = asyncio.run(_read_ratings(load_settings(ctx, now=now, data_dir=data_dir)))
    if as_json:
        write_json({"feedback": [rating.model_dump(mode="json") for rating in ratings]})
        return
    for rating in ratings:
        thumb = "👍" if rating.helpful else "👎"
        prompts = ", ".join(rating.prompts)
        click.echo(f"{thumb} {rating.at:%Y-%m-%d %H:%M}Z  {rating.session_id}  {rating.turn}  {prompts}")
    if not ratings:
        click.echo("Nobody has said anything yet.")


async def _read_ratings(settings: Settings) -> tuple[Rating, ...]:
    from fateforger.bootstrap.ground import open_state  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        return await store.feedbacks.all()
    finally:
        await store.aclose()
