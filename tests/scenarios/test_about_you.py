"""App Home, over the real chat side and the local workspace: a person sees all that is kept of them, and is forgotten."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from tests.contracts.journal_examples import create, transaction
from tests.factories.agents import NOW
from tests.factories.people import SamplePerson, about, dump, tell
from tests.scenarios.chat import Chat, Json, Person, chat_at, control, eventually, workspace_at

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.store import Store
from fateforger.calendar.transactions import TxState
from fateforger.slack import phrases
from fateforger.slack.manifest import app_manifest
from fateforger.ui.home_card import ERASE, EXPORT
from fateforger.workers.people import Ownership, PersonalData


@dataclass(frozen=True)
class Alex(SamplePerson):
    """The person at the page, with the ids that they have there."""

    @property
    def id(self) -> str:
        return "U0000ALEX"

    @property
    def channel(self) -> str:
        return "D0000ALEX"


WHO, OTHER = Alex("quokka"), SamplePerson("wombat")


@asynccontextmanager
async def running(folder: Path, manifest: Mapping[str, Any] | None = None) -> AsyncIterator[tuple[Chat, Person]]:
    def dossiers(store: Store) -> PersonalData:
        clock = SystemClock()
        owner = Ownership(store.owners, clock, named=None, page=(WHO.id,), real_slack=False)
        return PersonalData(store.people, RecordingFiles(folder / "turns"), clock, owner)

    async with workspace_at(folder, manifest) as workspace, chat_at(workspace, folder, personal_data=dossiers) as chat:
        person = Person(workspace)
        yield chat, person
        await person.http.aclose()


async def press(person: Person, label: str) -> None:
    """Open App Home and press a button there."""
    before = (await person.get("/ui/home"))["view"]
    await person.post("/ui/home_opened", tab="home")

    async def look() -> Json | None:
        view = (await person.get("/ui/home"))["view"]
        return view if view and (before is None or view["hash"] != before["hash"]) else None

    view = await eventually(look, "the home tab")
    block_id, element = control(view["blocks"], label)
    action = {key: element[key] for key in ("type", "action_id", "value")} | {"block_id": block_id}
    assert (await person.post("/ui/action", surface={"type": "home"}, action=action))["ok"]


async def wait_for_message(person: Person, words: str) -> Json:
    async def look() -> Json | None:
        return next((m for m in await person.roots() if words in m["text"]), None)

    return await eventually(look, words)


async def steady(store: Store) -> list[list[str]]:
    """Return the rows that a running program does not change by itself."""
    tables = about(await dump(store), *OTHER.names)
    return [tables[name] for name in ("constraint_version", "task", "sync_tx", "event_head", "agent_client")]


async def test_they_see_everything_and_are_forgotten(tmp_path: Path) -> None:
    """The file holds the data of the database; after that no table has a row of theirs, and the other person's stay."""
    async with running(tmp_path) as (chat, person):
        await tell(chat.store, OTHER)
        others = await steady(chat.store)
        await tell(chat.store, WHO, tmp_path / "turns")

        await press(person, EXPORT.label)
        message = await wait_for_message(person, "This is everything I keep about you: one file with ")
        (file,) = message["files"]
        async with httpx.AsyncClient(trust_env=False) as http:
            document = json.loads((await http.get(file["url_private"])).text)
        entries = sum(len(rows) for rows in document["held"].values())
        assert (file["name"], document["person"]) == ("what-i-know-about-you.json", WHO.id)
        assert f"one file with {entries} entries." in message["text"]
        assert document["held"]["sessions"][0]["session"]["id"] == WHO.session

        await press(person, ERASE.label)
        await wait_for_message(person, phrases.FORGOTTEN)
        forgotten = [task for task in await chat.store.constraints.list_unindexed() if task.version is None]
        await chat.store.constraints.mark_indexed(forgotten)

        async def is_forgotten() -> bool:
            return about(await dump(chat.store), *WHO.names) == {}

        await eventually(is_forgotten, "the job itself is gone")
        assert await steady(chat.store) == others
        assert list((tmp_path / "turns").iterdir()) == []

        await press(person, EXPORT.label)
        await wait_for_message(person, phrases.NOTHING_KNOWN)


async def test_a_write_that_is_not_finished_is_said(tmp_path: Path) -> None:
    async with running(tmp_path) as (chat, person):
        await tell(chat.store, WHO)
        begun = transaction("open", [create(7, tx="open")], calendar=WHO.calendar_key, context={"session": WHO.session})
        await chat.store.journal.begin(begun)
        await chat.store.journal.close("open", TxState.PAUSED, NOW + timedelta(minutes=1))
        await press(person, ERASE.label)
        await wait_for_message(person, "I haven't forgotten you yet")
        assert await chat.store.sessions.load(WHO.session) is not None


async def test_without_the_scope_for_files_it_says_what_to_do(tmp_path: Path) -> None:
    manifest = app_manifest()
    scopes = manifest["oauth_config"]["scopes"]
    scopes["bot_optional"].remove("files:write")
    async with running(tmp_path, manifest=manifest) as (chat, person):
        await tell(chat.store, WHO)
        await press(person, EXPORT.label)
        await wait_for_message(person, f"fateforger person export {WHO.id} --to FILE")
