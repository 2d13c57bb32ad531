"""Taking transactions back: each row of the table, and what a history does to keys and ids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.factories.days import DAY, at
from tests.factories.paper import Paper, day_of, fields, make_block

from fateforger.calendar.decision import mint
from fateforger.calendar.engine import number_ops
from fateforger.calendar.event import PLAIN, EventExtras
from fateforger.calendar.model import DesiredDay, Standing, SyncPlan, Verb
from fateforger.calendar.transactions import OpState, Transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.errors import InternalError

A, A2 = fields("Focus", 540, 60, "old"), fields("Focus", 600, 90, "new")
FIRST, SECOND = day_of(make_block("a", A)), day_of(make_block("a", A2))


def after(*days: DesiredDay) -> tuple[Paper, list[Transaction]]:
    """Return a history of submits, the newest transaction first."""
    paper, done = Paper(), list[Transaction]()
    for n, day in enumerate(days):
        paper, transaction = paper.submit(day, tx=f"t{n}")
        done.insert(0, transaction)
    return paper, done


def undo_plan(paper: Paper, *transactions: Transaction, force: bool = False) -> SyncPlan:
    return plan_undo(transactions, paper.snapshot(), paper.ledger, op_ids=number_ops("u"), force=force)


def test_a_created_block_is_deleted() -> None:
    paper, done = after(FIRST)
    (op,) = undo_plan(paper, done[0]).ops
    assert (op.verb, op.op_id, op.before) == (Verb.DELETE, "u-0", paper.get_event("a"))
    assert op.changes["summary"] == ("Focus", None)
    assert paper.undo(done[0])[0].ledger.heads[0].standing is Standing.REMOVED


@pytest.mark.parametrize(
    ("what", "because"),
    [
        ({"description": "Mine"}, "you changed it since"),
        ({"raw": {"attendees": [{"email": "a@b.example"}]}}, "you added guests"),
        ({"raw": {"location": "Room 5", "visibility": "private"}}, "you added a place and changed the visibility"),
        ({"start": DAY, "end": DAY}, "it is an all-day event now"),
        ({"properties": {}}, "it lost the mark that makes it ours"),
    ],
)
def test_a_created_block_that_the_person_made_theirs_stays(what: dict[str, Any], because: str) -> None:
    """P7: and it is theirs from then on."""
    paper, done = after(FIRST)
    paper = paper.edit(paper.get_event("a").id, **what)
    plan = undo_plan(paper, done[0])
    assert ([op.verb for op in plan.ops], plan.warnings) == (
        [Verb.RELEASE],
        (f"I left “Focus” on your calendar: {because}.",),
    )
    assert paper.perform(plan, "u")[0].plan(day_of()).ops == ()


def test_a_block_that_the_person_renamed_is_called_by_both_names() -> None:
    """S239: as it was planned, and as the calendar shows it now."""
    paper, done = after(FIRST)
    paper = paper.edit(paper.get_event("a").id, summary="Deep focus")
    assert undo_plan(paper, done[0]).warnings == (
        "I left “Focus” (now “Deep focus”) on your calendar: you changed it since.",
    )


@pytest.mark.parametrize(
    ("what", "goes"),
    [({"description": "Mine"}, True), ({"raw": {"location": "Room 5"}}, True), ({"properties": {}}, False)],
)
def test_force_deletes_what_may_be_deleted(what: dict[str, Any], *, goes: bool) -> None:
    paper, done = after(FIRST)
    paper = paper.edit(paper.get_event("a").id, **what)
    assert [op.verb for op in undo_plan(paper, done[0], force=True).ops] == [Verb.DELETE if goes else Verb.RELEASE]


def test_a_created_block_that_is_gone() -> None:
    paper, done = after(FIRST)
    paper = paper.without(paper.get_event("a").id)
    assert [op.verb for op in undo_plan(paper, done[0]).ops] == [Verb.FORGET]


def test_an_updated_block_gets_its_fields_back() -> None:
    paper, done = after(FIRST, SECOND)
    (op,) = undo_plan(paper, done[0]).ops
    assert (op.verb, op.after, set(op.changes)) == (Verb.UPDATE, A, {"start", "end", "description"})
    assert paper.undo(done[0])[0].plan(FIRST).idle


@pytest.mark.parametrize(
    ("what", "left", "kept"),
    [
        ({"description": "Mine"}, {"start", "end"}, "the notes"),
        ({"start": at("20:00"), "end": at("21:00")}, {"description"}, "the time"),
        ({"end": at("21:00")}, {"description"}, "the time"),
        ({"description": "Mine", "end": at("21:00")}, None, "the notes, the time"),
    ],
)
def test_fields_that_the_person_changed_stay(what: dict[str, Any], left: set[str] | None, kept: str) -> None:
    """P7: a start or an end alone would give the block a length that no one chose."""
    paper, done = after(FIRST, SECOND)
    plan = undo_plan(paper.edit(paper.get_event("a").id, **what), done[0])
    assert plan.warnings == (f"I kept what you changed of “Focus” since: {kept}.",)
    assert [set(op.changes) for op in plan.writes] == ([] if left is None else [left])


def test_a_field_that_is_back_already_is_no_matter() -> None:
    paper, done = after(FIRST, SECOND)
    plan = undo_plan(paper.edit(paper.get_event("a").id, description="old"), done[0])
    assert ([set(op.changes) for op in plan.writes], plan.warnings) == ([{"start", "end"}], ())


def test_an_updated_block_that_the_person_deleted() -> None:
    """P8: it is not brought back, now or by the plan before."""
    paper, done = after(FIRST, SECOND)
    paper = paper.without(paper.get_event("a").id)
    plan = undo_plan(paper, done[0])
    assert (plan.writes, plan.warnings) == ((), ("I could not set “Focus” back: it is gone from your calendar.",))
    assert paper.perform(plan, "u")[0].plan(FIRST).writes == ()


def test_a_deleted_block_comes_back() -> None:
    """S237: under the next generation of the same seed."""
    paper, done = after(FIRST, day_of())
    (op,) = undo_plan(paper, done[0]).ops
    seed = "2026-03-02|Focus|09:00:00|0"
    assert (op.verb, op.seed, op.generation, op.event_id) == (Verb.CREATE, seed, 1, mint(seed, 1))
    assert (op.key, op.after) == ("a", A)
    assert paper.undo(done[0])[0].plan(FIRST).idle


RICH = {"location": "Room 5", "attendees": [{"email": "a@b.example"}], "reminders": {"useDefault": False}}


def with_before(transaction: Transaction, **what: Any) -> Transaction:
    """Return the transaction as if the event of its first op had had other values before."""
    record = transaction.records[0]
    assert record.op.before is not None
    op = record.op.model_copy(update={"before": record.op.before.model_copy(update=what)})
    return transaction.model_copy(update={"records": (record.model_copy(update={"op": op}),)})


def test_a_deleted_block_comes_back_with_all_that_was_added() -> None:
    """K12: and what had been added is the person's again, so that no plan deletes it."""
    paper, done = after(FIRST, day_of())
    (op,) = undo_plan(paper, with_before(done[0], raw=RICH)).ops
    assert op.extras == EventExtras(location="Room 5", guests=({"email": "a@b.example"},), reminders=())
    assert op.head_after is not None
    assert op.head_after.extras == PLAIN


def test_a_transaction_of_an_earlier_version_comes_back_whole() -> None:
    """K12: a journal from before the extras kept the calendar's whole answer, which is enough.

    A record without a known state is compared with an untouched event.
    """
    paper, done = after(FIRST, day_of())
    document = with_before(done[0], raw=RICH).model_dump(mode="json")
    old = document["records"][0]["op"]
    del old["extras"]
    old["before"]["enriched"] = True
    for head in (old["head_before"], old["head_after"]):
        del head["extras"], head["unrestored"]
    (op,) = undo_plan(paper, Transaction.model_validate(document)).ops
    assert op.extras == EventExtras(location="Room 5", guests=({"email": "a@b.example"},), reminders=())
    paper, done = after(FIRST)
    assert [head.extras for head in paper.ledger.heads] == [None]
    added = paper.edit(paper.get_event("a").id, raw={"location": "Room 5"})
    assert [op.verb for op in added.plan(day_of()).ops] == [Verb.RELEASE]
    assert [op.verb for op in paper.plan(day_of()).ops] == [Verb.DELETE]


def test_a_block_planned_anew_does_not_take_the_place_of_one_that_held_more() -> None:
    """K12: a place cannot be written into an event that is there, so the older one is made again."""
    paper, done = after(FIRST, day_of(), FIRST)
    rich = with_before(done[1], raw=RICH)
    assert [(op.verb, op.extras) for op in undo_plan(paper, done[0], done[1]).ops] == [(Verb.ADOPT, None)]
    kinds = {op.verb: op.extras for op in undo_plan(paper, done[0], rich).ops}
    assert kinds.keys() == {Verb.CREATE, Verb.DELETE}
    assert kinds[Verb.CREATE] == EventExtras(location="Room 5", guests=({"email": "a@b.example"},), reminders=())
    plan = undo_plan(paper, rich)
    assert plan.warnings == (
        "“Focus” is on your calendar again already, but without the place, the reminders and the guests.",
    )  # fmt: skip


def test_a_deleted_block_that_the_person_brought_back() -> None:
    paper, done = after(FIRST, day_of())
    assert undo_plan(paper.edit(done[1].records[0].op.event_id, status="confirmed"), done[0]).writes == ()


def test_an_earlier_event_that_the_person_brought_back_gets_no_record() -> None:
    """S504: it stays, and is not taken for the block that it was."""
    paper, done = after(FIRST, day_of(), FIRST)
    first = done[2].records[0].op.event_id
    paper = paper.edit(first, status="confirmed")
    paper = replace(paper, ledger=paper.ledger.model_copy(update={"brought_back": (first,)}))
    plan = undo_plan(paper, *done)
    assert [(op.verb, op.event_id) for op in plan.ops] == [(Verb.DELETE, done[0].records[0].op.event_id)]
    assert plan.warnings == ("I left “Focus” on your calendar: you brought it back.",)


@pytest.mark.parametrize("state", [OpState.CONFLICT, OpState.FAILED, OpState.SKIPPED, OpState.SUPERSEDED])
def test_only_what_took_effect_is_taken_back(state: OpState) -> None:
    """S88"""
    paper, done = after(FIRST)
    records = tuple(r.model_copy(update={"state": state}) for r in done[0].records)
    assert undo_plan(paper, done[0].model_copy(update={"records": records})).ops == ()


def test_several_at_once_are_one_difference() -> None:
    paper, done = after(
        FIRST, SECOND, day_of(make_block("a", A2), make_block("b", fields("b", 800), index=1)), day_of()
    )
    plan = undo_plan(paper, *done[:3])
    assert [(op.verb, op.key, op.after) for op in plan.ops] == [(Verb.CREATE, "a", A)]


def test_a_whole_history_at_once_is_nothing() -> None:
    paper, done = after(FIRST, SECOND, day_of())
    assert undo_plan(paper, *done).writes == ()


def test_an_edit_between_two_submits_survives_both_undos() -> None:
    """P17"""
    paper, first = Paper().submit(FIRST, tx="t0")
    paper, second = paper.submit(SECOND, tx="t1")
    paper = paper.edit(paper.get_event("a").id, summary="Mine")
    paper, third = paper.submit(day_of(make_block("a", fields("Focus", 660, 30, "newest"))), tx="t2")
    paper = paper.undo(third, tx="u2")[0]
    assert paper.get_event("a").fields == A2.model_copy(update={"summary": "Mine"})
    paper = paper.undo(second, tx="u1")[0]
    assert paper.get_event("a").fields == A.model_copy(update={"summary": "Mine"})
    assert paper.plan(FIRST).writes == ()
    assert [op.verb for op in undo_plan(paper, first).ops] == [Verb.RELEASE]


@pytest.mark.parametrize(
    ("edit", "moved", "told"),
    [
        ({"start": at("14:00"), "end": at("15:00")}, {"start", "end"}, ": you had changed it"),
        ({"description": "Mine"}, {"start", "end"}, ": you had changed it"),
        ({"raw": {"location": "Room 5"}}, {"start", "end"}, ": you added a place"),
    ],
)
def test_a_whole_undo_leaves_nothing_that_was_written_over_an_edit(
    edit: dict[str, Any], moved: set[str], told: str
) -> None:
    """P7, P17: the block is the person's, and shows what they had left."""
    paper, first = Paper().submit(FIRST, tx="t0")
    paper = paper.edit(paper.get_event("a").id, **edit)
    left = paper.get_event("a").fields
    paper, second = paper.submit(day_of(make_block("a", fields("Focus", 660, 60, "old"))), tx="t1", keep="plan")
    plan = undo_plan(paper, second, first)
    assert [(op.verb, set(op.changes), op.head_after and op.head_after.standing) for op in plan.ops] == [
        (Verb.UPDATE, moved, Standing.RELEASED)
    ]
    assert plan.warnings == (f"I left “Focus” on your calendar{told}.",)
    undone, undo = paper.undo(second, first)
    assert undone.get_event("a").fields == left
    assert undone.undo(undo, tx="r")[0].get_event("a").fields == paper.get_event("a").fields


def test_a_block_that_was_brought_back_can_be_taken_back_further() -> None:
    """An undo made a new event; what was done to the old one is taken back on it."""
    paper, done = after(FIRST, SECOND, day_of())
    for n, transaction in enumerate(done):
        paper = paper.undo(transaction, tx=f"u{n}")[0]
    assert paper.view() == []


def test_a_block_that_was_brought_back_dropped_and_planned_anew_goes_with_all_else() -> None:
    """P6, P17: an event that an undo had made, and that is gone by now, is the one that the first submit had made."""
    paper, first = Paper().submit(FIRST, tx="t0")
    paper, dropped = paper.submit(day_of(), tx="t1")
    paper = paper.undo(dropped, tx="u1")[0]
    paper, again = paper.submit(day_of(), tx="t2")
    paper, anew = paper.submit(SECOND, tx="t3")
    assert paper.undo(anew, again, first, tx="u")[0].view() == []


def test_an_event_that_stands_in_for_an_older_one_goes_when_that_is_taken_back() -> None:
    """P6, P17: a redo found the block planned again and had nothing to write; the first submit is in place again."""
    paper, first = Paper().submit(FIRST, tx="t0")
    paper, undone = paper.undo(first, tx="u0")
    paper, anew = paper.submit(FIRST, tx="t1")
    paper, redo = paper.undo(anew, undone, tx="u1")
    assert [record.op.verb for record in redo.records] == [Verb.ADOPT]
    assert paper.undo(first, tx="u2")[0].view() == []


def test_another_event_of_the_same_key_is_not_taken_back() -> None:
    """Undoing an old transaction alone leaves what a later one made."""
    paper, done = after(FIRST, day_of(), FIRST)
    assert undo_plan(paper, done[2]).writes == ()


def test_keys_that_passed_from_block_to_block() -> None:
    """A record must not take the place of another's."""
    one, two = fields("Focus", 540), fields("Lunch", 720)
    paper, done = after(
        day_of(make_block("a", one), make_block("b", two, index=1)),
        day_of(make_block("c", one), make_block("d", two, index=1)),
        day_of(make_block("c", one), make_block("a", two, index=1)),
    )
    assert {h.key: h.base.summary for h in paper.ledger.heads} == {"c": "Focus", "a": "Lunch"}
    undone = paper.undo(*done[:2])[0]
    assert {h.key: h.base.summary for h in undone.ledger.heads} == {"a": "Focus", "b": "Lunch"}


def test_a_block_comes_back_though_its_key_went_to_another_one_meanwhile() -> None:
    """P6: the very undo that takes it away gives its key to the block that had it before."""
    one, two = fields("Focus", 540), fields("Lunch", 720)
    renamed, both = day_of(make_block("c", one)), day_of(make_block("c", one), make_block("b", two, index=1))
    paper, done = after(day_of(make_block("b", one)), renamed, both)
    view = paper.view()
    paper, undone = paper.undo(*done[:2])
    assert paper.view() == [one]
    assert paper.undo(undone, tx="r")[0].view() == view


def test_a_key_that_another_block_has_by_now_is_not_taken() -> None:
    """Undoing an earlier transaction alone: the block keeps the key it has."""
    one, other = fields("Focus", 540), fields("Lunch", 720)
    paper, done = after(
        day_of(make_block("a", one)),
        day_of(make_block("b", fields("Focus", 570))),
        day_of(make_block("b", fields("Focus", 570)), make_block("a", other, index=1)),
    )
    undone = paper.undo(done[1])[0]
    assert {h.key: h.base for h in undone.ledger.heads} == {"b": one, "a": other}


def test_without_a_ledger() -> None:
    """The journal may outlive the records of the day."""
    paper, done = after(FIRST, SECOND)
    lost = replace(paper, ledger=paper.ledger.model_copy(update={"heads": ()}))
    assert lost.undo(done[0])[0].view() == [A]
    assert lost.undo(*done)[0].view() == []


def test_one_day_at_a_time() -> None:
    paper, done = after(FIRST)
    with pytest.raises(InternalError):
        undo_plan(paper, done[0].model_copy(update={"day": DAY.replace(day=3)}))


def test_a_deleted_block_that_was_planned_anew_does_not_come_back_twice() -> None:
    """P3: taking back one deletion, or doing an undone submit again, after a later submit made the block again."""
    paper, done = after(FIRST, day_of(), FIRST)
    plan = undo_plan(paper, done[1])
    assert (plan.writes, plan.warnings) == ((), ("“Focus” is on your calendar again already.",))
    paper, done = after(FIRST)
    paper, undone = paper.undo(done[0])
    paper, _ = paper.submit(FIRST, tx="t1")
    assert undo_plan(paper, undone).writes == ()


def test_taking_back_all_since_a_deletion_brings_the_block_back_once() -> None:
    """P17: the newer event goes, and the deleted one comes back from its image."""
    paper, done = after(FIRST, day_of(), SECOND)
    after_all, _ = paper.undo(*done[:2])
    assert after_all.view() == [A]


def test_what_was_planned_anew_stays_when_the_older_one_comes_back() -> None:
    """P9, P3: taking back an undo and the submit after it needs no second event, not even for a moment."""
    paper, done = after(FIRST)
    paper, undone = paper.undo(done[0])
    paper, again = paper.submit(SECOND, tx="t1")
    (op,) = undo_plan(paper, again, undone).writes
    assert (op.verb, op.event_id) == (Verb.UPDATE, paper.get_event("a").id)
    assert paper.undo(again, undone, tx="v")[0].view() == [A]


def test_a_block_that_comes_back_as_the_persons_own_comes_back_once() -> None:
    """P3, K12: two undos by force are taken back: each had deleted an event of the block, one with the person's own notes."""
    paper, first = Paper().submit(FIRST, tx="t0")
    paper, undone = paper.undo(first, tx="u0")
    paper, again = paper.submit(FIRST, tx="t1")
    paper = paper.edit(paper.get_event("a").id, description="Mine")
    plan = undo_plan(paper, again, force=True)
    paper, forced = paper.perform(plan, "u1")
    paper, redo = paper.undo(forced, again, undone, tx="u2")
    assert [(r.op.verb, r.op.after and r.op.after.description) for r in redo.records] == [(Verb.CREATE, "Mine")]
    assert [shown.description for shown in paper.view()] == ["Mine"]


def test_a_block_that_half_an_undo_removed_was_not_deleted_by_the_person() -> None:
    """K13: the undo that goes on neither says so nor makes the next submit say so."""
    paper, done = after(FIRST, SECOND)
    removed = undo_plan(paper, *done)
    paper = paper.perform(removed, "u0")[0]
    plan = undo_plan(paper, *done)
    assert (plan.writes, plan.warnings) == ((), ())
    paper = paper.perform(plan, "u1")[0]
    assert [op.verb for op in paper.plan(FIRST).ops] == [Verb.CREATE]
