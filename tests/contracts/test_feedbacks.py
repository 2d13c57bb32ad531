"""The contract of stores of feedback, checked on the SQL one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores

from fateforger.session.store import Feedbacks, Rating

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)
FIRST = Rating(session_id="s1", turn="t1", user_id="U1", helpful=True, prompts=("decide/1", "patch/2"), at=AT)


class TestSqlFeedbacks:
    @pytest.fixture(params=KINDS)
    async def both(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Feedbacks, Feedbacks]]:
        async with two_stores(request, tmp_path) as (first, second):
            yield first.feedbacks, second.feedbacks

    async def test_every_rating_oldest_first(self, both: tuple[Feedbacks, Feedbacks]) -> None:
        feedbacks, other = both
        assert await other.all() == ()
        later = FIRST.model_copy(update={"turn": "t0", "at": AT + timedelta(minutes=1), "prompts": ()})
        await feedbacks.rate(later)
        await feedbacks.rate(FIRST)
        assert await other.all() == (FIRST, later)

    async def test_the_last_word_counts(self, both: tuple[Feedbacks, Feedbacks]) -> None:
        feedbacks, other = both
        await feedbacks.rate(FIRST)
        await feedbacks.rate(FIRST)
        changed = FIRST.model_copy(update={"helpful": False, "at": AT + timedelta(seconds=1)})
        await feedbacks.rate(changed)
        assert await other.all() == (changed,)
        await other.rate(FIRST)  # arrives late
        assert await feedbacks.all() == (changed,)
