"""Admission of clients, refusals, and the record that is written before each call."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from tests.factories.agents import ALL, Agents, token_for

from fateforger.agents.clients import Scope
from fateforger.agents.server import NO_TOKEN, TOO_FAST, TOOLS, WRONG_TOKEN
from fateforger.limits import MAX_CALLS_PER_MINUTE
from fateforger.memory.credentials import TOO_LONG

LEAST: dict[str, dict[str, Any]] = {
    "create_task": {"title": "Write the report"},
    "list_tasks": {},
    "pull": {},
    "record_steps": {"task_id": "ff-222222", "steps": [{"do": ["implement"]}]},
    "lay_out_parts": {"task_id": "ff-222222", "parts": [{"title": "Outline"}]},
    "finish_task": {"task_id": "ff-222222", "outcome": "done", "evidence": "It is."},
    "get_plan": {},
    "propose_patch": {"date": "2026-03-02", "version": "x", "patch": {"ops": []}, "reason": "Because."},
    "list_constraints": {},
    "propose_constraint": {"constraint_record": {"name": "No calls before ten"}, "reason": "Because."},
    "get_proposal": {"id": "p1"},
}


def test_each_tool_has_an_example_here() -> None:
    assert set(LEAST) == set(TOOLS)


async def outcomes(agents: Agents) -> list[str | None]:
    return [call.outcome for call in reversed(await agents.store.calls.latest())]


async def test_without_a_token_of_a_client_nothing_is_done(agents: Agents) -> None:
    token = await agents.let_in()
    refused = [
        (None, NO_TOKEN),
        ("", NO_TOKEN),
        ("nonsense", WRONG_TOKEN),
        (token_for("somebody"), WRONG_TOKEN),
        (token[:-1] + "x", WRONG_TOKEN),
    ]
    for given, sentence in refused:
        answer = await agents.call_handler.call("create_task", LEAST["create_task"], given)
        assert (answer.is_error, answer.text) == (True, sentence)
    assert await agents.store.tasks.of("U_ANNA") == ()
    assert await outcomes(agents) == []


async def test_a_revoked_and_an_expired_one_are_refused_and_on_record(agents: Agents) -> None:
    await agents.let_in("gone")
    await agents.store.clients.revoke("gone", now=agents.clock.at)
    await agents.let_in("late", expires_at=agents.clock.at + timedelta(hours=1))
    agents.clock.at += timedelta(hours=1)
    assert "was revoked" in await agents.refusal("create_task", LEAST["create_task"], "gone")
    assert "has expired" in await agents.refusal("create_task", LEAST["create_task"], "late")
    assert await agents.store.tasks.of("U_ANNA") == ()
    assert await outcomes(agents) == ["refused"] * 2


@pytest.mark.parametrize("name", TOOLS)
async def test_each_tool_needs_its_scope(agents: Agents, name: str) -> None:
    needed = TOOLS[name].scope
    scopes = {needed} if isinstance(needed, Scope) else set(needed)
    await agents.let_in("without", scopes=tuple(set(ALL) - scopes))
    refused = await agents.refusal(name, LEAST[name], "without")
    assert (
        refused
        == f"This token may not do that; {name} needs the scope {' or '.join(needed if isinstance(needed, tuple) else (needed,))}."
    )
    assert await outcomes(agents) == ["refused"]


@pytest.mark.parametrize("name", TOOLS)
async def test_what_a_tool_does_not_know_is_refused_in_a_sentence(agents: Agents, name: str) -> None:
    await agents.let_in()
    assert await agents.refusal(name, {**LEAST[name], "colour": 1}) == "“colour” is not a field I know here. (colour)"
    assert TOOLS[name].schema()["additionalProperties"] is False


async def test_types_are_not_guessed(agents: Agents) -> None:
    await agents.let_in()
    for arguments, where in (
        ({"title": "x", "priority": "2"}, "priority"),
        ({"title": 7}, "title"),
        ({}, "title"),
        ({"title": ""}, "title"),
        ({"title": "x", "work": {"kind": "party"}}, "work"),
        ({"title": "x", "work": {"kind": "plan_day", "date": "tomorrow"}}, "work.plan_day.date"),
        ({"title": "x", "work": {"kind": "do", "minutes": 0}}, "work.do.minutes"),
    ):
        refused = await agents.refusal("create_task", arguments)
        assert refused.endswith(f"({where})")
        assert refused.count("\n") == 0
    assert await agents.refusal("launch", {}) == f"There is no tool “launch”. Tools are {', '.join(TOOLS)}."
    assert await agents.store.tasks.of("U_ANNA") == ()


async def test_what_is_too_long_is_refused_before_it_is_read(agents: Agents) -> None:
    """No text stops the program: more than a message of Slack holds is not looked through."""
    await agents.let_in()
    assert await agents.refusal("list_tasks", {"x": "a" * 60_000}) == TOO_LONG
    assert await agents.refusal("list_tasks", {"x": ["Ab1 " * 100] * 400}) == TOO_LONG


async def test_secrets_and_broken_texts_are_refused(agents: Agents) -> None:
    await agents.let_in()
    assert "a password or a key" in await agents.refusal("create_task", {"title": f"use sk-{'Ab1' * 10}"})
    assert await agents.ask("create_task", {"title": "half \ud800"})
    assert [task.spec.title for task in await agents.store.tasks.of("U_ANNA")] == []


async def test_a_call_is_on_record_before_it_is_done(agents: Agents) -> None:
    """The queue is closed to it here, and the line is there all the same."""
    await agents.let_in()
    await agents.expect_success("create_task", {"title": "Write the report"})
    (call,) = await agents.store.calls.latest()
    assert (call.client, call.user_id, call.tool, call.asked, call.outcome) == (
        "robot",
        "U_ANNA",
        "create_task",
        "title",
        "done",
    )


async def test_only_so_many_calls_a_minute(agents: Agents) -> None:
    await agents.let_in()
    await agents.let_in("other")
    for _ in range(MAX_CALLS_PER_MINUTE):
        await agents.expect_success("list_tasks")
    assert await agents.refusal("list_tasks") == TOO_FAST
    assert await agents.refusal("list_tasks") == TOO_FAST
    await agents.expect_success("list_tasks", name="other")
    assert len(await agents.store.calls.latest(client="robot")) == MAX_CALLS_PER_MINUTE + 1
    agents.clock.at += timedelta(minutes=1, seconds=1)
    await agents.expect_success("list_tasks")


async def test_no_token_reaches_the_log(agents: Agents, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = await agents.let_in()
    await agents.call_handler.call("list_tasks", {"token": token}, token)
    await agents.call_handler.call("list_tasks", {}, token[:-1] + "x")
    secret = token.split("_", 2)[2]
    assert secret not in caplog.text
    assert [call.asked for call in await agents.store.calls.latest()] == ["1 unknown"]


async def test_the_log_says_which_proposal_and_which_refusal(agents: Agents) -> None:
    await agents.let_in()
    given = {"constraint_record": {"name": "No calls before ten", "scope": "profile"}, "reason": "You said so."}
    proposal = (await agents.expect_success("propose_constraint", given))["proposal"]["id"]
    await agents.expect_success("get_proposal", {"id": proposal})
    await agents.refusal("list_tasks", {"See the doctor": 1})
    await agents.refusal("See the doctor")
    lines = [(call.tool, call.asked, call.outcome, call.about) for call in await agents.store.calls.latest()]
    assert lines[::-1] == [
        ("propose_constraint", "constraint_record, reason", "done", proposal),
        ("get_proposal", f"id={proposal}", "done", proposal),
        ("list_tasks", "1 unknown", "refused", "bad_input"),
        ("unknown", "", "refused", "refused"),
    ]
