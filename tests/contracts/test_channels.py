"""The store of push channels: any program takes a notice, and only one with the secret."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fateforger.adapters.store.connections import CHANNEL
from fateforger.adapters.store.store import Store
from fateforger.calendar.channels import Channel, extend

NOW = datetime(2026, 3, 2, 11, tzinfo=UTC)
ANNAS = Channel("c1", "anna", "work", NOW + timedelta(days=1))


async def test_any_program_takes_a_notice(stores: tuple[Store, Store]) -> None:
    """S331"""
    one, other = (store.channels for store in stores)
    await one.add(ANNAS, "secret", now=NOW)
    assert await other.find("anna", "work") is None, "the provider has not opened it yet"
    assert await other.count_notice("c1", "secret") == "anna", "but a notice may come first"
    await one.keep(extend(ANNAS, "r1", ANNAS.expires_at))
    assert await other.count_notice("c1", "secret") == "anna"
    found = await one.find("anna", "work")
    assert found is not None
    assert (found.remote_id, found.notices) == ("r1", 2)
    assert await one.find("anna", "home") is None
    assert await one.find("ben", "work") is None


@pytest.mark.parametrize(("channel", "secret"), [("c1", "guess"), ("c1", ""), ("c2", "secret"), ("", "")])
async def test_a_notice_without_the_secret_counts_for_nothing(
    stores: tuple[Store, Store], channel: str, secret: str
) -> None:
    await stores[0].channels.add(ANNAS, "secret", now=NOW)
    assert await stores[1].channels.count_notice(channel, secret) is None
    (kept,) = await stores[0].channels.of("anna")
    assert kept.notices == 0


async def test_a_removed_or_expired_channel_is_unknown_and_no_secret_is_kept(stores: tuple[Store, Store]) -> None:
    channels = stores[0].channels
    await channels.add(ANNAS, "secret", now=NOW)
    rows = await stores[0].database.read(lambda connection: connection.execute(CHANNEL.select()).all())
    assert "secret" not in str(rows)
    await channels.remove("c1")
    assert await channels.count_notice("c1", "secret") is None
    await channels.add(ANNAS, "secret", now=NOW)
    later = NOW + timedelta(days=2)
    await channels.add(Channel("c2", "ben", "work", later + timedelta(days=1)), "other", now=later)
    assert await channels.of("anna") == ()
