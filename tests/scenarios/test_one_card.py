"""A thread has one card with buttons, whenever the program dies on the way from an answer in the store to its card."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.scenarios.chat import Chat, Json, Person, chat_at, eventually
from tests.scenarios.scripted_coordinator import WELCOME_TEXT, ScriptedCoordinator
from tests.scenarios.store_faults import Failing

from fateforger.session.cards import Activity, Progress
from fateforger.session.commands import InboxCommand
from fateforger.session.store import Sent
from fateforger.slack import delivery
from fateforger.slack.progress import Timing
from localslack import Fault, Workspace
from localslack.errors import Faults

BRISK = Timing(soon=0.0, stop=0.0, gap=0.02)
WRITING = frozenset(
    {
        "chat.postMessage",
        "chat.update",
        "chat.delete",
        "chat.startStream",
        "chat.appendStream",
        "chat.stopStream",
    }
)
READING = "Reading your message"


class FatalWrite(Faults):
    """The end of what a program does in Slack: at its n-th write to a thread, with or without that one."""

    def __init__(self, *, at: int, carried_out: bool) -> None:
        super().__init__()
        self._left = at
        self._carried_out = carried_out

    @property
    def came(self) -> bool:
        return self._left <= 0

    def take(self, method: str) -> Fault | None:
        if method not in WRITING:
            return None
        self._left -= 1
        if self._left > 0:
            return None
        return Fault(status=503, after_effect=self._carried_out and self._left == 0)


@dataclass(frozen=True)
class CardRequest:
    """A request for a step that takes its time, and the card on which it is made."""

    ask: Callable[[Person, str], Awaitable[object]]
    begun: bool
    """True if the card is there already, below the first message of the thread."""
    replies: bool = False


async def click(alex: Person, ts: str) -> None:
    await alex.use(await with_buttons(alex, ts), "Count")


async def say(alex: Person, ts: str) -> None:
    await alex.say("make it lighter", ts)


WAYS = {
    "the card of the next stage": CardRequest(click, begun=False),
    "a card in its place": CardRequest(click, begun=True),
    "a card in its place, and a reply": CardRequest(say, begun=True, replies=True),
    "a card at the end": CardRequest(say, begun=True),
    "a card that moves to the end": CardRequest(say, begun=True, replies=True),
}


@pytest.mark.extra
@pytest.mark.parametrize("name", WAYS)
async def test_a_thread_has_one_card_wherever_the_program_died(
    workspace: Workspace, tmp_path: Path, alex: Person, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S217, S241, S267: it is the newest one, its buttons work, and what the turn has shown meanwhile is gone."""
    if name == "a card that moves to the end":
        monkeypatch.setattr(delivery, "MOST_LATER", 0)
    way, died = WAYS[name], True
    at = 0
    while died:
        at += 1
        for carried_out in (False, True):
            died = await dies_and_goes_on(workspace, tmp_path, alex, way, FatalWrite(at=at, carried_out=carried_out))
    assert at > 2
    await is_not_recorded_and_goes_on(workspace, tmp_path, alex, way)


async def test_an_answer_that_is_there_before_the_thread_is_recorded_waits_for_it(
    workspace: Workspace, tmp_path: Path, alex: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S351: another program may have posted the first message a moment ago. The person is not welcomed instead."""
    recorded, attach = asyncio.Event(), delivery.Delivery._attach

    async def attach_later(self: delivery.Delivery, session_id: str, root: Sent) -> None:
        await recorded.wait()
        await attach(self, session_id, root)

    monkeypatch.setattr(delivery.Delivery, "_attach", attach_later)
    async with chat_at(workspace, tmp_path) as chat:
        ts = await alex.start()
        await alex.say("word 0", ts)
        await eventually(lambda: was_tried_again(chat), "the message waits")
        recorded.set()
        await alex.sees(ts, "• word 0")
        assert WELCOME_TEXT not in str(await alex.thread(ts))


async def was_tried_again(chat: Chat) -> bool:
    query = "SELECT attempts FROM job WHERE lane = 'turn' AND payload LIKE '%word 0%'"
    rows = await chat.store.database.read(lambda connection: connection.exec_driver_sql(query).all())
    return bool(rows) and rows[0][0] > 1


async def dies_and_goes_on(
    workspace: Workspace, folder: Path, alex: Person, way: CardRequest, death: FatalWrite
) -> bool:
    """Return whether the program died before it was done."""
    async with chat_at(workspace, folder, timing=BRISK) as chat:
        ts = await begin(chat, alex, way)
        turn = HeldTurn(chat.coordinator)
        workspace.faults = death
        await way.ask(alex, ts)
        await eventually(lambda: turn.is_shown(alex, ts, death), "what the turn does")
        turn.held = False

        async def over() -> bool:
            return death.came or await is_settled(chat)

        await eventually(over, "the end of the turn, or of the program")
    died = death.came
    workspace.faults = Faults()
    await goes_on(workspace, folder, alex, ts, way)
    return died


async def is_not_recorded_and_goes_on(workspace: Workspace, folder: Path, alex: Person, way: CardRequest) -> None:
    """Fail at the last moment: everything is in Slack, and the store does not know."""
    faults = Failing()
    async with chat_at(workspace, folder, timing=BRISK, outbox=faults.outbox) as chat:
        ts = await begin(chat, alex, way)
        faults.sent = True
        await way.ask(alex, ts)
        await eventually(lambda: is_true(faults.refused > 0), "a message that is not recorded")
    await goes_on(workspace, folder, alex, ts, way)


class HeldTurn:
    """A turn that says what it does until it may go on."""

    def __init__(self, coordinator: ScriptedCoordinator) -> None:
        self.held = True
        self._coordinator = coordinator
        coordinator.before_handling = self

    async def __call__(self, _command: InboxCommand) -> None:
        await eventually(lambda: is_true(not self.held), "the end of the turn")

    async def is_shown(self, alex: Person, ts: str, death: FatalWrite) -> bool:
        self._coordinator.tell(Progress(doing=Activity.READING))
        return death.came or READING in str(await alex.thread(ts))


async def begin(chat: Chat, alex: Person, way: CardRequest) -> str:
    ts = await alex.start()
    if way.begun:
        await click(alex, ts)
        await alex.sees(ts, "1 steps")
    await eventually(lambda: is_settled(chat), "a thread that waits")
    chat.coordinator.replies = way.replies
    return ts


async def goes_on(workspace: Workspace, folder: Path, alex: Person, ts: str, way: CardRequest) -> None:
    """Start the program again, and check the thread and its card."""

    def prepare(coordinator: ScriptedCoordinator) -> None:
        coordinator.replies = way.replies

    async with chat_at(workspace, folder, timing=BRISK, prepare=prepare) as chat:
        await has_one_card(chat, alex, ts, way)


async def has_one_card(chat: Chat, alex: Person, ts: str, way: CardRequest) -> None:
    """Check that the thread has one card with buttons, which is the newest and works."""
    steps = 1 + way.begun
    await alex.sees(ts, f"{steps} steps")
    await eventually(lambda: is_settled(chat), "the end of what was left")

    async def one_card() -> bool:
        thread = await alex.thread(ts)
        return sum(map(has_buttons, thread)) == 1 and READING not in str(thread)

    await eventually(one_card, "a thread with one card", deadline=10)
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    newest = await chat.store.outbox.latest(session.id)
    card = await with_buttons(alex, ts)
    assert newest is not None
    assert (card["metadata"]["event_payload"]["id"], card["text"]) == (newest.id, f"{steps} steps")
    thread = await alex.thread(ts)
    assert [message["text"] for message in thread].count("Heard: make it lighter") <= 1
    assert str(thread).count("Heard: make it lighter") >= way.replies
    await click(alex, ts)
    await alex.sees(ts, f"{steps + 1} steps")
    await eventually(lambda: is_settled(chat), "the end of the next turn")
    assert [has_buttons(message) for message in await alex.thread(ts)].count(True) == 1


async def is_settled(chat: Chat) -> bool:
    """Check that no command, no message and no progress is under way."""
    waiting = (
        "SELECT (SELECT count(*) FROM outbox WHERE state = 'queued')"
        " + (SELECT count(*) FROM job WHERE lane = 'turn' AND state = 'open')"
    )
    left = await chat.store.database.read(lambda connection: connection.exec_driver_sql(waiting).scalar())
    return left == 0 and not chat.room._presence._places


async def with_buttons(alex: Person, ts: str) -> Json:
    (card,) = filter(has_buttons, await alex.thread(ts))
    return card


def has_buttons(message: Json) -> bool:
    return any(block["type"] == "actions" for block in message.get("blocks", ()))


async def is_true(value: bool) -> bool:  # noqa: FBT001  a condition to wait for
    return value
