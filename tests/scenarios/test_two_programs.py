"""Two programs on one database: each answers a person as if it were the only one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from tests.contracts import session_examples as sessions
from tests.scenarios.chat import Chat, Person, chat_at, eventually
from tests.scenarios.test_presence import BRISK, begun_by_words, reads, streaming

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import open_store
from fateforger.session.cards import Activity, Card, Progress
from fateforger.session.store import Sent
from fateforger.slack.delivery import Delivery
from fateforger.slack.phrases import STOP_TOO_LATE
from fateforger.values import replace
from fateforger.workers.lanes import STOP_TURN, TURN
from localslack import Workspace


async def test_stop_ends_a_turn_of_the_other_program(workspace: Workspace, alex: Person, tmp_path: Path) -> None:
    """S392: one program receives Stop and runs no turn; the other runs the turn and does not receive Stop."""
    async with (
        chat_at(workspace, tmp_path, timing=BRISK, but=(STOP_TURN,)) as one,
        chat_at(workspace, tmp_path, timing=BRISK, replica="two", but=(TURN,)),
    ):
        ts, held = await begun_by_words(alex, one)
        one.coordinator.stoppable, one.coordinator.when_stopped = True, held.go_on.set
        one.coordinator.tell(Progress(doing=Activity.READING))
        await streaming(alex, ts, ("Reading your message…", "in_progress"))
        assert await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts) == {"ok": True}
        await alex.sees(ts, "2 steps")
        await reads(alex, ts, status="active")
        assert len(one.coordinator.stops) == 1
        assert STOP_TOO_LATE not in str(await alex.thread(ts))


async def test_a_program_that_starts_leaves_the_turns_of_others_alone(
    workspace: Workspace, alex: Person, tmp_path: Path
) -> None:
    """S392: their status and their steps stay, and the answer takes the place of the steps."""
    async with chat_at(workspace, tmp_path, timing=BRISK) as one:
        ts, held = await begun_by_words(alex, one)
        one.coordinator.tell(Progress(doing=Activity.READING))
        steps = await streaming(alex, ts, ("Reading your message…", "in_progress"))
        async with chat_at(workspace, tmp_path, timing=BRISK, replica="two"):
            assert (await alex.thread(ts))[-1]["ts"] == steps["ts"]
            await reads(alex, ts, status="processing")
            held.go_on.set()
            await alex.sees(ts, "2 steps")
            await reads(alex, ts, status="active")


async def test_a_program_goes_on_with_what_another_one_was_doing_that_has_ended(
    workspace: Workspace, tmp_path: Path, postgres: str
) -> None:
    """S392: the search for better drafts is in the memory of one program."""
    async with chat_at(workspace, postgres) as one:
        async with chat_at(workspace, postgres, replica="two"):
            await eventually(lambda: _counts(one, 2), "the first program counts the second")
            one.coordinator.resumed.clear()
        await asyncio.wait_for(one.coordinator.resumed.wait(), 60)


async def _counts(chat: Chat, programs: int) -> bool:
    return chat.room._programs == programs


class BusyLimit:
    """Slack's limit of changes, which leaves no room until it is freed."""

    def __init__(self) -> None:
        self.is_free = False
        self.freed = asyncio.Event()

    async def wait_until_free(self) -> None:
        await self.freed.wait()
        self.is_free = True


@dataclass
class RecordingPoster:
    """Records what each message is changed to."""

    limit: BusyLimit = field(default_factory=BusyLimit)
    shown: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    meanwhile: Callable[[], Awaitable[None]] | None = None

    def limit_updates(self, _channel: str) -> BusyLimit:
        return self.limit

    async def change(self, _where: Sent, card: Card, **_: Any) -> None:
        self.shown.append(card.text)
        if self.meanwhile is not None:
            go_on, self.meanwhile = self.meanwhile, None
            await go_on()
        self.changed.set()


@pytest.mark.parametrize("is_busy", [True, False], ids=["while limits leave no room", "while it is sent"])
async def test_a_card_of_the_other_program_is_not_replaced_by_an_older_one(
    tmp_path: Path,
    is_busy: bool,  # noqa: FBT001  a case
) -> None:
    """S392: one program removes a line below a card; the one that sends shows the next card in its place."""
    store, poster, clock = open_store(tmp_path / "state.db"), RecordingPoster(), SystemClock()
    nobody: Any = None
    delivery = Delivery(store.outbox, store.sessions, cast("Any", poster), nobody, nobody, clock=clock)
    place, saved = Sent("D1", "1.1"), sessions.session("s1")

    async def show(name: str) -> None:
        nonlocal saved
        message = replace(sessions.message(name, "card", "s1"), card=Card(text=name, parts=()))
        saved = await store.sessions.save(saved, expected=saved.version, outgoing=[message])
        await store.outbox.mark_sent(name, place, now=clock.now())

    saved = replace(saved, version=0)
    await show("older")
    poster.limit.is_free = not is_busy
    poster.meanwhile = None if is_busy else partial(show, "newer")
    await delivery.redraw("s1", "card")
    if is_busy:
        await show("newer")
        poster.limit.freed.set()
        await asyncio.wait_for(poster.changed.wait(), 20)
    assert poster.shown[-1] == "newer"
    await delivery.close()
    await store.aclose()
