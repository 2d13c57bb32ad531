"""Traces: for each step, the states that held as it began and the actions done in it.

A formula has one of three truth values at each step, and all steps are computed at once. A set of steps is an integer:
of n steps, step i is bit n - 1 - i, so the first step is the highest bit. Knowledge about later steps flows from low
bits to high bits, as carries do in an addition, and each operator of temporal logic takes a few integer operations.
Kleene's logic takes two integers: the steps at which something is certainly true, and those at which it may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import NamedTuple, assert_never

from fateforger.errors import BadInput
from fateforger.planning.validation import validate
from fateforger.values import Value
from fateforger.workflow.rules import KIND_WORDS, And, Atom, AtomKind, Expression, Not, Or, Vocabulary, suggest_names


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


class Step(Value):
    """One step of a trace. A state that is neither in ``true`` nor in ``unknown`` does not hold."""

    do: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


_LISTS = Step.model_fields.keys()


def read_step(document: object, vocabulary: Vocabulary, where: str) -> Step:
    """Parse a step from JSON: ``{"do":[actions],"true":[states],"unknown":[states]}``; ``null`` is an empty list.

    Raises :class:`BadInput`.
    """
    if not isinstance(document, Mapping):
        raise BadInput("A step is a JSON object with do, true and unknown.", where=where)
    given = {name: value for name, value in document.items() if value is not None or name not in _LISTS}
    step = validate(Step, given, where)
    for name in step.do:
        expect_kind(name, "action", vocabulary, f"{where}, do")
    for name in step.true:
        expect_kind(name, "state", vocabulary, f"{where}, true")
    for name in step.unknown:
        expect_kind(name, "state", vocabulary, f"{where}, unknown")
        if name in step.true:
            raise BadInput(f"“{name}” is both true and unknown here; it can be one of them.", where=where)
    return step


def expect_kind(name: str, kind: AtomKind, vocabulary: Vocabulary, where: str) -> None:
    """Refuse a name that is not declared, or declared as the other kind. Raises :class:`BadInput` with ``where``."""
    found = vocabulary.kind_of(name)
    if found is None:
        sentence = f"Nothing is declared with the name “{name}”.{suggest_names(name, vocabulary)}"
        raise BadInput(sentence, where=where)
    if found != kind:
        raise BadInput(
            f"“{name}” is declared as {KIND_WORDS[found]}, and stands here as {KIND_WORDS[kind]}.", where=where
        )


@dataclass(frozen=True)
class Timeline:
    """Trace indexed by name, as rules are judged on it. ``count`` is the number of steps."""

    count: int
    done: Mapping[str, Truth]
    """Steps in which each action is done."""
    held: Mapping[str, Truth]
    """Steps in which each state holds."""
    vocabulary: Vocabulary

    @cached_property
    def full(self) -> int:
        """Bit mask of all steps."""
        return (1 << self.count) - 1

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all steps, counted from 0."""
        return tuple(range(self.count))

    @cached_property
    def values(self) -> Mapping[str, Truth]:
        """Steps of all names, actions and states alike."""
        return {**self.done, **self.held}

    @cached_property
    def beforehand(self) -> Mapping[str, Truth]:
        """Steps in which each state holds, or before which each action was done."""
        done = {name: Truth(mark_once(value.sure), mark_once(value.maybe)) for name, value in self.done.items()}
        return {**done, **self.held}

    def is_action(self, name: str) -> bool:
        """Check whether a name is declared as an action."""
        return self.vocabulary.kind_of(name) == "action"


def build_timeline(steps: Sequence[Step], vocabulary: Vocabulary) -> Timeline:
    """Index a trace by name. The steps must have been read with this vocabulary."""
    done: dict[str, bytearray] = {}
    true: dict[str, bytearray] = {}
    unknown: dict[str, bytearray] = {}
    for number, step in enumerate(steps):
        for names, marks in ((step.do, done), (step.true, true), (step.unknown, unknown)):
            for name in names:
                if name not in marks:
                    marks[name] = bytearray(b"0" * len(steps))
                marks[name][number] = _ONE
    return Timeline(
        count=len(steps),
        done={name: Truth(int(marks, 2), int(marks, 2)) for name, marks in done.items()},
        held={
            name: _build_state_truth(true.get(name, _NEVER), unknown.get(name, _NEVER))
            for name in true.keys() | unknown.keys()
        },
        vocabulary=vocabulary,
    )


_ONE = ord("1")
_NEVER = bytearray(b"0")


def _build_state_truth(true: bytearray, unknown: bytearray) -> Truth:
    sure = int(true, 2)
    return Truth(sure, sure | int(unknown, 2))
