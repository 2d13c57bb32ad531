"""``fateforger mcp``: an MCP server for other agents, their access, and the list of their calls."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import echo, write_json
from fateforger.cli.options import (
    CommandCall,
    Group,
    Opened,
    add_place_options,
    add_store_options,
    check_person_option,
    echo_doubt,
    load_settings,
    note_action,
    note_command,
)
from fateforger.cli.program import end_on_signals, stop_on_signals
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.agents.clients import Client


@click.group("client", cls=Group)
def client_command() -> None:
    """Agents that may ask, each with a token of its own."""


@client_command.command("add")
@click.argument("name")
@click.option(
    "--user",
    "user_id",
    metavar="ID",
    required=True,
    callback=check_person_option,
    help="The person it works for (their Slack id).",
)
@click.option("--scopes", metavar="LIST", required=True, help="What it may do, with commas between.")
@click.option("--expires", metavar="INSTANT", help="Until when (RFC 3339, or a day); left out, until it is revoked.")
@add_store_options
def add_command(call: CommandCall, name: str, user_id: str, scopes: str, expires: str | None) -> None:
    """Let the agent NAME work for a person, and print its token. It is shown once, here: only a hash of it is kept.

    Scopes: tasks:read, tasks:write, plan:read, plan:propose, constraints:read, constraints:propose. Whatever an agent
    proposes has to be approved by the person in Slack.
    """
    from fateforger.agents.clients import read_scopes  # noqa: PLC0415  the help text needs none of it
    from fateforger.app.agents import register_client  # noqa: PLC0415  heavy

    settings = call.load_settings()
    until = None if expires is None else _parse_instant(expires)
    allowed = read_scopes(scopes)

    async def add() -> tuple[Client, str]:
        doubt = await note_command(call.ctx, settings)
        added = await register_client(settings, name, user_id, allowed, until)
        echo_doubt(doubt)
        return added

    client, token = asyncio.run(add())
    if call.as_json:
        write_json({"client": _to_document(client), "token": token})
        return
    echo(f"{client.name} may work for {client.user_id}: {', '.join(client.scopes)}.", err=True)
    echo("Its token, which is shown only now:", err=True)
    echo(token)


@client_command.command("list")
@add_store_options
def list_command(call: CommandCall) -> None:
    """List all agents, and whether each still has access."""

    async def read(opened: Opened) -> tuple[tuple[Client, ...], datetime]:
        return await opened.store.clients.all(), opened.now

    clients, now = call.run(read)
    lines = [
        f"{client.name}  for {client.user_id}, {_describe_access(client, now)}: {', '.join(client.scopes)}"
        for client in clients
    ] or ["No agent has access yet: fateforger mcp client add NAME --user ID --scopes LIST."]
    call.print_result({"clients": [_to_document(client) for client in clients]}, lines)


@client_command.command("revoke")
@click.argument("name")
@add_store_options
def revoke_command(call: CommandCall, name: str) -> None:
    """End the access of the agent NAME, at once and for good. Its open proposals can no longer be applied."""

    async def revoke(opened: Opened) -> Client | None:
        await note_action(
            call.ctx, opened, [each.user_id for each in await opened.store.clients.all() if each.name == name]
        )
        return await opened.store.clients.revoke(name, now=opened.now)

    client = call.run(revoke)
    if client is None:
        raise BadInput(f"There is no agent called {name}; mcp client list shows those that are there.", where="name")
    call.print_result({"client": _to_document(client)}, [f"{client.name} no longer has access."])


@click.command("log")
@click.option("--client", "name", metavar="NAME", help="Only what this agent asked.")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only what was asked for this person."
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many calls.")
@add_store_options
def log_command(call: CommandCall, name: str | None, user_id: str | None, limit: int) -> None:
    """List what agents asked for and what came of it, the newest first. The list repeats no words."""
    from fateforger.ui.logs import describe_call  # noqa: PLC0415  the help text needs none of it

    calls = call.run(lambda opened: opened.store.calls.latest(limit=limit, client=name, user_id=user_id))
    lines = [
        f"{describe_call(each, 'UTC')}\n"
        f"       {each.tool} for {each.user_id}: {', '.join(filter(None, (each.asked, each.about)))}"
        for each in calls
    ] or ["No agent has asked for anything yet."]
    call.print_result({"calls": [each.model_dump(mode="json") for each in calls]}, lines)


def _parse_instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"“{text[:40]}” is not an instant; write it like 2026-12-31T18:00Z.", where="expires") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _describe_access(client: Client, now: datetime) -> str:
    if client.revoked_at is not None:
        return f"revoked on {client.revoked_at:%Y-%m-%d}"
    if client.expires_at is None:
        return "active"
    return f"{'expired' if client.expires_at <= now else 'active until'} {client.expires_at:%Y-%m-%d %H:%M}Z"


def _to_document(client: Client) -> dict[str, Any]:
    return client.model_dump(mode="json", exclude={"key"})


@click.group("mcp", cls=Group, invoke_without_command=True)
@add_place_options
@click.option("--http", "over_http", is_flag=True, help="Over HTTP instead of a pipe; each request brings its token.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address it listens on.")
@click.option("--port", type=int, help="With --http: its port; 0 picks a free one.")
@click.pass_context
def mcp_command(
    ctx: click.Context, now: str | None, data_dir: str | None, over_http: bool, host: str, port: int | None
) -> None:
    """Serve other agents over the Model Context Protocol: on stdin and stdout with the token in
    FATEFORGER_MCP_TOKEN, or with --http at an address. It runs next to the main program, on the same data.
    """
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
        from fateforger.app.agents import serve_stdio  # noqa: PLC0415  heavy

        asyncio.run(serve_stdio(settings))
        return
    from fateforger.app import agents  # noqa: PLC0415  heavy

    async def run() -> None:
        end_on_signals()
        async with agents.serve_http(settings, host, settings.mcp_port if port is None else port) as url:
            stop = stop_on_signals()
            echo(f"Ready for agents: {url}")
            await stop.wait()

    asyncio.run(run())


mcp_command.add_command(client_command)
mcp_command.add_command(log_command)
