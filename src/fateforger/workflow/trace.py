"""What happened, step by step: the states that held as each step began, and the actions done in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from fateforger.errors import BadInput
from fateforger.plan.mistakes import first_mistake
from fateforger.workflow.truth import Truth, earlier
from fateforger.workflow.vocabulary import AtomKind, Vocabulary


class Step(BaseModel):
    """One step of a trace. A state that is neither ``true`` nor ``unknown`` does not hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    do: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @field_validator("do", "true", "unknown", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: object) -> object:
        return () if value is None else value


def read_step(document: object, vocabulary: Vocabulary, where: str) -> Step:
    """A step from its JSON, ``{"do":[actions],"true":[states],"unknown":[states]}``. Raises :class:`BadInput`."""
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
    """A trace as rules are judged on it: for each name, the steps in which it is so. ``count`` is how many they are."""

    count: int
    values: Mapping[str, Truth]
    actions: frozenset[str]

    @property
    def full(self) -> int:
        """All steps."""
        return (1 << self.count) - 1

    @cached_property
    def beforehand(self) -> Mapping[str, Truth]:
        """What can be asked as a step begins: each state as it is, and of each action whether it was done earlier."""
        return {
            name: Truth(earlier(value.sure), earlier(value.maybe)) if name in self.actions else value
            for name, value in self.values.items()
        }


def timeline(steps: Sequence[Step], names: Iterable[str], vocabulary: Vocabulary) -> Timeline:
    """The trace by names. Only these ``names``, which the vocabulary knows, are looked at."""
    wanted = frozenset(names)
    count = len(steps)
    sure: dict[str, bytearray] = {}
    unknown: dict[str, bytearray] = {}
    for number, step in enumerate(steps):
        for listed, marks in ((step.do, sure), (step.true, sure), (step.unknown, unknown)):
            for name in listed:
                if name in wanted:
                    if name not in marks:
                        marks[name] = bytearray(b"0" * count)
                    marks[name][number] = 49  # the digit 1
    values = {}
    for name in wanted:
        known = int(sure[name], 2) if name in sure else 0
        values[name] = Truth(known, known | int(unknown[name], 2) if name in unknown else known)
    actions = frozenset(name for name in wanted if vocabulary.kind_of(name) is AtomKind.ACTION)
    return Timeline(count, values, actions)
