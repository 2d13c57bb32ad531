"""Random histories of one person, one calendar and a process that may die at any moment.

The person plans, submits, takes back and does over, edits, copies and deletes blocks on the calendar, also while the
program is writing, and adds events, on ordinary days and on those when the clock changes. New events are listed late,
calls fail, answers get lost or come late, the process dies and starts again, and another one writes to the same
calendar. In every history, nothing the person typed disappears, no event of theirs is touched, nothing is there twice,
nothing is deleted in doubt, and every transaction comes to an end (P1-P4, P6-P8, P11, P12, P14, P15, P17-P20).

``HYPOTHESIS_PROFILE=long`` plays thousands of histories instead of some.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.factories.days import DAY, CalendarHarness, at, block, plan_of
from tests.factories.trouble import SIDES, DyingJournal, ProcessDied, Side, WatchedCalendar, call_fault
from tests.fakes.google_calendar import GoogleCalendarFake, Race
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import SafetyCheckKind, Standing, Verb
from fateforger.calendar.results import SyncResult
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.calendar.transactions import OpState, TxState
from fateforger.errors import CalendarBusy, CalendarError, ConfirmationNeeded, NotUndoable
from fateforger.planning.plan import TBEvent, TBPlan
from fateforger.planning.timing import FixedStart

KEYS = "abcde"
HALF_AN_HOUR = timedelta(minutes=30)
T = TypeVar("T")
steps: Counter[str] = Counter()


@dataclass(frozen=True)
class WishedBlock:
    """A wished block: its place, name and notes.

    Each block has two hours of its own from midnight on, the hours in which clocks change.
    """

    place: int
    name: int
    notes: int

    def build(self, key: str) -> TBEvent:
        start = 120 * KEYS.index(key) + 30 * self.place
        name, notes = f"{key} {['one', 'two', 'three'][self.name]}", f"notes {self.notes}"
        return block(key, f"{start // 60:02d}:{start % 60:02d}", 30, name=name, notes=notes)


DAYS = [DAY, date(2026, 3, 29), date(2026, 10, 25)]
"""An ordinary day, one of 23 hours and one of 25."""
TOUCHES = ["summary", "description", "start", "delete"]
ACTS = ["submit", "undo", "redo"]
wishes = st.builds(WishedBlock, st.integers(0, 3), st.integers(0, 2), st.integers(0, 1))
plans = st.dictionaries(st.sampled_from(KEYS), wishes)
troubles = st.tuples(st.sampled_from(["call", "commit"]), st.integers(0, 11), st.integers(0, 6), st.sampled_from(SIDES))


async def submit_and_confirm(submitter: CalendarSubmitter, plan: TBPlan, cause: str) -> SyncResult:
    """Submit, and say yes to every question."""
    try:
        return await submitter.submit_plan(plan, cause=cause)
    except ConfirmationNeeded as needed:
        steps["brake"] += 1
        return await submitter.submit_plan(
            plan, cause=cause, confirmed={SafetyCheckKind(kind) for kind in needed.reasons}
        )


class OnePerson(RuleBasedStateMachine):
    """A person and their calendar. ``typed`` are the person's texts in our events, ``moved`` the places they chose."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.numbers = itertools.count(1)
        self.journal = MemoryJournal()
        self.wishes: dict[str, WishedBlock] = {}
        self.typed: dict[tuple[str, str], str] = {}
        self.moved: dict[str, Any] = {}
        self.touched: set[str] = set()
        self.theirs: dict[str, EventImage] = {}
        self.breaches: list[str] = []
        self.ended: dict[str, OpState] = {}

    @initialize(
        conditional=st.booleans(),
        lag=st.integers(0, 2),
        day=st.sampled_from(DAYS),
        wishes=st.dictionaries(st.sampled_from(KEYS), wishes, min_size=2),
    )
    def begin(self, conditional: bool, lag: int, day: date, wishes: dict[str, WishedBlock]) -> None:  # noqa: FBT001  Hypothesis names it
        self.world = CalendarHarness(self.journal, GoogleCalendarFake(conditional_write=conditional))
        self.world.store.lag = lag
        self.day = day
        self.wishes = wishes
        self.new_event()
        self.submit()

    def teardown(self) -> None:
        self.loop.close()

    # --- the person ---

    @rule(key=st.sampled_from(KEYS), wish=wishes)
    def plan_block(self, key: str, wish: WishedBlock) -> None:
        self.wishes[key] = wish

    @rule(key=st.sampled_from(KEYS))
    def drop_block(self, key: str) -> None:
        self.wishes.pop(key, None)

    @rule()
    def new_event(self) -> None:
        n = next(self.numbers)
        image = self.world.store.user_create(f"theirs {n}", start=self.at("18:30"), end=self.at("18:45"))
        self.theirs[image.id] = image

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), how=st.sampled_from(TOUCHES))
    def touch(self, data: st.DataObject, how: str) -> None:
        self.do(data.draw(st.sampled_from(self.ours())).id, how)

    def do(self, event_id: str, how: str) -> None:
        """Edit, move or delete an event, and remember it."""
        n = next(self.numbers)
        self.touched.add(event_id)
        if how == "delete":
            self.world.store.user_delete(event_id)
            self.typed = {at: text for at, text in self.typed.items() if at[0] != event_id}
            self.moved.pop(event_id, None)
        elif how == "start":
            start = self.at("19:00") + timedelta(minutes=n)
            self.world.store.user_edit(event_id, start=start, end=start + timedelta(minutes=20))
            self.moved[event_id] = start
        else:
            self.typed[event_id, how] = f"mine {n}"
            self.world.store.user_edit(event_id, **{how: f"mine {n}"})

    @precondition(lambda self: self.ours())
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        image = self.world.store.user_copy(data.draw(st.sampled_from(self.ours())).id, by=timedelta(hours=11))
        self.theirs[image.id] = image

    # --- the program, well ---

    @rule()
    def submit(self) -> None:
        steps["submit"] += 1
        result = self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
        assert result.status in {"changed", "unchanged"}, result
        self.check_shown(result)

    @rule()
    def undo(self) -> None:
        try:
            result = self.well(lambda s: s.undo_last(cause=self.cause()))
        except NotUndoable:
            return
        steps["undo"] += 1
        assert result.status == "undone", result

    @rule()
    def redo(self) -> None:
        """P7: the person's changes since the undo are kept."""
        self.run(self.process().recover())
        undos = [t for t in self.journal.transactions.values() if t.kind == "undo" and t.undoable]
        if not undos:
            return
        steps["redo"] += 1
        result = self.well(lambda s: s.undo_since(undos[-1].id, cause=self.cause()))
        assert result.status == "undone", result

    @rule()
    def submit_without_a_yes(self) -> None:
        """P15: most of the day vanishes, or a vanished day comes back, only with the person's yes."""
        self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
        self.wishes = {key: wish for key, wish in self.wishes.items() if key in KEYS[: next(self.numbers) % 5]}
        before, ours = dict(self.world.store.events), len(self.ours())
        held = [h for h in self.journal.heads.values() if h.standing is Standing.HELD]
        vanished = len(held) >= 2 and all(before[h.event_id].gone for h in held)
        try:
            result = self.well(lambda s: s.submit_plan(self.plan(), cause=self.cause()))
        except ConfirmationNeeded:
            steps["brake"] += 1
            assert self.world.store.events == before
            return
        assert not vanished or (result.created, result.deleted) == (0, 0)
        assert ours < 4 or result.deleted <= ours / 2
        self.check_shown(result)

    @rule(plans=st.lists(plans, min_size=2, max_size=4), data=st.data())
    def submits_and_as_many_undos(self, plans: list[dict[str, WishedBlock]], data: st.DataObject) -> None:
        """P17: the person's changes in between stay, in their place."""
        self.submit()
        before, held, done = self.view(), dict(self.wishes), 0
        for wishes in plans:
            self.wishes = wishes
            result = self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
            done += sum(t.undoable for t in result.transactions)
            edited = data.draw(st.booleans())
            if edited and self.ours():
                self.touch(data, data.draw(st.sampled_from(TOUCHES)))
        for _ in range(done):
            self.well(lambda s: s.undo_last(cause=self.cause()))
        steps["undo"] += done
        self.wishes = held
        events = self.world.store.events
        own = {mark.key for event_id in self.touched if (mark := events[event_id].marker) is not None}
        after, others = self.view(), set(KEYS) - own
        assert {k: v for k, v in after.items() if k in others} == {k: v for k, v in before.items() if k in others}

    @rule(wishes=plans)
    def submit_and_undo_and_redo(self, wishes: dict[str, WishedBlock]) -> None:
        """P6, P6b: without edits in between, both are exact."""
        self.submit()
        before, held = self.world.list_own_events(), dict(self.wishes)
        self.wishes = wishes
        result = self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
        if result.transaction is None or not result.transaction.undoable:
            return
        steps["undo"] += 2
        after = self.world.list_own_events()
        undone = self.well(lambda s: s.undo_last(cause=self.cause()))
        assert self.world.list_own_events() == before
        if undone.transaction is not None and undone.transaction.undoable:
            undo_id = undone.transaction.id
            self.well(lambda s: s.undo_since(undo_id, cause=self.cause()))
            assert self.world.list_own_events() == after
            self.well(lambda s: s.undo_last(cause=self.cause()))
            assert self.world.list_own_events() == before
        self.wishes = held
        again = self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
        assert (again.created, again.updated, again.deleted) == (0, 0, 0), [
            (op.verb.value, op.key, op.changes, op.reason, op.head_before) for op in again.plan.writes
        ]

    @precondition(lambda self: self.wishes)
    @rule(data=st.data(), how=st.sampled_from(TOUCHES), then=st.sampled_from(ACTS))
    def submit_and_touch_and_go_on(self, data: st.DataObject, how: str, then: str) -> None:
        """Touch a planned block right between two runs, the likeliest way to lose something (P7, P8)."""
        self.submit()
        if then == "redo":
            self.undo()
        if self.ours():
            self.touch(data, how)
        self.check_kept()
        {"submit": self.submit, "undo": self.undo, "redo": self.redo}[then]()

    @precondition(lambda self: self.world.calendar.traits.conditional_write and self.ours())
    @rule(
        data=st.data(),
        how=st.sampled_from(TOUCHES),
        position=st.integers(0, 11),
        when=st.sampled_from(SIDES),
        act=st.sampled_from(ACTS),
    )
    def run_while_the_person_edits(self, data: st.DataObject, how: str, position: int, when: Side, act: str) -> None:
        """P12: an edit at any moment is kept."""
        steps["raced"] += 1
        event_id = data.draw(st.sampled_from(self.ours())).id

        def hook() -> None:
            if not self.world.store.events[event_id].gone:
                self.do(event_id, how)

        self.world.calendar.inject(Race(hook, when), at=len(self.world.calendar.calls) + position)
        with suppress(NotUndoable):
            self.run(self.act(self.process(), self.cause(), act))
        self.world.calendar.calm()

    @rule(other=plans, lead=st.integers(0, 12), slow_at=st.none() | st.integers(0, 9))
    def two_programs_at_once(self, other: dict[str, WishedBlock], lead: int, slow_at: int | None) -> None:
        """P20: two commands run one after the other, in some order. One that is so slow that it loses its lease stops.

        Nothing that it does after that comes between the writes of the other.
        """
        steps["two"] += 1
        self.well(lambda s: submit_and_confirm(s, self.plan(), self.cause()))
        order: list[dict[str, WishedBlock]] = []

        async def slowly() -> None:
            self.world.time.instant += timedelta(seconds=40)
            for _ in range(400):
                await asyncio.sleep(0)

        async def program(owner: str, plan: dict[str, WishedBlock], delay: int, slow_at: int | None) -> None:
            submitter = self.process(owner=owner, slow_at=slow_at, slowly=slowly)
            for _ in range(delay):
                await asyncio.sleep(0)
            try:
                await submit_and_confirm(submitter, self.plan(plan), self.cause())
            except CalendarBusy:
                steps["busy"] += 1
                return
            order.append(plan)

        async def both() -> None:
            mine = {key: wish for key, wish in self.wishes.items() if key not in other} | dict(list(other.items())[:1])
            await asyncio.gather(program("one", mine, 0, slow_at), program("two", other, lead, None))

        self.run(both())
        assert order
        self.wishes = order[-1]
        self.submit()

    # --- the program, in trouble ---

    @rule(troubles=st.lists(troubles, min_size=1, max_size=2), act=st.sampled_from(ACTS))
    def run_in_trouble(self, troubles: list[tuple[str, int, int, Side]], act: str) -> None:
        """Let the process die; another one starts, settles interrupted writes, and gets the same command again."""
        steps[act] += 1
        steps["trouble"] += 1
        cause = self.cause()
        first = len(self.world.calendar.calls)
        points = [(position, side) for where, position, _, side in troubles if where == "commit"]
        for where, position, what, _ in troubles:
            if where == "call":
                self.world.calendar.inject(call_fault(what), at=first + position)
        for _ in range(len(troubles)):
            submitter = self.process(points.pop(0) if points else None)
            try:
                self.run(submitter.recover())
                self.run(self.act(submitter, cause, act))
            except (ProcessDied, CalendarError, NotUndoable):
                steps["stopped"] += 1
        self.world.calendar.calm()

    def act(self, submitter: CalendarSubmitter, cause: str, act: str) -> Coroutine[Any, Any, SyncResult]:
        undos = [t.id for t in self.journal.transactions.values() if t.kind == "undo" and t.undoable]
        if act == "redo" and undos:
            return submitter.undo_since(undos[-1], cause=cause)
        if act != "submit":
            return submitter.undo_last(cause=cause)
        return submit_and_confirm(submitter, self.plan(), cause)

    # --- what always holds ---

    @invariant()
    def check_kept(self) -> None:
        """P7, P8: the person's texts and moves are kept."""
        events = self.world.store.events
        assert {at: getattr(events[at[0]], at[1]) for at in self.typed} == self.typed
        assert {event_id: events[event_id].start for event_id in self.moved} == self.moved
        kept = {at[0] for at in self.typed} | self.moved.keys()
        assert not [event_id for event_id in kept if events[event_id].gone]

    @invariant()
    def check_foreign(self) -> None:
        """P1"""
        assert {event_id: self.world.store.events[event_id] for event_id in self.theirs} == self.theirs

    @invariant()
    def check_single(self) -> None:
        """P2, P3"""
        keys = Counter(image.marker.key for image in self.ours() if image.marker and image.id not in self.touched)
        assert [key for key, n in keys.items() if n > 1] == []
        assert self.breaches == []

    @invariant()
    def check_journal(self) -> None:
        """P19: what ended stays as it ended."""
        records = [r for t in self.journal.transactions.values() for r in t.records]
        ended = {r.op.op_id: r.state for r in records if r.state.is_settled}
        assert {op_id: ended.get(op_id) for op_id in self.ended} == self.ended
        self.ended = ended

    def check_shown(self, result: SyncResult) -> None:
        """P4, P14, P18, P19: the calendar shows the plan, except where the person changed it.

        The known state of an event is the one that was read last. No transaction is open.
        """
        assert not [t for t in self.journal.transactions.values() if t.state in {TxState.APPLYING, TxState.PAUSED}]
        heads = {h.key: h for h in self.journal.heads.values()}
        linked = [op for op in result.plan.ops if op.verb is Verb.NOOP and op.head_before is None]
        theirs = {op.key: op.event_id for op in linked if op.event_id in self.touched | self.theirs.keys()}
        for key, wish in self.wishes.items():
            head, event = heads.get(key), wish.build(key)
            if head is None or head.event_id in self.touched or head.standing is Standing.DELETED:
                continue
            if (instead := theirs.get(key)) is not None:
                assert not self.world.store.events[instead].gone
                continue
            image = self.world.store.events[head.event_id]
            if image.gone and key in self.deleted_keys():
                # Undo removed the replacement of the deleted block. The block stays deleted, and the person is asked.
                assert [op.verb for op in result.plan.ops if op.key == key] == [Verb.SKIP]
                assert any(f"“{wish.build(key).name}” is no longer on" in detail for detail in result.details)
                continue
            assert not image.gone
            assert (image.summary, image.description) == (event.name, event.description)
            assert isinstance(event.timing, FixedStart)
            assert (image.start, image.end) == (at_ := self.at(event.timing.start.isoformat()), at_ + HALF_AN_HOUR)
            assert head.base.canon == image.canon
        kept = self.touched | {h.event_id for h in heads.values() if h.standing is Standing.RELEASED}
        known = {h.event_id: h.key for h in heads.values()}
        assert [e for e in self.ours() if known.get(e.id) not in self.wishes and e.id not in kept] == []

    # --- plumbing ---

    def ours(self) -> list[EventImage]:
        return [e for e in self.world.store.get_live_events().values() if e.id.startswith("fftb")]

    def deleted_keys(self) -> set[str]:
        """Return the keys of the blocks with an event that the person deleted."""
        touched = (self.world.store.events[event_id] for event_id in self.touched)
        return {event.marker.key for event in touched if event.gone and event.marker is not None}

    def view(self) -> dict[str, tuple[Any, ...]]:
        """Return our live events by key, as the person sees them."""
        return {e.marker.key: tuple(e.canon) for e in self.ours() if e.marker is not None}

    def at(self, clock: str) -> datetime:
        return at(clock, self.day)

    def plan(self, wishes: dict[str, WishedBlock] | None = None) -> TBPlan:
        wishes = self.wishes if wishes is None else wishes
        return plan_of(*(wishes[key].build(key) for key in sorted(wishes)), day=self.day)

    def cause(self) -> str:
        return f"cause {next(self.numbers)}"

    def process(self, point: tuple[int, Side] | None = None, owner: str = "test", **slow: Any) -> CalendarSubmitter:
        journal = DyingJournal(self.journal, point)
        calendar = WatchedCalendar(self.world.calendar, journal, self.world.time.now, self.breaches, owner, **slow)
        return self.world.submitter(calendar=calendar, journal=journal, owner=owner)

    def well(self, act: Callable[[CalendarSubmitter], Coroutine[Any, Any, SyncResult]]) -> SyncResult:
        submitter = self.process()
        self.run(submitter.recover())
        return self.run(act(submitter))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


def test_one_person() -> None:
    """P1-P4, P6-P8, P12, P14, P15, P17-P20. And the machine works for its living: many of its steps are submits and
    undos, many of them in trouble."""
    steps.clear()
    histories, length = settings().max_examples, 20
    as_it_is = [phase for phase in settings().phases if phase not in {Phase.shrink, Phase.explain}]
    run_state_machine_as_test(OnePerson, settings=settings(stateful_step_count=length, phases=as_it_is))
    total = histories * length
    assert steps["submit"] + steps["undo"] >= 0.2 * total, steps
    assert steps["trouble"] >= 0.005 * total, steps
    assert all(steps[name] for name in ("redo", "brake", "raced", "two")), steps
