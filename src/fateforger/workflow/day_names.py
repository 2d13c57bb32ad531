"""Names that a person's own rules for a day may use. They need no declaration: each name carries its meaning.

deep_work, meeting, admin ...        actions: such a block begins
admin_done                           state: such a block is over
meeting_after_17, _after_17_30       state: the block is one, and some of it lies after that time of day
deep_work_before_9, _before_9_15     state: the block is one, and some of it lies before that time of day
meeting_longer_than_60               state: the block is one, and lasts more minutes than that
monday ... sunday                    state: the day is one
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Literal

from fateforger.plan import ET
from fateforger.values import replace
from fateforger.workflow.vocabulary import AtomKind

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
KINDS = {
    **{et.name.lower(): et for et in ET},
    "admin": ET.SHALLOW_WORK,
    "rest": ET.REGENERATION,
    "break": ET.REGENERATION,
}
"""Kinds of blocks by the names that people write; some kinds have two."""
LONGEST = 24 * 60
Aspect = Literal["block", "done", "after", "before", "longer", "weekday"]


@dataclass(frozen=True, slots=True)
class DayName:
    """Meaning of a name: the ``kind`` of block, the ``word`` used for it, and the comparison.

    ``number`` is a weekday (Monday is 0) or minutes; ``clock`` is the offset from the start of the day.
    """

    aspect: Aspect
    kind: ET | None = None
    number: int = 0
    clock: timedelta = timedelta()
    word: str = ""


def parse_day_name(text: str) -> DayName | None:
    """Parse a name; return ``None`` if it has no meaning."""
    if text in WEEKDAYS:
        return DayName("weekday", number=WEEKDAYS.index(text))
    if text in KINDS:
        return DayName("block", KINDS[text], word=text)
    for kind, et in KINDS.items():
        if text.startswith(f"{kind}_"):
            found = _parse_comparison(et, text.removeprefix(f"{kind}_"))
            if found is not None:
                return replace(found, word=kind)
    return None


def _parse_comparison(kind: ET, text: str) -> DayName | None:
    if text == "done":
        return DayName("done", kind)
    how, _, value = text.partition("_")
    match how:
        case "after" | "before":
            clock = _parse_clock(value)
            return None if clock is None else DayName("after" if how == "after" else "before", kind, clock=clock)
        case "longer":
            minutes = _parse_number(value.removeprefix("than_"), LONGEST) if value.startswith("than_") else None
            return None if minutes is None else DayName("longer", kind, minutes)
        case _:
            return None


def _parse_clock(text: str) -> timedelta | None:
    hours, _, minutes = text.partition("_")
    hour, minute = _parse_number(hours, 24), _parse_number(minutes or "0", 59)
    if hour is None or minute is None or (hour == 24 and minute):
        return None
    return timedelta(hours=hour, minutes=minute)


def _parse_number(text: str, most: int) -> int | None:
    if not (text.isascii() and text.isdecimal()) or len(text) > 4:
        return None
    return number if (number := int(text)) <= most else None


class DayNames:
    """Vocabulary of the names of a day."""

    def kind_of(self, name: str) -> AtomKind | None:
        """Return the kind of a name. See :meth:`Vocabulary.kind_of`."""
        found = parse_day_name(name)
        if found is None:
            return None
        return AtomKind.ACTION if found.aspect == "block" else AtomKind.STATE

    def near(self, name: str) -> tuple[str, ...]:
        """Suggest similar names. See :meth:`Vocabulary.near`.

        The comparison that was written is kept if the result is a name.
        """
        for how, value in _HOW.items():
            written, found, rest = name.partition(how)
            for kind in get_close_matches(written, KINDS, n=1) if found else ():
                kept = f"{kind}{how}{rest}"
                return (kept if parse_day_name(kept) is not None else f"{kind}{how}{value}",)
        examples = [example for kind in KINDS for example in (kind, f"{kind}_done")]
        return tuple(get_close_matches(name, [*examples, *WEEKDAYS], n=1))


_HOW = {"_longer_than_": "60", "_after_": "17", "_before_": "9", "_done": ""}
"""Comparisons of a kind of block, with an example value for each."""
