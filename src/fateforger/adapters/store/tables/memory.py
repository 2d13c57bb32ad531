"""People's constraints."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index, Text, UniqueConstraint
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Counter, Instant


class ConstraintVersion(Base, table=True):
    """A version of a person's constraint; rows are only added, and deleted when the person is erased.

    ``written_at`` (system time), event, session and person override the text. The columns between them (name, status,
    scope, valid days) repeat the text for queries by hand.
    """

    __tablename__ = "constraint_version"
    __table_args__ = (
        Index("ix_constraint_version_person", "user_id", "seq"),
        Index("ix_constraint_version_uid", "user_id", "uid", "seq"),
        UniqueConstraint("user_id", "cause", "place"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    created_at: datetime = Field(sa_type=Instant)
    written_at: datetime = Field(sa_type=Instant)
    action: str = Field(sa_type=Text)
    reason: str | None = Field(default=None, sa_type=Text)
    session_id: str | None = Field(default=None, sa_type=Text)
    name: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    scope: str = Field(sa_type=Text)
    valid_from: date | None = None
    valid_until: date | None = None
    schema_version: int
    record: str = Field(sa_type=Text)


class ConstraintUnindexed(Base, table=True):
    """A constraint that the index does not show yet. It may be listed several times; ``place`` is the order."""

    __tablename__ = "constraint_unindexed"
    __table_args__ = (Index("ix_constraint_unindexed", "user_id", "uid", "place"), {"sqlite_autoincrement": True})

    place: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)
