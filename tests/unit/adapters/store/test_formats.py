"""Records from before the extras of events are read and continued, and their events are marked as ours from then on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from pydantic import ValidationError
from tests.contracts.journal_examples import (
    CALENDAR,
    DAY,
    NOON,
    create,
    event_id,
    fields,
    head,
    image,
    later,
    make_applied,
)
from tests.contracts.session_examples import session
from tests.factories.sessions import GROUPS

from fateforger.adapters.store.database import make_engine, parse_database_url
from fateforger.adapters.store.store import Store, open_store
from fateforger.adapters.store.tables import JOURNAL_VERSION, SESSION_VERSION
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import SyncOp, SyncPlan
from fateforger.calendar.transactions import TxState
from fateforger.values import Value

FIELDS = {
    "summary": "Deep work",
    "description": "“Notes” 🙂",
    "start": "2026-03-02T09:00:00Z",
    "end": "2026-03-02T10:00:00Z",
    "color_id": "9",
}
HEAD = {
    "key": "key1",
    "event_id": event_id(1),
    "generation": 0,
    "day": "2026-03-02",
    "base": FIELDS,
    "wanted": None,
    "standing": "held",
    "version": '"1"',
    "restores": [],
}
IMAGE = {
    "id": event_id(3),
    **FIELDS,
    "status": "confirmed",
    "busy": True,
    "organized_by_me": True,
    "series_id": None,
    "event_type": "default",
    "properties": {"ffu": "key3"},
    "version": '"1"',
    "enriched": True,
    "html_link": None,
    "calendar": None,
    "raw": {"id": event_id(3), "reminders": {"useDefault": False, "overrides": [{"minutes": 10}]}},
}
OP: Mapping[str, Any] = {
    "generation": 0,
    "seed": None,
    "changes": {},
    "before": None,
    "after": None,
    "head_before": None,
}
CREATE = {
    **OP,
    "op_id": "t1-1",
    "verb": "create",
    "key": "key1",
    "event_id": event_id(1),
    "seed": "2026-03-02|Deep work|09:00:00|1",
    "summary": "Deep work",
    "after": FIELDS,
    "head_after": HEAD,
    "reason": "",
}
DELETE = {
    **OP,
    "op_id": "t1-3",
    "verb": "delete",
    "key": "key3",
    "event_id": event_id(3),
    "summary": "Deep work",
    "before": IMAGE,
    "head_after": None,
    "reason": "",
}
PLAN = {
    "day": "2026-03-02",
    "tz": "Europe/Berlin",
    "ops": [CREATE, DELETE],
    "merged": [],
    "adopted": [],
    "brakes": [],
    "warnings": ["Lunch is short"],
    "snapshot_fingerprint": "f",
}
SNAPSHOT = {"day": "2026-03-02", "tz": "UTC", "events": [IMAGE], "fetched": {}}
LATER_FIELDS = {"now", "drafted_at", "put_in_past", "weighed", "overrun", "last_words"}


def rows() -> Mapping[str, Mapping[str, Any]]:
    """Return a row of each table, as the program of the seventh migration wrote it."""
    at = int(NOON.timestamp() * 1_000_000)
    whole = session().model_dump(mode="json")
    kept = whole | {name: value for group in GROUPS for name, value in whole.pop(group).items()}
    old = {name: value for name, value in kept.items() if name not in {*LATER_FIELDS, *GROUPS}}
    old |= {"snapshot": SNAPSHOT, "schema_version": 1}
    tx = {"id": "t1", "calendar": CALENDAR, "day": "2026-03-02", "tz": "Europe/Berlin", "kind": "submit"}
    op = {"tx_id": "t1", "attempts": 1, "error": "", "observed": None}
    return {
        "sync_tx": tx
        | {"state": "applying", "created_at": at, "cause": "command-t1", "tx_group": "g1", "schema_version": 1}
        | {"plan": json.dumps(PLAN), "context": "{}"},
        "sync_op": op | {"n": 0, "op_id": "t1-1", "state": "inflight", "op": json.dumps(CREATE)},
        "sync_op ": op | {"n": 1, "op_id": "t1-3", "state": "applied", "op": json.dumps(DELETE)},
        "event_head": {"calendar": CALENDAR, "day": "2026-03-02", "key": "key1", "event_id": event_id(1)}
        | {"schema_version": 1, "head": json.dumps(HEAD)},
        "planning_session": {"id": "s1", "version": 1, "user_id": "U1", "channel": "D1", "touched_at": at}
        | {"schema_version": 1, "session": json.dumps(old)},
    }


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """Return a database of the seventh migration, with an open transaction."""
    path = tmp_path / "state.db"
    engine = make_engine(parse_database_url(path))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "fateforger.adapters.store:migrations")
        command.upgrade(config, "0007")
        for table, values in rows().items():
            names, places = ", ".join(values), ", ".join("?" * len(values))
            connection.exec_driver_sql(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(values.values()))
    engine.dispose()
    return path


async def formats(store: Store, table: str) -> list[int]:
    """Return the formats of the rows of a table."""
    query = f"SELECT schema_version FROM {table}"
    found = await store.database.read(lambda connection: connection.exec_driver_sql(query).scalars().all())
    return [int(one) for one in found]


async def test_a_transaction_of_an_earlier_format_is_read_and_ended(earlier: Path) -> None:
    """K12, S241: its events had no extras, so none were known; a program that knows less refuses it from then on."""
    store = open_store(earlier)
    (found,) = await store.journal.list_unsettled(CALENDAR)
    making, gone = (record.op for record in found.records)
    assert making.head_after is not None
    assert (making.after, making.extras, making.head_after.extras) == (fields(), None, None)
    assert (making.head_after.unrestored, gone.before) == ((), image(3))
    assert (await store.journal.ledger(CALENDAR, DAY)).heads == (head(1),)
    await store.journal.settle("t1", make_applied(create(1)), head=head(1, version='"2"'))
    await store.journal.close("t1", TxState.COMMITTED, later(5))
    ended = await store.journal.get("t1")
    assert ended is not None
    assert ended.state is TxState.COMMITTED
    assert await formats(store, "sync_tx") == await formats(store, "event_head") == [JOURNAL_VERSION]
    await store.aclose()


async def test_a_session_of_an_earlier_format_is_read_and_saved(earlier: Path) -> None:
    """S241: what its calendar left out was not known; a program that knows less refuses it from then on."""
    store = open_store(earlier)
    found = await store.sessions.load("s1")
    assert found is not None
    assert found.day.snapshot is not None
    assert (found.day.snapshot.events, found.day.snapshot.left_out) == ((image(3),), ())
    assert await formats(store, "planning_session") == [1]
    await store.sessions.save(found, expected=1)
    assert await formats(store, "planning_session") == [SESSION_VERSION]
    await store.aclose()


@pytest.mark.parametrize(("kind", "stored"), [(SyncOp, CREATE), (SyncPlan, PLAN), (EventImage, IMAGE)])
def test_only_fields_of_earlier_versions_are_dropped(kind: type[Value], stored: Mapping[str, Any]) -> None:
    """A field that no version had is an error, and is not dropped silently."""
    kind.model_validate(stored)
    with pytest.raises(ValidationError, match="lable"):
        kind.model_validate({**stored, "lable": "x"})
