"""A record for each person who plans on a calendar that another person planned on before.

People who were connected to the same calendar had one record. It stays that of the first; what the others wrote
is moved to records of their own, named as :attr:`fateforger.calendar.connections.Connection.key` names them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("calendar_connection", sa.Column("calendar", sa.Text, nullable=False, server_default=""))
    if not context.is_offline_mode():
        _name_calendars()
    op.create_index("ix_calendar_connection_calendar", "calendar_connection", ["calendar"], unique=True)


def _name_calendars() -> None:
    """Give each connection the name of its calendar in the journal."""
    taken: set[str] = set()
    for user_id, provider, account, address, calendar_id in _execute(_CONNECTIONS):
        place = own = f"{provider}:{address.rstrip('/') or account}#{calendar_id}"
        if place in taken:
            own = f"{place}@{user_id}"
            _move_writes(place, own, user_id)
        taken.add(place)
        _execute("UPDATE calendar_connection SET calendar = :own WHERE user_id = :person", own=own, person=user_id)


def _move_writes(place: str, own: str, user_id: str) -> None:
    """Move what a person wrote to a calendar to the record ``own``.

    The ids that they used are forgotten: in either record, they could prove that an event of the other is one's own.
    """
    names = {"own": own, "place": place, "person": user_id}
    for written in [json.loads(row.op) for row in _execute(_OPS, **names)]:
        _execute(_MOVE_BLOCK, **names, event=written["event_id"])
        if written.get("seed"):
            _execute(_FORGET_ID, **names, seed=written["seed"])
    _execute(_MOVE_WRITES, **names)


_CONNECTIONS = """
SELECT user_id, provider, account, address, calendar_id FROM calendar_connection ORDER BY connected_at, user_id
"""
_THEIRS = "calendar = :place AND session_id IN (SELECT id FROM planning_session WHERE user_id = :person)"
_OPS = f"SELECT op FROM sync_op WHERE tx_id IN (SELECT id FROM sync_tx WHERE {_THEIRS})"  # noqa: S608  constants
_MOVE_BLOCK = "UPDATE event_head SET calendar = :own WHERE calendar = :place AND event_id = :event"
_FORGET_ID = "DELETE FROM event_generation WHERE calendar = :place AND seed = :seed"
_MOVE_WRITES = f"UPDATE sync_tx SET calendar = :own WHERE {_THEIRS}"  # noqa: S608  constants


def _execute(statement: str, **values: Any) -> Sequence[Any]:
    used = {name: value for name, value in values.items() if f":{name}" in statement}
    result = op.get_bind().execute(sa.text(statement).bindparams(**used))
    return result.all() if result.returns_rows else ()
