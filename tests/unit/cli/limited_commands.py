"""The command line with another limit of requests, for :mod:`tests.forks`."""

from __future__ import annotations

from collections.abc import Sequence

from tests.command_line import command_line

import fateforger.adapters.calendar.budget
from fateforger.adapters.store.calendars import SqlQuota
from fateforger.calendar.ports import Login, RequestLimit, Reservation, Settlement

SMALL = RequestLimit(50, seconds=3.0)
SHORT = RequestLimit(180, seconds=2.0)
"""Seconds are what a minute is to the program itself."""


def with_a_small_limit(*arguments: str) -> int:
    """Run a command whose login may make :data:`SMALL` requests."""
    fateforger.adapters.calendar.budget.GOOGLE_LIMIT = SMALL
    return command_line(*arguments)


def with_a_busy_login(*arguments: str) -> int:
    """Run a command that finds all requests of its login used, right when it needs the first one."""
    fateforger.adapters.calendar.budget.GOOGLE_LIMIT = SHORT
    reserve = SqlQuota.reserve
    somebody_else = Reservation("somebody else", SHORT.requests)

    async def reserve_behind_somebody_else(
        self: SqlQuota,
        login: Login,
        wanted: Reservation,
        limit: RequestLimit,
        *,
        settled: Sequence[Settlement] = (),
    ) -> float:
        setattr(SqlQuota, "reserve", reserve)  # noqa: B010  from now on as ever
        await self.reserve(login, somebody_else, limit)
        ended = Settlement(somebody_else.id, SHORT.requests, ago=0)
        return await self.reserve(login, wanted, limit, settled=[ended, *settled])

    setattr(SqlQuota, "reserve", reserve_behind_somebody_else)  # noqa: B010  once
    return command_line(*arguments)
