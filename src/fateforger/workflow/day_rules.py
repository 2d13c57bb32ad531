"""A person's own rules for their days, such as ``BEFORE deep_work: admin_done`` or ``NEVER: meeting_after_17``.

The trace is the sequence of blocks of a day: blocks of the plan and calendar events alike, one step each. This module
reports which blocks violate which rule; it never changes the plan.

Conflicts are unsatisfiable rules and circular orderings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, assert_never
from zoneinfo import ZoneInfo

from fateforger.errors import BadInput
from fateforger.limits import MAX_MINUTES
from fateforger.planning.plan import ET, TBPlan, resolve
from fateforger.planning.timing import instant_of
from fateforger.values import replace
from fateforger.workflow.conformance import CheckedRule, StatedRule, check
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
from fateforger.workflow.trace import Step

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


@dataclass(frozen=True, slots=True)
class DayBlock:
    """Block of a day. ``start`` and ``end`` are aware. A block of the plan has a ``key``; a meeting has none."""

    kind: ET
    title: str
    start: datetime
    end: datetime
    key: str | None = None


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


def judge_day(
    rules: Sequence[StatedRule], plan: TBPlan, meetings: Iterable[DayBlock] = ()
) -> tuple[tuple[CheckedRule, tuple[DayBlock, ...]], ...]:
    """Judge a plan and the meetings of its day by the rules; return each with the blocks that violate it.

    Raises :class:`PlanInvalid` if a block of the plan has no time.
    """
    own = (DayBlock(r.event.type, r.event.name, r.start, r.end, r.key) for r in resolve(plan))
    blocks = tuple(sorted((*own, *meetings), key=lambda b: (_utc(b.start), _utc(b.end), b.title)))
    names = {name: known for rule in rules for name in rule.rule.names if (known := parse_day_name(name)) is not None}
    steps = [_build_step(block, blocks, names, plan.date, plan.zone) for block in blocks]
    return tuple((each, tuple(blocks[at] for at in each.violations)) for each in check(rules, steps, NAMES))


def _build_step(
    block: DayBlock, blocks: Sequence[DayBlock], names: dict[str, DayName], day: date, tz: ZoneInfo
) -> Step:
    so = [name for name, known in names.items() if _is_so(known, block, blocks, day, tz)]
    done = tuple(name for name in so if names[name].aspect == "block")
    return Step(do=done, true=tuple(name for name in so if name not in done))


def _is_so(name: DayName, block: DayBlock, blocks: Sequence[DayBlock], day: date, tz: ZoneInfo) -> bool:
    match name.aspect:
        case "weekday":
            return day.weekday() == name.number
        case "done":
            return any(other.kind is name.kind and _utc(other.end) <= _utc(block.start) for other in blocks)
        case "block":
            return block.kind is name.kind
        case "after":
            return block.kind is name.kind and _utc(block.end) > _instant_of(name, day, tz)
        case "before":
            return block.kind is name.kind and _utc(block.start) < _instant_of(name, day, tz)
        case "longer":
            return block.kind is name.kind and (_utc(block.end) - _utc(block.start)).total_seconds() > name.number * 60


def _instant_of(name: DayName, day: date, tz: ZoneInfo) -> datetime:
    """Return the instant of a time of day; 24:00 is the midnight at the end of the day."""
    return _utc(instant_of(datetime.combine(day, time()) + name.clock, tz))


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
