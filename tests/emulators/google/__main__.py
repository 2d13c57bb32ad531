"""``python -m tests.emulators.google --port 9000``: a Google for development, on this machine only."""

from __future__ import annotations

import argparse
import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import click
from tests.emulators.google.accounts import Client, GoogleAccounts
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.emulators.google", description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--redirect", action="append", default=[], help="an address that people may come back to")
    parser.add_argument("--time-zone", default="Europe/Amsterdam")
    parser.add_argument("--quota", type=int, help="the most requests in a minute")
    parser.add_argument("--testing", action="store_true", help="connections end after seven days")
    given = parser.parse_args()
    client = Client(redirects=(*Client().redirects, *given.redirect))
    accounts = GoogleAccounts(["owner@example.com", "second@example.com"], client=client, testing=given.testing)
    calendars = {"primary": GoogleStore(given.time_zone), "family@example.com": GoogleStore(given.time_zone)}
    _fill(calendars["primary"], given.time_zone)
    try:
        asyncio.run(_serve(GoogleEmulator(calendars, accounts, quota=given.quota), given.port))
    except KeyboardInterrupt:
        click.echo("Stopped.")


async def _serve(google: GoogleEmulator, port: int) -> None:
    client = google.accounts.client
    async with serve_app(google.app(), port=port) as base:
        click.echo(
            f"Google is at {base}\n  consent page   {base}/o/oauth2/v2/auth\n  tokens         {base}/token\n"
            f"  calendar       {base}/calendar/v3\n  client id      {client.id}\n  client secret  {client.secret}\n"
            f"  people         {', '.join(google.accounts.people)}\n  come back to   {', '.join(client.redirects)}\n"
            "Everything is forgotten when it stops (Ctrl-C)."
        )
        await asyncio.Event().wait()


def _fill(store: GoogleStore, time_zone: str) -> None:
    """Add a meeting today and tomorrow."""
    today = datetime.now(ZoneInfo(time_zone)).replace(hour=10, minute=0, second=0, microsecond=0)
    for days in range(2):
        start = today + timedelta(days=days)
        store.user_create("Stand-up", start=start, end=start + timedelta(minutes=15))


if __name__ == "__main__":
    main()
