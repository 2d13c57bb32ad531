"""Commands on one calendar: some at the same time, some killed, undone in any order, with edits by hand in between.

Each command is a process of its own, against a server that speaks as google-calendar-mcp does. A killed command is
typed again, as a person would. Then the calendar alone decides:

- every event of other people is byte for byte as it was, and no block is there twice;
- every event that the person changed is still there, with the person's change;
- an undo leads to the calendar as it was before the command it takes back, if the person did not touch it meanwhile;
  this includes an undo that was killed and typed again, and an undo of an apply that was killed;
- after one more undo than there are commands to undo, only blocks that the person changed are left.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.command_line import COMMAND_LINE, programs
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.forks import Fork
from tests.soak.oracle import Shape, key_of, own_of, shape_of

DAY = "2026-03-02"
MEETINGS = (("Standup", 7, 30), ("Dentist", 20, 60))
COMMANDS = 9
CALL_SECONDS = 0.03
MOST_UNDOS = 40
AT_ONCE = 4
Calendar = Mapping[str, Shape]


class SlowGoogle(GoogleMcp):
    """A server whose answers take a moment, so that a kill can hit in the middle of a write."""

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        await asyncio.sleep(CALL_SECONDS)  # the way to the server and back
        return await super()._answer(tool, arguments)


@dataclass
class CommandResult:
    """The end of a command; ``document`` is ``None`` when it was killed."""

    status: int
    document: dict[str, Any] | None


@dataclass
class Terminals:
    """One history. ``before`` is how the calendar was before each transaction, with the number of edits by then."""

    folder: Path
    google: GoogleMcp
    rng: Random
    log: list[str] = field(default_factory=list)
    before: dict[str, tuple[int, Calendar]] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    own: dict[str, dict[str, Any]] = field(default_factory=dict)
    foreign: dict[str, Any] = field(default_factory=dict)
    edits: int = 0
    kills: int = 0
    commands: int = 0

    async def play(self) -> None:
        """Raise ``AssertionError`` as soon as something does not hold."""
        for title, hour, minutes in MEETINGS:
            start = datetime(2026, 3, 2, hour, tzinfo=UTC)
            image = self.store.user_create(title, start=start, end=start + timedelta(minutes=minutes))
            self.foreign[image.id] = image
        await self.apply()
        for _ in range(COMMANDS):
            step = self.rng.choice((self.apply, self.apply, self.undo, self.undo, self.undo_one, self.edit, self.crowd))
            await step()
            self.look()
        await self.undo_all()

    # --- steps ---

    async def apply(self) -> None:
        plan = self.folder / f"plan{self.commands}.json"
        plan.write_text(json.dumps(self.some_plan()))
        await self.carry_out("apply", str(plan), "--yes", "--keep", "calendar")

    async def undo(self) -> None:
        rows = await self.history()
        target = next((row["transaction"] for row in rows if row["kind"] == "submit" and row["undoable"]), None)
        await self.carry_out("undo", target=target)

    async def undo_one(self) -> None:
        """Undo any write, or any undo: then it is a redo."""
        undoable = [row["transaction"] for row in await self.history() if row["undoable"]]
        if undoable:
            target = self.rng.choice(undoable)
            await self.carry_out("undo", target, target=target)

    async def crowd(self) -> None:
        """Run several commands at once, in an unknown order."""
        plan = self.folder / f"plan{self.commands}.json"
        plan.write_text(json.dumps(self.some_plan()))
        apply = ("apply", str(plan), "--yes", "--keep", "calendar")
        self.log.append("apply, undo and apply at once")
        await asyncio.gather(*(self.run(*words) for words in (apply, ("undo",), apply)))
        self.edits += 1  # so that nothing from before is compared with what comes after
        await self.note(self.edits, None)

    async def edit(self) -> None:
        """Edit an event as the person, on the calendar's own page."""
        ours = [e for e in self.ours().values() if e.is_timed]
        if not ours:
            return
        event = self.rng.choice(ours)
        self.edits += 1
        n = self.edits
        what: dict[str, Any] = self.rng.choice((
            {"summary": f"mine {n}"}, {"description": f"mine {n}"}, {"extras": {"location": f"Room {n}"}},
            {"extras": {"visibility": "private"}}, {"busy": False}, {"color_id": "11"},
            {"extras": {"reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": n}]}}},
        ))  # fmt: skip
        image = self.store.user_edit(event.id, **what)
        self.touched.add(event.id)
        self.own[event.id] = own_of(image)
        self.log.append(f"by hand: {event.summary} {what}")

    async def undo_all(self) -> None:
        for _ in range(MOST_UNDOS):
            ended = await self.run("undo")
            assert ended.document is not None
            if ended.document.get("error", {}).get("kind") == "not_undoable":
                break
            assert ended.status == 0, self.format_log(ended.document)
        else:
            raise AssertionError(self.format_log("there is always one more to undo"))
        left = {e.summary for i, e in self.ours().items() if i not in self.touched}
        assert not left, self.format_log(f"left over: {left}")
        states = {row["status"] for row in await self.history()}
        assert states <= {"committed", "partial", "undone"}, self.format_log(states)

    # --- one command ---

    async def carry_out(self, *words: str, target: str | None = None) -> None:
        """Type a command, until it was not killed; then compare."""
        edits, start = self.edits, self.read_calendar()
        while (ended := await self.run(*words, kill=self.rng.random() < 0.4)).document is None:
            self.kills += 1
        await self.note(edits, start)
        assert ended.status in {0, 2}, self.format_log(ended.document)
        if words[0] == "undo" and ended.status == 0 and target in self.before:
            at, expected = self.before[target]
            if at == self.edits:
                assert self.read_calendar() == expected, self.format_log(
                    f"{words} of {target}: {self.read_calendar()} is not {expected}"
                )

    async def note(self, edits: int, start: Calendar | None) -> None:
        for row in await self.history():
            if row["transaction"] not in self.before and start is not None:
                self.before[row["transaction"]] = edits, start
            self.before.setdefault(row["transaction"], (-1, {}))

    async def history(self) -> list[dict[str, Any]]:
        ended = await self.run("history", "--limit", "200")
        assert ended.document is not None
        rows: list[dict[str, Any]] = ended.document["transactions"]
        return rows

    async def run(self, *words: str, kill: bool = False) -> CommandResult:
        self.commands += 1
        output, errors = (self.folder / f"{self.commands}.{kind}" for kind in ("out", "err"))
        fork = programs().start(
            COMMAND_LINE, "sync", *words, "--json", "--data-dir", str(self.folder / "data"),
            "--calendar-url", self.google.url, environment={**os.environ}, output=output, errors=errors,
        )  # fmt: skip
        if kill:
            await self.kill_while_it_writes(fork)
        status = await asyncio.to_thread(fork.wait)
        if status == -signal.SIGKILL:
            self.log.append(f"{words}: killed")
            while self.google.under_way:  # noqa: ASYNC110  the server counts, and has no event to wait for
                await asyncio.sleep(CALL_SECONDS)  # what is on its way arrives
            return CommandResult(status, None)
        text = output.read_text()
        assert text, self.format_log(f"{words} ended with {status} and said {errors.read_text()}")
        document: dict[str, Any] = json.loads(text)
        if words[0] != "history":
            self.log.append(f"{words}: {status} {document.get('sentences') or document.get('error')}")
        return CommandResult(status, document)

    async def kill_while_it_writes(self, fork: Fork) -> None:
        """Kill the command after some number of its requests, if it makes that many."""
        until = len(self.google.requests) + self.rng.randint(1, 8)
        while len(self.google.requests) < until and await asyncio.to_thread(fork.poll) is None:  # noqa: ASYNC110  the same
            await asyncio.sleep(CALL_SECONDS / 10)  # between two looks at the condition
        await asyncio.sleep(self.rng.uniform(0, CALL_SECONDS))  # somewhere on the way of that request
        fork.send_signal(signal.SIGKILL)

    # --- what the calendar shows ---

    @property
    def store(self) -> GoogleStore:
        return self.google.tools.calendars["primary"].store

    def ours(self) -> dict[str, Any]:
        return {i: e for i, e in self.store.get_live_events().items() if key_of(e) is not None}

    def read_calendar(self) -> Calendar:
        return {str(key_of(e)): {**shape_of(e), **own_of(e)} for e in self.ours().values()}

    def look(self) -> None:
        keys = [key_of(e) for e in self.ours().values()]
        assert len(keys) == len(set(keys)), self.format_log(f"twice: {keys}")
        assert {i: self.store.events[i] for i in self.foreign} == self.foreign, self.format_log(
            "a foreign event changed"
        )
        for event_id, mine in self.own.items():
            event = self.store.events[event_id]
            assert not (mine and event.gone), self.format_log(f"“{event.summary}” is gone, with {mine}")
            assert own_of(event) == mine, self.format_log(
                f"“{event.summary}” has {own_of(event)}, the person had {mine}"
            )

    def some_plan(self) -> dict[str, Any]:
        """Return a few of eight blocks, each at one of its own three hours, so that plans overlap in part."""
        blocks = sorted(self.rng.sample(range(8), self.rng.randint(1, 6)))
        events = [
            {
                "n": f"Block {b}",
                "t": "DW",
                "d": self.rng.choice(("", f"notes {b}")),
                "p": {"a": "fs", "st": f"{8 + b:02d}:{self.rng.choice((0, 15, 30)):02d}", "dur": "PT25M"},
                "key": f"b{b}",
            }
            for b in blocks
        ]
        return {"date": DAY, "tz": "Europe/Berlin", "events": events}

    def format_log(self, what: object) -> str:
        return "\n".join((*self.log, str(what)))


async def play(folder: Path, seed: str) -> Terminals:
    """Play one history. Raise ``AssertionError`` when something does not hold."""
    async with SlowGoogle() as google:
        terminals = Terminals(folder, google, Random(seed))
        await terminals.play()
        return terminals


@dataclass
class TerminalResults:
    """Results of some histories: the number of commands typed and killed, and the failures by history."""

    histories: int = 0
    commands: int = 0
    kills: int = 0
    failed: list[str] = field(default_factory=list)


async def play_some(
    folder: Path, seed: int, numbers: Sequence[int], told: Callable[[TerminalResults], None] = lambda _: None
) -> TerminalResults:
    """Play histories, some at a time: most of their time goes into waiting until Google may be asked again."""
    played, places = TerminalResults(), asyncio.Semaphore(AT_ONCE)

    async def play_one(number: int) -> None:
        name, place = f"{seed}:{number}", folder / str(number)
        place.mkdir()
        async with places:
            try:
                ended = await play(place, name)
            except Exception as wrong:  # noqa: BLE001  whatever ends a history is its result
                played.failed.append(f"{name}\n{type(wrong).__name__}: {wrong}")
            else:
                played.commands, played.kills = played.commands + ended.commands, played.kills + ended.kills
        played.histories += 1
        told(played)

    await asyncio.gather(*map(play_one, numbers))
    return played
