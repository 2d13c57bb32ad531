"""A command of the command line that died, and the same command again: every place where a process can die, on both
sides of every commit of the journal and of every call to the calendar (K13)."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable
from pathlib import Path
from typing import Literal

import pytest
from tests.factories.days import CalendarHarness, block, plan_of
from tests.factories.trouble import SIDES, DyingJournal, ProcessDied, Side, WatchedCalendar
from tests.fakes.google_calendar import Crash
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.model import SafetyCheckKind
from fateforger.calendar.results import SyncResult
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.cli.sync import NEWEST, Request, begin_attempt, hash_document
from fateforger.errors import NotUndoable
from fateforger.planning.plan import TBPlan

ONE = plan_of(block("a", "09:00"))
TWO = plan_of(block("a", "09:30"), block("b", "10:30"))
THREE = plan_of(block("a", "08:00"), block("c", "12:00"), block("d", "13:00"))
OTHER = plan_of(block("a", "08:00"), block("e", "20:00"))
Place = tuple[Literal["commit", "call"], int, Side]
FEWEST = 30
"""Least number of places to die at in each of these commands."""


class Terminal:
    """Commands typed one after the other, each in a process of its own, on one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.data_dir.mkdir(parents=True)
        self.inner = MemoryJournal()
        self.world = CalendarHarness(self.inner, ids=itertools.count())

    async def apply(self, plan: TBPlan, dies: Place | None = None) -> SyncResult:
        return await self._type(Request("apply", hash_document(plan.model_dump_json())), plan, dies)

    async def undo(self, what: str = NEWEST, dies: Place | None = None) -> SyncResult:
        return await self._type(Request("undo", what), None, dies)

    async def _type(self, request: Request, plan: TBPlan | None, dies: Place | None) -> SyncResult:
        journal = DyingJournal(self.inner, dies[1:] if dies is not None and dies[0] == "commit" else None)
        calendar = WatchedCalendar(self.world.calendar, journal, self.world.time.now)
        if dies is not None and dies[0] == "call":
            _, nth, side = dies
            self.world.calendar.inject(Crash(ProcessDied(), side), at=len(self.world.calendar.calls) + nth)
        submitter = self.world.submitter(calendar=calendar, journal=journal)
        attempt, cause = await begin_attempt(self.data_dir, submitter, request)
        try:
            result = await self._act(submitter, request, plan, cause)
        finally:
            self.world.calendar.calm()
        if dies is None:
            attempt.unlink(missing_ok=True)  # the answer was seen
        return result

    async def _act(self, submitter: CalendarSubmitter, request: Request, plan: TBPlan | None, cause: str) -> SyncResult:
        if plan is not None:
            return await submitter.submit_plan(plan, cause=cause, confirmed=tuple(SafetyCheckKind), finishing=True)
        if request.what == NEWEST:
            return await submitter.undo_last(cause=cause, finishing=True)
        return await submitter.undo_since(request.what, cause=cause, finishing=True)

    def read_calendar(self) -> list[tuple[str, ...]]:
        return self.world.list_own_events()


def places(commits: int, calls: int) -> list[Place]:
    """Return all places of a command, with the last moment, when its answer is on its way to the person."""
    at: list[Place] = [("commit", n, side) for n in range(commits) for side in SIDES]
    return [*at, *(("call", n, side) for n in range(calls) for side in SIDES), ("call", 1000, "after")]


async def prepare_calendar(data_dir: Path, *plans: TBPlan) -> tuple[Terminal, list[list[tuple[str, ...]]]]:
    """Return a calendar to which these plans were applied, and its contents before each and after the last."""
    terminal = Terminal(data_dir)
    views = [terminal.read_calendar()]
    for plan in plans:
        await terminal.apply(plan)
        views.append(terminal.read_calendar())
    return terminal, views


async def test_an_undo_that_died_is_finished_by_the_next_one(tmp_path: Path) -> None:
    """K13: by that undo and no other, and it says so; a bare undo also finishes one that named its transaction."""
    deaths = 0
    for count, (named, dies) in enumerate(itertools.product((False, True), places(24, 12))):
        terminal, views = await prepare_calendar(tmp_path / f"{count}", ONE, TWO, THREE)
        newest = (await terminal.inner.history(terminal.world.calendar.key))[0].id
        died = await dying(terminal.undo(newest if named else NEWEST, dies))
        began = any(t.kind == "undo" for t in terminal.inner.transactions.values())
        result = await terminal.undo()
        assert (result.status, terminal.read_calendar()) == ("undone", views[2]), (named, dies)
        sentence = "Finished the undo that began at 12:00 and was interrupted."
        assert (result.sentences[0] == sentence) is began, (dies, result.sentences)
        deaths += died
        undos = [t for t in terminal.inner.transactions.values() if t.kind == "undo"]
        assert len(undos) == 1
        await terminal.undo()
        assert terminal.read_calendar() == views[1], (named, dies)
    assert deaths >= 2 * FEWEST


async def test_an_undo_of_an_older_write_that_died_is_finished(tmp_path: Path) -> None:
    """K13: with all that it takes along."""
    deaths = 0
    for count, dies in enumerate(places(24, 12)):
        terminal, views = await prepare_calendar(tmp_path / f"{count}", ONE, TWO, THREE)
        second = (await terminal.inner.history(terminal.world.calendar.key))[1].id
        deaths += await dying(terminal.undo(second, dies))
        result = await terminal.undo(second)
        assert (result.status, terminal.read_calendar()) == ("undone", views[1]), dies
        assert "This also took back later writes: 1 made from the command line." in result.sentences
        await terminal.undo()
        assert terminal.read_calendar() == views[0], dies
    assert deaths >= FEWEST


async def test_an_apply_that_died_and_was_typed_again_needs_one_undo(tmp_path: Path) -> None:
    """K13"""
    deaths = 0
    _, wanted = await prepare_calendar(tmp_path / "smooth", ONE, TWO, THREE)
    for count, dies in enumerate(places(30, 14)):
        terminal, views = await prepare_calendar(tmp_path / f"{count}", ONE, TWO)
        deaths += await dying(terminal.apply(THREE, dies))
        await terminal.apply(THREE)
        assert terminal.read_calendar() == wanted[3], dies
        await terminal.undo()
        assert terminal.read_calendar() == views[2], dies
        await terminal.undo()
        assert terminal.read_calendar() == views[1], dies
    assert deaths >= FEWEST


async def test_an_apply_that_died_and_was_settled_meanwhile_needs_one_undo(tmp_path: Path) -> None:
    """K13: the program started in between and gave up what was left of it."""
    deaths = 0
    for count, dies in enumerate(places(30, 14)):
        terminal, views = await prepare_calendar(tmp_path / f"{count}", ONE, TWO)
        deaths += await dying(terminal.apply(THREE, dies))
        for transaction in await terminal.inner.list_unsettled():
            await terminal.world.submitter().find_out(transaction.id)
        await terminal.apply(THREE)
        await terminal.undo()
        assert terminal.read_calendar() == views[2], dies
    assert deaths >= FEWEST


async def test_another_command_does_not_finish_what_died(tmp_path: Path) -> None:
    """K13: an interrupted write is settled, and the undo of a later one goes back to before that."""
    deaths = 0
    for count, dies in enumerate(places(24, 12)):
        terminal, _ = await prepare_calendar(tmp_path / f"{count}", ONE, TWO, THREE)
        deaths += await dying(terminal.undo(dies=dies))
        for transaction in await terminal.inner.list_unsettled():
            await terminal.world.submitter().find_out(transaction.id)
        between = terminal.read_calendar()
        result = await terminal.apply(OTHER)
        assert not any("interrupted" in sentence for sentence in result.sentences)
        await terminal.undo()
        assert terminal.read_calendar() == between, dies
    assert deaths >= FEWEST


async def test_an_answer_that_was_seen_is_seen(tmp_path: Path) -> None:
    """K13: two undos are two; so they are when the program wrote something after the first, which died."""
    terminal, views = await prepare_calendar(tmp_path / "seen", ONE, TWO, THREE)
    for view in (views[2], views[1], views[0]):
        await terminal.undo()
        assert terminal.read_calendar() == view
    with pytest.raises(NotUndoable):
        await terminal.undo()
    terminal, views = await prepare_calendar(tmp_path / "written", ONE, TWO, THREE)
    await terminal.undo(dies=("call", 1000, "after"))
    await terminal.world.submitter().submit_plan(OTHER, cause="in a thread", context={"session": "s"})
    result = await terminal.undo()
    assert (terminal.read_calendar(), result.sentences[0][:11]) == (views[2], "Taken back:")


async def dying(command: Awaitable[SyncResult]) -> bool:
    """Run a command and return whether it died before it came to an end."""
    try:
        await command
    except ProcessDied:
        return True
    return False
