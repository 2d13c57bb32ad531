"""Observed lengths of a person's tasks, and the estimates drawn from them.

Tasks are of one kind when their titles speak of the same thing: "Weekly report" and "Q3 report for Acme" are both a
report. The ratio of a kind is the median of its latest observations, so that one odd day does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from statistics import median
from typing import Literal

from pydantic import Field

from fateforger.limits import MAX_MINUTES, MAX_TITLE_CHARS
from fateforger.planning.timing import GRID
from fateforger.text import format_number
from fateforger.values import Value

LEAST = 3
"""Fewest observations of an estimate, and fewest of them that ran over before the person is asked."""
LATEST = 8
"""Observations of a kind that count."""
BOUND = 3.0
"""Largest ratio that an observation counts with, and the inverse of the smallest."""
SHORT = 1.15
"""Ratio from which planned lengths count as too short."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_AFTERTHOUGHT = re.compile(r"\s[-\N{EN DASH}\N{EM DASH}]\s|[:(\[,;/]")
_PREPOSITIONS = frozenset(
    ("about", "after", "at", "before", "by", "for", "from", "in", "of", "on", "to", "via", "with")
)
_FILLERS = frozenset(("a", "an", "and", "another", "my", "next", "or", "our", "that", "the", "their", "this", "your"))


class Observation(Value):
    """Planned and actual minutes of one task on one day.

    ``id`` is unique among the observations of a person; a later one of that id replaces it. One that is ``corrected``
    is the person's own statement about the kind.
    """

    id: str
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    deep: bool
    planned: int = Field(gt=0, le=MAX_MINUTES)
    actual: int = Field(gt=0)
    day: date
    source: Literal["done", "changed", "corrected"]

    @property
    def kind(self) -> str:
        return kind_of(self.title, deep=self.deep)

    @property
    def ratio(self) -> float:
        """Actual per planned minutes, bounded."""
        return min(BOUND, max(1 / BOUND, self.actual / self.planned))


class BegunTask(Value):
    """Minutes that were planned for a task when its first block began, at ``start``."""

    id: str
    start: datetime
    minutes: int


class Estimate(Value):
    """Estimate of how long tasks of a kind take.

    ``ratio`` is the actual length per planned length, from the latest ``count`` observations; ``short`` of them took
    longer than planned. ``minutes`` is the usual actual length, ``None`` if only the person's own ratio is known.
    """

    kind: str
    ratio: float
    count: int
    short: int
    minutes: int | None = None
    corrected: bool = False

    @property
    def name(self) -> str:
        """The thing that tasks of the kind have in common, such as ``report``."""
        return name_of(self.kind)

    @property
    def deep(self) -> bool:
        return self.kind.startswith("deep ")

    @property
    def has_been_short(self) -> bool:
        """True when planned lengths have been too short often enough to ask about the next one."""
        return self.ratio >= SHORT and (self.corrected or self.short >= LEAST)


def kind_of(title: str, *, deep: bool) -> str:
    """Return the kind of a task: its depth, and the last word of its title before a preposition, in the singular.

    Numbers and what follows a colon, a comma or a dash do not count.
    """
    text = unicodedata.normalize("NFKC", title).casefold()
    head = next((part for part in _AFTERTHOUGHT.split(text) if _find_words(part)), text)
    words = _find_words(head)
    end = next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), len(words))
    named = [word for word in words[:end] if word not in _FILLERS and word not in _PREPOSITIONS] or words[:1]
    name = _to_singular(named[-1]) if named else text.strip()
    return f"{'deep' if deep else 'shallow'} {name[:60]}"


def name_of(kind: str) -> str:
    """Return a kind without its depth, as it is shown."""
    return kind.partition(" ")[2]


def _find_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if not any(sign.isdigit() for sign in word)]


def _to_singular(word: str) -> str:
    """Return an English plural in the singular; any other word mostly as it is."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def estimate_kinds(observations: Iterable[Observation]) -> tuple[Estimate, ...]:
    """Return an estimate of each kind that is known well enough, in alphabetical order."""
    kinds: dict[str, list[Observation]] = {}
    for each in sorted(observations, key=lambda each: (each.day, each.id)):
        kinds.setdefault(each.kind, []).append(each)
    found = (_estimate(kind, kinds[kind]) for kind in sorted(kinds, key=lambda kind: kind.split(" ", 1)[::-1]))
    return tuple(each for each in found if each is not None)


def find_estimate(estimates: Iterable[Estimate], title: str, *, deep: bool) -> Estimate | None:
    """Return the estimate for a task out of those of all kinds, or ``None``."""
    kind = kind_of(title, deep=deep)
    return next((each for each in estimates if each.kind == kind), None)


def _estimate(kind: str, observations: Sequence[Observation]) -> Estimate | None:
    own = next((each for each in observations if each.source == "corrected"), None)
    latest = [each for each in observations if each.source != "corrected"][-LATEST:]
    if own is None and len(latest) < LEAST:
        return None
    usual = median(each.actual for each in latest) if len(latest) >= LEAST else None
    return Estimate(
        kind=kind,
        ratio=round(median(each.ratio for each in latest) if own is None else own.ratio, 2),
        count=len(latest),
        short=sum(each.actual > each.planned for each in latest),
        minutes=None if usual is None else _round(usual, GRID),
        corrected=own is not None,
    )


def scale_minutes(found: Estimate, planned: int) -> int:
    """Return the minutes that a task planned with ``planned`` minutes takes by an estimate, rounded."""
    return _round(planned * found.ratio, 15 if planned >= 60 else GRID)


def format_ratio(ratio: float) -> str:
    """Format a ratio with as many digits as it needs, such as ``1.4``."""
    return format_number(round(ratio, 2))


def _round(minutes: float, step: int) -> int:
    return min(MAX_MINUTES, max(step, round(minutes / step) * step))


def correct_ratio(kind: str, ratio: float, day: date) -> Observation:
    """Return the person's own statement about a kind; it counts instead of what was observed."""
    return Observation(
        id=f"corrected/{kind}",
        title=name_of(kind),
        deep=kind.startswith("deep "),
        planned=100,
        actual=max(1, round(ratio * 100)),
        day=day,
        source="corrected",
    )


def find_named(observations: Iterable[Observation], said: str) -> tuple[Observation, ...]:
    """Return the observations of a kind, given as a kind, or as any title of that kind whatever its depth."""
    every = tuple(observations)
    exact = tuple(each for each in every if each.kind == said)
    wanted = {kind_of(said, deep=True), kind_of(said, deep=False)}
    return exact or tuple(each for each in every if each.kind in wanted)
