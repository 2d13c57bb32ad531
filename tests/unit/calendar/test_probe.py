"""One look at an event as the judge of a write without an answer: each row of the table."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.days import DAY, at
from tests.factories.paper import Paper, day_of, fields, make_block

from fateforger.calendar.event import PLAIN, EventImage, Marker
from fateforger.calendar.model import Standing, SyncOp, Verb
from fateforger.calendar.transactions import OpState
from fateforger.calendar.verdicts import ID_USED_UP, Ended, Happened, NotYet, judge, judge_answer
from fateforger.errors import InternalError

BEFORE = fields("Focus", 540, 60, "old")
AFTER = fields("Focus", 600, 90, "new")
TIMES = {"start", "end"}


def op_and_event(verb: Verb) -> tuple[SyncOp, EventImage]:
    """Return an op of that verb, and the event as the op found it (for a create: as it would be)."""
    there = Paper().submit(day_of(make_block("a", BEFORE)), tx="old")[0]
    if verb is Verb.CREATE:
        paper, done = Paper().submit(day_of(make_block("a", AFTER)), tx="new")
        return done.records[0].op, paper.get_event("a")
    wish = day_of(make_block("a", AFTER)) if verb is Verb.UPDATE else day_of()
    return there.plan(wish, tx="new").ops[0], there.get_event("a")


def apply_op(op: SyncOp, event: EventImage, **since: Any) -> EventImage:
    """Return the event after the op took effect, with the person's later changes."""
    assert op.after is not None
    marker = Marker(key=op.key, generation=op.generation, day=DAY, op_id=op.op_id)
    changes = {name: getattr(op.after, name) for name in op.changes}
    return event.model_copy(update={**changes, "properties": marker.properties(), **since})


def test_a_create_that_is_not_there() -> None:
    op, _ = op_and_event(Verb.CREATE)
    assert judge(op, None) == NotYet(op)
    assert judge(op, None, refused=True) == Ended(OpState.CONFLICT, ID_USED_UP)


@pytest.mark.parametrize("refused", [False, True])
def test_a_create_that_is_there(*, refused: bool) -> None:
    op, event = op_and_event(Verb.CREATE)
    verdict = judge(op, event, refused=refused)
    assert isinstance(verdict, Happened)
    assert op.head_after is not None
    assert (verdict.observed, verdict.head) == (event, op.head_after.model_copy(update={"extras": PLAIN}))


@pytest.mark.parametrize("what", [{"location": "Room 5"}, {"reminders": {"useDefault": False}}])
def test_a_create_to_which_the_person_added_something_since(what: dict[str, Any]) -> None:
    """K12: it happened; but what they added is not what we left."""
    op, event = op_and_event(Verb.CREATE)
    assert judge(op, event.model_copy(update={"raw": what})) == Happened(None, op.head_after)


def test_a_create_that_the_person_changed_since() -> None:
    """It happened; but what they made of it is not ours."""
    op, event = op_and_event(Verb.CREATE)
    verdict = judge(op, event.model_copy(update={"summary": "Mine"}))
    assert verdict == Happened(None, op.head_after)
    assert verdict.head is not None
    assert verdict.head.base == AFTER


def test_a_create_that_the_person_deleted_since() -> None:
    op, event = op_and_event(Verb.CREATE)
    verdict = judge(op, event.model_copy(update={"status": "cancelled"}))
    assert isinstance(verdict, Happened)
    assert verdict.head is not None
    assert verdict.head.standing is Standing.DELETED


@pytest.mark.parametrize("what", [{"properties": {}}, {"status": "cancelled", "properties": {}}])
def test_a_create_whose_id_is_used_up(what: dict[str, Any]) -> None:
    """S237"""
    op, event = op_and_event(Verb.CREATE)
    assert judge(op, event.model_copy(update=what)) == Ended(OpState.CONFLICT, ID_USED_UP)


def test_an_update_that_landed() -> None:
    op, event = op_and_event(Verb.UPDATE)
    assert judge(op, apply_op(op, event)) == Happened(apply_op(op, event), op.head_after)
    assert judge(op, apply_op(op, event, description="Mine")) == Happened(None, op.head_after)


@pytest.mark.parametrize("gone", [True, False])
def test_an_update_of_what_is_gone(*, gone: bool) -> None:
    op, event = op_and_event(Verb.UPDATE)
    verdict = judge(op, event.model_copy(update={"status": "cancelled"}) if gone else None)
    assert verdict == Ended(OpState.CONFLICT, "It is no longer on your calendar.")


def test_an_update_that_did_not_land() -> None:
    """The update is decided again from the current event, also from another version of it."""
    op, event = op_and_event(Verb.UPDATE)
    newer = event.model_copy(update={"version": "9"})
    assert judge(op, newer) == NotYet(op.model_copy(update={"before": newer}))


def test_an_update_of_a_field_that_the_person_changed() -> None:
    """Only the rest is left to do, and only the rest will be known as ours."""
    op, event = op_and_event(Verb.UPDATE)
    verdict = judge(op, event.model_copy(update={"description": "Mine"}))
    assert isinstance(verdict, NotYet)
    assert verdict.op.changes.keys() == TIMES
    assert verdict.op.after == AFTER.model_copy(update={"description": "Mine"})
    assert verdict.op.head_after is not None
    assert verdict.op.head_after.base == AFTER.model_copy(update={"description": "old"})
    assert verdict.op.head_after.asked.description == "old"


@pytest.mark.parametrize(
    "moved", [{"start": at("08:00")}, {"end": at("11:45")}, {"start": at("20:00"), "end": at("21:00")}]
)
def test_an_update_of_a_time_that_the_person_changed(moved: dict[str, Any]) -> None:
    """Start and end are written together or not at all."""
    op, event = op_and_event(Verb.UPDATE)
    verdict = judge(op, event.model_copy(update=moved))
    assert isinstance(verdict, NotYet)
    assert verdict.op.changes.keys() == {"description"}


def test_an_update_with_nothing_left_to_do() -> None:
    op, event = op_and_event(Verb.UPDATE)
    mine = event.model_copy(update={"description": "Mine", "start": at("20:00"), "end": at("21:00")})
    assert judge(op, mine) == Ended(OpState.SKIPPED, "You changed it on your calendar in the meantime.")
    same = event.model_copy(update=dict(AFTER))
    assert judge(op, same) == Ended(OpState.SKIPPED, "Your calendar shows it already.")


@pytest.mark.parametrize("what", [{"properties": {}}, {"start": DAY, "end": DAY}, {"raw": {"recurrence": ["x"]}}])
def test_an_update_of_what_is_not_ours_any_more(what: dict[str, Any]) -> None:
    op, event = op_and_event(Verb.UPDATE)
    verdict = judge(op, event.model_copy(update=what))
    assert isinstance(verdict, Ended)
    assert verdict.state is OpState.CONFLICT


def test_a_delete() -> None:
    op, event = op_and_event(Verb.DELETE)
    assert judge(op, None) == Happened(None, op.head_after)
    assert judge(op, event.model_copy(update={"status": "cancelled"})) == Happened(None, op.head_after)
    newer = event.model_copy(update={"version": "9"})
    assert judge(op, newer) == NotYet(op.model_copy(update={"before": newer}))


def test_a_delete_without_an_answer_of_what_is_there() -> None:
    """S472: another version shows that it was deleted and brought back."""
    op, event = op_and_event(Verb.DELETE)
    known = event.model_copy(update={"version": "8"})
    op = op.model_copy(update={"before": known})
    assert judge(op, known, unanswered=True) == NotYet(op)
    assert judge(op, event.model_copy(update={"version": "9"}), unanswered=True) == Happened(None, op.head_after)


@pytest.mark.parametrize("what", [{"summary": "Mine"}, {"raw": {"location": "Room 5"}}, {"properties": {}}])
def test_a_delete_of_what_the_person_changed(what: dict[str, Any]) -> None:
    op, event = op_and_event(Verb.DELETE)
    kept = "You changed it on your calendar in the meantime, so I kept it."
    assert judge(op, event.model_copy(update=what)) == Ended(OpState.CONFLICT, kept)


def test_an_answer_is_taken_as_it_is() -> None:
    """A calendar may put text in a form of its own: that is what we will know, and what the plan asked for, too."""
    op, event = op_and_event(Verb.UPDATE)
    verdict = judge_answer(op, apply_op(op, event, description="<p>new</p>", version="7"))
    assert verdict.head is not None
    assert (verdict.head.base.description, verdict.head.asked.description) == ("<p>new</p>", "new")
    assert verdict.head.version == "7"


def test_only_writes_are_judged() -> None:
    paper = Paper().submit(day_of(make_block("a", BEFORE)))[0]
    with pytest.raises(InternalError):
        judge(paper.plan(day_of(make_block("a", BEFORE))).ops[0], None)
