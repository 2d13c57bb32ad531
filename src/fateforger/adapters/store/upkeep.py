"""The view of an administrator on the database: people, their connections, and whether the tables are whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, select, text

from fateforger.adapters.store.connections import CONNECTION
from fateforger.adapters.store.database import Database
from fateforger.adapters.store.sessions import SESSION
from fateforger.adapters.store.tables import iter_keys
from fateforger.adapters.store.vault import SecretUnreadable, Vault

LinkState = Literal["connected", "broken", "disconnected"]


@dataclass(frozen=True, slots=True)
class Link:
    """The calendar that a person connected. ``problem`` is a sentence of the program about why it is broken."""

    user_id: str
    provider: str
    state: LinkState
    problem: str
    due: str
    connected_at: datetime


@dataclass(frozen=True, slots=True)
class Planner:
    """A person who plans: the number of days, the first and the last of them, and when they last did something."""

    user_id: str
    days: int
    first_day: date | None
    last_day: date | None
    active_at: datetime | None
    link: Link | None


async def list_planners(database: Database, *, after: str = "", limit: int) -> tuple[Planner, ...]:
    """Return people by id, those that follow ``after``: all who have planned or connected a calendar."""
    return await database.read(lambda connection: _list_planners(connection, after, limit))


def _list_planners(connection: Connection, after: str, limit: int) -> tuple[Planner, ...]:
    people: set[str] = set()
    for column in (SESSION.c.user_id, CONNECTION.c.user_id):
        people |= set(connection.scalars(select(column).where(column > after).distinct().order_by(column).limit(limit)))
    chosen = sorted(people)[:limit]
    counted = (
        select(
            SESSION.c.user_id,
            func.count().label("days"),
            func.min(SESSION.c.day).label("first_day"),
            func.max(SESSION.c.day).label("last_day"),
            func.max(SESSION.c.touched_at, type_=SESSION.c.touched_at.type).label("active_at"),
        )
        .where(SESSION.c.user_id.in_(chosen))
        .group_by(SESSION.c.user_id)
    )
    plans = {row.user_id: row for row in connection.execute(counted)}
    links = {link.user_id: link for link in _find_links(connection, chosen)}
    return tuple(_to_planner(person, plans.get(person), links.get(person)) for person in chosen)


def _to_planner(user_id: str, plans: Row[Any] | None, link: Link | None) -> Planner:
    if plans is None:
        return Planner(user_id, 0, None, None, None, link)
    return Planner(user_id, plans.days, plans.first_day, plans.last_day, plans.active_at, link)


async def list_links(database: Database, *, after: str = "", limit: int) -> tuple[Link, ...]:
    """Return the connections of people by id, those that follow ``after``."""
    ids = select(CONNECTION.c.user_id).where(CONNECTION.c.user_id > after).order_by(CONNECTION.c.user_id).limit(limit)
    return await database.read(lambda connection: _find_links(connection, connection.scalars(ids).all()))


def _find_links(connection: Connection, people: Sequence[str]) -> tuple[Link, ...]:
    query = select(CONNECTION).where(CONNECTION.c.user_id.in_(people)).order_by(CONNECTION.c.user_id)
    return tuple(
        Link(row.user_id, row.provider, _find_state(row), row.problem, row.due, row.connected_at)
        for row in connection.execute(query)
    )


def _find_state(row: Row[Any]) -> LinkState:
    if row.problem:
        return "broken"
    return "connected" if row.secret or row.delegated else "disconnected"


async def count_logins(database: Database) -> int:
    """Return how many people's logins are kept, encrypted."""
    query = select(func.count()).where(CONNECTION.c.secret != "")
    return await database.read(lambda connection: connection.execute(query).scalar_one())


async def find_unreadable_logins(database: Database, vault: Vault) -> tuple[str, ...]:
    """Return the people whose login none of the keys can decrypt."""

    def work(connection: Connection) -> tuple[str, ...]:
        people = iter_keys(connection, CONNECTION.c.user_id, CONNECTION.c.secret != "")
        secret = select(CONNECTION.c.secret)
        return tuple(
            user_id
            for user_id in people
            if not _is_readable(vault, connection.execute(secret.where(CONNECTION.c.user_id == user_id)).scalar_one())
        )

    return await database.read(work)


def _is_readable(vault: Vault, secret: str) -> bool:
    try:
        vault.decrypt(secret)
    except SecretUnreadable:
        return False
    return True


_MOST_FINDINGS = 20
_INVALID = """
SELECT 'the index ' || c.relname || ' is not valid' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid
UNION ALL SELECT 'the constraint ' || conname || ' was never checked' FROM pg_constraint WHERE NOT convalidated
"""


async def check_tables(database: Database) -> tuple[str, ...]:
    """Return the damage that the database itself finds in the tables.

    SQLite reads the whole file and checks each reference. PostgreSQL checks these at each write, so only what it has
    marked as invalid is reported.
    """
    return await database.read(_check_tables)


def _check_tables(connection: Connection) -> tuple[str, ...]:
    if connection.dialect.name != "sqlite":
        return tuple(connection.scalars(text(_INVALID)))[:_MOST_FINDINGS]
    found = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_FINDINGS})")]
    strays = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST_FINDINGS)
    lost = [f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is missing" for row in strays]
    return (*(each for each in found if each != "ok"), *lost)
