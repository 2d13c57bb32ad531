"""Agents' proposals, in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import PROPOSAL_VERSION, dump_mapping, expect_version, parse
from fateforger.adapters.store.jobs import enqueue
from fateforger.adapters.store.tables import AgentClient, AgentProposal, table
from fateforger.agents import MAX_PENDING, Proposal, ProposalState, can_become
from fateforger.errors import BadInput
from fateforger.ports import NewJob
from fateforger.ports.agents import build_expire_job, build_show_job
from fateforger.values import replace

PROPOSAL = table(AgentProposal)
CLIENT = table(AgentClient)

TOO_MANY = (
    f"{MAX_PENDING} proposals of yours wait for the person already; wait until they answered, or propose"
    " something else about the same, which takes its place."
)
NO_ACCESS = "This token was revoked."
AGAIN = "The agent proposed something else instead."
REVOKED = "The agent's access was revoked."

_IT = select(PROPOSAL).where(PROPOSAL.c.id == bindparam("of_id"))
_WAITING = select(PROPOSAL).where(PROPOSAL.c.client == bindparam("of_client"), PROPOSAL.c.state == "pending")
_WAITING_FOR = select(PROPOSAL).where(PROPOSAL.c.user_id == bindparam("of_user"), PROPOSAL.c.state == "pending")
_SETTLE = (
    update(PROPOSAL)
    .where(PROPOSAL.c.id == bindparam("of_id"))
    .values(state=bindparam("as_state"), settled_at=bindparam("now"), outcome=bindparam("because"))
)
_TOLD = update(PROPOSAL).where(PROPOSAL.c.id == bindparam("of_id")).values(outcome=bindparam("because"))
_PLACED = (
    update(PROPOSAL)
    .where(PROPOSAL.c.id == bindparam("of_id"))
    .values(channel=bindparam("in_channel"), ts=bindparam("at_ts"))
)
_IN_USE = select(func.count()).where(CLIENT.c.name == bindparam("of_client"), CLIENT.c.revoked_at.is_(None))


class SqlProposals:
    """Implements :class:`fateforger.ports.Proposals` over a :class:`Database`.

    Changes to the proposals of one client are serialized.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stage(self, proposal: Proposal) -> Proposal:
        return await self._database.write_alone(
            f"proposals of {proposal.client}", lambda connection: _stage(connection, proposal)
        )

    async def get(self, proposal_id: str) -> Proposal | None:
        return await self._database.read(lambda connection: _get(connection, proposal_id))

    async def waiting(self, user_id: str) -> tuple[Proposal, ...]:
        found = await self._database.read(lambda connection: _list_waiting_for(connection, user_id))
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

    async def record_outcome(self, proposal_id: str, outcome: str) -> None:
        values = {"of_id": proposal_id, "because": outcome.replace("\x00", "\ufffd")}
        await self._database.write(lambda connection: connection.execute(_TOLD, values))

    async def record_place(self, proposal_id: str, channel: str, ts: str) -> None:
        values = {"of_id": proposal_id, "in_channel": channel, "at_ts": ts}
        await self._database.write(lambda connection: connection.execute(_PLACED, values))


def expire_proposals(connection: Connection, client: str, now: datetime) -> None:
    """Expire the pending proposals of a client that was just revoked."""
    for proposal in _list_waiting(connection, client):
        _change_state(connection, proposal, ProposalState.EXPIRED, REVOKED, now)


def _stage(connection: Connection, proposal: Proposal) -> Proposal:
    if not _is_in_use(connection, proposal.client):
        raise BadInput(NO_ACCESS)
    waiting = _list_waiting(connection, proposal.client)
    same = [other for other in waiting if other.subject == proposal.subject]
    if len(waiting) - len(same) >= MAX_PENDING:
        raise BadInput(TOO_MANY)
    for other in same:
        _change_state(connection, other, ProposalState.SUPERSEDED, AGAIN, proposal.made_at)
    connection.execute(insert(PROPOSAL), _to_values(proposal))
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
    values = {"of_id": proposal.id, "as_state": state.value, "now": now, "because": outcome}
    connection.execute(_SETTLE, values)
    settled = replace(proposal, state=state, settled_at=now, outcome=outcome)
    _enqueue(connection, build_show_job(settled), now)
    return settled


def _enqueue(connection: Connection, job: NewJob, now: datetime) -> None:
    enqueue(connection, job, dump_mapping(job.payload, "The payload of a job about a proposal"), now)


def _is_in_use(connection: Connection, client: str) -> bool:
    return connection.execute(_IN_USE, {"of_client": client}).scalar_one() > 0


def _list_waiting(connection: Connection, client: str) -> list[Proposal]:
    return [_to_proposal(row) for row in connection.execute(_WAITING, {"of_client": client}).mappings()]


def _list_waiting_for(connection: Connection, user_id: str) -> list[Proposal]:
    return [_to_proposal(row) for row in connection.execute(_WAITING_FOR, {"of_user": user_id}).mappings()]


def _get(connection: Connection, proposal_id: str) -> Proposal | None:
    row = connection.execute(_IT, {"of_id": proposal_id}).mappings().first()
    return None if row is None else _to_proposal(row)


def _to_values(proposal: Proposal) -> dict[str, object]:
    return {
        "id": proposal.id,
        "client": proposal.client,
        "user_id": proposal.user_id,
        "subject": proposal.subject,
        "state": proposal.state.value,
        "settled_at": proposal.settled_at,
        "outcome": proposal.outcome,
        "channel": None,
        "ts": None,
        "schema_version": PROPOSAL_VERSION,
        "proposal": proposal.model_dump_json(),
    }


def _to_proposal(row: RowMapping) -> Proposal:
    what = f"The proposal {row['id']}"
    expect_version(what, row["schema_version"], PROPOSAL_VERSION)
    return replace(
        parse(Proposal, row["proposal"], what),
        state=ProposalState(row["state"]),
        settled_at=row["settled_at"],
        outcome=row["outcome"],
        place=None if row["ts"] is None else (row["channel"], row["ts"]),
    )
