"""Open the store for one ``constraints`` command, with its clock and current day."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.options import as_json, placed, settings_from

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.constraints import Version
    from fateforger.ports import Constraints

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Opened:
    """The constraints, the instant of the command, and the day it is in FATEFORGER_TIME_ZONE, which is ``tz``."""

    constraints: Constraints
    now: datetime
    today: date
    tz: str


def in_store(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command on the store shares."""
    return placed(as_json(click.pass_context(function)))


def checked_person(_: click.Context, __: click.Parameter, user_id: str | None) -> str | None:
    """Validate the id of a person before anything else is done. Raises ``BadInput``."""
    from fateforger.constraints import check_person  # noqa: PLC0415  the help text needs none of it

    return None if user_id is None else check_person(user_id)


def of_person(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the required option ``--user``, for commands about one person."""
    whose = click.option(
        "--user", "user_id", metavar="ID", required=True, callback=checked_person, help="Whose constraints."
    )
    return whose(function)


def with_constraints(
    ctx: click.Context, where: Mapping[str, str | None], work: Callable[[Opened], Awaitable[_R]]
) -> _R:
    """Run ``work`` on the store. ``where`` holds ``now`` and ``data_dir`` from the command line."""
    return asyncio.run(_opened(settings_from(ctx, **where), work))


async def _opened(settings: Settings, work: Callable[[Opened], Awaitable[_R]]) -> _R:
    from fateforger.bootstrap.ground import open_state, ticking_clock  # noqa: PLC0415  heavy
    from fateforger.session.days import local_today  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        now = settings.now or ticking_clock(settings).now()
        return await work(Opened(store.constraints, now, local_today(now, settings.time_zone), settings.time_zone))
    finally:
        await store.aclose()


def line_with_uid(version: Version) -> dict[str, Any]:
    """Return a version for output: the line of an export, preceded by its uid."""
    from fateforger.constraints import write_version  # noqa: PLC0415  the help text needs none of it

    return {"uid": version.uid, **write_version(version)}
