"""A person's own rules for their days, such as ``BEFORE deep_work: admin_done`` or ``NEVER: meeting_after_17``.

This module reads them and finds conflicts: unsatisfiable rules and circular orderings. A day is checked by
:mod:`fateforger.workflow.day_conformance`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, assert_never

from fateforger.errors import BadInput
from fateforger.limits import MAX_MINUTES
from fateforger.planning.plan import ET
from fateforger.values import replace
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import (
    And,
    Atom,
    AtomKind,
    Expression,
    Not,
    Or,
    Rule,
    RuleKind,
    all_of,
    find_conflicts,
    write_rule,
)

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


_ORDERING = (RuleKind.BEFORE, RuleKind.AFTER)


def find_day_conflicts(rules: Sequence[Rule]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of rules, by position, that cannot be kept together.

    Groups are pairs (a rule that no block can keep is paired with itself) and cycles such as ``BEFORE deep_work:
    admin_done`` with ``BEFORE admin: deep_work_done``.
    """
    circles = (circle for kind in _ORDERING for circle in _find_cycles(rules, kind))
    return (*find_conflicts(rules), *circles)


def _find_cycles(rules: Sequence[Rule], kind: RuleKind) -> Iterator[tuple[int, ...]]:
    """Yield each cycle once, as the rules along it.

    In a cycle, no block of its kinds could be the first (or the last) one.
    """
    waits = [(at, *edge) for at, rule in enumerate(rules) if rule.kind is kind for edge in _edges(rule)]
    found: set[frozenset[int]] = set()
    for _, start, _ in waits:
        for circle in _find_paths_back(start, start, waits, ()):
            if frozenset(circle) not in found:
                found.add(frozenset(circle))
                yield tuple(dict.fromkeys(circle))


def _find_paths_back(
    start: ET, here: ET, waits: Sequence[tuple[int, ET, ET]], way: tuple[tuple[int, ET], ...]
) -> Iterator[tuple[int, ...]]:
    for at, first, second in waits:
        if first is not here:
            continue
        if second is start:
            yield (*(rule for rule, _ in way), at)
        elif second not in {kind for _, kind in way}:
            yield from _find_paths_back(start, second, waits, (*way, (at, second)))


def _edges(rule: Rule) -> Iterator[tuple[ET, ET]]:
    """Yield pairs of kinds of blocks of which the first waits for the second, whatever else holds on the day."""
    if rule.activation is None:
        return
    for waiting in _any_of(rule.activation):
        for wanted in _all_of(rule.target, done=rule.kind is RuleKind.BEFORE):
            yield waiting, wanted


def _any_of(expression: Expression) -> Iterator[ET]:
    """Yield the kinds of blocks of which each alone makes the expression true."""
    for part in expression.parts if isinstance(expression, Or) else (expression,):
        yield from _block(part, done=False)


def _all_of(expression: Expression, *, done: bool) -> Iterator[ET]:
    """Yield the kinds of blocks that the expression requires."""
    for part in expression.parts if isinstance(expression, And) else (expression,):
        yield from _block(part, done=done)


def _block(part: Expression, *, done: bool) -> Iterator[ET]:
    known = parse_day_name(part.name) if isinstance(part, Atom) else None
    if known is not None and known.kind is not None and known.aspect in ({"block", "done"} if done else {"block"}):
        yield known.kind


NAMES = DayNames()


@lru_cache(maxsize=1024)
def read_day_rule(text: str) -> Rule:
    """Parse a kept rule. Raises :class:`BadInput` with one sentence, also for a rule that no block can keep."""
    rule = read_rule(text, NAMES, any_kind=True)
    _refuse_denied_blocks(rule)
    if find_day_conflicts([rule]):
        raise BadInput(f"No block can keep “{write_rule(rule)}”.")
    return rule


def read_new_day_rule(text: str) -> Rule:
    """Parse a rule that is stated now. Raises as :func:`read_day_rule`, and for a name of the wrong kind."""
    read_rule(text, NAMES)
    return read_day_rule(text)


def _refuse_denied_blocks(rule: Rule) -> None:
    """Refuse rules that require a block to be absent: the first block of any other kind would satisfy them."""
    if rule.kind not in {RuleKind.IF, RuleKind.AFTER, RuleKind.ON} or rule.activation is None:
        return
    denied = next(iter(_find_denied_blocks(rule.target, holds=True)), None)
    if denied is None:
        return
    better = write_rule(Rule(RuleKind.NEVER, all_of((rule.activation, Atom(denied)))))
    instead = f", like “{better}”" if rule.kind is RuleKind.IF else ""
    raise BadInput(f"Any other block keeps “NOT {denied}”. Say what must not be with NEVER{instead}.")


def _find_denied_blocks(expression: Expression, *, holds: bool) -> Iterator[str]:
    """Yield the kinds of blocks that the expression requires to be absent."""
    match expression:
        case Atom(name):
            if not holds and NAMES.kind_of(name) == "action":
                yield name
        case Not(of):
            yield from _find_denied_blocks(of, holds=not holds)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _find_denied_blocks(part, holds=holds)
        case _:
            assert_never(expression)
