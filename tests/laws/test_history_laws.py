"""Laws for every day that is written, undone and redone, in any order of clicks on its history."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.paper import Paper, day_of, fields, make_block
from tests.laws.test_sync_laws import days

from fateforger.calendar.engine import number_ops
from fateforger.calendar.event import EventFields
from fateforger.calendar.history import find_undo_scope, simulate_undo
from fateforger.calendar.model import DesiredDay
from fateforger.calendar.transactions import UNDOES, OpRecord, OpState, Transaction, TxState, judge_transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.values import replace

clicks = st.lists(st.one_of(days, st.integers(0, 9), st.tuples(st.integers(0, 9), st.integers(1, 3))), max_size=7)
"""Steps of a history: a day to write, the number of the row with a button to click, or that and how many of its ops
take effect."""
ONE, OTHER = day_of(make_block("a", fields("Focus"))), day_of(make_block("b", fields("Lunch", 720)))


@dataclass
class Day:
    """A day on paper with its history, the oldest first, and how it looked before each transaction."""

    paper: Paper = field(default_factory=Paper)
    history: list[Transaction] = field(default_factory=list)
    before: list[list[EventFields]] = field(default_factory=list)
    standing_before: list[set[str]] = field(default_factory=list)

    @property
    def newest_first(self) -> list[Transaction]:
        return self.history[::-1]

    def standing(self) -> set[str]:
        return {t.id for t in self.history if t.kind == "submit" and t.undoable}

    def write(self, desired: DesiredDay) -> None:
        view, standing = self.paper.view(), self.standing()
        self.paper, transaction = self.paper.submit(desired, tx=f"t{len(self.history)}")
        self._add(transaction, view, standing)

    def click(self, number: int, done: int | None = None) -> None:
        rows = [n for n, t in enumerate(self.history) if t.undoable]
        if not rows:
            return
        row = rows[number % len(rows)]
        clicked = self.history[row]
        way = find_undo_scope(self.newest_first, clicked)
        view, standing = self.paper.view(), self.standing()
        tx, ids = f"t{len(self.history)}", [t.id for t in way.targets]
        plan = plan_undo(way.targets, self.paper.snapshot(), self.paper.ledger, op_ids=number_ops(tx))
        if done is not None and done < len(plan.ops):
            self.paper, undo = self.paper.perform(replace(plan, ops=plan.ops[:done]), tx, undoes=ids[0])
            failed = tuple(OpRecord(op=op, state=OpState.FAILED) for op in plan.ops[done:])
            undo = replace(undo, records=undo.records + failed, state=TxState.PARTIAL, context={UNDOES: ids})
            self._add(undo, view, standing)
            return
        self.paper, undo = self.paper.perform(plan, tx, undoes=ids[0])
        after = simulate_undo(ids, {t.id: t for t in self.history})
        self.history = [
            replace(t, state=judge_transaction(t) if after[t.id] else TxState.UNDONE) if t.id in after else t
            for t in self.history
        ]
        assert self.paper.view() == self.before[row]
        assert self.standing() == (standing - way.gone) | way.again == self.standing_before[row]
        self._add(replace(undo, context={UNDOES: ids}), view, standing)

    def _add(self, transaction: Transaction, view: list[EventFields], standing: set[str]) -> None:
        self.history.append(transaction)
        self.before.append(view)
        self.standing_before.append(standing)


@examples(150)
@given(clicks)
@example([ONE, 0, ONE, 0, 0])  # a redo finds the block planned again, which then counts for both
@example([ONE, day_of(), OTHER, 2, 0, 0])  # a redo has an undo after it that had nothing to write
def test_a_click_on_a_row_gives_back_the_day_before_it(made: list[DesiredDay | int | tuple[int, int]]) -> None:
    """P6, P6b, P17, S512: a click on any row gives back the day before it, after any undo and redo, whole or half."""
    day = Day()
    for deed in made:
        if isinstance(deed, int):
            day.click(deed)
        elif isinstance(deed, tuple):
            day.click(*deed)
        else:
            day.write(deed)


@examples(120)
@given(st.lists(days, min_size=1, max_size=4), st.integers(0, 3))
def test_all_undone_and_all_redone_is_where_it_began(made: list[DesiredDay], row: int) -> None:
    """P6b: undo a row, and redo that. An undo that had nothing to write, because what it took back came to nothing, has
    nothing to redo either."""
    day = Day()
    for desired in made:
        day.write(desired)
    if not day.history:
        return
    view, standing = day.paper.view(), day.standing()
    day.click(row)
    if not day.history[-1].undoable:
        return
    day.click(len([t for t in day.history if t.undoable]) - 1)
    assert (day.paper.view(), day.standing()) == (view, standing)
