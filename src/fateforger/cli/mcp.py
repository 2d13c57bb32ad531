"""``fateforger mcp``: an MCP server for other agents."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

import click

from fateforger.cli.mcp_clients import audit_command, client_command
from fateforger.cli.options import add_place_options, load_settings


@click.group("mcp", invoke_without_command=True)
@add_place_options
@click.option("--http", "over_http", is_flag=True, help="Over HTTP instead of a pipe; each request brings its token.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address it listens on.")
@click.option("--port", type=int, help="With --http: its port; 0 picks a free one.")
@click.pass_context
def command(
    ctx: click.Context, now: str | None, data_dir: str | None, over_http: bool, host: str, port: int | None
) -> None:
    """Serve other agents over the Model Context Protocol: on stdin and stdout with the token in
    FATEFORGER_MCP_TOKEN, or with --http at an address. It runs next to the main program, on the same data."""
    given = {name: value for name, value in (("now", now), ("data_dir", data_dir)) if value is not None}
    if ctx.invoked_subcommand is not None:
        ctx.obj = {**(ctx.find_root().obj or {}), **given}
        ctx.find_root().obj = ctx.obj
        return
    settings = load_settings(ctx, **given)
    # On a pipe, stdout belongs to the protocol; logging writes to stderr.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if not over_http:
        if port is not None:
            raise click.UsageError("A port is for --http.")
        from fateforger.bootstrap.agents import serve_stdio  # noqa: PLC0415  heavy

        asyncio.run(serve_stdio(settings))
        return
    from fateforger.bootstrap import agents  # noqa: PLC0415  heavy

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on its loop
                loop.add_signal_handler(name, stop.set)
        async with agents.serve_http(settings, host, settings.mcp_port if port is None else port) as url:
            click.echo(f"Ready for agents: {url}")
            await stop.wait()

    asyncio.run(run())


command.add_command(client_command)
command.add_command(audit_command)
