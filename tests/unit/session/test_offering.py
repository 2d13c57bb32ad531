"""Open tasks of earlier days are offered to the next one, once, unless a later plan settled them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from tests.factories.sessions import with_fields
from tests.unit.conversation.sessions import MORNING, session, task

from fateforger.errors import BadInput
from fateforger.session.model import InputFacts, Session, Unplaced, WriteCounts
from fateforger.session.open_work import MOST_OFFERED, bring_tasks, carry_over, with_outside
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.task import OutsideTask

TODAY = date(2026, 3, 2)
TASKS = {name.casefold(): task(name, 30) for name in ("Taxes", "Plants", "Mail")}


def day(back: int, *listed: str, deferred: str = "", unplaced: str = "", **changes: Any) -> Session:
    """Return the session of a day that many days ago, which is on the calendar."""
    made = session(
        TimeboxingStage.REVIEW_COMMIT,
        inputs=InputFacts(tasks=tuple(TASKS[name] for name in listed)),
        deferred=tuple(TASKS[name] for name in deferred.split()),
        unplaced=tuple(Unplaced(task_id=name, title=name, reason="full") for name in unplaced.split()),
        written=WriteCounts(created=1),
    )
    at = MORNING - timedelta(days=back)
    return with_fields(made, **{"id": f"s-{back}", "date": TODAY - timedelta(days=back), "touched_at": at, **changes})


NOW = session(TimeboxingStage.CAPTURE_INPUTS)


def list_offered(*others: Session, now: Session = NOW) -> list[tuple[str, str, int]]:
    return [(each.task.id, each.source, (TODAY - each.day).days) for each in carry_over(now, others, now=MORNING)]


def test_what_was_deferred_and_what_did_not_fit_the_latest_day_first() -> None:
    yesterday = day(1, "plants", deferred="taxes", unplaced="plants")
    assert list_offered(day(3, deferred="mail"), yesterday) == [
        ("taxes", "deferred", 1),
        ("plants", "unplaced", 1),
        ("mail", "deferred", 3),
    ]


def test_the_latest_plan_that_knows_a_task_decides_about_it() -> None:
    assert list_offered(day(3, deferred="mail"), day(1, "mail")) == []
    assert list_offered(day(3, deferred="mail"), day(1, brought=("mail",))) == []
    assert list_offered(day(3, deferred="mail"), day(1, brought=("mail",), deferred="mail")) == [
        ("mail", "deferred", 1)
    ]
    assert list_offered(day(3, deferred="mail"), day(-1, "mail")) == []


def test_a_plan_that_never_reached_the_calendar_settles_nothing() -> None:
    assert list_offered(day(3, deferred="mail"), day(1, "mail", written=None)) == [("mail", "deferred", 3)]
    assert list_offered(day(1, "mail", unplaced="mail", written=None)) == []


def test_neither_what_is_old_nor_what_is_to_come_nor_what_the_day_has() -> None:
    assert list_offered(day(15, deferred="mail"), day(-2, deferred="taxes")) == []
    assert list_offered(day(14, deferred="mail")) == [("mail", "deferred", 14)]
    has = NOW.with_day(inputs=InputFacts(tasks=(TASKS["mail"],))).with_open_work(deferred=(TASKS["taxes"],))
    assert list_offered(day(1, deferred="mail taxes plants"), now=has) == [("plants", "deferred", 1)]


def test_s224_what_is_open_elsewhere_is_bounded_and_nothing_while_it_is_not_known() -> None:
    many = [OutsideTask(id=f"t{n:03}", title=f"Task {n}") for n in range(100)]
    shown = with_outside(NOW, (), many)
    assert [each.task.id for each in shown] == [f"t{n:03}" for n in range(MOST_OFFERED)]
    assert with_outside(NOW, (), None) == ()
    assert with_outside(NOW.with_open_work(offered=shown), (), []) == ()


def test_bringing_some_along_leaves_the_others_on_offer() -> None:
    waiting = NOW.with_open_work(offered=carry_over(NOW, [day(1, deferred="mail taxes plants")], now=MORNING))
    some = bring_tasks(waiting, ["taxes"])
    assert [t.id for t in some.day.inputs.tasks] == ["taxes"]
    assert [each.task.id for each in some.open_work.offered] == ["mail", "plants"]
    assert bring_tasks(some, []).open_work.brought == ("taxes", "mail", "plants")
    with pytest.raises(BadInput):
        bring_tasks(some, ["taxes"])
    with pytest.raises(BadInput):
        bring_tasks(NOW, [])


def test_what_was_left_for_another_day_can_be_done_after_all() -> None:
    left = NOW.with_open_work(deferred=(TASKS["mail"],))
    back = bring_tasks(left, ["mail"])
    assert ([t.id for t in back.day.inputs.tasks], back.open_work.deferred) == (["mail"], ())
