"""``fateforger calendars``: the calendar that each person connected."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.options import CommandCall, Group, Opened, add_store_options, check_person_option
from fateforger.errors import BadInput
from fateforger.text import format_count

if TYPE_CHECKING:
    from fateforger.calendar.connections import Connection, Connections

_whose = click.option(
    "--user", "user_id", metavar="ID", required=True, callback=check_person_option, help="Whose calendar."
)


@click.group("calendars", cls=Group)
def calendars_command() -> None:
    """The calendar that each person connected. Others keep the configured one, which is its owner's."""


@calendars_command.command("connect")
@_whose
@click.option("--address", metavar="URL", required=True, help="A CalDAV calendar or account.")
@click.option("--account", metavar="NAME", required=True, help="User name there.")
@click.option("--calendar", default="", metavar="NAME", help="The calendar to write to, if there are several.")
@click.option("--read", "reads", multiple=True, metavar="NAME", help="Another one to plan around; may be repeated.")
@add_store_options
def connect_command(
    call: CommandCall,
    user_id: str,
    address: str,
    account: str,
    calendar: str,
    reads: tuple[str, ...],
) -> None:
    """Try a CalDAV calendar, and keep it as a person's own. The password is read from the terminal, or from stdin."""
    password = click.prompt("Password", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not password:
        raise BadInput("There is no password: type it, or send it as a line on stdin.", where="password")

    async def connect(opened: Opened) -> Connection:
        from fateforger.app.caldav_login import open_servers  # noqa: PLC0415  heavy
        from fateforger.calendar.connections import Connection, Provider  # noqa: PLC0415  heavy

        wanted = Connection(
            user_id=user_id,
            provider=Provider.CALDAV,
            account=account,
            calendar_id=calendar,
            connected_at=opened.now,
            address=address,
            reads=reads,
            secret=password,
        )
        found = await open_servers(opened.settings).connect(wanted)
        await _open_connections(opened).keep(found)
        return found

    _show(call, call.run(connect))


@calendars_command.command("show")
@_whose
@add_store_options
def show_command(call: CommandCall, user_id: str) -> None:
    """Show which calendar a person connected."""
    _show(call, call.run(lambda opened: _open_connections(opened).of(user_id)))


@calendars_command.command("disconnect")
@_whose
@add_store_options
def disconnect_command(call: CommandCall, user_id: str) -> None:
    """Forget a person's login, and end the access at Google. Events and the history of what was written stay."""

    async def disconnect(opened: Opened) -> tuple[Connection | None, str]:
        from fateforger.app.calendars import build_access  # noqa: PLC0415  heavy
        from fateforger.app.resources import build_clock  # noqa: PLC0415  heavy

        access = build_access(opened.settings, opened.store, build_clock(opened.settings))
        found = await access.connections.of(user_id)
        if found is None or found.has_ended:
            raise BadInput(f"{user_id} has connected no calendar.", where="user")
        words = await access.disconnect(user_id)
        return await access.connections.of(user_id), words

    gone, words = call.run(disconnect)
    _show(call, gone, words)


@calendars_command.command("reencrypt")
@add_store_options
def reencrypt_command(call: CommandCall) -> None:
    """Encrypt all logins with the newest key, so that older keys can be taken away. ``up`` does it, too."""
    count = call.run(lambda opened: _open_connections(opened).renew_encryption())
    words = f"{format_count(count, 'login')} encrypted with the newest key. The others were already."
    call.print_result({"reencrypted": count}, [words])


def _open_connections(opened: Opened) -> Connections:
    from fateforger.adapters.store.connections import SqlConnections  # noqa: PLC0415  heavy
    from fateforger.app.resources import open_vault  # noqa: PLC0415  heavy

    return SqlConnections(opened.store.database, open_vault(opened.settings))


def _show(call: CommandCall, connection: Connection | None, words: str = "") -> None:
    if connection is None:
        call.print_result({"connection": None}, ["No calendar is connected."])
        return
    document: dict[str, Any] = {
        "user": connection.user_id,
        "provider": connection.provider.value,
        "address": connection.address,
        "account": connection.account,
        "calendar": connection.calendar_id,
        "reads": list(connection.reads),
        "connected": connection.is_open,
        "problem": connection.problem,
    }
    state = "connected" if connection.is_open else connection.problem or "disconnected"
    lines = [
        f"{connection.user_id}: {connection.account} at {connection.address}, {state}.",
        f"Written to: {connection.name_of(connection.calendar_id)}.",
        *([f"Also read: {', '.join(map(connection.name_of, connection.reads))}."] if connection.reads else []),
    ]
    said = {"message": words} if words else {}
    call.print_result({"connection": document, **said}, [*lines, *said.values()])
