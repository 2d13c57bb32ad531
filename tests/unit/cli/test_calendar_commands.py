"""``fateforger calendars``: what is kept of people's connections."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.factories.inside import run_inside

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import open_store
from fateforger.calendar.connections import Connection, Provider

OLD, NEW = new_key(), new_key()
ANNA = Connection("U1", Provider.CALDAV, "anna", "work", datetime(2026, 3, 2, tzinfo=UTC), secret="secret-word")


async def keep(data: Path, keys: str, *connections: Connection) -> Connection | None:
    """Keep connections, and return what is kept of Anna's."""
    store = open_store(data / "fateforger.db")
    try:
        kept = SqlConnections(store.database, Vault(keys))
        for each in connections:
            await kept.keep(each)
        return await kept.of("U1")
    finally:
        await store.aclose()


def test_logins_follow_the_newest_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S308: afterwards the old key is not needed any more."""
    asyncio.run(keep(tmp_path, OLD, ANNA))
    monkeypatch.setenv("FATEFORGER_SECRET_KEYS", f"{NEW},{OLD}")
    status, out, _ = run_inside("calendars", "reencrypt", "--data-dir", str(tmp_path))
    assert (status, out) == (0, "1 login encrypted with the newest key. The others were already.\n")
    assert asyncio.run(keep(tmp_path, NEW)) == ANNA


def test_disconnecting_says_what_is_left_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S325"""
    asyncio.run(keep(tmp_path, OLD, ANNA))
    monkeypatch.setenv("FATEFORGER_SECRET_KEYS", OLD)
    status, out, _ = run_inside("calendars", "disconnect", "--user", "U1", "--data-dir", str(tmp_path))
    assert (status, "delete it at your calendar server" in out, "secret-word" in out) == (0, True, False)
    gone = asyncio.run(keep(tmp_path, OLD))
    assert gone is not None
    assert gone.has_ended
