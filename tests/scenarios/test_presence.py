"""A person's view of a long turn, on the local workspace: words, steps, Stop, and no leftovers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.chat import Chat, Json, Person, chat_at, control, eventually, workspace_at
from tests.scenarios.scripted_coordinator import ScriptedCoordinator
from tests.scenarios.store_faults import Failing

from fateforger.session.cards import Activity, Progress
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.thread import StartTimeboxing
from fateforger.slack.phrases import STOP_TOO_LATE
from fateforger.slack.poster import MARK
from fateforger.slack.progress import Timing
from fateforger.workers.lanes import STOP_TRIES
from localslack import Fault, Workspace
from localslack.errors import Faults

BRISK = Timing(stop=0.4, gap=0.05)


class HeldTurns:
    """Turns that wait until they are released or stopped."""

    def __init__(self, coordinator: ScriptedCoordinator) -> None:
        self.coordinator = coordinator
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        coordinator.before_handling = self

    async def __call__(self, command: InboxCommand) -> None:
        if not isinstance(command, StartTimeboxing):
            self.begun.set()
            await self.go_on.wait()


@pytest.fixture
async def chat(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Chat]:
    async with chat_at(workspace, tmp_path, timing=BRISK) as running:
        yield running


@pytest.fixture
async def without_agents(tmp_path: Path) -> AsyncIterator[tuple[Chat, Person]]:
    """Yield a workspace without agent sessions, and a person in it."""
    async with workspace_at(tmp_path, agents=False) as served, chat_at(served, tmp_path, timing=BRISK) as running:
        person = Person(served)
        yield running, person
        await person.http.aclose()


WORKS, RESTS = "is working…", ""


async def session_of(alex: Person, ts: str) -> Json:
    """Return the agent session of a thread; empty when there is none."""
    found: Json | None = (await alex.get("/ui/messages", channel=alex.channel, thread_ts=ts))["session"]
    return found or {}


async def reads(alex: Person, ts: str, **wanted: str) -> None:
    async def look() -> bool:
        session = await session_of(alex, ts)
        return all(session.get(name, "") == value for name, value in wanted.items())

    await eventually(look, f"a session with {wanted}")


def changes_of(workspace: Workspace) -> list[Json]:
    """Record the state of agent sessions from now on, at each change."""
    seen: list[Json] = []
    tell_session = workspace.tell_session

    def noting(channel: Any, thread_ts: str) -> None:
        seen.append(workspace.store.sessions.get(channel.id, thread_ts) or {})
        tell_session(channel, thread_ts)

    workspace.tell_session = noting  # type: ignore[method-assign]  # listens in
    return seen


async def begun_by_words(alex: Person, chat: Chat) -> tuple[str, HeldTurns]:
    """Return a thread with a card, whose person has just written a message that takes time."""
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    await alex.sees(ts, "1 steps")
    held = HeldTurns(chat.coordinator)
    await alex.say("make it lighter", ts)
    await held.begun.wait()
    return ts, held


async def streaming(alex: Person, ts: str, *steps: tuple[str, str]) -> Json:
    """Return the message of a thread that shows these steps, as soon as it does."""

    async def look() -> Json | None:
        last = (await alex.thread(ts))[-1]
        shown = [(block.get("title"), block.get("status")) for block in last.get("blocks", ())]
        return last if last.get("streaming_state") == "in_progress" and shown == list(steps) else None

    return await eventually(look, f"the steps {steps}")


# --- where Slack has agent sessions


async def test_slack_says_that_the_bot_is_working_and_what_it_does_is_under_the_card(chat: Chat, alex: Person) -> None:
    """S115, S217, S271: Slack's own words and Stop; a longer turn also says what it does, once and without a second Stop."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    card = await alex.sees(ts, "1 steps")
    held = HeldTurns(chat.coordinator)
    assert Timing().soon < 0.5
    await alex.use(card, "Count")
    await reads(alex, ts, status="processing", shown=WORKS)
    for progress, words in (
        (Progress(doing=Activity.READING), "_Reading your message…_"),
        (Progress(doing=Activity.WRITING), "_Writing to your calendar…_"),
        (Progress(doing=Activity.WRITING, done=12, of=40), "_Writing to your calendar… 12 of 40 done_"),
        (
            Progress(doing=Activity.WRITING, done=12, of=40, waits=23),
            "_Writing to your calendar… 12 of 40 done, waiting 23 s for your calendar_",
        ),
    ):
        chat.coordinator.tell(progress)
        assert (await alex.sees(ts, words))["ts"] == card["ts"]
    assert await stop_on(alex, ts)() is None
    assert len(await alex.thread(ts)) == 2
    held.go_on.set()
    assert (await alex.sees(ts, "2 steps"))["ts"] == card["ts"]
    await reads(alex, ts, status="active", shown=RESTS)
    assert "Writing to your calendar" not in str(await alex.thread(ts))
    assert len(await alex.thread(ts)) == 2


async def test_a_quick_turn_says_nothing(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """The status must not flicker: no call goes out, unless an earlier process may have left a status."""
    changes = changes_of(workspace)
    async with chat_at(workspace, tmp_path, timing=replace(BRISK, soon=60.0)):
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        await alex.sees(ts, "1 steps")
    assert [change for change in changes if change.get("status") == "processing"] == []


async def test_words_go_away_when_the_turn_fails(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]

    async def breaks(_command: InboxCommand) -> None:
        await asyncio.sleep(0.3)  # longer than a moment
        raise RuntimeError("broken")

    chat.coordinator.before_handling = breaks
    await alex.use(root, "Count")
    await reads(alex, ts, shown=WORKS)
    await alex.sees(ts, "I'm sorry")
    await reads(alex, ts, shown=RESTS)


async def test_slacks_stop_reaches_the_turn_while_its_thread_is_busy(chat: Chat, alex: Person) -> None:
    """S271: and the bot ends the status itself, as Slack wants it."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = HeldTurns(chat.coordinator)
    chat.coordinator.stoppable = True
    chat.coordinator.when_stopped = held.go_on.set
    await alex.use(root, "Count")
    await alex.use(root, "Count")
    await held.begun.wait()
    await reads(alex, ts, shown=WORKS)
    assert await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts) == {"ok": True}
    await alex.sees(ts, "1 steps")
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    assert [session_id for session_id, _ in chat.coordinator.stops] == [session.id]
    await reads(alex, ts, status="active", shown=RESTS)
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"] is False


async def test_a_stop_is_tried_as_long_as_a_turn_is_under_way(chat: Chat, alex: Person) -> None:
    """S271: any of several programs may make a try, but only the one that runs the turn can stop it."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = HeldTurns(chat.coordinator)
    chat.coordinator.when_stopped = held.go_on.set
    await alex.use(root, "Count")
    await held.begun.wait()
    await reads(alex, ts, shown=WORKS)
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"]
    await eventually(lambda: tries_of_stop(chat), f"more than {STOP_TRIES} tries elsewhere")
    chat.coordinator.stoppable = True
    await alex.sees(ts, "1 steps")
    assert STOP_TOO_LATE not in str(await alex.thread(ts))


async def tries_of_stop(chat: Chat) -> bool:
    query = "SELECT max(attempts) FROM job WHERE lane = 'stop'"
    tries = await chat.store.database.read(lambda connection: connection.exec_driver_sql(query).scalar())
    return (tries or 0) > STOP_TRIES + 2


async def test_a_stop_that_comes_too_late_says_so_to_the_person_alone(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = HeldTurns(chat.coordinator)
    await alex.use(root, "Count")
    await reads(alex, ts, shown=WORKS)
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"]
    held.go_on.set()
    late = await alex.sees(ts, STOP_TOO_LATE)
    assert late["ephemeral"]
    await alex.sees(ts, "1 steps")


async def test_a_stop_where_nothing_runs_any_more_ends_the_status(chat: Chat, alex: Person) -> None:
    """S271: Slack leaves that to the app."""
    ts = await alex.start()
    channel = chat.workspace.store.channels.get(alex.channel)
    assert channel is not None
    chat.workspace.set_session_status(channel, ts, "processing")
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"]
    await alex.sees(ts, STOP_TOO_LATE)
    await reads(alex, ts, status="active")


async def test_the_steps_of_a_turn_become_its_card(chat: Chat, alex: Person) -> None:
    """S273: an answer at the end of the thread begins as the steps of its turn, and ends as if it had been posted."""
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await streaming(alex, ts, ("Reading your message…", "in_progress"))
    chat.coordinator.tell(Progress(doing=Activity.WRITING, done=2, of=3))
    steps = await streaming(
        alex,
        ts,
        ("Reading your message…", "complete"),
        ("Writing to your calendar… 2 of 3 done", "in_progress"),
    )
    held.go_on.set()
    answer = await alex.sees(ts, "2 steps")
    assert answer["ts"] == steps["ts"]
    assert answer["metadata"]["event_type"] == MARK
    await reads(alex, ts, status="active")
    chat.workspace.faults.plan("chat.startStream", Fault(error="feature_not_enabled"), times=1000)
    other, held = await begun_by_words(alex, chat)
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await alex.sees(other, "_Reading your message…_")  # under the card, which is further up
    held.go_on.set()
    posted = await alex.sees(other, "2 steps")
    assert "streaming_state" not in posted
    assert shape(answer) == shape(posted)
    assert len(await alex.thread(ts)) == len(await alex.thread(other))


async def test_stop_ends_the_steps_and_the_answer_takes_their_place(chat: Chat, alex: Person) -> None:
    """S271, S273: Slack has ended the stream by then."""
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.stoppable = True
    chat.coordinator.when_stopped = held.go_on.set
    chat.coordinator.tell(Progress(doing=Activity.READING))
    steps = await streaming(alex, ts, ("Reading your message…", "in_progress"))
    assert await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts) == {"ok": True}
    assert (await alex.sees(ts, "2 steps"))["ts"] == steps["ts"]
    await reads(alex, ts, status="active")


async def test_steps_without_an_answer_are_removed(chat: Chat, alex: Person) -> None:
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.mute = True
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await streaming(alex, ts, ("Reading your message…", "in_progress"))
    held.go_on.set()

    async def is_gone() -> bool:
        return "Reading your message" not in str(await alex.thread(ts))

    await eventually(is_gone, "the thread without the steps")
    await reads(alex, ts, status="active")


async def test_an_answer_that_slack_is_slow_to_take_is_one_answer(chat: Chat, alex: Person) -> None:
    """S273: the outcome of a failed call is looked up in Slack, so nothing is there twice."""
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await streaming(alex, ts, ("Reading your message…", "in_progress"))
    chat.workspace.faults.plan("chat.stopStream", Fault(status=500, after_effect=True))
    chat.workspace.faults.plan("chat.update", Fault(status=500))
    chat.workspace.faults.plan("chat.update", Fault(status=500, after_effect=True))
    held.go_on.set()
    await alex.sees(ts, "2 steps")
    await reads(alex, ts, status="active")
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None

    async def over() -> bool:
        return not chat.room._presence._places and not await chat.store.outbox.owes(session.id)

    await eventually(over, "the end of the turn")
    answers = [message for message in await alex.thread(ts) if "2 steps" in str(message)]
    assert len(answers) == 1
    assert "Reading your message" not in str(await alex.thread(ts))


async def test_a_death_between_the_steps_and_the_answer(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """S273: the steps have ended, but the card has not taken their place."""
    async with chat_at(workspace, tmp_path, timing=BRISK) as chat:
        ts, held = await begun_by_words(alex, chat)
        chat.coordinator.tell(Progress(doing=Activity.READING))
        steps = await streaming(alex, ts, ("Reading your message…", "in_progress"))
        workspace.faults.plan("chat.update", Fault(status=500), times=1000)
        held.go_on.set()

        async def has_ended() -> bool:
            return (await alex.thread(ts))[-1].get("streaming_state") == "completed"

        await eventually(has_ended, "the end of the steps")
    assert (await alex.thread(ts))[-1]["ts"] == steps["ts"]
    workspace.faults = Faults()
    async with chat_at(workspace, tmp_path, timing=BRISK):
        await alex.sees(ts, "2 steps")

        async def one_answer() -> bool:
            return [bool(message.get("streaming_state")) for message in await alex.thread(ts)].count(True) == 0

        await eventually(one_answer, "the thread without the steps")
    assert len([message for message in await alex.thread(ts) if "2 steps" in str(message)]) == 1


async def test_the_answer_stays_below_what_was_said_meanwhile(chat: Chat, alex: Person) -> None:
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await streaming(alex, ts, ("Reading your message…", "in_progress"))
    said = (await alex.say("and start at 8", ts))["message"]
    held.go_on.set()
    answer = await alex.sees(ts, "3 steps")
    assert float(answer["ts"]) > float(said["ts"])
    assert "Reading your message" not in str(await alex.thread(ts))


# --- the card under the message


async def end_of_turns(chat: Chat, alex: Person, ts: str) -> None:
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None

    async def over() -> bool:
        return not chat.room._presence._places and not await chat.store.outbox.owes(session.id)

    await eventually(over, "the end of the turns")


def buttons(message: Json) -> list[str]:
    return [
        element["text"]["text"]
        for block in message["blocks"]
        for element in block.get("elements", ())
        if element["type"] == "button"
    ]


async def test_a_card_that_the_turn_retired_has_no_buttons_again(chat: Chat, alex: Person) -> None:
    """S217: the line under a card goes away with the card's controls, not instead of them."""
    ts = await alex.start()
    held = HeldTurns(chat.coordinator)
    await alex.use((await alex.thread(ts))[0], "Count")
    await held.begun.wait()
    chat.coordinator.tell(Progress(doing=Activity.READING))
    assert (await alex.sees(ts, "_Reading your message…_"))["ts"] == ts
    held.go_on.set()
    await alex.sees(ts, "1 steps")
    await end_of_turns(chat, alex, ts)
    assert [bool(buttons(message)) for message in await alex.thread(ts)] == [False, True]
    assert "Reading your message" not in str(await alex.thread(ts))


async def test_the_line_of_the_next_turn_is_under_the_next_card(chat: Chat, alex: Person) -> None:
    """S217: two clicks, one right after the other; the first one's card retires the one that was clicked."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = HeldTurns(chat.coordinator)
    await alex.use(root, "Count")
    await held.begun.wait()
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await alex.sees(ts, "_Reading your message…_")
    another = HeldTurns(chat.coordinator)
    await alex.use((await alex.thread(ts))[0], "datepicker", selected_date="2026-11-27")
    held.go_on.set()
    card = await alex.sees(ts, "1 steps")
    await another.begun.wait()
    chat.coordinator.tell(Progress(doing=Activity.WRITING))
    assert (await alex.sees(ts, "_Writing to your calendar…_"))["ts"] == card["ts"]
    assert not buttons((await alex.thread(ts))[0])
    another.go_on.set()
    await alex.sees(ts, "2 steps")
    await end_of_turns(chat, alex, ts)
    assert [bool(buttons(message)) for message in await alex.thread(ts)] == [False, True]
    assert "Writing to your calendar" not in str(await alex.thread(ts))


async def test_the_line_of_a_turn_that_died_goes_when_the_turn_is_over(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S217, S241: also if the turn, once it is carried out, has nothing to show."""
    async with chat_at(workspace, tmp_path, timing=BRISK) as chat:
        ts = await alex.start()
        held = HeldTurns(chat.coordinator)
        await alex.use((await alex.thread(ts))[0], "Count")
        await held.begun.wait()
        chat.coordinator.tell(Progress(doing=Activity.READING))
        await alex.sees(ts, "_Reading your message…_")
        workspace.faults.plan("chat.update", Fault(status=500), times=1000)
    assert "Reading your message" in str(await alex.thread(ts))
    workspace.faults = Faults()

    def say_nothing(coordinator: ScriptedCoordinator) -> None:
        coordinator.mute = True

    async with chat_at(workspace, tmp_path, timing=BRISK, prepare=say_nothing):

        async def is_gone() -> bool:
            return "Reading your message" not in str(await alex.thread(ts))

        await eventually(is_gone, "the card without the line")
        assert buttons((await alex.thread(ts))[0])


async def test_a_card_that_is_not_recorded_yet_stays(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """S217: taking the line away shows what is recorded, but not over a newer card."""
    faults = Failing()
    timing = replace(BRISK, arrival=0.1)
    async with chat_at(workspace, tmp_path, timing=timing, outbox=faults.outbox) as chat:
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        card = await alex.sees(ts, "1 steps")
        await end_of_turns(chat, alex, ts)
        held = HeldTurns(chat.coordinator)
        await alex.use(card, "Count")
        await held.begun.wait()
        chat.coordinator.tell(Progress(doing=Activity.READING))
        await alex.sees(ts, "_Reading your message…_")
        faults.sent = True
        held.go_on.set()
        assert (await alex.sees(ts, "2 steps"))["ts"] == card["ts"]
        await reads(alex, ts, status="active")
        faults.sent = False
        await end_of_turns(chat, alex, ts)
        assert [message["text"] for message in await alex.thread(ts)] == ["0 steps", "2 steps"]


# --- the title of a thread


async def test_a_thread_has_a_title_that_is_set_once(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """S272: and again only when it changes; the title that the person chose stays, also after a restart."""
    changes = changes_of(workspace)
    async with chat_at(workspace, tmp_path, timing=BRISK) as chat:
        assert (await alex.slash("2026-11-25"))["ok"]
        [root] = await eventually(alex.roots, "the root of a plan")
        ts = root["ts"]
        await reads(alex, ts, title="Wed 25 Nov: planning")
        for count in range(1, 4):
            await alex.use((await alex.thread(ts))[-1], "Count")
            await alex.sees(ts, f"{count} steps")
        assert [change["title"] for change in changes if "title" in change and "status" not in change] == [
            "Wed 25 Nov: planning"
        ]
        assert (await alex.post("/ui/rename", channel=alex.channel, thread_ts=ts, title="The big day"))["ok"]

        async def is_named() -> bool:
            session = await chat.store.sessions.in_thread(alex.channel, ts)
            return session is not None and session.thread.named

        await eventually(is_named, "a title that is the person's")
    async with chat_at(workspace, tmp_path, timing=BRISK):
        await alex.use((await alex.thread(ts))[-1], "Count")
        await alex.sees(ts, "4 steps")
        await reads(alex, ts, status="active")
    assert (await session_of(alex, ts))["title"] == "The big day"


# --- where Slack has none


@pytest.mark.parametrize(
    "error", ["feature_disabled", "not_agent_app", "feature_not_enabled", "missing_scope", "unknown_method"]
)
async def test_without_agent_sessions_the_card_says_it_and_stops_it(
    chat: Chat, alex: Person, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    """S217, S271: one small line under the card, never a message; the answer takes its place. Slack is asked once."""
    chat.workspace.faults.plan("agents.sessions.setStatus", Fault(error=error), times=1000)
    chat.workspace.faults.plan("agents.sessions.rename", Fault(error=error), times=1000)
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    card = await alex.sees(ts, "1 steps")
    held = HeldTurns(chat.coordinator)
    chat.coordinator.stoppable = True
    chat.coordinator.when_stopped = held.go_on.set
    await alex.use(card, "Count")
    await alex.sees(ts, "_Thinking…_")
    chat.coordinator.tell(Progress(doing=Activity.WRITING, done=12, of=40))
    busy = await alex.sees(ts, "_Writing to your calendar… 12 of 40 done_")
    with_stop = await eventually(stop_on(alex, ts), "a Stop")
    assert busy["ts"] == with_stop["ts"] == card["ts"]
    await alex.use(with_stop, "Stop")
    await alex.use(with_stop, "Stop")
    done = await alex.sees(ts, "2 steps")
    assert done["ts"] == card["ts"]
    assert "Writing to your calendar" not in str(await alex.thread(ts))
    assert len(await alex.thread(ts)) == 2
    assert len(chat.coordinator.stops) == 1
    assert len([record for record in caplog.records if "has no agent sessions" in record.message]) == 1


async def test_a_workspace_without_agents_gets_its_answers_as_ever(without_agents: tuple[Chat, Person]) -> None:
    """S271, S272, S273: there is no session, title or stream, and no message about it."""
    chat, alex = without_agents
    ts, held = await begun_by_words(alex, chat)
    chat.coordinator.tell(Progress(doing=Activity.READING))
    await alex.sees(ts, "_Reading your message…_")
    await eventually(stop_on(alex, ts), "a Stop")
    held.go_on.set()
    await alex.sees(ts, "2 steps")

    async def quiet() -> bool:
        return "Reading your message" not in str(await alex.thread(ts))

    await eventually(quiet, "the card as it was")
    assert await session_of(alex, ts) == {}
    assert not any(message.get("ephemeral") for message in await alex.thread(ts))


async def test_a_turn_without_a_card_of_its_own_takes_the_line_away_again(chat: Chat, alex: Person) -> None:
    chat.workspace.faults.plan("agents.sessions.setStatus", Fault(error="not_agent_app"), times=1000)
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    before = await alex.sees(ts, "1 steps")
    held = HeldTurns(chat.coordinator)
    chat.coordinator.mute = True
    await alex.use(before, "Count")
    await alex.sees(ts, "_Thinking…_")
    held.go_on.set()

    async def as_before() -> bool:
        return strip_ids((await alex.thread(ts))[-1]["blocks"]) == strip_ids(before["blocks"])

    await eventually(as_before, "the card as it was")


async def test_after_a_crash_nothing_is_left(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """Leftovers of a turn that died, and of one that died after its answer, are gone once the program is back."""
    async with chat_at(workspace, tmp_path, timing=BRISK):
        answered = await alex.start()
        asked = await alex.start()
    channel = workspace.store.channels.get(alex.channel)
    assert channel is not None
    for ts in (answered, asked):
        workspace.set_session_status(channel, ts, "processing")
    root = (await alex.thread(asked))[0]
    async with chat_at(workspace, tmp_path, timing=BRISK):
        await reads(alex, answered, status="active")
        await reads(alex, asked, status="active")
        workspace.set_session_status(channel, asked, "processing")
        await alex.use(root, "Count")
        await alex.sees(asked, "1 steps")
        await reads(alex, asked, status="active")


def strip_ids(blocks: list[Json]) -> list[Json]:
    """Return the blocks without the ids that the workspace makes up for each rendering."""
    return [{key: value for key, value in block.items() if key != "block_id"} for block in blocks]


def shape(message: Json) -> Json:
    """Return the visible form of a message, without the parts that differ in each."""
    return {"text": message["text"], "blocks": [block["type"] for block in message["blocks"]]}


def stop_on(alex: Person, ts: str) -> Callable[[], Any]:
    """Return a condition for the message of a thread that has a Stop."""

    async def look() -> Json | None:
        for message in await alex.thread(ts):
            try:
                control(message["blocks"], "Stop")
            except (AssertionError, KeyError):
                continue
            return message
        return None

    return look
