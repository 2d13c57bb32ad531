"""What a person sees of a turn that takes its time, on the local workspace: words, progress, Stop; and no ghosts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.chat import Chat, Json, Person, chat_at, control, eventually, workspace_at
from tests.scenarios.scripted_door import ScriptedDoor

from fateforger.session.cards import Activity, Progress
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.thread import Start
from fateforger.slack.phrases import STOP_TOO_LATE
from fateforger.slack.progress import Timing
from localslack import Fault, Workspace

BRISK = Timing(stop=0.4, gap=0.05)


class Held:
    """Turns that do not go on before they are told to, or stopped."""

    def __init__(self, door: ScriptedDoor) -> None:
        self.door = door
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        door.before_handling = self

    async def __call__(self, command: InboxCommand) -> None:
        if not isinstance(command, Start):
            self.begun.set()
            await self.go_on.wait()


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    async with workspace_at(tmp_path) as served:
        yield served


@pytest.fixture
async def chat(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Chat]:
    async with chat_at(workspace, tmp_path, timing=BRISK) as running:
        yield running


@pytest.fixture
async def alex(workspace: Workspace) -> AsyncIterator[Person]:
    person = Person(workspace)
    yield person
    await person.http.aclose()


async def status(alex: Person, ts: str) -> str:
    """The status line of a thread; empty when there is none."""
    session = (await alex.get("/ui/messages", channel=alex.channel, thread_ts=ts))["session"]
    return str((session or {}).get("shown", ""))


async def reads(alex: Person, ts: str, words: str) -> None:
    async def look() -> bool:
        return await status(alex, ts) == words

    await eventually(look, f"the status “{words}”")


async def test_words_within_half_a_second_and_gone_with_the_card(chat: Chat, alex: Person) -> None:
    """S115, S217: the same card is what it was; the words are in the status line only, and move on."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = Held(chat.door)
    assert Timing().soon < 0.5
    await alex.use(root, "Count")
    await reads(alex, ts, "is thinking…")
    for progress, words in (
        (Progress(doing=Activity.READING), "is reading your message…"),
        (Progress(doing=Activity.WRITING), "is writing to your calendar…"),
        (Progress(doing=Activity.WRITING, done=12, of=40), "is writing to your calendar… 12 of 40 done"),
        (
            Progress(doing=Activity.WRITING, done=12, of=40, waits=23),
            "is writing to your calendar… 12 of 40 done, waiting 23 s for your calendar",
        ),
    ):
        chat.door.tell(progress)
        await reads(alex, ts, words)
    assert len(await alex.thread(ts)) == 1
    held.go_on.set()
    await alex.sees(ts, "1 steps")
    await reads(alex, ts, "")
    assert len(await alex.thread(ts)) == 2


async def test_a_quick_turn_says_nothing(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """Nobody wants a flicker: no call goes out, unless a process before may have left something."""
    said: list[str] = []
    async with chat_at(workspace, tmp_path, timing=replace(BRISK, soon=60.0)) as chat:
        ts = await alex.start()
        set_status = workspace.set_status

        def noting(channel: Any, thread_ts: str, shown: str, loading: Any = (), **fields: Any) -> None:
            said.append(shown)
            set_status(channel, thread_ts, shown, loading, **fields)

        workspace.set_status = noting  # type: ignore[method-assign]  # listens in
        root = (await alex.thread(ts))[0]
        await alex.use(root, "Count")
        await alex.sees(ts, "1 steps")
        assert chat.room is not None
    assert [words for words in said if words] == []


async def test_words_go_away_when_the_turn_fails(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]

    async def breaks(_command: InboxCommand) -> None:
        await asyncio.sleep(0.3)  # longer than a moment
        raise RuntimeError("broken")

    chat.door.before_handling = breaks
    await alex.use(root, "Count")
    await reads(alex, ts, "is thinking…")
    await alex.sees(ts, "I'm sorry")
    await reads(alex, ts, "")


async def test_slacks_stop_reaches_the_turn_while_its_thread_is_busy(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = Held(chat.door)
    chat.door.stoppable = True
    chat.door.when_stopped = held.go_on.set
    await alex.use(root, "Count")
    await alex.use(root, "Count")
    await held.begun.wait()
    await reads(alex, ts, "is thinking…")
    assert await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts) == {"ok": True}
    await alex.sees(ts, "1 steps")
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    assert [session_id for session_id, _ in chat.door.stops] == [session.id]
    await reads(alex, ts, "")
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"] is False


async def test_a_stop_that_comes_too_late_says_so_to_the_person_alone(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    held = Held(chat.door)
    await alex.use(root, "Count")
    await reads(alex, ts, "is thinking…")
    assert (await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts))["ok"]
    held.go_on.set()
    late = await alex.sees(ts, STOP_TOO_LATE)
    assert late["ephemeral"]
    await alex.sees(ts, "1 steps")


@pytest.mark.parametrize("error", ["not_agent_app", "missing_scope", "unknown_method"])
async def test_without_a_status_line_the_card_says_it_and_stops_it(chat: Chat, alex: Person, error: str) -> None:
    """S217: one small line under the card that stands, never a message; the answer takes its place."""
    chat.workspace.faults.plan("assistant.threads.setStatus", Fault(error=error), times=1000)
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    card = await alex.sees(ts, "1 steps")
    held = Held(chat.door)
    chat.door.stoppable = True
    chat.door.when_stopped = held.go_on.set
    await alex.use(card, "Count")
    await alex.sees(ts, "_Thinking…_")
    chat.door.tell(Progress(doing=Activity.WRITING, done=12, of=40))
    busy = await alex.sees(ts, "_Writing to your calendar… 12 of 40 done_")
    with_stop = await eventually(stop_on(alex, ts), "a Stop")
    assert busy["ts"] == with_stop["ts"] == card["ts"]
    await alex.use(with_stop, "Stop")
    await alex.use(with_stop, "Stop")
    done = await alex.sees(ts, "2 steps")
    assert done["ts"] == card["ts"]
    assert "Writing to your calendar" not in str(await alex.thread(ts))
    assert len(await alex.thread(ts)) == 2
    assert len(chat.door.stops) == 1


async def test_a_turn_without_a_card_of_its_own_takes_the_line_away_again(chat: Chat, alex: Person) -> None:
    chat.workspace.faults.plan("assistant.threads.setStatus", Fault(error="not_agent_app"), times=1000)
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    before = await alex.sees(ts, "1 steps")
    held = Held(chat.door)
    chat.door.mute = True
    await alex.use(before, "Count")
    await alex.sees(ts, "_Thinking…_")
    held.go_on.set()

    async def as_before() -> bool:
        return named((await alex.thread(ts))[-1]["blocks"]) == named(before["blocks"])

    await eventually(as_before, "the card as it was")


async def test_after_a_crash_no_words_are_left(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """The words of a turn that died, and of one that died after its answer, are gone once the program is back."""
    async with chat_at(workspace, tmp_path, timing=BRISK):
        answered = await alex.start()
        asked = await alex.start()
    channel = workspace.store.channels.get(alex.channel)
    assert channel is not None
    for ts in (answered, asked):
        workspace.set_status(channel, ts, "is thinking…", status="processing")
    root = (await alex.thread(asked))[0]
    async with chat_at(workspace, tmp_path, timing=BRISK):
        await reads(alex, answered, "")
        await reads(alex, asked, "")
        workspace.set_status(channel, asked, "is thinking…", status="processing")
        await alex.use(root, "Count")
        await alex.sees(asked, "1 steps")
        await reads(alex, asked, "")


def named(blocks: list[Json]) -> list[Json]:
    """Blocks without the ids that the workspace makes up for each rendering."""
    return [{key: value for key, value in block.items() if key != "block_id"} for block in blocks]


def stop_on(alex: Person, ts: str) -> Callable[[], Any]:
    """The message of a thread that has a Stop."""

    async def look() -> Json | None:
        for message in await alex.thread(ts):
            try:
                control(message["blocks"], "Stop")
            except (AssertionError, KeyError):
                continue
            return message
        return None

    return look
