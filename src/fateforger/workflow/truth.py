"""Three-valued truth over all steps of a trace at once: a number whose bits are steps, the first step the highest bit.

Of n steps, step i is bit n - 1 - i. So what a step knows of later ones flows from low bits to high ones, as carries of
an addition do, and each operator of temporal logic is a few operations on whole numbers. Kleene's logic on known and
unknown facts is two of these numbers: where something is surely so, and where it may be so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple, assert_never

from fateforger.workflow.expressions import And, Atom, Expression, Not, Or


class Truth(NamedTuple):
    """``maybe`` holds wherever ``sure`` does, and where nobody knows."""

    sure: int
    maybe: int


NOWHERE = Truth(0, 0)


def truth_of(expression: Expression, values: Mapping[str, Truth], full: int) -> Truth:
    """The value of an expression in each step, from those of its names; a name without one holds nowhere. ``full`` has
    the bits of all steps."""
    match expression:
        case Atom(name):
            return values.get(name, NOWHERE)
        case Not(of):
            return negated(truth_of(of, values, full), full)
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


def negated(value: Truth, full: int) -> Truth:
    """Where it is not so."""
    return Truth(full & ~value.maybe, full & ~value.sure)


def earlier(steps: int) -> int:
    """The steps before which there is one of these (once, strictly)."""
    return (1 << (steps.bit_length() - 1)) - 1 if steps else 0


def later(steps: int, full: int) -> int:
    """The steps after which there is one of these (eventually, strictly)."""
    return full & ~(((steps & -steps) << 1) - 1) if steps else 0


def now_or_later(steps: int, full: int) -> int:
    """The steps in or after which there is one of these (eventually)."""
    return full & ~((steps & -steps) - 1) if steps else 0


def previous(steps: int) -> int:
    """The steps whose predecessor is one of these (yesterday, strong)."""
    return steps >> 1


def next_until(holding: int, goal: int, full: int, *, at_end: bool) -> int:
    """The steps from whose successor on it is ``holding`` until a ``goal`` (next and until, strong). ``at_end`` counts
    the end of the trace as a goal.

    A goal marks the step before it; a mark moves on through a run of holding steps as a carry does through ones.
    """
    marks = (goal << 1) | at_end
    return ((((marks & holding) + holding) ^ holding) | marks) & full


def steps_in(steps: int, numbers: Sequence[int]) -> tuple[int, ...]:
    """The numbers of these steps, in order; ``numbers`` are those of all steps, counted from 0."""
    if not steps:
        return ()
    return tuple(compress(numbers, f"{steps:0{len(numbers)}b}".encode().translate(_DIGITS)))


_DIGITS = bytes.maketrans(b"01", b"\x00\x01")
