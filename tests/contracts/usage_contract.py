"""The contract of stores of usage."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

from fateforger.ports.model import Role, Spent, Usage

DAY = date(2026, 3, 2)
ASKED = Spent(DAY, Role.DECIDE, "small-1", calls=1, prompt_tokens=900, completion_tokens=12, cost=0.000_123_4)


class UsageContract:
    """``usage`` and ``other`` are two connections to the same sums."""

    async def test_nothing_is_known_at_first(self, usage: Usage) -> None:
        assert await usage.since(DAY) == ()

    async def test_sums_are_exact(self, usage: Usage) -> None:
        for _ in range(10):
            await usage.add(ASKED)
        assert await usage.since(DAY) == (
            replace(ASKED, calls=10, prompt_tokens=9_000, completion_tokens=120, cost=0.001_234),
        )

    async def test_days_roles_and_models_are_apart(self, usage: Usage) -> None:
        """S221: and nothing else is: there is no way to ask by whom or about what."""
        other_role = replace(ASKED, role=Role.PATCH)
        other_model = replace(ASKED, model="big-1", unpriced=1, cost=0.0)
        next_day = replace(ASKED, day=DAY + timedelta(days=1), calls=0, failed=1, model="", uncounted=0)
        for spent in (next_day, other_role, ASKED, other_model):
            await usage.add(spent)
        assert await usage.since(DAY) == (other_model, ASKED, other_role, next_day)
        assert await usage.since(DAY + timedelta(days=1)) == (next_day,)

    async def test_two_may_add_at_once(self, usage: Usage, other: Usage) -> None:
        await asyncio.gather(*(each.add(ASKED) for _ in range(5) for each in (usage, other)))
        assert [spent.calls for spent in await other.since(DAY)] == [10]
