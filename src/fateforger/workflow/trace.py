"""Traces: for each step, the states that held as it began and the actions done in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from fateforger.errors import BadInput
from fateforger.plan.mistakes import first_mistake
from fateforger.workflow.truth import Truth, mark_once
from fateforger.workflow.vocabulary import AtomKind, Vocabulary


class Step(BaseModel):
    """One step of a trace. A state that is neither in ``true`` nor in ``unknown`` does not hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    do: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @field_validator("do", "true", "unknown", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: object) -> object:
        return () if value is None else value


def read_step(document: object, vocabulary: Vocabulary, where: str) -> Step:
    """Parse a step from JSON: ``{"do":[actions],"true":[states],"unknown":[states]}``. Raises :class:`BadInput`."""
    if not isinstance(document, Mapping):
        raise BadInput("A step is a JSON object with do, true and unknown.", where=where)
    try:
        step = Step.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=f"{where}, {mistake.where}" if mistake.where else where) from None
    for name in step.do:
        _expect(name, AtomKind.ACTION, vocabulary, f"{where}, do")
    for name in step.true:
        _expect(name, AtomKind.STATE, vocabulary, f"{where}, true")
    for name in step.unknown:
        _expect(name, AtomKind.STATE, vocabulary, f"{where}, unknown")
        if name in step.true:
            raise BadInput(f"“{name}” is both true and unknown here; it can be one of them.", where=where)
    return step


def _expect(name: str, kind: AtomKind, vocabulary: Vocabulary, where: str) -> None:
    found = vocabulary.kind_of(name)
    if found is None:
        near = vocabulary.near(name)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise BadInput(f"Nothing is declared with the name “{name}”.{meant}", where=where)
    if found is not kind:
        raise BadInput(f"“{name}” is declared as {_A[found]}, and stands here as {_A[kind]}.", where=where)


_A = {AtomKind.ACTION: "an action", AtomKind.STATE: "a state"}


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
        return self.vocabulary.kind_of(name) is AtomKind.ACTION


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
