"""A plan that an earlier program began in a channel goes on in direct messages; what it showed there is taken away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient
from tests.scenarios.chat import BOT_TOKEN, Chat, Json, Person, chat_at, eventually, steps, workspace_at
from tests.scenarios.scripted_coordinator import state_card
from tests.scenarios.test_slack_room import forge, wait_settled

from fateforger.adapters.store.store import Store, open_store
from fateforger.session.messages import Outgoing
from fateforger.session.model import Planning, Session
from fateforger.session.store import Sent
from fateforger.slack import phrases
from fateforger.slack.blocks import render
from localslack import Workspace

GENERAL, ALEX, ROBIN = "C0000GENERAL", "U0000ALEX", "U0000ROBIN"
AT = datetime(2026, 3, 2, 7, tzinfo=UTC)
SECRET = "Therapy with Dr. Secret"


Begun = tuple[Chat, Session, list[str]]


@pytest.fixture
async def begun(tmp_path: Path) -> AsyncIterator[Begun]:
    """Yield the chat, after an earlier program began a session in a channel."""
    async with workspace_at(tmp_path) as workspace:
        store = open_store(tmp_path / "state.sqlite")
        try:
            session, stamps = await begin_in_channel(workspace, store)
        finally:
            await store.aclose()
        async with chat_at(workspace, tmp_path) as running:
            yield running, session, stamps


async def begin_in_channel(workspace: Workspace, store: Store) -> tuple[Session, list[str]]:
    """Leave a session as older versions did: its first message and its card are in a thread of the channel."""
    config = workspace.config
    client = AsyncWebClient(token=BOT_TOKEN, base_url=f"{config.public_url}/api/")
    session = Session(id="s1", user_id=ALEX, channel=GENERAL, created_at=AT, touched_at=AT, tz="Etc/UTC", date=AT.date(), planning=Planning(overview=f"{SECRET}\n"))  # fmt: skip
    stamps: list[str] = []
    messages = []
    for slot in ("root", "stage"):
        item = Outgoing(id=slot, session_id="s1", channel=GENERAL, slot=slot, card=state_card(session))
        shown = render(item.card, session="s1", v=slot)
        thread = stamps[0] if stamps else None
        sent = await client.chat_postMessage(channel=GENERAL, text=shown.text, blocks=shown.blocks, thread_ts=thread)
        stamps.append(str(sent["ts"]))
        messages.append(item)
    await store.sessions.save(session, expected=0, outgoing=messages)
    for item, ts in zip(messages, stamps, strict=True):
        await store.outbox.mark_sent(item.id, Sent(GENERAL, ts), now=AT)
    await store.sessions.attach_thread("s1", GENERAL, stamps[0])
    return session, stamps


@pytest.mark.parametrize("by", ["a message", "a click"])
async def test_it_moves_with_the_next_answer(begun: Begun, by: str) -> None:
    """K14: the answer, and all after it, come in direct messages; in the channel one line says where it goes on, and
    nothing that was planned can be read in the messages that stood last."""
    chat, _, (root, card) = begun
    in_general, alex, robin = (Person(chat.workspace, ALEX, channel=GENERAL), Person(chat.workspace, ALEX),
                               Person(chat.workspace, ROBIN, channel=GENERAL))  # fmt: skip
    assert SECRET in str(await robin.thread(root))
    if by == "a message":
        await in_general.say("what now?", root)
    else:
        await in_general.use((await in_general.thread(root))[1], "Count")

    async def find_moved() -> Json | None:
        return next((m for m in await alex.roots() if m.get("reply_count")), None)

    new_root = await eventually(find_moved, "the plan in direct messages")
    answer = "what now?" if by == "a message" else "count one"
    shown = await alex.sees(new_root["ts"], answer)
    assert steps(shown)[0] == SECRET
    await wait_settled(chat)
    seen = await robin.thread(root)
    assert [m["text"] for m in seen if m["ts"] in {root, card}] == [phrases.MOVED] * 2
    assert SECRET not in str(seen)

    await alex.use(shown, "Count")
    await alex.sees(new_root["ts"], "3 steps")
    await wait_settled(chat)
    assert SECRET not in str(await robin.thread(root))
    assert len(await robin.roots()) == 1
    session = await chat.store.sessions.load("s1")
    assert session is not None
    assert (session.channel, session.thread_ts) == (alex.channel, new_root["ts"])
    for person in (in_general, alex, robin):
        await person.http.aclose()


async def test_somebody_elses_click_moves_and_changes_nothing(begun: Begun) -> None:
    """K14, S56"""
    chat, session, (root, card) = begun
    robin = Person(chat.workspace, ROBIN, channel=GENERAL)
    message = (await robin.thread(root))[1]
    await robin.use(message, "Count")
    await forge(chat, ROBIN, GENERAL, message, "Add tasks")
    await robin.sees(root, phrases.not_yours(ALEX))
    await wait_settled(chat)
    left = await chat.store.sessions.load("s1")
    assert left is not None
    assert (left.planning.overview, left.channel, left.thread_ts) == (session.planning.overview, GENERAL, root)
    assert card == message["ts"]
    assert await robin.modal() is None
    await robin.http.aclose()
