"""Long conversations through the whole program, from the first words to an empty calendar, with a model that understood them.

``CONVERSATIONS_WRITE=1 pytest tests/scenarios/test_conversations.py`` writes the records as they are now, ``-k nl`` those in
Dutch; read the diff line by line, as a person who reads that language would.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
import icalendar
import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import Json, NotSeen, controls, eventually, label, texts
from tests.scenarios.program import Program
from tests.scenarios.talk import FOLDER, Reader, Talk, Turn, TurnRecord, new_lines, read_limits, read_talk
from tests.scenarios.understanding_server import speaking

from fateforger.calendar.event import OwnedId

pytestmark = [pytest.mark.process, pytest.mark.extra]  # twelve whole days take minutes of waiting

WRITE = "CONVERSATIONS_WRITE" in os.environ
QUIET = 2.0
"""Seconds without anything new after which a turn is over, while a record is written."""
LONGEST = 60.0
"""Seconds that the answers of a script may take to be asked for, while a record is written."""
ZONE = ZoneInfo("Europe/Amsterdam")
SCRIPTS = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


class Conversation:
    """A script that is being played."""

    def __init__(self, talk: Talk, program: Program, reader: Reader) -> None:
        self.talk = talk
        self.program, self.reader = program, reader
        self.person = program.person()
        for number, event in enumerate(talk.calendar):
            self.book(event, f"theirs{number}")
        self.root, self.started = "", time.monotonic()
        self.messages, self.blocks = self.read(), self.list_own()

    @property
    def calendar(self) -> CalDav:
        return CalDav(self.program.caldav_url())

    def book(self, event: str, name: str) -> None:
        """Put an event into the calendar, like ``2026-03-03 09:30-09:45 Standup``."""
        day, times, title = event.split(" ", 2)
        start, end = (
            datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZONE).astimezone(UTC) for clock in times.split("-")
        )
        self.calendar.put(name, title, start, end)

    def act(self, turn: Turn) -> None:
        """Do what the person does."""
        self.reader.begin(turn)
        if turn.at:
            self.program.kill()
            self.program.environment["FATEFORGER_NOW"] = turn.at
            self.program.start()
            self.started = time.monotonic()
            self.person.wait_connected()
        if turn.book:
            self.book(turn.book, "booked")
        if turn.choose:
            self.choose(turn.choose)
        elif turn.timebox:
            before = len(self.person.roots())
            self.person.slash("/timebox", turn.timebox)
            eventually(lambda: len(self.person.roots()) > before, "the thread of the command")
            self.root = self.person.roots()[-1]["ts"]
        elif not (turn.say or turn.press):
            return
        elif turn.press:
            self.person.press(turn.press)
        elif turn.outside:
            self.person.write(turn.say, thread=False)
            self.root = [root for root in self.person.roots() if root.get("user") == self.person.user][-1]["ts"]
        else:
            thread = self.person.roots()[-1]["ts"] if turn.newest else self.root
            self.person.post("/ui/message", channel=self.person.channel, text=turn.say, thread_ts=thread)

    def choose(self, language: str) -> None:
        """Choose a language on App Home."""
        person = self.person
        person.post("/ui/home_opened", tab="home")

        def find() -> tuple[str, Json, Json] | None:
            view = person.get("/ui/home", user=person.user)["view"] or {"blocks": []}
            selects = [each for each in controls(view["blocks"]) if each[1]["type"] == "static_select"]
            for block_id, select in selects:
                for option in select["options"]:
                    if next(texts(option)) == language and select.get("initial_option") != option:
                        return block_id, select, option
            return None

        block_id, select, option = eventually(find, f"{language} on App Home")
        action = {"type": select["type"], "action_id": select["action_id"], "block_id": block_id}
        person.post("/ui/action", surface={"type": "home"}, action={**action, "selected_option": option}, state={})
        eventually(lambda: find() is None, f"{language} is chosen")

    @property
    def now(self) -> list[str]:
        """The minutes of the program's clock since it started."""
        passed = int(time.monotonic() - self.started) // 60
        first = datetime.fromisoformat(self.program.environment["FATEFORGER_NOW"])
        return [f"{first + timedelta(minutes=minute):%H:%M}" for minute in range(passed + 2)]

    def read(self) -> dict[str, list[str]]:
        """Return the lines of each message that the person can read, in order."""
        found: dict[str, list[str]] = {}
        for root in self.person.roots():
            query = {"user": self.person.user, "channel": self.person.channel, "thread_ts": root["ts"]}
            for message in self.person.get("/ui/messages", **query)["messages"] or [root]:
                if message.get("user") != self.person.user:
                    found[message["ts"]] = [self._without_clock(line) for line in _read_message(message)]
        return found

    def _without_clock(self, line: str) -> str:
        """Return a line without ids, and without times that depend on how long the conversation has taken."""
        line = re.sub("ff-[a-z0-9]{6}", "(id)", line)
        for minute in self.now:
            line = line.replace(minute, "(now)")
        return line

    def list_own(self) -> list[str]:
        """Return the bot's events on the calendar, in order of time."""
        found = []
        for href, content in self.calendar.raw().items():
            if OwnedId.is_one(Path(href).stem):
                (event,) = icalendar.Calendar.from_ical(content).walk("VEVENT")
                assert isinstance(event, icalendar.Event)
                assert isinstance(event.start, datetime)
                assert isinstance(event.end, datetime)
                start, end = event.start.astimezone(ZONE), event.end.astimezone(ZONE)
                found.append(f"{start:%m-%d %H:%M}–{end:%H:%M} {event['SUMMARY']}")
        return sorted(found)

    def hear(self, turn: Turn) -> TurnRecord | None:
        """Return what has come of a turn so far; ``None`` if the calendar is just being changed."""
        self.let_answer(turn)
        messages = self.read()
        try:
            blocks = self.list_own()
        except httpx.HTTPStatusError:
            return None
        new = (new_lines(self.messages.get(ts, []), lines) for ts, lines in messages.items())
        return TurnRecord(
            turn.headline,
            self.reader.prompts,
            self.reader.tokens,
            [line for lines in new for line in lines],
            None if blocks == self.blocks else blocks,
            turn.slow if self.reader.told.is_set() else "",
        )

    def let_answer(self, turn: Turn) -> None:
        """Let a slow model answer once the person has read what takes so long."""
        if not self.reader.told.is_set():
            query = {"user": self.person.user, "channel": self.person.channel, "thread_ts": self.root}
            if turn.slow in json.dumps(self.person.get("/ui/messages", **query), ensure_ascii=False):
                self.reader.told.set()

    def take_in(self) -> None:
        """Remember what has been read."""
        self.messages, self.blocks = self.read(), self.list_own()

    def wait_for(self, turn: Turn, expected: str, limit: int | None) -> str:
        """Return the record of a turn: as soon as it is the expected one, or the latest one after a while."""
        last = ""

        def look() -> bool:
            nonlocal last
            heard = self.hear(turn)
            last = "" if heard is None else heard.format(limit)
            return last == expected and self.reader.is_done

        with suppress(NotSeen):
            eventually(look, "what the record holds")
        return last

    def _is_answered(self, turn: Turn, now: TurnRecord) -> bool:
        """Check whether there is an answer to a turn, which may become longer."""
        there = self.reader.is_done and any(turn.until in line for line in now.lines)
        return (there or bool(turn.choose)) and not self._is_working()

    def _is_working(self) -> bool:
        """Check whether the program has something to do or to send."""
        with closing(sqlite3.connect(f"file:{self.program.data / 'fateforger.db'}?mode=ro", uri=True)) as database:
            (jobs,) = database.execute(
                "select count(*) from job where state = 'open' and lane in ('turn', 'letter', 'memory')"
            ).fetchone()
            (messages,) = database.execute("select count(*) from outbox where state = 'queued'").fetchone()
        return bool(jobs or messages)

    def wait_quiet(self, turn: Turn) -> str:
        """Return the record of a turn once no more messages arrive."""
        began = since = time.monotonic()
        last: TurnRecord | None = None

        def look() -> bool:
            nonlocal last, since
            now = self.hear(turn)
            waits = time.monotonic() - began < LONGEST and not (now and self._is_answered(turn, now))
            if now != last or waits:
                last, since = now, time.monotonic()
            return time.monotonic() - since > QUIET

        eventually(look, "the end of a turn", deadline=4 * LONGEST)
        assert last is not None
        return last.format(None)


def _read_message(message: Json) -> Iterator[str]:
    """Yield the lines of a message: its texts, and a row of buttons as one line. Menus are left out."""
    for block in message.get("blocks") or [{"type": "section", "text": {"text": message["text"]}}]:
        if block["type"] == "actions":
            yield " ".join(f"[{label(element)}]" for _, element in controls([block]))
            continue
        for text in texts({name: part for name, part in block.items() if name != "accessory"}):
            yield from filter(None, map(str.strip, text.splitlines()))
        if block.get("accessory", {}).get("type") == "button":
            yield f"[{label(block['accessory'])}]"


def test_there_are_twelve_in_five_languages() -> None:
    """S282: none of them short."""
    languages = Counter(name.partition("-")[0] for name in SCRIPTS)
    assert languages == {"en": 3, "nl": 3, "de": 2, "fr": 2, "es": 2}
    assert all(8 <= len(read_talk(path).turns) <= 20 for path in SCRIPTS.values())


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_conversation_goes_as_recorded(name: str, tmp_path: Path) -> None:
    """S282, S283: the prompts, their tokens, every line that the person reads, and the calendar; in the end, the calendar
    is as it was before."""
    talk, reader = read_talk(SCRIPTS[name]), Reader()
    place = SCRIPTS[name].with_suffix(".txt")
    record = place.read_text().split("\n\n") if place.exists() else []
    limits = read_limits("\n\n".join(record))
    heard = [f"# {talk.about.strip()}"]
    with speaking(reader) as settings:
        now = {"FATEFORGER_NOW": talk.now, "FATEFORGER_PICTURE": "off"}
        program = Program(tmp_path / "data", environment={**now, **settings, **talk.settings})
        program.start()
        try:
            conversation = Conversation(talk, program, reader)
            before = conversation.calendar.raw()
            for number, turn in enumerate(talk.turns, 1):
                conversation.act(turn)
                if WRITE:
                    heard.append(conversation.wait_quiet(turn))
                else:
                    heard.append(conversation.wait_for(turn, record[number].rstrip("\n"), limits[number - 1]))
                assert reader.unexpected == [], "\n".join(heard)
                assert WRITE or heard[-1] == record[number].rstrip("\n")
                conversation.take_in()
            before |= {href: raw for href, raw in conversation.calendar.raw().items() if href.endswith("/booked.ics")}
            assert conversation.calendar.raw() == before
        finally:
            if program.process is not None:
                program.kill()
            if WRITE:
                place.write_text("\n\n".join(heard) + "\n")
