"""A thread as an agent session of Slack: what is called when, and what a refusal means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from tests.unit.conversation.sessions import plan_session, question

from fateforger.adapters.store.store import open_store
from fateforger.session.model import Session
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import Sent
from fateforger.slack import agent_threads
from fateforger.slack.agent_threads import REFUSALS, AgentThreads, Step
from fateforger.slack.client import SlackLogin, new_client, new_session
from fateforger.slack.limits import Pace
from fateforger.slack.poster import MARK
from fateforger.values import replace

Json = dict[str, Any]
PLACE = Sent("D1", "1.0")


class Slack:
    """Notes each call, and answers it with what is planned for its method, or as if it had worked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Json]] = []
        self.answers: dict[str, Json] = {}

    async def answer(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        given = {**request.query, **(await request.json() if request.can_read_body else {})}
        self.calls.append((method, {name: value for name, value in given.items() if name != "team_id"}))
        return web.json_response({"ok": True, "ts": "5.0", **self.answers.get(method, {})})

    def list_calls(self, method: str) -> list[Json]:
        return [given for name, given in self.calls if name == method]


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
async def threads(slack: Slack) -> AsyncIterator[AgentThreads]:
    app = web.Application()
    app.router.add_route("*", "/api/{method}", slack.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    session, store = new_session(), open_store(":memory:")
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    client = new_client(SlackLogin("xoxb-1", "xapp-1", url), session)
    client.team = "T1"
    yield AgentThreads(client, Pace(), store.messages)
    await session.close()
    await store.aclose()
    await runner.cleanup()


def in_thread(**changes: Any) -> Session:
    return replace(plan_session(TimeboxingStage.REFINE), channel="D1", thread_ts="1.0", **changes)


def asking() -> Session:
    return in_thread().with_sync(questions=(question("a"),))


async def test_a_turn_is_processing_and_then_active_or_suspended(threads: AgentThreads, slack: Slack) -> None:
    """S271: suspended while the card waits for a decision."""
    assert await threads.begin_work("D1", "1.0")
    await threads.end_work("D1", "1.0", in_thread())
    await threads.end_work("D1", "1.0", asking())
    place = {"channel_id": "D1", "thread_ts": "1.0"}
    assert slack.list_calls("agents.sessions.setStatus") == [
        {**place, "status": status} for status in ("processing", "active", "suspended")
    ]


async def test_the_end_of_a_turn_is_tried_again(
    threads: AgentThreads, slack: Slack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S271: Slack would say for an hour that the bot is working. A permanent error is not retried."""
    monkeypatch.setattr(agent_threads, "END_PAUSES", (0.0, 0.0, 0.0))
    for code, tries in (("internal_error", 3), ("channel_not_found", 1), ("feature_disabled", 1)):
        slack.answers["agents.sessions.setStatus"] = {"ok": False, "error": code}
        before = len(slack.calls)
        await threads.end_work("D1", "1.0", None)
        assert len(slack.calls) - before == tries


async def test_a_question_that_comes_without_a_turn_suspends_the_session(threads: AgentThreads, slack: Slack) -> None:
    for session in (in_thread(), asking(), asking(), in_thread()):
        await threads.follow(session)
    assert [given["status"] for given in slack.list_calls("agents.sessions.setStatus")] == ["suspended", "active"]


async def test_while_a_turn_runs_the_status_stays(threads: AgentThreads, slack: Slack) -> None:
    await threads.begin_work("D1", "1.0")
    await threads.follow(asking())
    assert len(slack.list_calls("agents.sessions.setStatus")) == 1


@pytest.mark.parametrize("code", sorted(REFUSALS))
async def test_a_workspace_that_refuses_sessions_is_asked_once(
    threads: AgentThreads, slack: Slack, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """S271, S272."""
    slack.answers["agents.sessions.setStatus"] = {"ok": False, "error": code}
    assert not await threads.begin_work("D1", "1.0")
    assert not await threads.begin_work("D1", "2.0")
    await threads.end_work("D1", "1.0", None)
    await threads.follow(in_thread())
    assert [method for method, _ in slack.calls] == ["agents.sessions.setStatus"]
    assert len(caplog.records) == 1


async def test_what_is_refused_in_one_place_is_tried_in_another(threads: AgentThreads, slack: Slack) -> None:
    slack.answers["agents.sessions.setStatus"] = {"ok": False, "error": "channel_not_found"}
    assert not await threads.begin_work("C1", "1.0")
    del slack.answers["agents.sessions.setStatus"]
    assert await threads.begin_work("D1", "1.0")


async def test_a_title_is_set_when_it_changes(threads: AgentThreads, slack: Slack) -> None:
    """S272: in the language of the thread; never again once the person chose one."""
    dutch = in_thread().with_options(language="nl")
    for session in (in_thread(), in_thread(), dutch, in_thread().with_thread(named=True)):
        await threads.follow(session)
    titles = [given["title"] for given in slack.list_calls("agents.sessions.rename")]
    assert titles[0] == "Mon 2 Mar: planning"
    assert titles[1].startswith("Ma 2 mrt")
    assert len(titles) == 2


async def test_a_title_that_slack_did_not_take_is_tried_again(threads: AgentThreads, slack: Slack) -> None:
    slack.answers["agents.sessions.rename"] = {"ok": False, "error": "internal_error"}
    await threads.follow(in_thread())
    await threads.follow(in_thread())
    assert len(slack.list_calls("agents.sessions.rename")) == 2


async def test_steps_are_streamed_as_they_change(threads: AgentThreads, slack: Slack) -> None:
    """S273."""
    await threads.latest.observe("D1", "1.0", "1.0")
    reading, drafting = Step("reading", "Reading…", done=False), Step("drafting", "Drafting…", done=False)
    for steps in ((reading,), (reading,), (replace_done(reading), drafting)):
        assert await threads.narrate("s1", "U1", PLACE, steps)
    [begun] = slack.list_calls("chat.startStream")
    assert (begun["thread_ts"], begun["recipient_team_id"], begun["recipient_user_id"]) == ("1.0", "T1", "U1")
    [grown] = slack.list_calls("chat.appendStream")
    assert [(chunk["id"], chunk["status"]) for chunk in grown["chunks"]] == [
        ("reading", "complete"),
        ("drafting", "in_progress"),
    ]
    assert await threads.latest.count_after("D1", "1.0", "1.0") == 1
    narration = threads.take("s1")
    assert narration is not None
    assert threads.take("s1") is None
    await threads.remove(narration)
    assert [method for method, _ in slack.calls[-2:]] == ["chat.stopStream", "chat.delete"]
    assert await threads.latest.count_after("D1", "1.0", "1.0") == 0


async def test_a_workspace_that_refuses_streams_is_asked_once(threads: AgentThreads, slack: Slack) -> None:
    slack.answers["chat.startStream"] = {"ok": False, "error": "feature_not_enabled"}
    steps = (Step("reading", "Reading…", done=False),)
    assert not await threads.narrate("s1", "U1", PLACE, steps)
    assert not await threads.narrate("s1", "U1", PLACE, steps)
    assert len(slack.list_calls("chat.startStream")) == 1
    assert await threads.begin_work("D1", "1.0")  # that is another feature


async def test_only_what_a_dead_process_streamed_is_removed(threads: AgentThreads, slack: Slack) -> None:
    """S273: not a card, not one that was streamed first, and not the steps of a turn that runs here."""
    await threads.narrate("s1", "U1", PLACE, (Step("reading", "Reading…", done=False),))
    mark = {"event_type": MARK, "event_payload": {"id": "m1"}}
    messages = [
        {"ts": "1.0"},
        {"ts": "2.0", "metadata": mark},
        {"ts": "3.0", "metadata": mark, "streaming_state": "completed"},
        {"ts": "4.0", "streaming_state": "in_progress"},
        {"ts": "5.0", "streaming_state": "in_progress"},
    ]
    slack.answers["conversations.replies"] = {"messages": messages}
    await threads.remove_left("D1", "1.0")
    assert [given["ts"] for given in slack.list_calls("chat.delete")] == ["4.0"]


def replace_done(step: Step) -> Step:
    return Step(step.id, step.title, done=True)
