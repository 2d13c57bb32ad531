"""The owner of the calendar, with the real program connected to a workspace as to Slack, and several people in it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.command_line import run_program
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN, Json, Person, control, eventually, workspace_at
from tests.scenarios.person import texts
from tests.scenarios.program import Program

from fateforger.slack import phrases
from fateforger.text import name_commands
from fateforger.ui.connection_cards import NO_PAGE
from fateforger.ui.home_card import ERASE
from localslack import Workspace

pytestmark = pytest.mark.process

ALEX, ROBIN = "U0000ALEX", "U0000ROBIN"
CODE = re.compile(r"/timebox claim (\S{4}-\S{4})")


class ConnectedProgram(Program):
    """The program with tokens of a workspace: it has no page of its own."""

    def _address(self, offset: int) -> str | None:
        super()._address(offset)  # which fails when the program ended
        return "nowhere:0" if "Ready: type /timebox in Slack." in self.read_log()[offset:] else None

    def read_log(self) -> str:
        return self.log.read_bytes().decode("latin-1") if self.log.exists() else ""


@dataclass
class ConnectedWorkspace:
    """A workspace, and the program that is connected to it."""

    workspace: Workspace
    program: ConnectedProgram
    alex: Person
    robin: Person

    async def start(self) -> str:
        """Start it and return what it printed."""
        before = len(self.program.read_log())
        await asyncio.to_thread(self.program.start)
        return self.program.read_log()[before:]

    async def doctor(self) -> str:
        """Return the message about the owner."""
        words = ("doctor", "--json", "--data-dir", str(self.program.data))
        _, out, _ = await asyncio.to_thread(run_program, *words, environment=self.program.environment)
        (message,) = (str(check["message"]) for check in json.loads(out)["checks"] if check["name"] == "owner")
        return message


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[ConnectedWorkspace]:
    async with workspace_at(tmp_path) as workspace:
        environment = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE_URL": f"{workspace.config.public_url}/api/",
            "FATEFORGER_PICTURE": "off",
        }
        program = ConnectedProgram(tmp_path / "data", environment=environment)
        people = Person(workspace, ALEX), Person(workspace, ROBIN)
        yield ConnectedWorkspace(workspace, program, *people)
        if program.process is not None:
            await asyncio.to_thread(program.kill)
        for person in people:
            await person.http.aclose()


async def wait_for_message(person: Person, words: str, times: int = 1) -> None:
    """Wait until they read these words so often in their direct messages."""

    async def look() -> bool:
        return sum(words in text for m in await person.roots() for text in texts(m)) >= times

    await eventually(look, f"{words!r}, {times} times")


async def plans(person: Person) -> list[Json]:
    return [m for m in await person.roots() if m["text"].startswith("Planning")]


async def forget(person: Person) -> None:
    """Press *Forget me* on App Home, which shows what it shows to everybody."""
    await person.post("/ui/home_opened", tab="home")

    async def look() -> Json | None:
        view = (await person.get("/ui/home"))["view"]
        return view if view and ERASE.label in str(view) else None

    view = await eventually(look, "the home tab")
    block_id, element = control(view["blocks"], ERASE.label)
    action = {key: element[key] for key in ("type", "action_id", "value")} | {"block_id": block_id}
    assert (await person.post("/ui/action", surface={"type": "home"}, action=action))["ok"]


async def test_the_calendar_is_claimed_with_the_code_that_up_prints_and_closed_by_forget_me(
    office: ConnectedWorkspace,
) -> None:
    """K14: no one plans before the claim, only the owner after it, and no one inherits it; restarts change nothing."""
    alex, robin = office.alex, office.robin
    printed = await office.start()
    (code,) = CODE.findall(printed)
    assert "Owner of the calendar: It has no owner yet." in printed
    assert await office.doctor() == "It has no owner yet."
    for person in (alex, robin):
        await person.slash()
        await wait_for_message(person, name_commands(phrases.NOBODYS_CALENDAR))
    said = await robin.say("plan my day")
    await robin.sees(said["message"]["ts"], name_commands(phrases.NOBODYS_CALENDAR))
    await robin.slash("claim AAAA-AAAA")
    await wait_for_message(robin, phrases.WRONG_CODE)
    await alex.say(f"claim {code}")
    await wait_for_message(alex, name_commands(phrases.CLAIMED))
    await robin.slash()
    await wait_for_message(robin, NO_PAGE)

    await asyncio.to_thread(office.program.kill)
    printed = await office.start()
    assert f"Owner of the calendar: {ALEX} (claimed on " in printed
    assert CODE.findall(printed) == []
    assert (await office.doctor()).startswith(f"{ALEX} (claimed on ")
    await robin.slash(f"claim {code}")
    await wait_for_message(robin, NO_PAGE, 2)
    await alex.slash()

    async def has_begun() -> bool:
        return len(await plans(alex)) == 1

    await eventually(has_begun, "the owner's plan")
    await forget(alex)
    await wait_for_message(alex, phrases.CLOSED_NOW)
    for times in (1, 2):
        for person in (alex, robin):
            await person.slash()
            await wait_for_message(person, name_commands(phrases.CALENDAR_CLOSED), times)
        assert await office.doctor() == "It is closed: its owner was erased, and nobody inherits it."
        await asyncio.to_thread(office.program.kill)
        printed = await office.start()
        (new,) = CODE.findall(printed)
        assert new != code
    assert (await plans(robin), len(await plans(alex))) == ([], 1)
    assert [file for file in office.program.data.rglob("*.db*") if new.encode() in file.read_bytes()] == []
    await robin.slash(f"claim {new}")
    await wait_for_message(robin, name_commands(phrases.CLAIMED))


async def test_the_setting_names_the_owner_without_a_code(office: ConnectedWorkspace) -> None:
    """K14: this works as before; a named person who is erased does not count any more."""
    office.program.environment["FATEFORGER_CALENDAR_OWNER"] = ROBIN
    printed = await office.start()
    assert f"Owner of the calendar: {ROBIN} (named by FATEFORGER_CALENDAR_OWNER)." in printed
    assert CODE.findall(printed) == []
    await office.alex.slash()
    await wait_for_message(office.alex, NO_PAGE)
    await forget(office.robin)
    await wait_for_message(office.robin, phrases.CLOSED_NOW)
    await asyncio.to_thread(office.program.kill)
    printed = await office.start()
    assert "FATEFORGER_CALENDAR_OWNER names who was erased, so it does not count." in printed
    assert len(CODE.findall(printed)) == 1


async def test_what_a_stranger_presses_and_fills_in_is_refused_in_one_place(office: ConnectedWorkspace) -> None:
    """K14: the queue, forms, the message shortcut and App Home say the same as /timebox does."""
    office.program.environment["FATEFORGER_CALENDAR_OWNER"] = ALEX
    await office.start()
    robin, words = office.robin, NO_PAGE
    for command in ("/tasks", "/pull"):
        await robin.post("/ui/slash", channel=robin.channel, command=command, text="")
    await wait_for_message(robin, words, 2)
    said = await robin.say("Buy milk")
    shown = NO_PAGE
    await robin.sees(said["message"]["ts"], shown)
    where = {"channel": robin.channel, "ts": said["message"]["ts"]}
    await robin.post("/ui/shortcut", callback_id="save_as_task", **where)
    await robin.post("/ui/home_opened", tab="home")

    async def home() -> bool:
        view = (await robin.get("/ui/home"))["view"]
        return view is not None and shown in list(texts(view)) and "Plan my day" not in str(view)

    await eventually(home, "the refusal on App Home")
    await wait_for_message(robin, words, 3)
    assert await robin.modal() is None
