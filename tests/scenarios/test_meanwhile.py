"""Nothing that is done late undoes what a person did meanwhile, and nothing is said twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.days import TZ
from tests.factories.pictures import before_and_after
from tests.scenarios.chat import Chat, Person, chat_at, eventually
from tests.scenarios.store_faults import Failing

from fateforger.adapters.painter import render_in_thread
from fateforger.planning.plan import ET
from fateforger.session.cards import Card, DayView, Heading, Picture, PlannedBlock
from fateforger.slack.phrases import REST_UNREAD
from fateforger.slack.workspaces import WorkspacesClient
from fateforger.text import gettext
from fateforger.values import replace
from localslack import Workspace

Json = dict[str, Any]
ALEX = "U0000ALEX"


class HeldCall:
    """Holds the calls of a function that are named by their number; ``held`` is set once one waits."""

    def __init__(self, *numbers: int) -> None:
        self.made = 0
        self._gates = {number: (asyncio.Event(), asyncio.Event()) for number in numbers}

    async def wait_here(self) -> None:
        self.made += 1
        if self.made in self._gates:
            held, go_on = self._gates[self.made]
            held.set()
            await go_on.wait()

    async def wait_until_held(self, number: int) -> None:
        await asyncio.wait_for(self._gates[number][0].wait(), 60)

    def release(self, number: int) -> None:
        self._gates[number][1].set()


async def find_home(alex: Person) -> Json | None:
    return (await alex.get("/ui/home"))["view"]  # type: ignore[no-any-return]  # JSON


async def home_says(alex: Person, words: str, but: str = "") -> Json:
    """Return the view of App Home once it says the words, in another rendering than the one with the hash ``but``."""

    async def look() -> Json | None:
        view = await find_home(alex)
        return view if view is not None and words in str(view["blocks"]) and view["hash"] != but else None

    return await eventually(look, f"“{words}” in App Home")


def change_home(chat: Chat, change: Callable[[Card], Awaitable[Card]]) -> None:
    """Change each card of App Home before it is shown."""
    build = chat.coordinator.home

    async def home(*given: Any, **about: Any) -> Card:
        return await change(await build(*given, **about))

    chat.coordinator.home = home  # type: ignore[method-assign]  # a coordinator of a test


async def test_an_older_app_home_that_comes_late_does_not_stay(chat: Chat, alex: Person) -> None:
    """S499: the first visit takes long, and the person plans a day meanwhile."""
    holding = HeldCall(1)

    async def hold(card: Card) -> Card:
        await holding.wait_here()
        return card

    change_home(chat, hold)
    await alex.post("/ui/home_opened", tab="home")
    await holding.wait_until_held(1)
    await alex.start()
    newest = await home_says(alex, "1 plans")
    holding.release(1)
    await home_says(alex, "plans", but=newest["hash"])
    await home_says(alex, "1 plans")


async def test_app_home_follows_a_block_that_begins_while_it_is_published(chat: Chat, alex: Person) -> None:
    """S499"""
    await alex.post("/ui/home_opened", tab="home")
    await home_says(alex, "0 plans")
    begins: datetime | None = None

    async def add_block(card: Card) -> Card:
        nonlocal begins
        before, begins = begins, begins or datetime.now(UTC)
        block = PlannedBlock(key="a", title="Report", kind=ET.DEEP_WORK, start=begins, end=begins + timedelta(hours=1))
        day = DayView(date=begins.date(), tz=TZ, blocks=(block,))
        words = Heading(text="Next: Report" if before is None else "Now: Report")
        return replace(card, parts=(words, Picture(day=day), *card.parts))

    change_home(chat, add_block)
    await chat.store.homes.note_change(ALEX)
    await home_says(alex, "Now: Report")


async def test_a_picture_of_app_home_stays_when_another_publication_came_first(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S499: a picture that is late for a card is not one that Slack refuses."""
    painting = HeldCall(1, 2)

    async def render(svg: str) -> bytes:
        await painting.wait_here()
        return await render_in_thread(svg)

    async def add_picture(card: Card) -> Card:
        return replace(card, parts=(*card.parts, Picture(day=before_and_after())))

    async with chat_at(workspace, tmp_path, render=render) as chat:
        await alex.post("/ui/home_opened", tab="home")
        await home_says(alex, "0 plans")
        change_home(chat, add_picture)
        await alex.post("/ui/home_opened", tab="home")
        await painting.wait_until_held(1)
        await alex.start()
        await painting.wait_until_held(2)
        painting.release(2)
        shown = await home_says(alex, "'type': 'image'")
        painting.release(1)
        await chat.store.homes.note_change(ALEX)
        await home_says(alex, "'type': 'image'", but=shown["hash"])


async def test_what_is_said_about_a_message_that_slack_delivers_again_is_said_once(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S501: Slack did not hear in time that the event had arrived, and sends it once more."""
    workspace.delivery.ack_seconds = 0.3
    faults = Failing()
    async with chat_at(workspace, tmp_path, jobs=faults.jobs) as chat:
        chat.coordinator.reader = True
        ts = await alex.start()
        faults.enqueue = ["after"]
        await alex.say("a" * 6_001, ts)
        await alex.sees(ts, "1 steps")
        said = gettext(REST_UNREAD, count="6,000")
        await alex.sees(ts, said)
        await alex.say("b", ts)
        await alex.sees(ts, "2 steps")
        assert sum(said in str(message) for message in await alex.thread(ts)) == 1


async def test_the_title_of_a_thread_follows_the_plan_although_an_earlier_one_comes_late(
    chat: Chat, alex: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S503"""
    renaming, rename, done = HeldCall(1), WorkspacesClient.agents_sessions_rename, list[str]()

    async def rename_slowly(client: WorkspacesClient, **given: Any) -> Any:
        await renaming.wait_here()
        answer = await rename(client, **given)
        done.append(given["title"])
        return answer

    async def are_done(titles: int) -> bool:
        return len(done) == titles

    monkeypatch.setattr(WorkspacesClient, "agents_sessions_rename", rename_slowly)
    assert (await alex.slash("2026-11-25"))["ok"]
    [root] = await eventually(alex.roots, "the root of a plan")
    await renaming.wait_until_held(1)
    session = await chat.store.sessions.in_thread(alex.channel, root["ts"])
    assert session is not None
    await chat.store.sessions.save(replace(session, date=date(2026, 11, 26)), expected=session.version)
    await alex.say("on", root["ts"])
    await alex.sees(root["ts"], "1 steps")
    with suppress(AssertionError):
        await eventually(lambda: are_done(1), "the later title, if it does not wait for the earlier one", deadline=1.0)
    renaming.release(1)
    await eventually(lambda: are_done(2), "both titles")
    assert (await alex.get("/ui/messages", channel=alex.channel, thread_ts=root["ts"]))["session"]["title"] == (
        "Thu 26 Nov: planning"
    )
