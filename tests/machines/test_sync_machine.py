"""Random histories of one person, one calendar and a process that may die at any moment.

The person plans, submits, takes back and does over, edits and deletes blocks on the calendar, and adds events; calls
fail, answers get lost, the process dies and starts again. Whatever happens: nothing the person typed disappears, no
event of theirs is touched, nothing is there twice, and every transaction comes to an end (P1-P4, P6-P8, P11, P17-P19).
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.factories.days import World, at, block, plan_of
from tests.factories.trouble import SIDES, Died, DyingJournal, Side, WatchedCalendar, call_fault
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.memory_journal import MemoryJournal

from fateforger.commit import CalendarSubmitter, SyncResult
from fateforger.errors import CalendarError, NotUndoable
from fateforger.journal import OpState, TxState
from fateforger.plan import FixedStart, TBEvent, TBPlan
from fateforger.sync.model import BrakeKind, EventImage, Standing

KEYS = "abcde"
T = TypeVar("T")
steps: Counter[str] = Counter()


@dataclass(frozen=True)
class Wish:
    """How a block shall be: its place within two hours of its own, and which of a few names and notes."""

    place: int
    name: int
    notes: int

    def build(self, key: str) -> TBEvent:
        start = 8 * 60 + 120 * KEYS.index(key) + 30 * self.place
        name, notes = f"{key} {['one', 'two', 'three'][self.name]}", f"notes {self.notes}"
        return block(key, f"{start // 60:02d}:{start % 60:02d}", 30, name=name, notes=notes)


wishes = st.builds(Wish, st.integers(0, 3), st.integers(0, 2), st.integers(0, 1))
troubles = st.tuples(st.sampled_from(["call", "commit"]), st.integers(0, 11), st.integers(0, 6), st.sampled_from(SIDES))


class OnePerson(RuleBasedStateMachine):
    """``typed`` is what the person wrote into events of ours, ``moved`` where they put them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.numbers = itertools.count(1)
        self.journal = MemoryJournal()
        self.wishes: dict[str, Wish] = {}
        self.typed: dict[tuple[str, str], str] = {}
        self.moved: dict[str, Any] = {}
        self.touched: set[str] = set()
        self.theirs: dict[str, EventImage] = {}
        self.breaches: list[str] = []
        self.ended: dict[str, OpState] = {}

    @initialize(conditional=st.booleans(), wishes=st.dictionaries(st.sampled_from(KEYS), wishes, min_size=2))
    def begin(self, conditional: bool, wishes: dict[str, Wish]) -> None:  # noqa: FBT001  Hypothesis names it
        self.world = World(self.journal, GoogleCalendarFake(conditional_write=conditional))
        self.wishes = wishes
        self.new_event()
        self.submit()

    def teardown(self) -> None:
        self.loop.close()

    # --- the person ---

    @rule(key=st.sampled_from(KEYS), wish=wishes)
    def plan_block(self, key: str, wish: Wish) -> None:
        self.wishes[key] = wish

    @rule(key=st.sampled_from(KEYS))
    def drop_block(self, key: str) -> None:
        self.wishes.pop(key, None)

    @rule()
    def new_event(self) -> None:
        n = next(self.numbers)
        image = self.world.store.user_create(f"theirs {n}", start=at("18:30"), end=at("18:45"))
        self.theirs[image.id] = image

    @precondition(lambda self: self.ours())
    @rule(data=st.data(), field=st.sampled_from(["summary", "description", "start"]))
    def edit(self, data: st.DataObject, field: str) -> None:
        image = data.draw(st.sampled_from(self.ours()))
        n = next(self.numbers)
        if field == "start":
            start = at("19:00") + timedelta(minutes=n)
            self.world.store.user_edit(image.id, start=start, end=start + timedelta(minutes=20))
            self.moved[image.id] = start
        else:
            self.typed[image.id, field] = f"mine {n}"
            self.world.store.user_edit(image.id, **{field: f"mine {n}"})
        self.touched.add(image.id)

    @precondition(lambda self: self.ours())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        image = data.draw(st.sampled_from(self.ours()))
        self.world.store.user_delete(image.id)
        self.typed = {at: text for at, text in self.typed.items() if at[0] != image.id}
        self.moved.pop(image.id, None)
        self.touched.add(image.id)

    @precondition(lambda self: self.ours())
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        image = self.world.store.user_copy(data.draw(st.sampled_from(self.ours())).id, by=timedelta(hours=11))
        self.theirs[image.id] = image

    # --- the program, well ---

    @rule()
    def submit(self) -> None:
        steps["submit"] += 1
        result = self.well(lambda s: s.submit_plan(self.plan(), cause=self.cause(), confirmed=set(BrakeKind)))
        assert result.status in {"changed", "unchanged"}, result
        self.check_shown()

    @rule()
    def undo(self) -> None:
        try:
            result = self.well(lambda s: s.undo_last(cause=self.cause()))
        except NotUndoable:
            return
        steps["undo"] += 1
        assert result.status == "undone", result

    @rule(wishes=st.dictionaries(st.sampled_from(KEYS), wishes))
    def submit_and_undo_and_redo(self, wishes: dict[str, Wish]) -> None:
        """P6, P6b: without edits in between, both are exact."""
        self.submit()
        before, held = self.world.managed(), dict(self.wishes)
        self.wishes = wishes
        result = self.well(lambda s: s.submit_plan(self.plan(), cause=self.cause(), confirmed=set(BrakeKind)))
        if result.transaction is None or not result.transaction.undoable:
            return
        steps["undo"] += 2
        after = self.world.managed()
        undone = self.well(lambda s: s.undo_last(cause=self.cause()))
        assert self.world.managed() == before
        if undone.transaction is not None and undone.transaction.undoable:
            undo_id = undone.transaction.id
            self.well(lambda s: s.undo_transaction(undo_id, cause=self.cause()))
            assert self.world.managed() == after
            self.well(lambda s: s.undo_last(cause=self.cause()))
            assert self.world.managed() == before
        self.wishes = held
        again = self.well(lambda s: s.submit_plan(self.plan(), cause=self.cause(), confirmed=set(BrakeKind)))
        assert (again.created, again.updated, again.deleted) == (0, 0, 0), [
            (op.verb.value, op.key, op.changes, op.reason, op.head_before) for op in again.plan.writes
        ]

    @precondition(lambda self: self.wishes)
    @rule(data=st.data(), touch=st.sampled_from(["summary", "description", "start", "delete"]), then=st.booleans())
    def submit_and_touch_and_go_on(self, data: st.DataObject, touch: str, then: bool) -> None:  # noqa: FBT001  same
        """The likeliest way to lose something: a planned block is touched right between two runs (P7, P8)."""
        self.submit()
        if self.ours():
            if touch == "delete":
                self.delete(data)
            else:
                self.edit(data, touch)
        self.check_kept()
        if then:
            self.undo()
        else:
            self.submit()

    # --- the program, in trouble ---

    @rule(troubles=st.lists(troubles, min_size=1, max_size=2), undo=st.booleans())
    def run_in_trouble(self, troubles: list[tuple[str, int, int, Side]], undo: bool) -> None:  # noqa: FBT001  same
        """The process may die; another one starts, settles what it finds, and gets the same command again."""
        steps["undo" if undo else "submit"] += 1
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
                self.run(self.act(submitter, cause, undo=undo))
            except (Died, CalendarError, NotUndoable):
                steps["stopped"] += 1
        self.world.calendar.calm()

    def act(self, submitter: CalendarSubmitter, cause: str, *, undo: bool) -> Coroutine[Any, Any, SyncResult]:
        if undo:
            return submitter.undo_last(cause=cause)
        return submitter.submit_plan(self.plan(), cause=cause, confirmed=set(BrakeKind))

    # --- what always holds ---

    @invariant()
    def check_kept(self) -> None:
        """P7, P8: what the person typed and where they put things."""
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
        ended = {r.op.op_id: r.state for r in records if r.state.settled}
        assert {op_id: ended.get(op_id) for op_id in self.ended} == self.ended
        self.ended = ended

    def check_shown(self) -> None:
        """P4, P18: the calendar shows the plan, wherever the person did not touch it; nothing is left open."""
        assert not [t for t in self.journal.transactions.values() if t.state in {TxState.APPLYING, TxState.PAUSED}]
        heads = {h.key: h for h in self.journal.heads.values()}
        for key, wish in self.wishes.items():
            head, event = heads.get(key), wish.build(key)
            if head is None or head.event_id in self.touched or head.standing is Standing.DELETED:
                continue
            image = self.world.store.events[head.event_id]
            assert not image.gone
            assert (image.summary, image.description) == (event.name, event.description)
            assert isinstance(event.timing, FixedStart)
            assert image.start == at(event.timing.start.isoformat())
        left = [e for e in self.ours() if e.marker and e.marker.key not in self.wishes and e.id not in self.touched]
        assert left == []

    # --- plumbing ---

    def ours(self) -> list[EventImage]:
        return [e for e in self.world.store.shown().values() if e.id.startswith("fftb")]

    def plan(self) -> TBPlan:
        return plan_of(*(self.wishes[key].build(key) for key in sorted(self.wishes)))

    def cause(self) -> str:
        return f"cause {next(self.numbers)}"

    def process(self, point: tuple[int, Side] | None = None) -> CalendarSubmitter:
        journal = DyingJournal(self.journal, point)
        calendar = WatchedCalendar(self.world.calendar, journal, self.world.time.now, self.breaches)
        return self.world.submitter(calendar=calendar, journal=journal)

    def well(self, act: Callable[[CalendarSubmitter], Coroutine[Any, Any, SyncResult]]) -> SyncResult:
        submitter = self.process()
        self.run(submitter.recover())
        return self.run(act(submitter))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


def test_one_person() -> None:
    """And the machine works for its living: many of its steps are submits and undos, many of them in trouble."""
    steps.clear()
    histories, length = 120, 20
    run_state_machine_as_test(
        OnePerson, settings=settings(max_examples=histories, stateful_step_count=length, deadline=None)
    )
    total = histories * length
    assert steps["submit"] + steps["undo"] >= 0.2 * total, steps
    assert steps["trouble"] >= 0.03 * total, steps
