"""Follow-ups of a message in its thread, on every database, received or posted by any program."""

from __future__ import annotations

from fateforger.adapters.store.store import Store
from fateforger.adapters.store.talks import KEPT_FOR


async def test_what_follows_a_message_is_counted_by_time_not_by_arrival(stores: tuple[Store, Store]) -> None:
    """Each message once, as events arrive more than once; and only where none can have been missed."""
    one, other = (store.messages for store in stores)
    for n, ts in enumerate(("9.000100", "10.000100", "10.000050", "10.000050")):
        await (one, other)[n % 2].observe("C1", "1.0", ts)
    await one.observe("C2", "1.0", "11.0")
    assert await one.count_after("C1", "1.0", "9.000100") is None
    await one.observe("C1", "1.0", "1.0", "9.000100", "9.5")
    counts = [await other.count_after("C1", "1.0", ts) for ts in ("9.000100", "10.000050", "10.000100", "9.9")]
    assert counts == [3, 1, 0, 2]


async def test_a_message_that_was_deleted_no_longer_follows(stores: tuple[Store, Store]) -> None:
    one, other = (store.messages for store in stores)
    await one.observe("C1", "1.0", "1.0", "2.0", "3.0")
    await other.forget("C1", "1.0", "3.0")
    assert await one.count_after("C1", "1.0", "1.0") == 1


async def test_threads_that_nobody_uses_any_more_are_forgotten(stores: tuple[Store, Store]) -> None:
    messages, later = stores[0].messages, str(2 + KEPT_FOR // 10**6)
    await messages.observe("C1", "1.0", "1.0")
    await messages.observe("C2", "1.0", "1.0")
    await messages.observe("C1", later, later)
    counts = [await messages.count_after(channel, "1.0", "1.0") for channel in ("C1", "C2")]
    assert counts == [None, 0]
