"""Calls of Slack wait for their turn before Slack has to refuse them; calls that a person waits for go first."""

from __future__ import annotations

import asyncio

from fateforger.slack.limits import WINDOW, MethodLimit, SlackLimits, cosmetic


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def call(limit: MethodLimit, made: list[str], name: str, *, unseen: bool = False) -> None:
    if unseen:
        with cosmetic():
            await limit.wait()
    else:
        await limit.wait()
    made.append(name)


async def passing(time: Time, seconds: float, limit: MethodLimit) -> None:
    """Let time pass; the limit looks again, as its timer would make it."""
    time.now += seconds
    limit._grant()
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_as_many_calls_as_slack_allows_and_the_next_a_window_later() -> None:
    """S319"""
    time, made = Time(), list[str]()
    limit = MethodLimit(4, timer=time)
    tasks = [asyncio.create_task(call(limit, made, f"c{n}")) for n in range(6)]
    await passing(time, 0, limit)
    assert made == ["c0", "c1", "c2", "c3"]
    assert (limit.is_free, limit.pause) == (False, WINDOW)
    await passing(time, WINDOW - 1, limit)
    assert len(made) == 4
    await passing(time, 1, limit)
    assert made[4:] == ["c4", "c5"]
    await asyncio.gather(*tasks)


async def test_what_nobody_waits_for_takes_half_and_goes_last() -> None:
    """S319: however many old cards lose their buttons, the new ones come first."""
    time, made = Time(), list[str]()
    limit = MethodLimit(4, timer=time)
    tasks = [asyncio.create_task(call(limit, made, f"old{n}", unseen=True)) for n in range(4)]
    await passing(time, 0, limit)
    assert made == ["old0", "old1"]
    with cosmetic():
        assert not limit.is_free
    assert limit.is_free
    tasks += [asyncio.create_task(call(limit, made, f"card{n}")) for n in range(3)]
    await passing(time, 0, limit)
    assert made[2:] == ["card0", "card1"]
    await passing(time, WINDOW, limit)
    assert made[4:] == ["card2", "old2"]
    await passing(time, WINDOW, limit)
    assert made[6:] == ["old3"]
    await asyncio.gather(*tasks)


async def test_what_slack_asks_for_is_kept_by_all_calls_of_the_method() -> None:
    time, made = Time(), list[str]()
    limit = MethodLimit(4, timer=time)
    limit.park(30)
    task = asyncio.create_task(call(limit, made, "c"))
    await passing(time, 29, limit)
    assert made == []
    await passing(time, 1, limit)
    assert made == ["c"]
    await task


async def test_a_call_that_is_given_up_takes_no_turn() -> None:
    time, made = Time(), list[str]()
    limit = MethodLimit(1, timer=time)
    await limit.wait()
    given_up, kept = (asyncio.create_task(call(limit, made, name)) for name in ("given up", "kept"))
    await passing(time, 0, limit)
    given_up.cancel()
    await passing(time, WINDOW, limit)
    assert made == ["kept"]
    await kept


def test_programs_that_use_the_same_app_divide_its_limits() -> None:
    """S352: together the programs stay within Slack's limit, for any caller; a new method is divided, too."""
    limits = SlackLimits()
    before = limits.of("chat.update")
    limits.divide(2)
    assert [limits.of(method)._calls for method in ("chat.update", "users.info")] == [25, 50]
    limits.divide(1)
    assert (before._calls, limits.of("users.info")._calls) == (50, 100)
