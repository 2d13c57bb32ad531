"""Other agents: their access, their calls and their proposals."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Counter, Instant


class AgentClient(Base, table=True):
    """Another agent with access for a person. Only a hash of its token is stored."""

    __tablename__ = "agent_client"

    name: str = Field(primary_key=True, sa_type=Text)
    key: str = Field(unique=True, sa_type=Text)
    token_hash: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    scopes: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)
    revoked_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentCall(Base, table=True):
    """A line of the audit log: written before a call is carried out, completed with its outcome."""

    __tablename__ = "agent_call"
    __table_args__ = (Index("ix_agent_call_client", "client", "at"), {"sqlite_autoincrement": True})

    number: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    tool: str = Field(sa_type=Text)
    asked: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    outcome: str | None = Field(default=None, sa_type=Text)
    ended_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentProposal(Base, table=True):
    """A change that an agent proposes.

    ``state``, ``settled_at``, ``outcome`` and the card's place override the text.
    """

    __tablename__ = "agent_proposal"
    __table_args__ = (Index("ix_agent_proposal_client", "client", "state"),)

    id: str = Field(primary_key=True, sa_type=Text)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    settled_at: datetime | None = Field(default=None, sa_type=Instant)
    outcome: str = Field(sa_type=Text)
    channel: str | None = Field(default=None, sa_type=Text)
    ts: str | None = Field(default=None, sa_type=Text)
    schema_version: int
    proposal: str = Field(sa_type=Text)
