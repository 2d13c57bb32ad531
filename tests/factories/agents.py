"""Other agents in tests: a client with its token, the tools over a real store, what they propose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.store import Store
from fateforger.agents.access import MOST_SESSIONS, AgentAccess
from fateforger.agents.clients import Client, ConstraintChange, Proposal, Scope, format_token, hash_token
from fateforger.agents.server import Answer, CallHandler
from fateforger.memory.documents import read_record
from fateforger.tasks.workflows import Workflows
from fateforger.workflow.trace import Facts, NothingAllowed

NOW = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
ANNA = "U_ANNA"
ALL = tuple(Scope)


def token_for(name: str) -> str:
    """Return the token of a test's client, the same for the same name."""
    return format_token(f"{sum(name.encode()):012x}", (name * 43)[:43].replace(".", "-"))


def client(name: str = "robot", **changes: Any) -> Client:
    return Client(
        **{
            "name": name,
            "key": token_for(name).split("_")[1],
            "user_id": ANNA,
            "scopes": ALL,
            "created_at": NOW,
            **changes,
        }
    )


def proposal(proposal_id: str = "p1", name: str = "robot", **changes: Any) -> Proposal:
    record = read_record({"name": "No calls before ten", "scope": "profile", "status": "locked"})
    values: dict[str, Any] = {
        "id": proposal_id,
        "client": name,
        "user_id": ANNA,
        "change": ConstraintChange(record=record),
        "subject": f"constraint {proposal_id}",
        "preview": ("“No calls before ten”: always",),
        "reason": "You said so.",
        "made_at": NOW,
        "expires_at": NOW + timedelta(days=1),
    }
    return Proposal(**{**values, **changes})


@dataclass
class Agents:
    """The tools as agents find them, over a store."""

    store: Store
    clock: ManualClock = field(default_factory=ManualClock)
    workflows: Workflows = field(default_factory=Workflows)
    facts: Facts = field(default_factory=NothingAllowed)

    @property
    def call_handler(self) -> CallHandler:
        reach = AgentAccess(
            sessions_of=partial(self.store.sessions.of_user, limit=MOST_SESSIONS),
            constraints_of=self.store.constraints.of,
            tasks=self.store.tasks,
            proposals=self.store.proposals,
            tz="Europe/Amsterdam",
            workflows=self.workflows,
            facts=self.facts,
        )
        return CallHandler(reach, self.store.clients, self.store.calls, self.clock, self.store.standings.is_reachable)

    async def let_in(self, name: str = "robot", **changes: Any) -> str:
        """Let another client in and return its token."""
        token = token_for(name)
        await self.store.clients.add(client(name, **changes), hash_token(token))
        return token

    async def ask(self, tool: str, arguments: Mapping[str, Any] | None = None, name: str = "robot") -> Answer:
        return await self.call_handler.call(tool, arguments, token_for(name))

    async def expect_success(
        self, tool: str, arguments: Mapping[str, Any] | None = None, name: str = "robot"
    ) -> dict[str, Any]:
        """Return the document of a call that has to succeed."""
        answer = await self.ask(tool, arguments, name)
        assert not answer.is_error, answer.text
        return dict(answer.document)

    async def refusal(self, tool: str, arguments: Mapping[str, Any] | None = None, name: str = "robot") -> str:
        """Return the sentence of a call that has to be refused."""
        answer = await self.ask(tool, arguments, name)
        assert answer.is_error, answer.text
        return answer.text
