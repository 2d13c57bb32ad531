"""``fateforger up``: run everything with what is configured."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

import click

from fateforger.cli.options import add_place_options, load_settings


@click.command("up")
@add_place_options
@click.option("--host", help="Address the local page listens on.")
@click.option("--port", type=int, help="Port of the local page; 0 picks a free one.")
@click.option("--verbose", is_flag=True, help="Log what happens inside.")
@click.pass_context
def command(
    ctx: click.Context, now: str | None, data_dir: str | None, host: str | None, port: int | None, verbose: bool
) -> None:
    """Run everything with what is configured, say what is real and what is local, and print the page's address."""
    settings = load_settings(ctx, now=now, data_dir=data_dir, host=host, port=port)
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    from fateforger.bootstrap.house import open_app  # noqa: PLC0415  heavy

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on its loop
                loop.add_signal_handler(name, stop.set)
        async with open_app(settings) as house:
            for line in house.lines:
                click.echo(f"  {line}")
            if house.caldav_url:
                click.echo(f"  CalDAV: {house.caldav_url}")
            if house.claim:
                click.echo(f"\n{house.claim}")
            if house.page_url:
                click.echo(f"\nReady: {house.page_url}\n")
                click.echo("Open it and choose “Plan my day”. Stop with Ctrl-C; nothing is lost.")
            else:
                click.echo("\nReady: type /timebox in Slack. Stop with Ctrl-C; nothing is lost.")
            await stop.wait()
            click.echo("Stopping.")

    asyncio.run(run())
