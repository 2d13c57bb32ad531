"""Rows of earlier versions, after the migrations that change them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, column, insert, table, text
from tests.contracts.journal_examples import DAY, create, head, make_applied, transaction
from tests.contracts.session_examples import NOON, session
from tests.factories.sessions import GROUPS
from tests.postgres import PostgresServer

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.database import VERSION_TABLE, make_engine, parse_database_url
from fateforger.adapters.store.sessions import SESSION
from fateforger.adapters.store.store import open_store
from fateforger.session.model import ReturnedWork, Session, SessionStatus, WriteCounts
from fateforger.session.store import HeadFilter, SessionHead

NEW = {"tz", "status", "stage", "written", "judged"}


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "state.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.bare_database() as url:
        yield url


def build_sessions() -> dict[str, Session]:
    """Return one session in each state that a round asks for."""
    written = session("written").with_sync(written=WriteCounts(created=1))
    returned = session("returned").with_sync(written=WriteCounts()).with_open_work(returned=ReturnedWork())
    return {
        "no": session("no", tz="Asia/Tokyo"),
        "yes": written,
        "returned": returned,
        "ended": session("ended", status=SessionStatus.CANCELLED),
    }


def store_as_before(where: str, documents: dict[str, dict[str, Any]]) -> None:
    engine = make_engine(parse_database_url(where))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "fateforger.adapters.store:migrations")
        command.upgrade(config, "0018")
        old = table(SESSION.name, *(column(each.name, each.type) for each in SESSION.columns if each.name not in NEW))
        for name, document in documents.items():
            values = {"id": name, "version": 1, "user_id": "U1", "channel": "D1", "thread_ts": None, "touched_at": NOON}
            values |= {"schema_version": 3, "session": json.dumps(document), "day": session().date}
            connection.execute(insert(old).values(values))
    engine.dispose()


@pytest.mark.parametrize("grouped", [True, False], ids=["in groups", "side by side"])
async def test_what_is_stored_is_found_by_the_rounds(where: str, grouped: bool) -> None:  # noqa: FBT001  a parameter
    """S356"""
    sessions = build_sessions()
    documents = {each.id: each.model_dump(mode="json") for each in sessions.values()}
    if not grouped:
        for document in documents.values():
            for group in GROUPS:
                document.update(document.pop(group))
            document["schema_version"] = 1
    store_as_before(where, documents)
    store = open_store(where)
    found: dict[str, SessionHead] = {
        head.id: head for head in await store.sessions.list_heads(HeadFilter(since=NOON - timedelta(days=1)))
    }
    assert {name: head.written for name, head in found.items()} == {
        "no": "no", "written": "yes", "returned": "returned", "ended": "no",
    }  # fmt: skip
    for each in sessions.values():
        head = found[each.id]
        assert (head.tz, head.status, head.stage, head.date) == (each.tz, each.status, each.stage, each.date)
    assert len(await store.sessions.list_heads(HeadFilter(since=NOON, unjudged=True))) == 3
    await store.aclose()


PLACE = "caldav:https://dav.example.org#home"


async def write(where: str, tx: str, person: str, *numbers: int) -> None:
    """Write blocks of a person to the calendar, by the present program."""
    store = open_store(where)
    ops = [create(n, tx=tx) for n in numbers]
    await store.journal.begin(transaction(tx, ops, calendar=PLACE, context={"session": f"s-{person}"}))
    for op, n in zip(ops, numbers, strict=True):
        await store.journal.settle(tx, make_applied(op), head=head(n))
    await store.aclose()


def make_older(connection: Connection) -> None:
    """Take back the newest migration, and connect two people as the version before did."""
    insert = (
        "INSERT INTO calendar_connection (user_id, provider, account, address, calendar_id, reads, secret, problem,"
        " connected_at) VALUES (:user_id, 'caldav', :user_id, :address, 'home', '', '', '', :at)"
    )
    connection.execute(text("DROP INDEX ix_calendar_connection_calendar"))
    connection.execute(text("ALTER TABLE calendar_connection DROP COLUMN calendar"))
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0024'"))
    for at, (person, address) in enumerate(
        {"anna": "https://dav.example.org/", "ben": "https://dav.example.org"}.items()
    ):
        connection.execute(text(insert), {"user_id": person, "address": address, "at": at})
        session: dict[str, Any] = {"id": f"s-{person}", "user_id": person, "day": str(DAY), "at": at}
        columns = "id, version, user_id, channel, touched_at, schema_version, session, day"
        values = ":id, 1, :user_id, 'D1', :at, 3, '{}', :day"
        connection.execute(text(f"INSERT INTO planning_session ({columns}) VALUES ({values})"), session)


async def test_what_each_wrote_moves_to_a_record_of_their_own(where: str) -> None:
    """S509: people who were connected to one calendar get a record each."""
    await write(where, "t1", "anna", 1, 2)
    await write(where, "t2", "ben", 3)
    engine = make_engine(parse_database_url(where))
    with engine.begin() as connection:
        make_older(connection)
    engine.dispose()
    store = open_store(where)
    connections = SqlConnections(store.database, Vault(new_key()))
    keys = {}
    for person in ("anna", "ben"):
        found = await connections.of(person)
        assert found is not None
        keys[person] = found.key
    assert keys == {"anna": PLACE, "ben": f"{PLACE}@ben"}
    for person, tx, numbers in (("anna", "t1", [1, 2]), ("ben", "t2", [3])):
        history = await store.journal.history(keys[person], limit=9)
        assert [each.id for each in history] == [tx]
        ledger = await store.journal.ledger(keys[person], DAY)
        assert [each.event_id for each in ledger.heads] == [head(n).event_id for n in numbers]
    assert (await store.journal.ledger(keys["ben"], DAY)).generations == {}
    await store.aclose()
