"""A year of messages by themselves: two programs on one database, restarts, clock changes, opt-outs and sessions.

Each message that was wanted is sent once, or recorded with the reason why it is not; none comes in quiet hours, while
its person plans, or more than a minute late. What is due is found by walking through the minutes of each date, and not
by the arithmetic of the program.
"""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select
from tests.unit.conversation.person import Harness, open_harness_at

from fateforger.adapters.store.store import open_store
from fateforger.adapters.store.talks import RITUAL_MARK
from fateforger.memory.vocabulary import WEEK
from fateforger.session.model import Session, SyncState, WriteCounts
from fateforger.session.queue_commands import ChangeRituals, RitualChange
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace
from fateforger.workers.lanes import NOTIFICATION, RITUALS

ANNA, DM = "U_ANNA", "D1"
MINUTE, BUSY, ROUND = timedelta(minutes=1), timedelta(minutes=10), timedelta(seconds=RITUALS.seconds)
AGAIN = timedelta(seconds=30)
Span = tuple[datetime, datetime]
Name = tuple[str, date]


@dataclass(frozen=True)
class Choice:
    """Anna's settings for the year; ``kinds`` are times by kind."""

    tz: str
    kinds: dict[str, time]
    quiet: tuple[time, time]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.tz)

    def is_quiet(self, moment: datetime) -> bool:
        clock, (start, end) = moment.astimezone(self.zone).time(), self.quiet
        return start <= clock < end if start <= end else clock >= start or clock < end


def first_minute(day: date, clock: time, tz: ZoneInfo) -> datetime:
    """Return the first minute of a date whose clock has reached a time."""
    moment = datetime.combine(day, time(0), UTC) - timedelta(hours=16)
    while True:
        there = moment.astimezone(tz)
        if there.date() > day or (there.date() == day and there.time() >= clock):
            return moment
        moment += timedelta(minutes=5)


@dataclass
class SimulatedYear:
    """Everything that happens in a year, and its results."""

    choice: Choice
    harnesses: tuple[Harness, Harness]
    chance: random.Random
    down: list[Span] = field(default_factory=list)
    off: list[Span] = field(default_factory=list)
    touched: list[datetime] = field(default_factory=list)
    planned: dict[date, datetime] = field(default_factory=dict)
    deliveries: list[tuple[str, datetime]] = field(default_factory=list)

    @property
    def clock(self) -> datetime:
        return self.harnesses[0].clock.at

    # --- what happens

    async def live(self, first: date, days: int) -> None:
        self._draw(first, days)
        start, end = (datetime.combine(first + timedelta(days=n), time(0), UTC) for n in (0, days))
        self.harnesses[0].clock.at = start - timedelta(minutes=1)
        await self._choose(on=True)
        for moment, deed in sorted(self._list_moments(first, days, start, end), key=lambda each: each[0]):
            self.harnesses[0].clock.at = max(self.clock, moment)
            match deed:
                case "round" if not _covers(self.down, self.clock):
                    await self._round()
                case "touch":
                    await self._save(
                        self.clock.astimezone(self.choice.zone).date() + timedelta(days=3), committed=False
                    )
                case "commit":
                    await self._save(self.clock.astimezone(self.choice.zone).date(), committed=True)
                case "off" | "on":
                    await self._choose(on=deed == "on")

    def _draw(self, first: date, days: int) -> None:
        for n in range(days):
            noon = datetime.combine(first + timedelta(days=n), time(12), UTC)
            if self.chance.random() < 0.15:
                self.down.append(self._span(noon, hours=16))
            if self.chance.random() < 0.04 and (not self.off or self.off[-1][1] < noon - timedelta(hours=12)):
                self.off.append(self._span(noon, hours=60))
            for clock in self.choice.kinds.values():
                if self.chance.random() < 0.2:
                    due = first_minute(noon.date(), clock, self.choice.zone)
                    self.touched.append(due + timedelta(minutes=self.chance.uniform(-12, 2)))
            if self.chance.random() < 0.7:
                self.planned[noon.date()] = noon + timedelta(hours=self.chance.uniform(-10, 3))

    def _span(self, noon: datetime, hours: int) -> Span:
        start = noon + timedelta(hours=self.chance.uniform(-12, 12))
        return start, start + timedelta(hours=self.chance.uniform(0, hours))

    def _list_moments(self, first: date, days: int, start: datetime, end: datetime) -> Iterator[tuple[datetime, str]]:
        """Yield the rounds of the program: after each moment at which a message may become due, and at random times."""
        wakes = [start + timedelta(hours=6 * n) for n in range(days * 4)]
        wakes += self.list_due(first, days).values()
        wakes += [until for _, until in (*self.down, *self.off)]
        wakes += [moment + BUSY for moment in self.touched]
        wakes += [moment + BUSY for moment in self.planned.values()]
        for n in range(-1, days + 1):
            wakes.append(first_minute(first + timedelta(days=n), self.choice.quiet[1], self.choice.zone))
        wakes += [
            moment + AGAIN for moment in wakes
        ]  # for messages that had to wait because a round looked just before
        for moment in wakes:
            late = timedelta(seconds=self.chance.uniform(0, RITUALS.seconds))
            if start <= moment + late <= end:
                yield moment + late, "round"
        yield from ((moment, "touch") for moment in self.touched if start <= moment <= end)
        yield from ((moment, "commit") for moment in self.planned.values() if start <= moment <= end)
        for since, until in self.off:
            yield since, "off"
            yield until, "on"

    async def _round(self) -> None:
        """Run a round of one of the programs, or of both at once; sometimes after a restart."""
        if self.chance.random() < 0.1:
            self.chance.choice(self.harnesses).restart()
        looking = self.harnesses if self.chance.random() < 0.5 else (self.chance.choice(self.harnesses),)
        await asyncio.gather(*(harness.rituals.send_due() for harness in looking))
        jobs = self.harnesses[0].store.jobs
        while (job := await jobs.claim(NOTIFICATION.name, "w", now=self.clock, lease_seconds=60)) is not None:
            if str(job.payload["v"]).startswith("ritual/"):
                self.deliveries.append((str(job.payload["v"]), self.clock))
            await jobs.finish(job)

    async def _choose(self, *, on: bool) -> None:
        kinds, quiet = self.choice.kinds, self.choice.quiet
        change = RitualChange(
            morning=kinds["morning"], shutdown=kinds["shutdown"], review=True, days=WEEK, quiet_from=quiet[0],
            quiet_until=quiet[1],
        )  # fmt: skip
        command = ChangeRituals(
            command_id="c", user_id=ANNA, at=self.clock, channel=DM, tz=self.choice.tz,
            change=change if on else RitualChange(off=("morning", "shutdown", "review")),
        )  # fmt: skip
        await self.harnesses[0].rituals.answer(command)

    async def _save(self, day: date, *, committed: bool) -> None:
        """Plan a day for Anna, or commit it."""
        name, sessions = f"s{day.isoformat()}{committed}", self.harnesses[1].store.sessions
        there = await sessions.load(name)
        made = Session(
            id=name, user_id=ANNA, channel=DM, thread_ts="1.0", created_at=self.clock, touched_at=self.clock,
            tz=self.choice.tz, date=day, stage=TimeboxingStage.REVIEW_COMMIT if committed else TimeboxingStage.DATE,
            sync=SyncState(written=WriteCounts() if committed else None),
        )  # fmt: skip
        later = made if there is None else replace(there, touched_at=self.clock)
        await sessions.save(later, expected=0 if there is None else there.version)

    # --- what is expected

    def list_due(self, first: date, days: int) -> dict[Name, datetime]:
        """Return every wanted message of the year's dates, and the minute at which it is due."""
        found: dict[Name, datetime] = {}
        for day in (first + timedelta(days=n) for n in range(-1, days + 1)):
            for kind, clock in self.choice.kinds.items():
                if kind != "review" or day.weekday() == 6:
                    found[kind, day] = first_minute(day, clock, self.choice.zone)
        return found

    def free_from(self, moment: datetime) -> datetime:
        """Return the first moment after that at which nothing holds the message back until the program looks."""
        while not (self.is_free(moment) and self.is_free(moment + ROUND)):
            moment += ROUND
        return moment

    def is_free(self, moment: datetime) -> bool:
        latest = bisect_right(self.deeds, moment) - 1  # she is busy with a plan, and ten minutes after
        busy = latest >= 0 and moment < self.deeds[latest] + BUSY
        return not (busy or self.choice.is_quiet(moment) or _covers(self.down, moment))

    @cached_property
    def deeds(self) -> list[datetime]:
        """The times at which she does something in a plan."""
        return sorted((*self.touched, *self.planned.values()))

    def has_plan(self, day: date, moment: datetime) -> bool:
        return any(
            at <= moment and at.astimezone(self.choice.zone).date() == day for at in self.planned.values()
        ) or any(
            at <= moment and at.astimezone(self.choice.zone).date() + timedelta(days=3) == day for at in self.touched
        )


def _covers(spans: list[Span], moment: datetime) -> bool:
    return any(start <= moment < end for start, end in spans)


CHOICES = [
    Choice("Europe/Amsterdam", {"morning": time(7, 30), "shutdown": time(18), "review": time(18)}, (time(20), time(7))),
    Choice("America/New_York", {"morning": time(2, 30), "shutdown": time(16), "review": time(16)}, (time(22), time(1))),
    Choice(
        "Australia/Lord_Howe", {"morning": time(1, 45), "shutdown": time(23), "review": time(23)}, (time(0), time(1))
    ),
]


async def run(tmp_path: Path, choice: Choice, seed: int, first: date, days: int) -> None:
    one = await open_harness_at(tmp_path)
    other = Harness(open_store(tmp_path / "state.db"), one.calendar, one.clock)
    year = SimulatedYear(choice, (one, other), random.Random(seed))
    try:
        await year.live(first, days)
        await check(year, first, days)
    finally:
        await one.close()
        await other.close()


async def check(year: SimulatedYear, first: date, days: int) -> None:
    rows = await year.harnesses[1].store.database.read(lambda connection: connection.execute(select(RITUAL_MARK)).all())
    marks: dict[Name, tuple[str, datetime]] = {(row.kind, row.day): (row.outcome, row.at) for row in rows}
    sent = {name: at for name, (outcome, at) in marks.items() if outcome == "sent"}
    came = Counter(name for name, _ in year.deliveries)
    assert set(came.values()) <= {1}, "one came twice"
    assert came.keys() == {f"ritual/{ANNA}/{kind}/{day}" for kind, day in sent}, "one is lost on its way"
    for moment in sent.values():
        assert year.is_free(moment)
        assert not _covers(year.off, moment)
    due = year.list_due(first, days)
    assert marks.keys() <= due.keys()
    start, end = (datetime.combine(first + timedelta(days=n), time(0), UTC) for n in (0, days - 1))
    wanted = {name: at for name, at in due.items() if start <= at < end and not _is_near(year.off, at)}
    assert wanted.keys() <= marks.keys(), "one is neither sent nor recorded"
    outcomes = Counter(outcome for outcome, _ in marks.values())
    assert outcomes["sent"] > days / 4, outcomes
    for name, at in wanted.items():
        outcome, moment = marks[name]
        assert moment >= at
        free = year.free_from(at)
        match outcome:
            case "sent":
                assert moment - free <= MINUTE, (name, at, free, moment)
            case "begun":
                assert name[0] == "morning"
                assert year.has_plan(name[1], moment)
            case "nothing":
                assert name[0] in {"shutdown", "review"}
            case _:
                assert free >= last_use(year, name, at) - MINUTE, (name, outcome, at, free)


def last_use(year: SimulatedYear, name: Name, at: datetime) -> datetime:
    """Return the moment from which a message is of no use."""
    kind, day = name
    if kind == "morning":
        return max(first_minute(day, time(12), year.choice.zone), at + timedelta(hours=2))
    return first_minute(day + timedelta(days=1), time(0), year.choice.zone)


def _is_near(spans: list[Span], moment: datetime) -> bool:
    """Check for a choice that changed after a message was due and may have come before it was sent."""
    return any(start - timedelta(days=1) <= moment <= end for start, end in spans)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.tz)
@pytest.mark.parametrize("first", [date(2026, 3, 6), date(2026, 3, 27), date(2026, 10, 2), date(2026, 10, 23)])
async def test_a_few_days_around_a_change_of_the_clocks(tmp_path: Path, choice: Choice, first: date) -> None:
    """S296, S298"""
    await run(tmp_path, choice, seed=first.toordinal(), first=first, days=4)


@pytest.mark.extra
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.tz)
async def test_a_year(tmp_path: Path, choice: Choice) -> None:
    """S296, S298: each once, none lost, none in quiet hours, none more than a minute late."""
    await run(tmp_path, choice, seed=7, first=date(2026, 1, 1), days=365)
