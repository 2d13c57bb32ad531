"""Rows of earlier versions have their columns, so that every round finds them (S356)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import column, insert, table
from tests.contracts.session_examples import NOON, session
from tests.factories.sessions import GROUPS
from tests.postgres import PostgresServer

from fateforger.adapters.store.database import make_engine, parse_database_url
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
