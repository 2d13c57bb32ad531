"""Many histories: drawn from a seed, played, counted; and one that went wrong, made as short as it can be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import get_args

from tests.fakes.memory_journal import MemoryJournal
from tests.soak.days import Kind, Setting
from tests.soak.history import Engine, History, Step

from fateforger.adapters.store.store import open_store
from fateforger.calendar.ports import Journal
from fateforger.calendar.submitter import CalendarSubmitter

WEIGHTS = {
    "plan": 2,
    "submit": 6,
    "hand": 6,
    "undo": 4,
    "look": 2,
    "two": 1,
    "wait": 1,
    "restart": 1,
    "rest": 1,
    "empty": 1,
}
SQL_SHARE = 0.06
KINDS = ("lost", "foreign", "duplicate", "blamed", "left", "plan", "unsettled", "reused", "intent", "crash")
"""All of them have to be nought; the first three are the promise."""


@dataclass
class HistoryResults:
    """Results of some histories. ``failed`` are the names of those with breaches."""

    histories: int = 0
    breaches: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def add(self, other: HistoryResults) -> None:
        self.histories += other.histories
        self.breaches += other.breaches
        self.counts += other.counts
        self.failed += other.failed


@dataclass(frozen=True)
class Script:
    """Everything about a history that is left to chance, decided."""

    name: str
    setting: Setting
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " ".join((self.name, *map(str, self.steps)))

    @classmethod
    def draw(cls, seed: int, number: int, kind: Kind = "fake") -> Script:
        rng = Random(f"{seed}:{number}")
        setting = Setting.draw(rng, sql_share=SQL_SHARE, kind=kind)
        kinds = rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=rng.randint(2, 24))
        steps = [Step(kind, rng.getrandbits(32)) for kind in ("day", "submit", *kinds)]
        return cls(f"{seed}:{number}" + ("" if kind == "fake" else f":{kind}"), setting, tuple(steps))

    @classmethod
    def read(cls, text: str) -> Script:
        """Read ``seed:number`` for a whole history, or with its remaining steps after it.

        The kind of calendar follows the number, unless it is the fake.
        """
        name, *words = text.split()
        seed, number, *kinds = name.split(":")
        script = cls.draw(int(seed), int(number), next((kind for kind in get_args(Kind) if kind in kinds), "fake"))
        steps = tuple(Step(kind, int(n)) for kind, n in (word.split(".") for word in words))
        return cls(name, script.setting, steps) if steps else script


class HistoryRunner:
    """Plays histories, one after the other, on one loop and one database."""

    def __init__(self, engine: Engine = CalendarSubmitter) -> None:
        self._engine = engine
        self._loop = asyncio.new_event_loop()
        self._store = open_store(":memory:")
        self._plays = 0

    def close(self) -> None:
        self._loop.run_until_complete(self._store.aclose())
        self._loop.close()

    def play(self, script: Script) -> History:
        """Play the history to its end or to its first breach."""
        self._plays += 1
        journal: Journal = self._store.journal if script.setting.sql else MemoryJournal()
        history = History(f"{script.name}/{self._plays}", script.setting, journal, self._engine, self._loop)
        try:
            history.play(script.steps)
        except Exception as error:  # noqa: BLE001  whatever the engine raises that it must not is a finding
            history.truth.breach("crash", f"{type(error).__name__}: {error}")
        finally:
            history.close()
        return history

    def shortest(self, script: Script) -> Script:
        """Return the script without every step that a breach of the same kind as its first does not need."""
        kinds = {kind for kind, _ in self.play(script).truth.breaches[:1]}
        size = len(script.steps) // 2
        while size:
            at = 0
            while at < len(script.steps):
                less = Script(script.name, script.setting, script.steps[:at] + script.steps[at + size :])
                if kinds & {kind for kind, _ in self.play(less).truth.breaches[:1]}:
                    script = less
                else:
                    at += size
            size //= 2
        return script


@contextmanager
def stage(engine: Engine = CalendarSubmitter) -> Iterator[HistoryRunner]:
    found = HistoryRunner(engine)
    try:
        yield found
    finally:
        found.close()


def play_all(
    seed: int,
    numbers: Sequence[int],
    engine: Engine = CalendarSubmitter,
    told: Callable[[HistoryResults], None] | None = None,
    kind: Kind = "fake",
) -> HistoryResults:
    """Play the histories of those numbers."""
    tally = HistoryResults()
    with stage(engine) as on:
        for number in numbers:
            script = Script.draw(seed, number, kind)
            history = on.play(script)
            kinds = Counter(breach for breach, _ in history.truth.breaches)
            name = [script.name] if kinds else []
            counts = history.truth.counts + Counter(raced=history.truth.raced, steps=len(history.log))
            one = HistoryResults(1, kinds, counts, name)
            tally.add(one)
            if told is not None:
                told(one)
    return tally
