"""The owner of the calendar that plans are written to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Instant


class CalendarOwnerRow(Base, table=True):
    """The owner of the configured calendar, and the code with which a person can claim it; one row at most.

    ``closed_at`` is the time since which the calendar is closed because its owner was erased. ``closed_for`` is a
    salted hash of the person named in the settings at that time. Only a salted hash of the code is stored.
    """

    __tablename__ = "calendar_owner"

    id: str = Field(primary_key=True, sa_type=Text)
    person: str | None = Field(default=None, sa_type=Text)
    origin: str | None = Field(default=None, sa_type=Text)
    since: datetime | None = Field(default=None, sa_type=Instant)
    closed_at: datetime | None = Field(default=None, sa_type=Instant)
    closed_for: str | None = Field(default=None, sa_type=Text)
    code_hash: str | None = Field(default=None, sa_type=Text)
    code_salt: str | None = Field(default=None, sa_type=Text)
    tries_left: int = 0
