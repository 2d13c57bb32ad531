"""A change that does not fit moves a few other blocks, or is not made; one that fits stays as it is."""

from __future__ import annotations

from datetime import time, timedelta
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.constraints import version_of
from tests.unit.conversation.rules import QUIET, avoiding, knowing
from tests.unit.conversation.sessions import event, make_command, session

from fateforger.calendar.event import EventImage
from fateforger.errors import PlanInvalid, UserError
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, TBEvent, TBPlan, resolve
from fateforger.planning.timing import FixedStart
from fateforger.session.checks import new_violations
from fateforger.session.edits import apply_edit
from fateforger.session.model import Session
from fateforger.session.placement import apply_unchecked, by_time
from fateforger.session.stages import TimeboxingStage

REFINE = TimeboxingStage.REFINE
MIDDAY = avoiding("midday", "12:00", "13:00", description="nothing at midday")
FOCUS = version_of(
    "focus", necessity="must", description="deep work before noon", rule_kind="prefer_window",
    windows=[{"kind": "prefer", "start": "09:00", "end": "12:00"}], applies_event_types=["DW"],
)  # fmt: skip
AIR = version_of(
    "air", necessity="must", description="ten minutes of air after deep work", rule_kind="buffer",
    scalar_params={"duration_min": 10}, applies_event_types=["DW"],
)  # fmt: skip


def block(name: str, start: str, minutes: int, kind: ET = ET.SHALLOW_WORK) -> TBEvent:
    timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes))
    return TBEvent(name=name, type=kind, timing=timing, key=name.lower())


def day(*blocks: TBEvent, events: tuple[EventImage, ...] = (), rules: tuple[Version, ...] = ()) -> Session:
    plan = TBPlan(date=session().date, tz=session().tz, events=blocks)
    return knowing(session(REFINE, *events, plan=plan), *rules)


def list_blocks(plan: TBPlan) -> list[str]:
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name}" for b in by_time(plan)]


def test_a_block_is_not_pushed_into_a_time_that_must_stay_free() -> None:
    """S121: pushing alone would put B at noon."""
    now = day(block("A", "10:00", 60), block("B", "11:00", 60), rules=(MIDDAY,))
    result = apply_edit(now, make_command("shift_block", key="a", minutes=15))
    assert list_blocks(result.after) == ["09:15-10:15 B", "10:15-11:15 A"]
    assert result.sentence == (
        "“A” is now 10:15–11:15 (was 10:00–11:00). To make it fit, “B” moves to 09:15–10:15 (was 11:00–12:00)."
    )


def test_a_must_about_room_behind_a_block_is_kept() -> None:
    """The engine's rules count, not only times to avoid."""
    now = day(block("A", "09:00", 60, ET.DEEP_WORK), block("B", "10:10", 60), rules=(AIR,))
    result = apply_edit(now, make_command("shift_block", key="a", minutes=15))
    assert list_blocks(result.after) == ["09:15-10:15 A", "10:25-11:25 B"]


def test_what_was_asked_for_stays_where_it_was_asked() -> None:
    """A must that the block itself breaks is no reason to put it elsewhere: the card asks."""
    now = day(block("A", "09:00", 60, ET.DEEP_WORK), block("B", "10:10", 60), rules=(FOCUS,))
    result = apply_edit(now, make_command("edit_block", key="a", start="14:00"))
    assert list_blocks(result.after) == ["10:10-11:10 B", "14:00-15:00 A"]
    (breach,) = new_violations(now, result.before, result.after, Necessity.MUST)
    assert (breach.item.uid, breach.keys) == ("focus", ("a",))


def test_what_was_in_trouble_before_is_left_alone() -> None:
    """B lies in a meeting that came later, C in a quiet hour: the change has nothing to do with either."""
    standup = event("Standup", "11:00", "11:30")
    now = day(
        block("C", "08:00", 30), block("A", "09:45", 60), block("B", "11:00", 60), events=(standup,), rules=(QUIET,)
    )
    result = apply_edit(now, make_command("add_block", title="Call", start="10:00", minutes=30, depth="shallow"))
    assert list_blocks(result.after) == ["08:00-08:30 C", "10:00-10:30 Call", "11:00-12:00 B", "12:00-13:00 A"]


def test_what_began_already_stays() -> None:
    """At ten past nine: A cannot be moved any more, so the change is refused."""
    now = day(block("A", "09:00", 60), block("B", "10:00", 60))
    command = make_command("shift_block", key="b", minutes=-15)
    late = command.model_copy(update={"at": command.at + timedelta(hours=1, minutes=10)})
    with pytest.raises(PlanInvalid, match="“B” starts at 09:45, but “A” runs until 10:00"):
        apply_edit(now, late)


EVENTS = (event("One", "11:00", "11:30"), event("Two", "15:00", "16:00"))
RULES = st.lists(st.sampled_from((MIDDAY, FOCUS, AIR, QUIET)), max_size=2, unique_by=lambda v: v.uid)
BLOCKS = st.lists(
    st.tuples(st.integers(0, 90), st.integers(1, 18), st.sampled_from((ET.DEEP_WORK, ET.SHALLOW_WORK, ET.HABIT))),
    min_size=2, max_size=6,
)  # fmt: skip
DEEDS = st.one_of(
    st.tuples(st.just("shift_block"), st.integers(0, 5), st.integers(-12, 12), st.just(0)),
    st.tuples(st.just("edit_block"), st.integers(0, 5), st.integers(0, 100), st.integers(1, 24)),
    st.tuples(st.just("add_block"), st.just(0), st.integers(0, 100), st.integers(1, 12)),
)


def lay_out(blocks: list[tuple[int, int, ET]]) -> list[TBEvent]:
    """Return the blocks that overlap none before them."""
    kept: list[tuple[int, int, ET]] = []
    for start, length, kind in blocks:
        if all(start + length <= s or s + n <= start for s, n, _ in kept):
            kept.append((start, length, kind))
    return [block(f"B{n}", clock(9 * 60 + 5 * s), 5 * m, kind) for n, (s, m, kind) in enumerate(kept)]


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def deed(now: Session, kind: str, number: int, start: int, length: int) -> Any:
    keys = [e.block_key for e in now.planning.plan.events] if now.planning.plan else []
    key = keys[number % len(keys)]
    if kind == "shift_block":
        return make_command(kind, key=key, minutes=5 * start)
    at = clock(9 * 60 + 5 * start)
    if kind == "edit_block":
        return make_command(kind, key=key, start=at, minutes=5 * length)
    return make_command(kind, title="New", start=at, minutes=5 * length, depth="deep")


def together(plan: TBPlan) -> set[frozenset[str]]:
    blocks = resolve(plan)
    return {frozenset((a.key, b.key)) for a, b in combinations(blocks, 2) if a.start < b.end and b.start < a.end}


@examples(60)
@given(BLOCKS, RULES, DEEDS)
def test_a_change_that_fits_stays_as_it_is_and_one_that_is_mended_fits(
    blocks: list[tuple[int, int, ET]], rules: list[Version], what: tuple[str, int, int, int]
) -> None:
    now = day(*lay_out(blocks), events=EVENTS, rules=tuple(rules))
    assert now.planning.plan is not None
    command = deed(now, *what)
    try:
        plain = apply_edit(now, command, mend=False)
    except UserError:
        plain = None
    fits = plain is not None and new_violations(now, plain.before, plain.after, Necessity.MUST) == ()
    try:
        result = apply_edit(now, command)
    except UserError:
        assert plain is None
        return
    if fits:
        assert result == plain
        return
    if result == plain:
        return  # a must that only the person can let go: the card asks
    assert together(result.after) <= together(now.planning.plan)
    assert new_violations(now, result.before, result.after, Necessity.MUST) == ()
    raw = {b.key: (b.start, b.end) for b in resolve(asked_for(now, command))}
    got = {b.key: (b.start, b.end) for b in resolve(result.after)}
    was = {b.key: (b.start, b.end) for b in resolve(now.planning.plan)}
    assert got.keys() == raw.keys()
    assert all(got[key] == place for key, place in raw.items() if was.get(key) != place)
    assert all(got[key][1] - got[key][0] == end - start for key, (start, end) in raw.items())
    moved = [key for key in raw if got[key] != raw[key]]
    assert moved
    assert result.sentence.count("To make it fit") == 1


def asked_for(now: Session, command: Any) -> TBPlan:
    """Return the plan with the change alone, even if it breaks a rule."""
    plan = now.planning.plan or TBPlan(date=now.date, tz=now.tz)
    return apply_unchecked(plan, command.to_patch(now, plan))
