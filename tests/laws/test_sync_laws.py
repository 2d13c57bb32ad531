"""Laws for every plan and every calendar."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.days import DAY, TZ
from tests.factories.fewest import fewest_ops
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.adoption import adopt_changes, build_window_timing
from fateforger.calendar.conflicts import FIELDS, Answer, Choices, Rules, find_conflicts, merge
from fateforger.calendar.decision import mint
from fateforger.calendar.engine import build_desired_day, number_ops, plan_sync
from fateforger.calendar.event import (
    MANAGED,
    Canon,
    EventFields,
    EventImage,
)
from fateforger.calendar.matching import Candidate, assign, pair_alike, pair_equal
from fateforger.calendar.model import DesiredBlock, DesiredDay, Snapshot, SyncPlan, Verb
from fateforger.calendar.transactions import Transaction
from fateforger.errors import CalendarIncomplete, PlanInvalid
from fateforger.planning.plan import COLOR_BY_TYPE, ET, TBEvent, TBPlan, resolve
from fateforger.planning.timing import FixedStart, local_day, zone

TITLES = ["Focus", "focus ", "Focus alpha", "Focus alpha beta", "Lunch", "Email", "Deep work"]
titles = st.sampled_from(TITLES)
starts = st.integers(8 * 4, 18 * 4).map(lambda quarter: quarter * 15)
lengths = st.sampled_from([15, 30, 60, 90])
kinds = st.sampled_from([ET.DEEP_WORK, ET.SHALLOW_WORK, ET.HABIT])
notes = st.sampled_from(["", "a", "b"])
SHAPES = [TITLES, range(8 * 4, 18 * 4 + 1), [15, 30, 60, 90], ["", "a", "b"], [ET.DEEP_WORK, ET.SHALLOW_WORK, ET.HABIT]]


def shape(number: int) -> EventFields:
    """Return the block of a number: drawing one number is five times as quick as drawing five values."""
    drawn: list[Any] = []
    for values in SHAPES:
        number, at = divmod(number, len(values))
        drawn.append(values[at])
    title, quarter, minutes, said, kind = drawn
    return fields(title, quarter * 15, minutes, said, kind)


shapes = st.integers(0, math.prod(len(values) for values in SHAPES) - 1).map(shape)


def blocks_of(keys: Sequence[str], most: int = 6) -> st.SearchStrategy[list[DesiredBlock]]:
    """Return a strategy for blocks with different keys; the type goes along with the color."""

    def build(drawn: list[tuple[str, EventFields]]) -> list[DesiredBlock]:
        by_color = {color: et for et, color in COLOR_BY_TYPE.items()}
        return [make_block(key, of, index=n, kind=by_color[of.color_id or ""]) for n, (key, of) in enumerate(drawn)]

    pair = st.tuples(st.sampled_from(keys), shapes)
    return st.lists(pair, unique_by=lambda drawn: drawn[0], max_size=most).map(build)


OLD, NEW = "abcdef", "uvwxyz"
days = blocks_of(OLD).map(lambda blocks: day_of(*blocks))
foreign_events = st.lists(shapes, max_size=3).map(lambda drawn: [event(f"user{n}", f) for n, f in enumerate(drawn)])
user_changes = st.fixed_dictionaries(
    {},
    optional={
        "summary": st.just("Mine"),
        "description": st.just("my own words"),
        "color_id": st.just("11"),
    },
)
moves = st.tuples(starts, lengths).map(lambda drawn: {n: getattr(fields("x", *drawn), n) for n in ("start", "end")})


def draw_edits(paper: Paper, data: st.DataObject) -> tuple[Paper, dict[str, dict[str, Any] | None]]:
    """Change and delete some of our events as the person would; ``None`` means deleted."""
    done: dict[str, dict[str, Any] | None] = {}
    for event_id in sorted(i for i, e in paper.events.items() if not e.gone and e.marker is not None):
        what = data.draw(st.sampled_from(["leave", "leave", "change", "move", "delete"]))
        if what == "delete":
            paper, done[event_id] = paper.without(event_id), None
        elif what != "leave":
            change = data.draw(user_changes if what == "change" else moves)
            paper, done[event_id] = paper.edit(event_id, **change), change
    return paper, done


# --- as few ops as can be ---


@examples(250)
@given(blocks_of(NEW), st.lists(shapes, max_size=6))
def test_ops_are_as_few_as_can_be(blocks: list[DesiredBlock], there: list[EventFields]) -> None:
    """P9: no key helps, and no pairing would need fewer ops."""
    paper = Paper().submit(day_of(*(make_block(f"old{n}", f, index=n) for n, f in enumerate(there))))[0]
    plan = paper.plan(day_of(*blocks))
    assert len(plan.writes) == fewest_ops(blocks, there)


@given(st.lists(st.dictionaries(st.integers(0, 4), st.integers(0, 9), max_size=5), max_size=5))
def test_the_assignment_is_the_best_there_is(costs: list[dict[int, int]]) -> None:
    """P9: most pairs first, least cost second."""
    chosen = assign(costs, 5)
    columns = [c for c in chosen if c is not None]
    assert len(set(columns)) == len(columns)
    assert all(c is None or c in row for row, c in zip(costs, chosen, strict=True))
    mine = (-len(columns), sum(row[c] for row, c in zip(costs, chosen, strict=True) if c is not None))
    options = [[None, *row] for row in costs]
    best = min(
        (-len(taken), sum(costs[r][c] for r, c in enumerate(pick) if c is not None))
        for pick in itertools.product(*options)
        if len(taken := [c for c in pick if c is not None]) == len(set(taken))
    )
    assert mine == best


@given(blocks_of(NEW, 5), blocks_of(OLD, 5))
def test_pairing_does_not_care_which_side_is_which(one: list[DesiredBlock], other: list[DesiredBlock]) -> None:
    """P16"""
    left = [Candidate(b.key, b.fields.canon) for b in one]
    right = [Candidate(b.key, b.fields.canon) for b in other]
    there, back = pair_alike(left, right), pair_alike(right, left)
    assert len(there) == len(back)
    assert len(pair_equal(left, right)) == len(pair_equal(right, left))
    assert len(set(there.values())) == len(there)


@given(days, days, foreign_events, st.data())
def test_a_known_block_is_its_own_event(
    before: DesiredDay, after: DesiredDay, foreign: list[EventImage], data: st.DataObject
) -> None:
    """P16: a block whose event exists stays with that event, even if another event fits better.

    No two blocks share an event. The person's own event is never written to, even when it is paired with a block.
    """
    paper = Paper().submit(before)[0]
    for image in foreign:
        paper = paper.with_event(image)
    paper, _ = draw_edits(paper, data)
    ops = paper.plan(after).ops
    live = {h.key: h.event_id for h in paper.ledger.heads if not paper.events[h.event_id].gone}
    chosen = {op.key: op.event_id for op in ops if op.key in {b.key for b in after.blocks}}
    assert {key: chosen[key] for key in chosen.keys() & live.keys()} == {
        key: live[key] for key in chosen.keys() & live.keys()
    }
    ids = [op.event_id for op in ops if op.event_id not in {e.id for e in foreign}]
    assert len(set(ids)) == len(ids)
    assert {op.verb for op in ops if op.event_id in {e.id for e in foreign}} <= {Verb.NOOP}


@given(days, days, foreign_events, st.data())
def test_order_does_not_matter(
    before: DesiredDay, after: DesiredDay, foreign: list[EventImage], data: st.DataObject
) -> None:
    """P10: nor does it in which order blocks, events and records come."""
    paper = Paper().submit(before)[0]
    for image in foreign:
        paper = paper.with_event(image)
    paper, _ = draw_edits(paper, data)
    shuffled = paper.snapshot(order=data.draw(st.permutations(sorted(paper.events))))
    heads = tuple(data.draw(st.permutations(list(paper.ledger.heads))))
    blocks = tuple(data.draw(st.permutations(list(after.blocks))))
    again = plan_sync(
        after.model_copy(update={"blocks": blocks}),
        shuffled,
        paper.ledger.model_copy(update={"heads": heads}),
        op_ids=number_ops("t"),
    )
    first = paper.plan(after)
    assert (again.ops, again.brakes) == (
        first.ops,
        first.brakes,
    )


# --- doing it, doing it again, taking it back ---


def find_linked(plan: SyncPlan, foreign: Sequence[EventImage]) -> set[str]:
    """Return the keys of blocks that are shown by an event of the person."""
    theirs = {e.id for e in foreign}
    return {op.key for op in plan.ops if op.event_id in theirs}


@given(days, days, foreign_events)
def test_the_calendar_shows_the_plan(before: DesiredDay, after: DesiredDay, foreign: list[EventImage]) -> None:
    """P1, P4, P5: every block not shown by an event of the person is written; then nothing is left to do."""
    paper = Paper()
    for image in foreign:
        paper = paper.with_event(image)
    paper = paper.submit(before)[0]
    plan = paper.plan(after)
    assert not {op.event_id for op in plan.writes} & {e.id for e in foreign}
    paper = paper.perform(plan, "t")[0]
    assert all(paper.events[e.id] == e for e in foreign)
    covered = find_linked(plan, foreign)
    expected = [b.fields for b in after.blocks if b.key not in covered]
    trimmed = [f.model_copy(update={"summary": f.summary.strip()}) for f in expected]
    seen = [f.model_copy(update={"summary": f.summary.strip()}) for f in paper.view()]
    assert sorted(map(repr, seen)) == sorted(map(repr, trimmed))
    assert paper.plan(after).writes == ()


@given(days, days)
def test_the_same_plan_again_is_idle(before: DesiredDay, after: DesiredDay) -> None:
    """S82, P5: not even our records change."""
    paper = Paper().submit(before)[0].submit(after, tx="t2")[0]
    assert paper.plan(after).idle


@pytest.mark.core
@given(st.lists(days, min_size=1, max_size=4))
def test_undo_gives_back_every_earlier_day(history: list[DesiredDay]) -> None:
    """P3, P6, P6b, P17, S240: step by step, then all of it again, then all at once."""
    paper = Paper()
    views, done = [paper.view()], []
    for n, day in enumerate(history):
        paper, transaction = paper.submit(day, tx=f"t{n}")
        views.append(paper.view())
        done.append(transaction)
    latest, undos = paper, []
    for n in reversed(range(len(history))):
        paper, undo = paper.undo(done[n], tx=f"u{n}")
        undos.append(undo)
        assert paper.view() == views[n]
        if n:
            assert paper.plan(history[n - 1]).writes == ()
    for n, undo in enumerate(reversed(undos)):
        paper, _ = paper.undo(undo, tx=f"r{n}")
        assert paper.view() == views[n + 1]
    at_once, _ = latest.undo(*reversed(done), tx="all")
    assert at_once.view() == []


@given(days, days, st.data())
def test_the_persons_edits_survive_the_next_plan(before: DesiredDay, after: DesiredDay, data: st.DataObject) -> None:
    """P8: a block that the plan leaves as it was keeps every edit and stays deleted if it was deleted; one that the
    plan drops stays if it was edited; and no field is lost that only the person changed."""
    paper, submit = Paper().submit(before)
    paper, done = draw_edits(paper, data)
    earlier = {b.key: b.fields for b in before.blocks}
    later = {b.key: b.fields for b in after.blocks}
    keys = {h.event_id: h.key for h in paper.ledger.heads}
    outcome = paper.submit(after, tx="t2")[0]
    for event_id, change in done.items():
        key, image = keys[event_id], outcome.events[event_id]
        if change is None:
            live = [e for e in outcome.events.values() if not e.gone and e.marker is not None and e.marker.key == key]
            assert later.get(key) != earlier[key] or not live
            continue
        real = {n: v for n, v in change.items() if getattr(submit_image(submit, event_id), n) != v}
        if key not in later:
            assert not real or not image.gone
            continue
        same = {n for n in real if getattr(later[key], n) == getattr(earlier[key], n)}
        if "start" in same or "end" in same:
            same -= {"start", "end"} if not {"start", "end"} <= same | (real.keys() ^ {"start", "end"}) else set()
        assert {n: getattr(image, n) for n in same} == {n: change[n] for n in same}


def submit_image(submit: Any, event_id: str) -> EventFields:
    found = next(r.op.after for r in submit.records if r.op.event_id == event_id)
    assert isinstance(found, EventFields)
    return found


# --- both changed the same ---


def dispute(before: DesiredDay, after: DesiredDay, data: st.DataObject) -> tuple[Paper, SyncPlan]:
    """Write a day, let the person edit it, and plan it again."""
    paper, _ = draw_edits(Paper().submit(before)[0], data)
    return paper, paper.plan(after)


def find_altered(plan: SyncPlan, key: str) -> dict[str, tuple[Any, Any]]:
    """Return the changes that a sync plan writes to a block."""
    return {name: change for op in plan.writes if op.key == key for name, change in op.changes.items()}


@given(days, days, st.data())
def test_what_both_changed_is_not_written_without_a_choice(
    before: DesiredDay, after: DesiredDay, data: st.DataObject
) -> None:
    """S200, S201: each topic that both sides changed is asked about; start and end are one topic."""
    paper, plan = dispute(before, after, data)
    asked = {(c.key, c.topic) for c in find_conflicts(plan)}
    earlier = {b.key: b.fields.canon for b in before.blocks}
    heads = {h.key: h for h in paper.ledger.heads}
    for block in after.blocks:
        if block.key not in earlier:
            continue
        was, ours, image = earlier[block.key], block.fields.canon, paper.events[heads[block.key].event_id]
        if image.gone:
            assert ((block.key, "deleted") in asked) <= (ours != was)
            assert [op for op in plan.writes if op.key == block.key and op.verb is Verb.CREATE] == []
            continue
        theirs = image.canon
        for topic, names in FIELDS.items():
            both = any(len({getattr(side, name) for side in (was, ours, theirs)}) == 3 for name in names)
            assert both <= ((block.key, topic) in asked)
    for key, topic in asked:
        assert not {*FIELDS[topic]} & find_altered(plan, key).keys()
        assert topic != "deleted" or find_altered(plan, key) == {}


@given(days, days, st.data(), st.sampled_from(["plan", "calendar"]), st.integers(0, 9))
def test_an_answer_decides_its_topic_and_nothing_else(
    before: DesiredDay, after: DesiredDay, data: st.DataObject, keep: Any, which: int
) -> None:
    """S201: the plan's side is written exactly; for the calendar's side nothing is written.

    All other topics and blocks go on as before, and all other questions stay open.
    """
    paper, plan = dispute(before, after, data)
    conflicts = find_conflicts(plan)
    assume(conflicts)
    chosen = conflicts[which % len(conflicts)]
    answer = Answer(event_id=chosen.event_id, topic=chosen.topic, keep=keep, calendar=chosen.calendar)
    choices = Choices(answers=(answer,))
    decided = plan_sync(after, paper.snapshot(), paper.ledger, op_ids=number_ops("t"), choices=choices)
    left = [(c.key, c.topic, c.plan) for c in find_conflicts(decided)]
    assert left == [(c.key, c.topic, c.plan) for c in conflicts if c != chosen]
    assert [op for op in decided.ops if op.key != chosen.key] == [op for op in plan.ops if op.key != chosen.key]
    more = find_altered(decided, chosen.key).keys() - find_altered(plan, chosen.key).keys()
    if keep == "calendar":
        assert more == set()
    elif chosen.topic == "deleted":
        assert more == {*MANAGED}
    else:
        assert more <= {*FIELDS[chosen.topic]}
        assert more
    rest = {name: change for name, change in find_altered(decided, chosen.key).items() if name not in more}
    assert rest == find_altered(plan, chosen.key)


@given(days, days, st.data())
def test_undo_keeps_what_the_person_changed(before: DesiredDay, after: DesiredDay, data: st.DataObject) -> None:
    """P7: no edited field is overwritten, no edited block deleted, no deleted block brought back."""
    paper = Paper().submit(before)[0]
    paper, submit = paper.submit(after, tx="t2")
    then = dict(paper.events)
    paper, done = draw_edits(paper, data)
    undone = paper.undo(submit)[0]
    for event_id, change in done.items():
        image = undone.events[event_id]
        if change is None:
            assert image.gone
            continue
        real = {n: v for n, v in change.items() if getattr(then[event_id], n) != v}
        assert {n: getattr(image, n) for n in real} == real
        assert not real or not image.gone


@examples(40)
@given(st.lists(days, min_size=2, max_size=3), st.data())
def test_undo_of_all_is_undo_step_by_step(made: list[DesiredDay], data: st.DataObject) -> None:
    """P7, P17: this holds with the person's edits in between, for either answer where both sides changed the same."""
    paper, done = Paper(), list[Transaction]()
    for n, desired in enumerate(made):
        paper = draw_edits(paper, data)[0] if n else paper
        paper, transaction = paper.submit(desired, tx=f"t{n}", keep=data.draw(st.sampled_from(["plan", "open"])))
        done.insert(0, transaction)
    steps = paper
    for n, transaction in enumerate(done):
        steps = steps.undo(transaction, tx=f"u{n}")[0]
    assert paper.undo(*done, tx="all")[0].view() == steps.view()


@given(days, days)
def test_a_calendar_without_our_events_is_never_acted_upon(before: DesiredDay, after: DesiredDay) -> None:
    """P15"""
    paper = Paper().submit(before)[0]
    empty = Snapshot(day=DAY, tz=TZ, events=(), fetched={h.event_id: None for h in paper.ledger.heads})
    plan = plan_sync(after, empty, paper.ledger, op_ids=number_ops("t"))
    acting = [op for op in plan.ops if op.verb in {Verb.CREATE, Verb.DELETE}]
    assert not acting or plan.brakes or len(paper.ledger.heads) < 2


@given(days, days, st.data())
def test_half_an_answer_leads_to_nothing(before: DesiredDay, after: DesiredDay, data: st.DataObject) -> None:
    """P15: nothing is decided while a single event of the plan is neither shown nor known to be deleted."""
    paper = Paper().submit(before)[0]
    whole = paper.snapshot()
    assume(whole.events)
    lost = data.draw(st.sets(st.sampled_from([e.id for e in whole.events]), min_size=1))
    half = whole.model_copy(update={"events": tuple(e for e in whole.events if e.id not in lost)})
    with pytest.raises(CalendarIncomplete):
        plan_sync(after, half, paper.ledger, op_ids=number_ops("t"))


@given(days, days)
def test_a_lost_ledger_deletes_and_doubles_nothing(before: DesiredDay, after: DesiredDay) -> None:
    """Fault "DB lost": all live events of the plan are recognized by their marks and stay.

    The same plan is adopted as it is.
    """
    paper = Paper().submit(before)[0]
    lost = Paper(events=paper.events)
    plan = lost.plan(after)
    assert [op for op in plan.ops if op.verb is Verb.DELETE] == []
    adopted = lost.submit(before)[0]
    assert adopted.events == paper.events
    assert adopted.plan(before).idle


# --- one event ---

canons = shapes.map(lambda given: given.canon)


@given(canons, canons, canons, canons, st.sampled_from(["calendar", "plan", "open"]))
def test_a_merge_takes_each_field_from_a_side_that_changed_it(
    wanted_: Canon, base: Canon, theirs: Canon, ours: Canon, keep: Any
) -> None:
    """S201: no value comes from nowhere, no event ends before it starts, and the calendar's silence is no change."""
    rules = Rules(rest=keep)
    merged = merge(wanted=wanted_, base=base, theirs=theirs, ours=ours, rules=rules)
    assert merged.result.end > merged.result.start
    for place, name in enumerate(MANAGED):
        assert merged.result[place] in {ours[place], theirs[place]}
        if name not in {"start", "end"} and ours[place] == wanted_[place]:
            assert merged.result[place] == theirs[place]
    assert merge(wanted=wanted_, base=base, theirs=ours, ours=ours, rules=rules).result == ours
    assert merge(wanted=base, base=base, theirs=base, ours=ours, rules=rules).result == ours
    assert merge(wanted=ours, base=base, theirs=theirs, ours=ours, rules=rules).result == theirs


@given(st.text(max_size=40), st.integers(0, 30))
def test_an_id_is_one_that_calendars_accept(seed: str, generation: int) -> None:
    """S74"""
    minted = mint(seed, generation)
    assert minted.startswith("fftb")
    assert len(minted) == 36
    assert set(minted) <= set("abcdefghijklmnopqrstuv0123456789")
    assert minted == mint(seed, generation)


# --- time ---

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "America/St_Johns"]
DATES = [date(2026, 3, 28), date(2026, 3, 29), date(2026, 10, 24), date(2026, 10, 25), date(2026, 11, 1), DAY]


@given(st.sampled_from(ZONES), st.sampled_from(DATES), st.lists(st.integers(0, 26 * 12), max_size=5), lengths)
def test_what_the_calendar_shows_can_be_planned_around(tz: str, day: date, fives: list[int], length: int) -> None:
    """P14, S230, S231: as blocks of a plan and resolved, all events of a day are at their own instants."""
    first = local_day(day, zone(tz))[0].astimezone(UTC) - timedelta(hours=1)
    spans = [(first + timedelta(minutes=5 * five), timedelta(minutes=length)) for five in fives]
    images = [EventImage(id=f"user{n}", summary="x", start=s, end=s + d) for n, (s, d) in enumerate(spans)]
    start, end = (moment.astimezone(UTC) for moment in local_day(day, zone(tz)))
    inside = sorted((i for i in images if i.start < end and i.end > start), key=lambda i: (i.start, i.id))
    timings = [build_window_timing(i.fields.start, i.fields.end, day, zone(tz)) for i in inside]
    plan = TBPlan(date=day, tz=tz, events=tuple(TBEvent(name="x", type=ET.MEETING, timing=t) for t in timings))
    assert [(r.start.astimezone(UTC), r.end.astimezone(UTC)) for r in resolve(plan)] == [
        (i.start, i.end) for i in inside
    ]


@given(st.sampled_from(ZONES), st.sampled_from(DATES), st.integers(0, 24 * 4 - 1), st.integers(1, 24 * 60))
def test_a_block_keeps_its_length_on_every_day(tz: str, day: date, quarter: int, minutes: int) -> None:
    """P14"""
    start = (datetime(2000, 1, 1) + timedelta(minutes=15 * quarter)).time()  # noqa: DTZ001  a wall clock
    plan = TBPlan(
        date=day,
        tz=tz,
        events=(TBEvent(name="x", type=ET.HABIT, timing=FixedStart(start=start, duration=timedelta(minutes=minutes))),),
    )
    (block,) = build_desired_day(plan).blocks
    assert block.fields.end - block.fields.start == timedelta(minutes=minutes)


@given(st.lists(st.tuples(st.integers(0, 3), lengths), min_size=1, max_size=4), st.data())
def test_what_the_person_changed_can_be_taken_over(gaps: list[tuple[int, int]], data: st.DataObject) -> None:
    """S242: the plan takes over every edit, and from then on has nothing to adopt and nothing to write."""
    at, events = 8 * 60, []
    for n, (gap, length) in enumerate(gaps):
        at += gap * 15
        timing = FixedStart(start=time(at // 60, at % 60), duration=timedelta(minutes=length))
        events.append(TBEvent(name=f"block {n}", type=ET.DEEP_WORK, timing=timing, key=f"k{n}"))
        at += length
    plan = TBPlan(date=DAY, tz=TZ, events=tuple(events))
    paper = Paper().submit(build_desired_day(plan))[0]
    paper, _ = draw_edits(paper, data)
    sync_plan = paper.plan(build_desired_day(plan))
    assert sync_plan.writes == ()
    taken = adopt_changes(plan, sync_plan.adopted)
    try:
        desired = build_desired_day(taken)
    except PlanInvalid:
        assume(False)  # noqa: FBT003  the person put two blocks at the same time
    again = paper.plan(desired)
    assert [a for a in again.adopted if a.field != "color_id"] == []
    assert again.writes == ()
