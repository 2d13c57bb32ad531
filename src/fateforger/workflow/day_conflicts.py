"""Find rules for a day that cannot all be kept: unsatisfiable rules and circular orderings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fateforger.plan import ET
from fateforger.workflow.conflicts import find_conflicts
from fateforger.workflow.day_names import parse_day_name
from fateforger.workflow.expressions import And, Atom, Expression, Or
from fateforger.workflow.rules import Rule, RuleKind

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
