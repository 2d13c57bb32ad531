"""The agents' clients, their proposals and the audit log of their calls, in SQL."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Index, Text, delete, func, update
from sqlmodel import Field, select

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.inbox import enqueue
from fateforger.adapters.store.tables import (
    PROPOSAL_VERSION,
    AutoNumber,
    Base,
    Instant,
    expect_version,
    find_rows,
    open_rows,
    parse,
    table,
)
from fateforger.agents.access import build_expire_job, build_show_job
from fateforger.agents.clients import (
    KEPT_FOR,
    MOST_KEPT,
    OPEN,
    Call,
    Client,
    Outcome,
    Proposal,
    ProposalState,
    can_become,
)
from fateforger.errors import BadInput
from fateforger.limits import MAX_PENDING_PROPOSALS
from fateforger.ports.jobs import NewJob
from fateforger.values import replace


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
    __table_args__ = (
        Index("ix_agent_call_client", "client", "at"),
        Index("ix_agent_call_at", "at"),
        Index("ix_agent_call_user", "user_id", "number"),
        {"sqlite_autoincrement": True},
    )

    number: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    tool: str = Field(sa_type=Text)
    asked: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    outcome: str | None = Field(default=None, sa_type=Text)
    about: str = Field(default="", sa_type=Text, sa_column_kwargs={"server_default": ""})
    ended_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentProposal(Base, table=True):
    """A change that an agent proposes.

    ``state``, ``settled_at``, ``outcome``, ``retries`` and the card's place override the text.
    """

    __tablename__ = "agent_proposal"
    __table_args__ = (
        Index("ix_agent_proposal_client", "client", "state"),
        Index("ix_agent_proposal_user", "user_id", "state"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    settled_at: datetime | None = Field(default=None, sa_type=Instant)
    outcome: str = Field(sa_type=Text)
    retries: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    channel: str | None = Field(default=None, sa_type=Text)
    ts: str | None = Field(default=None, sa_type=Text)
    schema_version: int
    proposal: str = Field(sa_type=Text)


CALL = table(AgentCall)
TOO_MANY_CALLS = "too_many_calls"


class SqlCalls(OnDatabase):
    """Implements :class:`fateforger.agents.access.Calls` over a :class:`Database`."""

    async def begin(self, asked: Call, *, since: datetime, most: int) -> int | None:
        # One call of a client after another, or concurrent ones would each find room for themselves.
        return await self._database.write_alone(
            f"calls of {asked.client}", lambda connection: _begin(connection, asked, since, most)
        )

    async def end(self, number: int, outcome: Outcome, about: str, *, now: datetime) -> None:
        values = {"outcome": outcome, "about": about, "ended_at": now}
        await self._database.write(lambda connection: _end(connection, number, values))

    async def latest(
        self, *, limit: int = 100, client: str | None = None, user_id: str | None = None
    ) -> tuple[Call, ...]:
        query = select(AgentCall).order_by(CALL.c.number.desc()).limit(limit)
        if client is not None:
            query = query.where(CALL.c.client == client)
        if user_id is not None:
            query = query.where(CALL.c.user_id == user_id)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return tuple(Call.model_validate(row.model_dump()) for row in rows)


def _begin(connection: Connection, asked: Call, since: datetime, most: int) -> int | None:
    lately = select(func.count()).where(CALL.c.client == asked.client, CALL.c.at > since)
    count = connection.execute(lately).scalar_one()
    if count > most:
        return None
    mark_home(connection, asked.user_id)
    _delete_old(connection, asked.at)
    _delete_beyond(connection, asked.client, MOST_KEPT - 1)
    call = AgentCall(**asked.model_dump(exclude={"number"}))
    with open_rows(connection) as rows:
        rows.add(call)
        if count == most:
            call.outcome, call.about, call.ended_at = "refused", TOO_MANY_CALLS, asked.at
            return None
        rows.flush()
        return call.number


def _end(connection: Connection, number: int, values: Mapping[str, Any]) -> None:
    connection.execute(update(CALL).where(CALL.c.number == number).values(values))
    user_id = connection.execute(select(CALL.c.user_id).where(CALL.c.number == number)).scalar()
    if user_id is not None:
        mark_home(connection, user_id)


def _delete_old(connection: Connection, now: datetime) -> None:
    connection.execute(delete(CALL).where(CALL.c.at < now - KEPT_FOR))


def _delete_beyond(connection: Connection, client: str, most: int) -> None:
    """Delete the calls of a client but the newest ``most``."""
    newest = select(CALL.c.number).where(CALL.c.client == client).order_by(CALL.c.number.desc())
    first = connection.execute(newest.offset(most).limit(1)).scalar_one_or_none()
    if first is not None:
        connection.execute(delete(CALL).where(CALL.c.client == client, CALL.c.number <= first))


PROPOSAL = table(AgentProposal)
CLIENT = table(AgentClient)

TOO_MANY_PROPOSALS = (
    f"{MAX_PENDING_PROPOSALS} proposals of yours wait for the person already; wait until they answered, or propose"
    " something else about the same, which takes its place."
)
NO_ACCESS = "This token was revoked."
AGAIN = "The agent proposed something else instead."
REVOKED = "The agent's access was revoked."


class SqlProposals(OnDatabase):
    """Implements :class:`fateforger.agents.access.Proposals` over a :class:`Database`.

    Changes to the proposals of one client are serialized.
    """

    async def stage(self, proposal: Proposal) -> Proposal:
        return await self._database.write_alone(
            f"proposals of {proposal.client}", lambda connection: _stage(connection, proposal)
        )

    async def get(self, proposal_id: str) -> Proposal | None:
        return await self._database.read(lambda connection: _get(connection, proposal_id))

    async def of(self, user_id: str, states: Collection[ProposalState]) -> tuple[Proposal, ...]:
        found = await self._database.read(lambda connection: _find(connection, states, user_id=user_id))
        return tuple(sorted(found, key=lambda proposal: (proposal.made_at, proposal.id)))

    async def settle(
        self, proposal_id: str, state: ProposalState, *, outcome: str, now: datetime
    ) -> tuple[Proposal, bool] | None:
        known = await self.get(proposal_id)
        if known is None:
            return None
        return await self._database.write_alone(
            f"proposals of {known.client}", lambda connection: _settle(connection, known, state, outcome, now)
        )

    async def record_place(self, proposal_id: str, channel: str, ts: str) -> None:
        await self._database.write(lambda connection: _update(connection, proposal_id, {"channel": channel, "ts": ts}))


def expire_proposals(connection: Connection, client: str, now: datetime) -> None:
    """Expire the open proposals of a client that was just revoked."""
    for proposal in _find(connection, OPEN, client=client):
        _change_state(connection, proposal, ProposalState.EXPIRED, REVOKED, now)


def _stage(connection: Connection, proposal: Proposal) -> Proposal:
    if not _is_in_use(connection, proposal.client):
        raise BadInput(NO_ACCESS)
    still_open = _find(connection, OPEN, client=proposal.client)
    same = [other for other in still_open if other.subject == proposal.subject]
    waiting = [other for other in still_open if other.state is ProposalState.PENDING and other not in same]
    if len(waiting) >= MAX_PENDING_PROPOSALS:
        raise BadInput(TOO_MANY_PROPOSALS)
    for other in same:
        _change_state(connection, other, ProposalState.SUPERSEDED, AGAIN, proposal.made_at)
    with open_rows(connection) as rows:
        rows.add(_to_row(proposal))
    for job in (build_show_job(proposal), build_expire_job(proposal)):
        _enqueue(connection, job, proposal.made_at)
    return proposal


def _settle(
    connection: Connection, known: Proposal, state: ProposalState, outcome: str, now: datetime
) -> tuple[Proposal, bool]:
    proposal = _get(connection, known.id) or known
    if not can_become(proposal.state, state):
        return proposal, False
    if state is ProposalState.APPROVED and not _is_in_use(connection, proposal.client):
        return _change_state(connection, proposal, ProposalState.EXPIRED, REVOKED, now), True
    return _change_state(connection, proposal, state, outcome, now), True


def _change_state(
    connection: Connection, proposal: Proposal, state: ProposalState, outcome: str, now: datetime
) -> Proposal:
    outcome = outcome.replace("\x00", "\ufffd")
    retries = proposal.retries + ((proposal.state, state) == (ProposalState.REFUSED, ProposalState.APPROVED))
    values = {"state": state.value, "settled_at": now, "outcome": outcome, "retries": retries}
    _update(connection, proposal.id, values)
    settled = replace(proposal, state=state, settled_at=now, outcome=outcome, retries=retries)
    _enqueue(connection, build_show_job(settled), now)
    return settled


def _enqueue(connection: Connection, job: NewJob, now: datetime) -> None:
    enqueue(connection, job, now)


def _is_in_use(connection: Connection, client: str) -> bool:
    found = _find_by_name(connection, client)
    return found is not None and found.revoked_at is None


def _update(connection: Connection, proposal_id: str, values: Mapping[str, object]) -> None:
    connection.execute(update(PROPOSAL).where(PROPOSAL.c.id == proposal_id).values(values))


def _find(connection: Connection, states: Collection[ProposalState], **of: str) -> list[Proposal]:
    """Return the proposals of a client or of a person in these states."""
    query = select(AgentProposal).filter_by(**of).where(PROPOSAL.c.state.in_([state.value for state in states]))
    return list(map(_to_proposal, find_rows(connection, query)))


def _get(connection: Connection, proposal_id: str) -> Proposal | None:
    with open_rows(connection) as rows:
        row = rows.get(AgentProposal, proposal_id)
        return None if row is None else _to_proposal(row)


def _to_row(proposal: Proposal) -> AgentProposal:
    return AgentProposal(
        **proposal.model_dump(include={"id", "client", "user_id", "subject", "settled_at", "outcome"}),
        state=proposal.state.value,
        schema_version=PROPOSAL_VERSION,
        proposal=proposal.model_dump_json(),
    )


def _to_proposal(row: AgentProposal) -> Proposal:
    what = f"The proposal {row.id}"
    expect_version(what, row.schema_version, PROPOSAL_VERSION)
    return replace(
        parse(Proposal, row.proposal, what),
        state=ProposalState(row.state),
        settled_at=row.settled_at,
        outcome=row.outcome,
        retries=row.retries,
        place=None if row.channel is None or row.ts is None else (row.channel, row.ts),
    )


class SqlClients(OnDatabase):
    """Implements :class:`fateforger.agents.access.Clients` over a :class:`Database`."""

    async def add(self, client: Client, token_hash: str) -> None:
        await self._database.write(lambda connection: _add(connection, client, token_hash))

    async def all(self) -> tuple[Client, ...]:
        query = select(AgentClient).order_by(CLIENT.c.name)
        return tuple(map(_to_client, await self._database.read(lambda connection: find_rows(connection, query))))

    async def with_key(self, key: str) -> tuple[Client, str] | None:
        query = select(AgentClient).where(AgentClient.key == key)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return (_to_client(rows[0]), rows[0].token_hash) if rows else None

    async def revoke(self, name: str, *, now: datetime) -> Client | None:
        return await self._database.write_alone(
            f"proposals of {name}", lambda connection: _revoke(connection, name, now)
        )


def _add(connection: Connection, client: Client, token_hash: str) -> None:
    if _find_by_name(connection, client.name) is not None:
        raise BadInput(
            f"There is a client called {client.name} already, perhaps a revoked one; a name is used once, because the"
            " audit log speaks of it. Choose another one.",
            where="name",
        )
    with open_rows(connection) as rows:
        values = client.model_dump(exclude={"scopes"})
        rows.add(AgentClient(**values, scopes=json.dumps(client.scopes), token_hash=token_hash))


def _find_by_name(connection: Connection, name: str) -> Client | None:
    with open_rows(connection) as rows:
        row = rows.get(AgentClient, name)
        return None if row is None else _to_client(row)


def _revoke(connection: Connection, name: str, now: datetime) -> Client | None:
    with open_rows(connection) as rows:
        row = rows.get(AgentClient, name)
        if row is not None and row.revoked_at is None:
            row.revoked_at = now
            expire_proposals(connection, name, now)
        return None if row is None else _to_client(row)


def _to_client(row: AgentClient) -> Client:
    return Client.model_validate(row.model_dump(exclude={"token_hash"}) | {"scopes": json.loads(row.scopes)})
