"""People's ratings of model output, in SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import FeedbackRow, table
from fateforger.session.feedback import Rating

FEEDBACK = table(FeedbackRow)

_ALL = select(FEEDBACK).order_by(FEEDBACK.c.at, FEEDBACK.c.session_id, FEEDBACK.c.turn, FEEDBACK.c.user_id)
_KNOWN = select(FEEDBACK.c.turn).where(
    FEEDBACK.c.session_id == bindparam("of_session"),
    FEEDBACK.c.turn == bindparam("of_turn"),
    FEEDBACK.c.user_id == bindparam("of_user"),
)
_CHANGE = (
    update(FEEDBACK)
    .where(
        FEEDBACK.c.session_id == bindparam("of_session"),
        FEEDBACK.c.turn == bindparam("of_turn"),
        FEEDBACK.c.user_id == bindparam("of_user"),
        FEEDBACK.c.at <= bindparam("now"),
    )
    .values(helpful=bindparam("good"), at=bindparam("now"))
)


class SqlFeedbacks:
    """Implements :class:`fateforger.ports.Feedbacks` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rate(self, rating: Rating) -> None:
        await self._database.write(lambda connection: _rate(connection, rating))

    async def all(self) -> tuple[Rating, ...]:
        return await self._database.read(lambda connection: tuple(map(_to_rating, connection.execute(_ALL).mappings())))


def _rate(connection: Connection, rating: Rating) -> None:
    key = {"of_session": rating.session_id, "of_turn": rating.turn, "of_user": rating.user_id}
    if connection.execute(_KNOWN, key).first() is not None:
        connection.execute(_CHANGE, {**key, "good": rating.helpful, "now": rating.at})
        return
    values: Mapping[str, Any] = {**rating.model_dump(), "prompts": json.dumps(rating.prompts)}
    connection.execute(insert(FEEDBACK), values)


def _to_rating(row: RowMapping) -> Rating:
    return Rating.model_validate({**row, "prompts": json.loads(row["prompts"])})
