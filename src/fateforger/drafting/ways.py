"""Filter the options for items without a place: each one is tried before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, timedelta

from fateforger.drafting.instance import Told
from fateforger.drafting.model import Day, OptionKind, PlacementOption, UnplacedItem
from fateforger.values import replace

MOST_TRIED = 5
"""Most items whose options are tried; a person is asked about no more at once."""
_PROMISING = frozenset({OptionKind.SHRINK, OptionKind.SPLIT, OptionKind.EXTEND, OptionKind.RELAX})
_ITS_OWN = frozenset({OptionKind.SHRINK, OptionKind.SPLIT})


def filter_options(
    left: Sequence[UnplacedItem], placed: Callable[[UnplacedItem, PlacementOption], Collection[str]]
) -> tuple[UnplacedItem, ...]:
    """Return the items with only the options that hold.

    An option stays if it promises no place, or if the trial gives the item one. ``placed`` returns the ids that have
    a place once an option is taken, or nothing when it costs another item its place.
    """
    known: dict[tuple[object, ...], Collection[str]] = {}

    def holds(each: UnplacedItem, choice: PlacementOption) -> bool:
        whose = each.id if choice.way in _ITS_OWN else None
        way = (choice.way, choice.minutes, choice.rule, whose)
        if way not in known:
            known[way] = placed(each, choice)
        return each.id in known[way]

    tried = 0
    told: list[UnplacedItem] = []
    for each in left:
        promising = [choice for choice in each.choices if choice.way in _PROMISING]
        tried += bool(promising)
        gone = [choice for choice in promising if tried > MOST_TRIED or not holds(each, choice)]
        told.append(replace(each, choices=tuple(choice for choice in each.choices if choice not in gone)))
    return tuple(told)


def apply_option(day: Day, told: Iterable[Told], task: str, choice: PlacementOption) -> tuple[Day, tuple[Told, ...]]:
    """Return the day and its constraints once an option for that task is taken."""
    told = tuple(each for each in told if choice.way is not OptionKind.RELAX or each.id != choice.rule)
    if choice.way is OptionKind.EXTEND:
        later = day.end.astimezone(UTC) + timedelta(minutes=choice.minutes or 0)
        return replace(day, end=later.astimezone(day.end.tzinfo)), told
    works = tuple(
        (replace(work, minutes=choice.minutes) if choice.way is OptionKind.SHRINK else replace(work, pieces=True))
        if work.id == task and choice.way in _ITS_OWN
        else work
        for work in day.works
    )
    return replace(day, works=works), told
