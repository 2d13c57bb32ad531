"""``kill -9`` of the real program at random moments of commits and undos, again and again, on one thread and calendar.

After every kill the program is started again, and then holds: what was interrupted is settled within seconds, the
calendar shows the plan or the day before, nothing is there twice, no other event was touched, the thread says what
happened, and its next button works.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median

import httpx
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import DEADLINE, Person, controls, eventually
from tests.scenarios.program import Program
from tests.scenarios.radicale import Radicale, SlowWay, free_port, slow_way

from fateforger.adapters.store.store import Store, open_store
from fateforger.calendar.transactions import OpState, Transaction

NOW = "2026-03-02T07:00:00+01:00"
MEETING = (datetime(2026, 3, 2, 8, 30, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
PLANNED = ["Answer mail", "Lunch", "Prepare talk", "Shut down", "Write report"]
COMMIT, UNDO = "Commit to calendar", "Undo"
CALL_SECONDS = 0.2
AROUND_THE_CLICK = 1.0
WHILE_WRITING = 3 * CALL_SECONDS
"""Approximate time from a first write until the last one is over: four run at once."""


@dataclass
class Kills:
    """Counts of kills by place, and the time each open transaction took to settle, from when the page answered."""

    hits: Counter[str] = field(default_factory=Counter)
    settled: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        hits = ", ".join(f"{where} {n}" for where, n in sorted(self.hits.items()))
        if not self.settled:
            return f"{self.hits.total()} kills: {hits}"
        times = f"settled after {median(self.settled):.2f} s (median), {max(self.settled):.2f} s (most)"
        return f"{self.hits.total()} kills: {hits}; {len(self.settled)} open transactions {times}"


@dataclass
class KilledProgram:
    """The program on its thread, and everything that is looked at from outside. ``where`` is its database."""

    program: Program
    calendar: CalDav
    where: str
    way: SlowWay
    rng: Random
    person: Person = field(init=False)
    committed: bool = False
    foreign: dict[str, bytes] = field(default_factory=dict)

    def begin(self) -> None:
        """Do everything up to the button that writes."""
        self.calendar.put("standup", "Standup", *MEETING, DESCRIPTION="bring coffee")
        self.foreign = self.calendar.raw()
        self.program.start()
        self.person = self.program.person()
        for _, step in STEPS[:-1]:
            step(self.person)

    def kill_once(self, kills: Kills) -> None:
        """Press the button, kill the program meanwhile, start it again, and check everything."""
        accepted = self._press_and_kill()
        where, is_open = self._hit(accepted)
        kills.hits[where] += 1
        self.program.start()
        ready = time.monotonic()
        eventually(lambda: not self._has_unsettled(), "what was interrupted is settled")
        if is_open:
            kills.settled.append(time.monotonic() - ready)
        self.person = self.program.person()
        self._look(accepted=accepted)

    def _press_and_kill(self) -> bool:
        """Click, kill the program meanwhile, and return whether the click was accepted."""
        eventually(lambda: self.person.has(self._button), f"the button {self._button}")
        control = self.person.find(self._button)
        self.way.written.clear()
        dying = threading.Thread(target=self._kill_in_time)
        dying.start()
        try:
            return bool(self.person.use(*control)["ok"])
        except (httpx.HTTPError, ValueError):
            return False
        finally:
            dying.join()

    def _kill_in_time(self) -> None:
        """Kill around the click, or, three times of four, at some moment from the first write on."""
        if self.rng.random() < 0.25:
            pause = self.rng.uniform(0, AROUND_THE_CLICK)
        else:
            self.way.written.wait(DEADLINE)
            pause = self.rng.uniform(0, WHILE_WRITING)
        threading.Event().wait(pause)
        self.program.kill()

    def _hit(self, accepted: bool) -> tuple[str, bool]:  # noqa: FBT001  one of two
        """Return where in the write the program died, and whether a transaction was open then.

        The database and the calendar tell it.
        """
        found = self._transactions()
        if not found:
            return ("idle, or before the first intent" if accepted else "before the click was taken"), False
        (transaction,) = found
        marked = b"".join(eventually(self._objects, "the calendar as a whole").values())
        flying = [r for r in transaction.records if r.state is OpState.INFLIGHT]
        if not flying:
            return "between two writes", True
        landed = [
            r
            for r in flying
            if f"{r.op.op_id}".encode() in marked or (r.op.verb == "delete" and r.op.event_id.encode() not in marked)
        ]
        return ("a write under way had landed" if landed else "a write under way had not landed"), True

    def _objects(self) -> dict[str, bytes] | None:
        """Return all objects; ``None`` if one lands between two reads, as may happen after its sender died."""
        try:
            return self.calendar.raw()
        except httpx.HTTPStatusError:
            return None

    def _look(self, *, accepted: bool) -> None:
        """Check that the click was carried out, or never accepted: nothing between."""
        done = [COMMIT, UNDO][not self.committed]
        if accepted:
            eventually(lambda: self.person.has(done), f"the thread offers {done}:\n{self.person.says()}")
        else:
            eventually(lambda: self.person.has(COMMIT) or self.person.has(UNDO), "the thread offers a next step")
        eventually(self._agrees, f"thread and calendar agree; {self.calendar.titles()}\n{self.person.says()}")
        eventually(self._has_one_card, f"only the newest card has buttons:\n{self.person.says()}")
        self.committed = self.person.has(UNDO)
        said = self.person.says()
        assert "is on your calendar" in said if self.committed else COMMIT in said, said
        now = self.calendar.raw()
        assert {name: now.get(name) for name in self.foreign} == self.foreign

    def _agrees(self) -> bool:
        shown = sorted(title for title in self.calendar.titles() if title != "Standup")
        committed = self.person.has(UNDO)
        return (
            not self._has_unsettled()
            and shown == (PLANNED if committed else [])
            and (committed or self.person.has(COMMIT))
        )

    def _has_one_card(self) -> bool:
        *earlier, newest = (bool(list(controls(each.get("blocks") or []))) for each in self.person.thread())
        return newest and not any(earlier)

    @property
    def _button(self) -> str:
        return UNDO if self.committed else COMMIT

    def _has_unsettled(self) -> bool:
        return bool(self._transactions())

    def _transactions(self) -> tuple[Transaction, ...]:
        async def look() -> tuple[Transaction, ...]:
            store: Store = open_store(self.where)
            try:
                return await store.journal.list_unsettled()
            finally:
                await store.aclose()

        return asyncio.run(look())


@contextmanager
def victim(folder: Path, database: str | None, seed: int) -> Iterator[KilledProgram]:
    """Run a program to be killed, on SQLite or on the PostgreSQL database of that URL, with a slow calendar."""
    server = Radicale(folder / "dav", free_port())
    server.start()
    try:
        httpx.request("MKCALENDAR", server.calendar, trust_env=False, auth=("me", "")).raise_for_status()
        with slow_way(server.calendar, CALL_SECONDS) as way:
            environment = {"FATEFORGER_NOW": NOW, "FATEFORGER_CALDAV_URL": way.url, "FATEFORGER_CALDAV_USERNAME": "me"}
            if database is not None:
                environment["FATEFORGER_DATABASE_URL"] = database
            program = Program(folder / "data", environment)
            found = KilledProgram(
                program, CalDav(server.calendar), database or str(folder / "data" / "fateforger.db"), way, Random(seed)
            )
            found.begin()
            yield found
            if program.process is not None:
                program.kill()
    finally:
        server.kill()


def kill_again_and_again(folder: Path, database: str | None, kills: int, seed: int) -> Kills:
    """Kill the program many times. Raises ``AssertionError`` when a guarantee is broken after one of them."""
    found = Kills()
    with victim(folder, database, seed) as on:
        for _ in range(kills):
            on.kill_once(found)
    return found
