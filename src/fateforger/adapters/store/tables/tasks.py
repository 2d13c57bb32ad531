"""People's queues of work."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text, UniqueConstraint
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Instant


class TaskRow(Base, table=True):
    """A task of a person's queue.

    The searched columns (person, state, place in the queue, claim) repeat the text; ``cause`` and ``place`` are only
    here.
    """

    __tablename__ = "task"
    __table_args__ = (
        Index("ix_task_queue", "user_id", "state", "priority", "rank"),
        Index("ix_task_state", "state", "executor"),
        UniqueConstraint("user_id", "cause", "place"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    state: str = Field(sa_type=Text)
    priority: int
    rank: int = Field(sa_type=BigInteger)
    executor: str | None = Field(default=None, sa_type=Text)
    leased_until: datetime | None = Field(default=None, sa_type=Instant)
    schema_version: int
    task: str = Field(sa_type=Text)


class TaskBlocker(Base, table=True):
    """A task that waits until another one is done."""

    __tablename__ = "task_blocker"

    task_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
    blocker_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
