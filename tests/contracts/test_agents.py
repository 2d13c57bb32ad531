"""The contract of stores of clients, their calls and their proposals, checked on the SQL one."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from tests.factories.agents import NOW, client, proposal

import fateforger.adapters.store.agents as agents_module
from fateforger.adapters.store.connections import Vault, new_key
from fateforger.adapters.store.installations import SqlInstallations
from fateforger.adapters.store.store import Store
from fateforger.agents.access import PROPOSAL_LANE
from fateforger.agents.clients import KEPT_FOR, OPEN, Call, ProposalState
from fateforger.errors import BadInput
from fateforger.limits import MAX_PENDING_PROPOSALS
from fateforger.slack.admission import Standing
from fateforger.slack.installations import Installation

Both = tuple[Store, Store]
S = ProposalState
AN_HOUR = timedelta(hours=1)


async def drain_jobs(store: Store, lane: str = PROPOSAL_LANE, *, at: timedelta = timedelta()) -> list[str]:
    """Return the jobs of the program that are due by then."""
    found = []
    while (job := await store.jobs.claim(lane, "w", now=NOW + at, lease_seconds=60)) is not None:
        found.append(" ".join(job.dedupe.split()[:3]))  # without the instant
        await store.jobs.finish(job)
    return found


class TestClients:
    async def test_a_client_comes_back_as_it_was_put(self, both: Both) -> None:
        store, other = both
        one, two = client("b-robot", expires_at=NOW + AN_HOUR), client("a-robot")
        await store.clients.add(one, "hash 1")
        await store.clients.add(two, "hash 2")
        assert await other.clients.all() == (two, one)
        assert await other.clients.with_key(one.key) == (one, "hash 1")
        assert await other.clients.with_key("0") is None

    async def test_a_name_is_used_once_and_a_revoked_one_too(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.clients.revoke("robot", now=NOW + AN_HOUR)
        with pytest.raises(BadInput, match="There is a client called robot already"):
            await other.clients.add(client(key="another"), "hash")

    async def test_a_revoked_client_stays_revoked_since_then(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        gone = client(revoked_at=NOW + AN_HOUR)
        assert await other.clients.revoke("robot", now=NOW + AN_HOUR) == gone
        assert await store.clients.revoke("robot", now=NOW + 2 * AN_HOUR) == gone
        assert await store.clients.revoke("nobody", now=NOW) is None

    async def test_people_who_left_or_whose_workspace_removed_the_app_are_not_reachable(self, both: Both) -> None:
        """S417: until the app is back."""
        store, other = both
        installations = SqlInstallations(store.database, Vault(new_key()))
        for tenant in ("T1", "T2"):
            await installations.keep(Installation(tenant, tenant, tenant, NOW, token="xoxb-1"))
        people = ("U1", "U2", "T2/U1")
        for name, person in zip(("one", "two", "three"), people, strict=True):
            await store.clients.add(client(name, user_id=person), name)
        await store.standings.keep("U2", Standing.DEACTIVATED)
        await installations.end("T2", at=NOW)
        assert [await other.standings.is_reachable(person) for person in people] == [True, False, False]
        await installations.keep(Installation("T2", "T2", "T2", NOW, token="xoxb-2"))
        await installations.end("T1", at=NOW)
        assert [await other.standings.is_reachable(person) for person in people] == [False, False, True]


class TestCalls:
    ASKED = Call(client="robot", user_id="U1", tool="pull", asked='{"a":"\\u0000 “🙂”"}', at=NOW)

    async def test_a_call_is_there_before_its_outcome(self, both: Both) -> None:
        store, other = both
        number = await store.calls.begin(self.ASKED, since=NOW - AN_HOUR, most=10)
        assert number is not None
        (call,) = await other.calls.latest()
        assert (call.number, call.outcome, call.ended_at) == (number, None, None)
        assert call.model_copy(update={"number": 0}) == self.ASKED
        await other.calls.end(number, "done", "p1", now=NOW + AN_HOUR)
        (call,) = await store.calls.latest()
        assert (call.outcome, call.about, call.ended_at) == ("done", "p1", NOW + AN_HOUR)

    async def test_the_newest_first_and_of_one_client(self, both: Both) -> None:
        store, other = both
        for name in ("robot", "other", "robot"):
            asked = self.ASKED.model_copy(update={"client": name})
            await store.calls.begin(asked, since=NOW - AN_HOUR, most=10)
        found = await other.calls.latest(client="robot")
        assert [call.client for call in found] == ["robot", "robot"]
        assert found[0].number > found[1].number
        assert [call.client for call in await other.calls.latest(limit=2)] == ["robot", "other"]

    async def test_too_many_leave_one_line(self, both: Both) -> None:
        """The limit counts the calls of all programs, and holds for calls at the same time."""
        store, other = both
        begun = await asyncio.gather(
            *(each.calls.begin(self.ASKED, since=NOW - AN_HOUR, most=3) for _ in range(3) for each in (store, other))
        )
        assert sum(number is not None for number in begun) == 3
        assert [(call.outcome, call.about) for call in await other.calls.latest()] == [
            ("refused", "too_many_calls"), *[(None, "")] * 3,
        ]  # fmt: skip
        later = self.ASKED.model_copy(update={"at": NOW + 2 * AN_HOUR})
        assert await store.calls.begin(later, since=NOW + AN_HOUR, most=3) is not None

    async def test_the_log_is_bounded_by_age_and_by_count(self, both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
        store, other = both
        monkeypatch.setattr(agents_module, "MOST_KEPT", 3)
        for name, hours in (("robot", 0), ("other", 0), ("robot", 1), ("robot", 2), ("robot", 3)):
            asked = self.ASKED.model_copy(update={"client": name, "at": NOW + hours * AN_HOUR})
            await store.calls.begin(asked, since=NOW, most=10)
        kept = [(call.client, (call.at - NOW) // AN_HOUR) for call in await other.calls.latest()]
        assert kept == [("robot", 3), ("robot", 2), ("robot", 1), ("other", 0)]
        assert [call.user_id for call in await other.calls.latest(user_id="U2")] == []
        await other.retention.prune(now=NOW + KEPT_FOR + 2 * AN_HOUR)
        assert [(call.client, (call.at - NOW) // AN_HOUR) for call in await store.calls.latest()] == [
            ("robot", 3), ("robot", 2),
        ]  # fmt: skip
        late = self.ASKED.model_copy(update={"at": NOW + KEPT_FOR + 4 * AN_HOUR})
        await store.calls.begin(late, since=NOW, most=10)
        assert len(await other.calls.latest()) == 1


class TestProposals:
    async def test_a_proposal_comes_back_and_the_program_is_told(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        assert await store.proposals.stage(proposal()) == proposal()
        assert await other.proposals.get("p1") == proposal()
        assert await other.proposals.get("p2") is None
        assert await drain_jobs(other) == ["p1 show pending"]
        if store.database.engine.dialect.name == "sqlite":  # on PostgreSQL the database has the time
            assert await drain_jobs(other, at=timedelta(days=1)) == ["p1 expire"]

    async def test_it_is_settled_once(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.proposals.stage(proposal())
        done = proposal(state=S.APPROVED, settled_at=NOW + AN_HOUR, outcome="Yes.")
        assert await store.proposals.settle("p1", S.APPROVED, outcome="Yes.", now=NOW + AN_HOUR) == (done, True)
        for state in (S.APPROVED, S.DENIED, S.EXPIRED, S.SUPERSEDED):
            assert await other.proposals.settle("p1", state, outcome="No.", now=NOW) == (done, False)
        for state in (S.APPLIED, S.UNDONE):
            changed = await other.proposals.settle("p1", state, outcome="Back.", now=NOW)
            assert changed is not None
            assert (changed[0].state, changed[0].outcome, changed[1]) == (state, "Back.", True)
        assert await other.proposals.settle("nothing", S.DENIED, outcome="", now=NOW) is None
        assert await drain_jobs(store) == ["p1 show pending", "p1 show approved", "p1 show applied", "p1 show undone"]

    async def test_a_failure_is_tried_again_under_another_name(self, both: Both) -> None:
        """Each change of its state is shown, also one that came before, and each try has a command of its own."""
        store, other = both
        await store.clients.add(client(), "hash")
        await store.proposals.stage(proposal())
        names, last = [], proposal()
        for n, state in enumerate((S.APPROVED, S.REFUSED, S.APPROVED, S.REFUSED)):
            settled = await other.proposals.settle("p1", state, outcome="Why.", now=NOW + n * AN_HOUR)
            assert settled is not None
            last = settled[0]
            names.append(last.command_id)
        assert names == ["proposal-p1", "proposal-p1", "proposal-p1-1", "proposal-p1-1"]
        assert await store.proposals.get("p1") == last
        assert [each.split()[2] for each in await drain_jobs(store)] == [
            "pending", "approved", "refused", "approved", "refused",
        ]  # fmt: skip
        await store.proposals.stage(proposal("p2", subject="constraint p1"))
        replaced = await other.proposals.get("p1")
        assert replaced is not None
        assert replaced.state is S.SUPERSEDED

    async def test_two_answers_at_once_are_one(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.proposals.stage(proposal())
        found = await asyncio.gather(
            *(
                each.proposals.settle("p1", state, outcome=state.value, now=NOW)
                for each, state in ((store, S.APPROVED), (other, S.DENIED), (other, S.APPROVED))
            )
        )
        assert sum(changed for _, changed in (each for each in found if each is not None)) == 1

    async def test_a_newer_one_about_the_same_takes_its_place(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.clients.add(client("other"), "hash")
        for one in (proposal("p1", subject="x"), proposal("p2", "other", subject="x"), proposal("p3", subject="x")):
            await store.proposals.stage(one)
        states = [found.state for n in "123" if (found := await other.proposals.get(f"p{n}")) is not None]
        assert states == [S.SUPERSEDED, S.PENDING, S.PENDING]
        assert await drain_jobs(other) == [
            "p1 show pending",
            "p2 show pending",
            "p1 show superseded",
            "p3 show pending",
        ]

    async def test_only_so_many_wait(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        for n in range(MAX_PENDING_PROPOSALS):
            await store.proposals.stage(proposal(f"p{n}"))
        with pytest.raises(BadInput, match="wait for the person already"):
            await other.proposals.stage(proposal("more"))
        assert await other.proposals.get("more") is None
        await other.proposals.stage(proposal("again", subject="constraint p0"))

    async def test_nothing_of_a_revoked_client_is_approved(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.proposals.stage(proposal())
        await other.clients.revoke("robot", now=NOW + AN_HOUR)
        found = await store.proposals.settle("p1", S.APPROVED, outcome="Yes.", now=NOW + AN_HOUR)
        assert found is not None
        assert (found[0].state, found[0].outcome, found[1]) == (S.EXPIRED, "The agent's access was revoked.", False)
        with pytest.raises(BadInput, match="This token was revoked"):
            await store.proposals.stage(proposal("p2"))
        assert await drain_jobs(store) == ["p1 show pending", "p1 show expired"]

    async def test_what_waits_for_a_person(self, both: Both) -> None:
        """Theirs alone, and only until it is answered."""
        store, other = both
        await store.clients.add(client(), "hash")
        staged = await store.proposals.stage(proposal())
        assert await other.proposals.of(staged.user_id, OPEN) == (staged,)
        assert await other.proposals.of("U_ELSE", OPEN) == ()
        await store.proposals.settle(staged.id, S.DENIED, outcome="", now=NOW)
        assert await other.proposals.of(staged.user_id, OPEN) == ()

    async def test_its_place_is_remembered(self, both: Both) -> None:
        store, other = both
        await store.clients.add(client(), "hash")
        await store.proposals.stage(proposal())
        await store.proposals.record_place("p1", "D1", "1.000200")
        assert await other.proposals.get("p1") == proposal(place=("D1", "1.000200"))
