"""Particulars of constraints in SQL: damaged rows, the cache of rows that were read, columns for people to query."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.contracts.stores import Kind, new_database, new_file
from tests.factories.constraints import version_of

from fateforger.adapters.store.store import Store, open_store
from fateforger.errors import ConstraintUnreadable
from fateforger.memory.versions import Version

EARLIER, LATER = "2026-02-01T08:00:00+00:00", "2026-02-02T08:00:00+00:00"


@pytest.fixture(params=["file", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    kind: Kind = request.param
    with new_database(kind, request, tmp_path) as where:
        store = open_store(where)
        yield store
        await store.aclose()


async def change_row(store: Store, what: str, seq: int) -> None:
    """Change a row behind the program's back, and let it forget what it has read."""
    await store.database.write(
        lambda connection: connection.execute(
            text(f"UPDATE constraint_version SET {what} WHERE seq = :seq"), {"seq": seq}
        )
    )


async def again(store: Store) -> Store:
    """Reopen the database in a program that has read nothing yet."""
    url = store.database.engine.url
    await store.aclose()
    return open_store(url.render_as_string(hide_password=False))


async def store_rule(store: Store, uid: str, *, at: str = EARLIER, cause: str | None = None, **fields: Any) -> Version:
    (version,) = await store.constraints.write([version_of(uid, at=at, **fields)], cause=cause or f"{uid}{at}")
    return version


DAMAGES = {
    "no JSON": (
        'record = \'{"name": "x\'',
        "Invalid JSON: EOF while parsing a string at line 1 column 11 at its start",
    ),
    "no record": ("record = '[]'", "Input should be an object at its start"),
    "another value": (
        "record = replace(record, '\"must\"', '\"shall\"')",
        "Input should be 'must', 'should' or 'prefer' at necessity",
    ),
    "another uid": ("record = replace(record, '\"bed\"', '\"gym\"')", "its text is that of another one"),
    "another status": ("action = 'archive'", "its columns do not go together"),
    "an unknown event": ("action = 'merged'", "its columns do not go together"),
}


@pytest.mark.parametrize("name", DAMAGES)
async def test_a_constraint_that_cannot_be_read_is_named_and_the_others_are_there(store: Store, name: str) -> None:
    """S187 (L-03): a damaged row is never left out silently; the readable rows can still be read."""
    change, why = DAMAGES[name]
    gym, bed = await store_rule(store, "gym"), await store_rule(store, "bed", name="In bed by eleven", necessity="must")
    await change_row(store, change, bed.seq)
    store = await again(store)
    with pytest.raises(ConstraintUnreadable) as refused:
        await store.constraints.of("U1")
    assert refused.value.message == (
        f"The constraint “In bed by eleven” (bed) cannot be read from the database: {why}."
        " Say it again or archive it; everything else still counts."
    )
    assert (refused.value.names, refused.value.where) == ({"bed": "In bed by eleven"}, "bed")
    assert await store.constraints.readable("U1") == (gym,)
    assert [task.uid for task in await store.constraints.list_unindexed()] == ["gym"]
    with pytest.raises(ConstraintUnreadable):
        await store.constraints.find_written("U1", f"bed{EARLIER}")
    await store.aclose()


async def test_a_record_of_a_newer_program_is_refused_politely(store: Store) -> None:
    bed = await store_rule(store, "bed")
    await change_row(store, "schema_version = 2", bed.seq)
    store = await again(store)
    with pytest.raises(ConstraintUnreadable) as refused:
        await store.constraints.of("U1")
    assert "was saved by a newer fateforger (format 2, this one knows 1); please upgrade." in refused.value.message
    await store.aclose()


async def test_a_damaged_constraint_does_not_bring_back_what_it_was_before(store: Store) -> None:
    """An older version would apply again, perhaps one that the person has taken back."""
    await store_rule(store, "bed", at=EARLIER)
    newest = await store_rule(store, "bed", at=LATER, event={"action": "archive", "reason": "no"}, status="declined")
    await change_row(store, "record = ''", newest.seq)
    store = await again(store)
    assert await store.constraints.readable("U1") == ()
    with pytest.raises(ConstraintUnreadable):
        await store.constraints.of("U1")
    await store.aclose()


async def test_saying_it_again_mends_it(store: Store) -> None:
    """A damaged version that is older than a readable one decides nothing."""
    old = await store_rule(store, "bed", at=EARLIER)
    await change_row(store, "record = ''", old.seq)
    store = await again(store)
    with pytest.raises(ConstraintUnreadable):
        await store.constraints.of("U1")
    new = await store_rule(store, "bed", at=LATER)
    assert await store.constraints.of("U1") == await store.constraints.readable("U1") == (new,)
    await store.aclose()


async def test_several_damaged_ones_are_counted(store: Store) -> None:
    for uid in ("a", "b", "c"):
        await change_row(store, "record = '{}'", (await store_rule(store, uid)).seq)
    store = await again(store)
    with pytest.raises(ConstraintUnreadable) as refused:
        await store.constraints.of("U1")
    assert refused.value.message == (
        "The constraint “Rule a” (a) cannot be read from the database: Field required at name."
        " 2 more cannot be read either. Say it again or archive it; everything else still counts."
    )
    assert refused.value.names == {"a": "Rule a", "b": "Rule b", "c": "Rule c"}
    await store.aclose()


async def test_damaged_ones_do_not_keep_the_index_waiting(store: Store) -> None:
    """However many of them stand before the others on the list."""
    for n in range(5):
        await change_row(store, "record = ''", (await store_rule(store, f"bad{n}")).seq)
    await store_rule(store, "good")
    await store_rule(store, "better")
    for limit in (1, 2, 3):
        assert [t.uid for t in await store.constraints.list_unindexed(limit=limit)] == ["good", "better"][:limit]


async def test_each_row_is_read_once(store: Store) -> None:
    """S181 (E-01): a second read gives the same values, not equal copies; also after a row was added."""
    await store_rule(store, "a")
    store = await again(store)
    first = await store.constraints.of("U1")
    assert await store.constraints.of("U1") is first
    await store_rule(store, "b")
    second = await store.constraints.of("U1")
    assert (second[0], len(second)) == (first[0], 2)
    assert second[0] is first[0]
    await store.aclose()


async def test_the_days_a_constraint_speaks_of_can_be_queried(tmp_path: Path) -> None:
    """Valid time and system time, event, cause and session as columns, for people with a query of their own."""
    path = new_file(tmp_path)
    store = open_store(path)
    version = version_of("bed", start_date="2026-03-01", end_date="2026-03-31", session="S1", name="a\x00b")
    await store.constraints.write([version], cause="message 7")
    await store.aclose()
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT user_id, uid, cause, action, session_id, name, status, scope, valid_from, valid_until,"
            " datetime(written_at / 1000000, 'unixepoch') FROM constraint_version"
        ).fetchall()
    connection.close()
    assert rows == [
        ("U1", "bed", "message 7", "upsert", "S1", "a\ufffdb", "locked", "profile", "2026-03-01", "2026-03-31",
         "2026-02-01 09:00:00"),
    ]  # fmt: skip
