"""The law on statements refuses what it should: otherwise the contracts prove nothing by keeping it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text
from tests.contracts.bounds import find_growing

from fateforger.adapters.store.store import open_store


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = open_store(":memory:").database.engine
    yield engine
    engine.dispose()


def plan(engine: Engine, statement: str) -> list[str]:
    with engine.begin() as connection:
        return [row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"))]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM planning_session",
        "SELECT * FROM planning_session WHERE tz = 'UTC'",
        "SELECT * FROM planning_session ORDER BY session LIMIT 1",
        "DELETE FROM feedback WHERE turn = 'x'",
        "SELECT count(*) FROM sync_tx",
    ],
)
def test_a_statement_that_reads_everything_is_refused(engine: Engine, statement: str) -> None:
    """S356"""
    assert find_growing(statement, plan(engine, statement))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM planning_session WHERE id = 's1'",
        "SELECT * FROM planning_session ORDER BY touched_at DESC, id DESC LIMIT 10",
        "SELECT * FROM outbox WHERE state = 'queued' ORDER BY seq",
        "SELECT * FROM agent_client",
    ],
)
def test_a_statement_with_a_bound_is_not(engine: Engine, statement: str) -> None:
    assert find_growing(statement, plan(engine, statement)) == []
