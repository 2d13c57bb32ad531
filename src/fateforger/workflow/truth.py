"""Three-valued truth over all steps of a trace at once.

A set of steps is an integer: of n steps, step i is bit n - 1 - i, so the first step is the highest bit. Knowledge about
later steps flows from low bits to high bits, as carries do in an addition, and each operator of temporal logic takes a
few integer operations. Kleene's logic takes two integers: the steps at which something is certainly true, and those at
which it may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple, assert_never

from fateforger.workflow.expressions import And, Atom, Expression, Not, Or


class Truth(NamedTuple):
    """Truth of a name. ``maybe`` includes all steps of ``sure``, and those at which it is unknown."""

    sure: int
    maybe: int


NOWHERE = Truth(0, 0)


def truth_of(expression: Expression, values: Mapping[str, Truth], full: int) -> Truth:
    """Evaluate an expression in each step from the values of its names.

    A name without a value holds nowhere. ``full`` has the bits of all steps.
    """
    match expression:
        case Atom(name):
            return values.get(name, NOWHERE)
        case Not(of):
            return negate(truth_of(of, values, full), full)
        case And(parts):
            sure = maybe = full
            for part in parts:
                value = truth_of(part, values, full)
                sure, maybe = sure & value.sure, maybe & value.maybe
            return Truth(sure, maybe)
        case Or(parts):
            sure = maybe = 0
            for part in parts:
                value = truth_of(part, values, full)
                sure, maybe = sure | value.sure, maybe | value.maybe
            return Truth(sure, maybe)
        case _:
            assert_never(expression)


def negate(value: Truth, full: int) -> Truth:
    """Return the negation."""
    return Truth(full & ~value.maybe, full & ~value.sure)


def mark_once(steps: int) -> int:
    """Return the steps before which there is one of these (once, strictly)."""
    return (1 << (steps.bit_length() - 1)) - 1 if steps else 0


def mark_eventually(steps: int, full: int) -> int:
    """Return the steps after which there is one of these (eventually, strictly)."""
    return full & ~(((steps & -steps) << 1) - 1) if steps else 0


def mark_now_or_eventually(steps: int, full: int) -> int:
    """Return the steps in or after which there is one of these (eventually)."""
    return full & ~((steps & -steps) - 1) if steps else 0


def mark_yesterday(steps: int) -> int:
    """Return the steps whose predecessor is one of these (yesterday, strong)."""
    return steps >> 1


def next_until(holding: int, goal: int, full: int, *, at_end: bool) -> int:
    """Return the steps from whose successor on ``holding`` is true until a ``goal`` (next and until, strong).

    ``at_end`` counts the end of the trace as a goal. A goal marks the step before it; a mark moves through a run of
    holding steps as a carry moves through ones.
    """
    marks = (goal << 1) | at_end
    return ((((marks & holding) + holding) ^ holding) | marks) & full


def steps_in(steps: int, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of these steps, in order; ``numbers`` are those of all steps, counted from 0."""
    if not steps:
        return ()
    return tuple(compress(numbers, f"{steps:0{len(numbers)}b}".encode().translate(_DIGITS)))


_DIGITS = bytes.maketrans(b"01", b"\x00\x01")
