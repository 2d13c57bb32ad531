"""The record that people were erased."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Instant


class Erasure(Base, table=True):
    """An erasure, with the number of rows of each kind. No column says who was erased."""

    __tablename__ = "erasure"

    id: str = Field(primary_key=True, sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    counts: str = Field(sa_type=Text)
