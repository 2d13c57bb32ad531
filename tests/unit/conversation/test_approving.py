"""An agent's proposal has no effect until its owner accepts it: then it is an ordinary command of theirs, once.

The tests cover the whole way in one process: the agent's tools, the person's answer, the session, the calendar.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.agents import Agents
from tests.factories.constraints import record_of
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, meeting, open_harness_at

from fateforger.agents.access import PROPOSAL_LANE
from fateforger.agents.clients import ProposalState
from fateforger.conversation.agent_proposals import (
    AGAINST_RULE,
    DECIDED,
    GIVEN_UP,
    NOT_DONE,
    ON_CALENDAR,
    OTHERWISE,
    PLAN_UNDONE,
    TOO_OLD,
    UNKNOWN,
    Approvals,
    ProposalService,
)
from fateforger.conversation.language.message_commands import FIRST
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.stage_nodes import PASSED_ON
from fateforger.errors import ModelRejected
from fateforger.memory.documents import read_record
from fateforger.memory.versions import select_newest
from fateforger.ports.jobs import Job
from fateforger.session.commands import COMMAND
from fateforger.session.commands.rules import RememberConstraint, ReviseConstraint
from fateforger.workers.lanes import TURN
from fateforger.workers.turns import build_turn_handler

AFTERNOON = {"op": "ue", "i": 0, "p": {"a": "fs", "st": "15:00", "dur": "PT1H"}}
RENAMED = {"op": "ue", "i": 1, "n": "Read plans"}
QUIET = {"name": "No calls before ten", "necessity": "must", "scope": "profile"}


@dataclass
class AgentHarness:
    """A program with an agent as its client."""

    harness: Harness
    anna: Person
    agents: Agents

    @property
    def approvals(self) -> Approvals:
        harness = self.harness
        memory = MemoryService(harness.store.constraints, harness.store.jobs, harness.clock)
        return Approvals(
            proposals=harness.store.proposals,
            sessions=harness.store.sessions,
            memory=memory,
            jobs=harness.store.jobs,
            clock=harness.clock,
            carry_out=harness.coordinator.handle,
            said=harness.coordinator.get_rule_reply,
            tz="Europe/Amsterdam",
        )

    async def patch(self, *ops: dict[str, Any], reason: str = "It fits better.") -> str:
        """Propose a patch for today's plan and return the id of the proposal."""
        plan = await self.agents.expect_success("get_plan")
        given = {"date": plan["date"], "version": plan["version"], "patch": {"ops": list(ops)}, "reason": reason}
        return str((await self.agents.expect_success("propose_patch", given))["proposal"]["id"])

    async def constraint(self, record: dict[str, Any], **more: Any) -> str:
        given = {"constraint_record": record, "reason": "You said so.", **more}
        return str((await self.agents.expect_success("propose_constraint", given))["proposal"]["id"])

    async def click(self, proposal_id: str, answer: Any, user: str = ANNA) -> str | None:
        """Click, and let all that follows from it happen."""
        words = await self.approvals.answer(proposal_id, user, answer)
        store = self.harness.store
        while (
            job := await store.jobs.claim(TURN.name, "w", now=self.harness.clock.now(), lease_seconds=60)
        ) is not None:
            await self.harness.coordinator.handle(COMMAND.validate_python(job.payload))
            await store.jobs.finish(job)
        await self.anna.read()
        return words

    async def state(self, proposal_id: str) -> tuple[str, str]:
        """Return the state and the outcome of a proposal, as the agent sees them."""
        found = (await self.agents.expect_success("get_proposal", {"id": proposal_id}))["proposal"]
        return found["state"], found["outcome"]

    async def list_blocks(self) -> list[str]:
        plan = await self.agents.expect_success("get_plan")
        return [
            f"{block['start'][11:16]} {block['title']}" for block in plan["blocks"] if block["title"] != "Shut down"
        ]

    async def rules(self) -> list[str]:
        """Return the names of the active rules in the store itself."""
        versions = select_newest(await self.harness.store.constraints.of(ANNA), ANNA).values()
        return sorted(version.record.name for version in versions if not version.retired)


@pytest.fixture
async def town(harness: Harness, anna: Person) -> AgentHarness:
    agents = Agents(harness.store, harness.clock)
    await agents.let_in()
    await anna.to_refine()
    return AgentHarness(harness, anna, agents)


BEFORE = ["09:00 Write report", "10:10 Review plans", "11:20 Mail", "12:30 Lunch"]


async def test_nothing_changes_before_the_click_and_undo_takes_it_back(
    town: AgentHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """The whole way: preview, apply, calendar, undo. S215: the log of turns names the proposal."""
    caplog.set_level(logging.INFO, "fateforger.conversation.turn_runs")
    proposal = await town.patch(AFTERNOON)
    found = await town.harness.store.proposals.get(proposal)
    assert found is not None
    assert found.preview == ("“Write report” moves to 15:00–16:00 (now 09:00–10:00).",)
    assert await town.list_blocks() == BEFORE
    assert town.harness.on_calendar() == {}

    assert await town.click(proposal, "apply") is None
    assert await town.state(proposal) == ("applied", ON_CALENDAR)
    assert [f"proposal={proposal}" in line for line in caplog.messages if "apply_patch" in line] == [True]
    assert "“Write report” is now 15:00–16:00 (was 09:00–10:00)." in town.anna.words
    assert town.harness.on_calendar()["Write report"] == "15:00-16:00"

    await town.anna.press("Undo last update")
    assert sorted(await town.list_blocks()) == BEFORE
    assert town.harness.on_calendar() == {}
    assert await town.state(proposal) == ("undone", PLAN_UNDONE)
    await town.anna.press("Restore last update")
    assert await town.state(proposal) == ("applied", ON_CALENDAR)


async def test_a_second_click_and_a_replayed_one_do_nothing_more(town: AgentHarness) -> None:
    """Also after Undo: an approval is good for one time."""
    proposal = await town.patch(AFTERNOON)
    await town.click(proposal, "apply")
    await town.anna.press("Undo last update")
    for answer in ("apply", "deny", "apply"):
        assert await town.click(proposal, answer) == DECIDED
    assert sorted(await town.list_blocks()) == BEFORE


@pytest.mark.parametrize(("intent", "state"), [("accept_pending", "applied"), ("refuse_pending", "denied")])
async def test_it_is_answered_in_words_once_its_card_stands(tmp_path: Path, intent: str, state: str) -> None:
    """S214: a yes or a no in the thread is the click on its card. Before the card stood there it is about something
    else, and going on is no answer to it (S124). No word of the agent's reaches the model that reads the answer."""
    answers = [wants("ask"), {"answer": "Nothing.", "block": None}, wants("proceed"), wants(intent)]
    model = ScriptedModel(by=lambda p: ModelRejected("No.") if p.name.startswith("draft") else answers.pop(0))
    (tmp_path / "spoken").mkdir()
    harness = await open_harness_at(tmp_path / "spoken", model=model, calendar_write="commit")
    agents, anna = Agents(harness.store, harness.clock), Person(harness)
    await agents.let_in()
    await anna.to_refine("Write report", "Mail")
    town = AgentHarness(harness, anna, agents)
    proposal, before = await town.patch(AFTERNOON, RENAMED), await town.list_blocks()
    harness.clock.at += timedelta(minutes=1)
    await anna.says("what is it?")
    assert "robot would like to change this plan" not in model.prompts[-2].user
    await harness.store.proposals.record_place(proposal, "C1", "5.0")
    await anna.says("yes")
    assert "robot would like to change this plan" in model.prompts[-1].user
    shown_to_the_model = "".join(prompt.user for prompt in model.prompts)
    assert ("It fits better." in shown_to_the_model, "Read plans" in shown_to_the_model) == (False, False)
    assert FIRST in anna.words
    assert (await town.state(proposal), await town.list_blocks()) == (("pending", ""), before)
    await anna.says("yes, do that")
    assert PASSED_ON in anna.words
    answered = [job async for job in _jobs(harness) if job.payload["do"] == "answer"]
    for job in answered:
        await town.click(job.payload["proposal"], job.payload["answer"], user=job.payload["user_id"])
    assert (await town.state(proposal))[0] == state
    assert (await town.list_blocks() != before) is (state == "applied")
    assert harness.on_calendar() == {}
    await harness.close()


async def _jobs(harness: Harness) -> AsyncIterator[Job]:
    """Yield the open jobs about proposals."""
    now = harness.clock.now()
    while (job := await harness.store.jobs.claim(PROPOSAL_LANE, "w", now=now, lease_seconds=60)) is not None:
        await harness.store.jobs.finish(job)
        yield job


async def test_only_the_owner_decides(town: AgentHarness) -> None:
    proposal = await town.patch(AFTERNOON)
    for answer in ("apply", "deny", "undo"):
        assert await town.click(proposal, answer, user="U_BEN") == f"<@{ANNA}> is asked here, so only they can answer."
    assert await town.click("another", "apply") == UNKNOWN
    assert await town.state(proposal) == ("pending", "")
    assert await town.list_blocks() == BEFORE


async def test_denied_is_denied(town: AgentHarness) -> None:
    proposal = await town.patch(AFTERNOON)
    assert await town.click(proposal, "deny") is None
    assert await town.click(proposal, "apply") == DECIDED
    assert (await town.state(proposal))[0] == "denied"
    assert await town.list_blocks() == BEFORE


async def test_nothing_of_a_client_that_was_revoked_meanwhile_is_applied(town: AgentHarness) -> None:
    await town.agents.let_in("auditor")
    patch, rule = await town.patch(AFTERNOON), await town.constraint(QUIET)
    await town.harness.store.clients.revoke("robot", now=town.harness.clock.now())
    for proposal in (patch, rule):
        assert await town.click(proposal, "apply") == DECIDED
        found = await town.harness.store.proposals.get(proposal)
        assert found is not None
        assert (found.state, found.outcome) == ("expired", "The agent's access was revoked.")
    assert (await town.anna.session()).sync.refine_undo == ()
    assert await town.rules() == []


async def test_after_a_day_it_is_too_late(town: AgentHarness) -> None:
    proposal = await town.patch(AFTERNOON)
    town.harness.clock.at += timedelta(days=1)
    assert await town.click(proposal, "apply") is None
    assert await town.state(proposal) == ("expired", TOO_OLD)
    assert (await town.anna.session()).sync.refine_undo == ()


async def test_a_plan_that_changed_elsewhere_still_takes_what_fits_exactly(town: AgentHarness) -> None:
    proposal = await town.patch(AFTERNOON)
    await town.anna.choose("Mail", "15 min later")
    assert await town.click(proposal, "apply") is None
    assert "15:00 Write report" in await town.list_blocks()
    assert (await town.state(proposal))[0] == "applied"


async def test_a_plan_in_which_it_would_do_something_else_takes_nothing(town: AgentHarness) -> None:
    """The same patch, but another block by now, or another one in its way."""
    proposal = await town.patch(AFTERNOON)
    await town.anna.choose("Write report", "15 min earlier")
    there = await town.list_blocks()
    assert await town.click(proposal, "apply") is None
    state, outcome = await town.state(proposal)
    assert state == "outdated"
    assert outcome.startswith("Your plan has changed since that was proposed, so I did nothing. Now it would do this:")
    assert await town.list_blocks() == there


async def test_what_is_not_what_was_approved_is_refused_in_the_turn_too(town: AgentHarness) -> None:
    """Between the click and its turn another change came first."""
    proposal = await town.patch(AFTERNOON)
    assert await town.approvals.answer(proposal, ANNA, "apply") is None
    await town.anna.choose("Write report", "15 min earlier")
    there = await town.list_blocks()
    assert await town.click(proposal, "apply") is None  # and the turn that waited is run
    state, outcome = await town.state(proposal)
    assert (state, outcome.split(",")[0]) == ("outdated", "Your plan has changed since that was proposed")
    assert await town.click(proposal, "apply") == DECIDED
    assert "Your plan has changed since that was proposed, so I did nothing." in town.anna.words
    assert await town.list_blocks() == there


@pytest.mark.parametrize(
    ("answer", "state"), [("Do it anyway, for this day", "applied"), ("Leave the plan as it is", "denied")]
)
async def test_it_is_held_by_a_rule_like_any_change(town: AgentHarness, answer: str, state: str) -> None:
    """S22: the person's own rule is against it, and only the person can set it aside."""
    rule = record_of("pm", name="No work from two", necessity="must", rule_kind="avoid_window")
    rule["payload"]["windows"] = [{"kind": "avoid", "start_time_local": "14:00", "end_time_local": "23:00"}]
    remember = RememberConstraint(
        command_id="rule",
        user_id=ANNA,
        at=town.harness.clock.now(),
        session_id=town.anna.session_id,
        record=read_record(rule),
    )
    await town.anna.send(remember)
    proposal = await town.patch(AFTERNOON)
    await town.click(proposal, "apply")
    assert "I did not do that, because of a rule you want kept." in town.anna.words
    assert await town.list_blocks() == BEFORE
    assert await town.state(proposal) == ("held", AGAINST_RULE)
    assert await town.click(proposal, "apply") == DECIDED
    await town.anna.press(answer)
    assert ("15:00 Write report" in await town.list_blocks()) is (state == "applied")
    assert (await town.state(proposal))[0] == state


async def test_what_fails_can_be_tried_again(town: AgentHarness) -> None:
    """S216: a command that was given up is no success, and its second try is one of its own."""
    proposal = await town.patch(AFTERNOON)
    assert await town.approvals.answer(proposal, ANNA, "apply") is None
    jobs, clock = town.harness.store.jobs, town.harness.clock
    given_up = await jobs.claim(TURN.name, "w", now=clock.now(), lease_seconds=60)
    assert given_up is not None
    handler = build_turn_handler(
        town.harness.coordinator.handle, jobs, town.harness.store.sessions, town.harness.languages, clock
    )
    assert handler.given_up is not None
    await handler.given_up(given_up, "no luck")
    await jobs.finish(given_up)
    failed = [job.payload["proposal"] async for job in _jobs(town.harness) if job.payload["do"] == "fail"]
    assert failed == [proposal]
    await town.approvals.fail(proposal)
    assert await town.state(proposal) == ("refused", GIVEN_UP)
    assert await town.list_blocks() == BEFORE
    clock.at += timedelta(minutes=1)
    await town.harness.store.proposals.record_place(proposal, "C1", "5.0")
    service = ProposalService(town.harness.store.proposals, town.harness.store.calls, jobs, clock)
    (waiting,) = await service.waiting(await town.anna.session(), clock.now())
    assert waiting.again
    assert await town.click(proposal, "apply") is None
    assert (await town.state(proposal))[0] == "applied"
    assert "15:00 Write report" in await town.list_blocks()


async def test_a_rule_that_was_not_written_is_not_applied(town: AgentHarness) -> None:
    """Without what the store shows, a reply is no evidence."""
    proposal = await town.constraint(QUIET)

    async def does_nothing(_command: object) -> None:
        return None

    broken = town.approvals
    broken._carry_out = does_nothing
    assert await broken.answer(proposal, ANNA, "apply") is None
    assert await town.state(proposal) == ("refused", NOT_DONE)
    assert await town.rules() == []
    assert await town.click(proposal, "apply") is None
    assert await town.state(proposal) == ("applied", "I'll remember “No calls before ten”.")
    assert await town.rules() == ["No calls before ten"]


async def test_a_crash_after_the_yes_is_gone_on_with(town: AgentHarness) -> None:
    """Approved, and dead before the command was on its lane: the job of the click is tried again."""
    patch, rule = await town.patch(RENAMED), await town.constraint(QUIET)
    for proposal in (patch, rule):
        await town.harness.store.proposals.settle(
            proposal, ProposalState.APPROVED, outcome="", now=town.harness.clock.now()
        )
        town.harness.restart()
        assert await town.click(proposal, "apply") is None
        assert await town.click(proposal, "apply") == DECIDED
    assert "10:10 Read plans" in await town.list_blocks()
    assert await town.rules() == ["No calls before ten"]
    assert len(await town.harness.store.constraints.of(ANNA)) == 1


async def test_a_constraint_is_written_on_yes_and_taken_back(town: AgentHarness) -> None:
    proposal = await town.constraint({**QUIET, "description": "Please, no calls before ten."})
    found = await town.harness.store.proposals.get(proposal)
    assert found is not None
    assert found.preview == (
        "“No calls before ten”: it must be kept · always",
        "“Please, no calls before ten.”",
    )
    assert await town.rules() == []
    assert await town.click(proposal, "undo") == DECIDED
    assert await town.click(proposal, "apply") is None
    assert await town.rules() == ["No calls before ten"]
    assert await town.state(proposal) == ("applied", "I'll remember “No calls before ten”.")
    (version,) = await town.harness.store.constraints.of(ANNA)
    assert (version.record.status, version.session_id) == ("locked", None)
    assert await town.click(proposal, "apply") == DECIDED
    assert await town.click(proposal, "undo") is None
    assert await town.rules() == []
    assert await town.state(proposal) == ("undone", "Taken back: “No calls before ten”.")
    assert await town.click(proposal, "undo") == DECIDED
    assert await town.click(proposal, "apply") == DECIDED
    assert await town.rules() == []


async def test_a_constraint_that_would_do_something_else_by_now_is_not_written(town: AgentHarness) -> None:
    first = await town.constraint(QUIET)
    await town.click(first, "apply")
    uid = (await town.agents.expect_success("list_constraints"))["constraints"][0]["uid"]
    second = await town.constraint({**QUIET, "name": "No calls before eleven"}, replaces=uid)
    await town.click(first, "undo")
    assert await town.click(second, "apply") is None
    assert (await town.state(second))[0] == "outdated"
    third = await town.constraint({**QUIET, "name": "No work on Mondays"})
    other = await town.constraint({**QUIET, "name": "no work on mondays", "description": "None at all."})
    await town.click(other, "apply")
    assert (await town.state(third))[0] == "superseded"
    assert await town.rules() == ["no work on mondays"]


async def test_a_constraint_whose_effect_reads_differently_by_now_is_not_written(town: AgentHarness) -> None:
    """The person changed the replaced rule after the card was made."""
    await town.click(await town.constraint(QUIET), "apply")
    (version,) = await town.harness.store.constraints.of(ANNA)
    second = await town.constraint({**QUIET, "name": "No calls before eleven"}, replaces=version.uid)
    mine = version.record.model_copy(update={"name": "No calls before nine"})
    revise = ReviseConstraint(
        command_id="mine",
        user_id=ANNA,
        at=town.harness.clock.now(),
        session_id=town.anna.session_id,
        uid=version.uid,
        record=mine,
    )
    await town.anna.send(revise)
    assert await town.click(second, "apply") is None
    assert await town.state(second) == ("outdated", OTHERWISE)
    assert await town.rules() == ["No calls before nine"]


async def test_a_session_that_is_gone_takes_nothing(town: AgentHarness) -> None:
    proposal = await town.patch(AFTERNOON)
    await town.anna.press("Cancel")
    assert await town.click(proposal, "apply") is None
    assert await town.state(proposal) == (
        "outdated",
        "That plan is closed, so it cannot be changed.",
    )


async def test_what_cannot_be_proposed_is_said_at_once(town: AgentHarness) -> None:
    """Each gets one sentence, and the person is not asked."""
    meeting(town.harness, "Standup", "16:00", "16:30")
    plan = await town.agents.expect_success("get_plan")
    base = {"date": plan["date"], "version": plan["version"], "reason": "Why not."}
    refusals: dict[str, dict[str, Any]] = {
        "There is no block at position 9": {"patch": {"ops": [{"op": "re", "i": 9}]}},
        "“x” is not a field I know here": {"patch": {"ops": [], "x": 1}},
        "That changes nothing": {"patch": {"ops": []}},
        "The plan has changed since that version": {"version": "old", "patch": {"ops": [AFTERNOON]}},
        "Nothing is planned for": {"date": "2026-03-09", "patch": {"ops": [AFTERNOON]}},
        "cannot be looked through": {"patch": {"ops": [{"op": "ue", "i": 0, "d": "x" * 400}]}},
        "“reason”": {"patch": {"ops": [AFTERNOON]}, "reason": "x" * 501},
    }
    for sentence, changes in refusals.items():
        assert sentence in await town.agents.refusal("propose_patch", {**base, **changes})
    rules = {
        "for a single plan": {**QUIET, "scope": "session"},
        "Leave out uid": {**QUIET, "lifecycle": {"uid": "mine"}},
        "declined from the start": {**QUIET, "status": "declined"},
        "“colour” is not a field": {**QUIET, "colour": 1},
        "password": {**QUIET, "description": f"sk-{'Ab1' * 10}"},
    }
    for sentence, record in rules.items():
        assert sentence in await town.agents.refusal("propose_constraint", {"constraint_record": record, "reason": "x"})
    assert "I don't know that rule" in await town.agents.refusal(
        "propose_constraint", {"constraint_record": QUIET, "replaces": "nothing", "reason": "x"}
    )
    assert await town.harness.waiting() == 0
