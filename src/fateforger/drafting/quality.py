"""How good a plan is, 0 to 4, and what would make it better (S50, S208). Advisory: it never stops anybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta

from fateforger.drafting.model import Day, Left
from fateforger.plan import ET, Resolved, TBPlan, resolve

LABELS = ("Insufficient", "Minimal", "Okay", "Detailed", "Ultra")
_WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})
_PAUSE = timedelta(minutes=10)
_LONG_DAY = timedelta(hours=6)
_LONGEST_FOCUS = timedelta(hours=2)
_SHALLOW_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Grade:
    """``next_step`` is one sentence: what lifts the plan to the next level, or that nothing is left to do."""

    level: int
    label: str
    next_step: str


@dataclass(frozen=True, slots=True)
class _View:
    day: Day
    unplaced: Sequence[Left]
    blocks: tuple[Resolved, ...]

    @property
    def work(self) -> tuple[Resolved, ...]:
        return tuple(b for b in self.blocks if b.event.type in _WORK)

    @property
    def deep(self) -> tuple[Resolved, ...]:
        return tuple(b for b in self.blocks if b.event.type is ET.DEEP_WORK)


def grade(day: Day, plan: TBPlan, unplaced: Sequence[Left] = ()) -> Grade:
    """The level of a plan for a day. ``day.works`` say what the one thing is, ``day.busy`` what must not be hit."""
    view = _view(day, plan, unplaced)
    for level, checks in enumerate(_LADDER):
        for check in checks:
            if missing := check(view):
                return Grade(level, LABELS[level], missing)
    return Grade(4, LABELS[4], "Nothing is missing; commit it when you are happy with it.")


def shortcomings(day: Day, plan: TBPlan, unplaced: Sequence[Left] = ()) -> tuple[str, ...]:
    """Everything that would make the plan better, the most important first: a sentence each."""
    view = _view(day, plan, unplaced)
    return tuple(missing for checks in _LADDER for check in checks if (missing := check(view)))


def _view(day: Day, plan: TBPlan, unplaced: Sequence[Left]) -> _View:
    return _View(day, unplaced, tuple(sorted(resolve(plan), key=lambda b: b.start.astimezone(UTC))))


def _something(view: _View) -> str | None:
    return None if view.work else "Add at least one block of work."


def _clear_of_meetings(view: _View) -> str | None:
    for block in view.blocks:
        start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
        if any(b.start < end and start < b.end and b.start < b.end for b in view.day.busy):
            return f"Move “{block.event.name}” away from the meeting it runs into."
    return None


def _all_placed(view: _View) -> str | None:
    if not view.unplaced:
        return None
    return f"Make room for “{view.unplaced[0].title}”, or take it off today's list."


def _one_thing_early(view: _View) -> str | None:
    first = next((w for w in view.day.works if w.first), None)
    if first is None:
        return None
    block = next((b for b in view.blocks if b.key == first.id), None)
    if block is None:
        return f"Give “{first.title}” a block: it is your one thing."
    half = view.day.start.astimezone(UTC) + (view.day.end.astimezone(UTC) - view.day.start.astimezone(UTC)) / 2
    return None if block.start.astimezone(UTC) <= half else f"Start “{first.title}” in the first half of the day."


def _breathing(view: _View) -> str | None:
    for deep in view.deep:
        follower = next((b for b in view.work if b.start.astimezone(UTC) >= deep.end.astimezone(UTC)), None)
        if follower and follower.start.astimezone(UTC) - deep.end.astimezone(UTC) < _PAUSE:
            return f"Leave ten minutes between “{deep.event.name}” and “{follower.event.name}”."
    return None


def _meal(view: _View) -> str | None:
    if view.day.end.astimezone(UTC) - view.day.start.astimezone(UTC) < _LONG_DAY:
        return None
    if any(b.event.type is ET.REGENERATION for b in view.blocks):
        return None
    return "Put a meal or a real pause into the day."


def _named_one_thing(view: _View) -> str | None:
    return None if any(w.first for w in view.day.works) else "Say which task is the one thing that matters."


def _focus_length(view: _View) -> str | None:
    for deep in view.deep:
        if deep.duration > _LONGEST_FOCUS:
            return f"Split “{deep.event.name}”: two hours of focus in one piece is about what anyone can do."
    return None


def _shallow_share(view: _View) -> str | None:
    total = sum((b.duration for b in view.work), timedelta())
    shallow = sum((b.duration for b in view.work if b.event.type is ET.SHALLOW_WORK), timedelta())
    if shallow <= total * _SHALLOW_SHARE:
        return None
    return "Shallow work takes more than 30% of your working time; give deep work more room."


_LADDER: tuple[tuple[Callable[[_View], str | None], ...], ...] = (
    (_something,),
    (_clear_of_meetings, _all_placed, _one_thing_early),
    (_breathing, _meal),
    (_named_one_thing, _focus_length, _shallow_share),
)
