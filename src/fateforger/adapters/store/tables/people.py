"""What is kept of people who were erased: that it was done."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Instant


class Erasure(Base, table=True):
    """That somebody was erased, and how much of each kind there was. No column says who."""

    __tablename__ = "erasure"

    id: str = Field(primary_key=True, sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    counts: str = Field(sa_type=Text)
