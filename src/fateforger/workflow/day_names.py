"""Names in a person's rules for their days; :mod:`fateforger.workflow.day_words` says such rules in words.

The names need no declaration: each one carries its meaning.

deep_work, meeting, admin ...        actions: such a block begins
admin_done                           state: such a block is over
meeting_after_17, _after_17_30       state: the block is one, and some of it lies after that time of day
deep_work_before_9, _before_9_15     state: the block is one, and some of it lies before that time of day
meeting_longer_than_60               state: the block is one, and lasts more minutes than that
monday ... sunday                    state: the day is one
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Literal

from fateforger.limits import MAX_MINUTES
from fateforger.planning.plan import ET
from fateforger.values import replace
from fateforger.workflow.rules import AtomKind

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
KINDS = {
    **{et.name.lower(): et for et in ET},
    "admin": ET.SHALLOW_WORK,
    "rest": ET.REGENERATION,
    "break": ET.REGENERATION,
}
"""Kinds of blocks by the names that people write; some kinds have two."""
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


_COMPARISON = re.compile(
    r"(?P<done>done)|longer_than_(?P<minutes>\d{1,4})|(?P<how>after|before)_(?P<hour>\d{1,4})(_(?P<minute>\d{0,4}))?",
    re.ASCII,
)


def _parse_comparison(kind: ET, text: str) -> DayName | None:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        return None
    if found["done"]:
        return DayName("done", kind)
    if found["minutes"]:
        minutes = int(found["minutes"])
        return DayName("longer", kind, minutes) if minutes <= MAX_MINUTES else None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if minute > 59 or hour * 60 + minute > MAX_MINUTES:
        return None
    return DayName("after" if found["how"] == "after" else "before", kind, clock=timedelta(hours=hour, minutes=minute))


class DayNames:
    """Vocabulary of the names of a day."""

    def kind_of(self, name: str) -> AtomKind | None:
        """Return the kind of a name. See :meth:`Vocabulary.kind_of`."""
        found = parse_day_name(name)
        if found is None:
            return None
        return "action" if found.aspect == "block" else "state"

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
