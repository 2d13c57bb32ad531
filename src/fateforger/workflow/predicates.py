"""Predicates: values that describe how to decide whether a state holds.

Nothing is evaluated here. An adapter reads files and runs commands, and only those that are allowed. No check is ever
derived from chat text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fateforger.workflow.trace import Step


@dataclass(frozen=True, slots=True)
class SessionState:
    """Fact of the planning session, by name."""

    fact: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """Field of the current task: a text or tag it ``contains``, or a value it ``equals``."""

    field: str
    contains: str | None = None
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class UserStatement:
    """Kind of statement that a model extracted from the person's words into a typed field. No text is searched."""

    statement: str


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that matches the pattern (relative, ``*`` for anything) contains this text."""

    pattern: str
    contains: str


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """A command, given by its allowed name, succeeds (exit status 0) or fails."""

    command: str
    succeeds: bool = True


@dataclass(frozen=True, slots=True)
class Described:
    """Sentence that a person or a model judges. Without their answer it is unknown."""

    sentence: str


Check = SessionState | TaskState | UserStatement | FileContent | CommandOutput | Described


@dataclass(frozen=True, slots=True)
class Predicate:
    """State that holds when one of its checks does.

    ``set_by`` and ``cleared_by`` are the actions that make it true or false. They decide the state in a plan that has
    not been carried out.
    """

    name: str
    checks: tuple[Check, ...] = ()
    set_by: frozenset[str] = frozenset()
    cleared_by: frozenset[str] = frozenset()


def plan_steps(
    predicates: Sequence[Predicate], actions: Sequence[Sequence[str]], *, given: Mapping[str, bool] | None = None
) -> tuple[Step, ...]:
    """Return the steps of a plan, with the states that its actions bring about.

    A state has its ``given`` value until an action sets or clears it. Without one it starts as false if some action
    sets it, and as unknown otherwise.
    """
    states: dict[str, bool | None] = {
        predicate.name: (given or {}).get(predicate.name, False if predicate.set_by else None)
        for predicate in predicates
    }
    steps = []
    for done in actions:
        steps.append(
            Step(
                do=tuple(done),
                true=tuple(name for name, value in states.items() if value),
                unknown=tuple(name for name, value in states.items() if value is None),
            )
        )
        for predicate in predicates:
            if not predicate.cleared_by.isdisjoint(done):
                states[predicate.name] = False
            if not predicate.set_by.isdisjoint(done):
                states[predicate.name] = True
    return tuple(steps)
