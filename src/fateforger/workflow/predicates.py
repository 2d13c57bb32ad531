"""How it can be told whether a state holds: the registry of predicates, as values.

Nothing is evaluated here. What a check asks for is looked up among the answers that somebody else came by; for reading
files and running commands that is an adapter, and only as far as it was allowed. No check is ever made from chat text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import assert_never

from fateforger.workflow.trace import Step


@dataclass(frozen=True, slots=True)
class SessionState:
    """A fact of the planning session, by its name."""

    fact: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """A field of the task at hand: what it ``contains`` (a text within it, or a tag), or what it ``equals``."""

    field: str
    contains: str | None = None
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class UserStatement:
    """The person stated something of this kind, as a model read it into a typed field. No word is ever looked for."""

    statement: str


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that fits the pattern (relative, ``*`` for anything) contains this text."""

    pattern: str
    contains: str


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """A command, by the name under which it was allowed, ends well (exit status 0), or does not."""

    command: str
    succeeds: bool = True


@dataclass(frozen=True, slots=True)
class Described:
    """A sentence for whoever judges it. No program can tell, so without their answer it is unknown."""

    sentence: str


Check = SessionState | TaskState | UserStatement | FileContent | CommandOutput | Described


@dataclass(frozen=True, slots=True)
class Predicate:
    """A state. It holds when one of its checks does. ``set_by`` and ``cleared_by`` are the actions that make it true or
    false, by which it can be told on a plan that nobody has carried out."""

    name: str
    checks: tuple[Check, ...] = ()
    set_by: frozenset[str] = frozenset()
    cleared_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Allowed:
    """What checks may touch outside of this program; by default nothing. Patterns of files are relative."""

    commands: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def permitted(check: Check, allowed: Allowed) -> bool:
    """Whether a check may be carried out."""
    match check:
        case CommandOutput(command=command):
            return command in allowed.commands
        case FileContent(pattern=pattern):
            return any(fnmatchcase(pattern, each) for each in allowed.files)
        case SessionState() | TaskState() | UserStatement():
            return True
        case Described():
            return False
        case _:
            assert_never(check)


def holds(predicate: Predicate, answers: Mapping[Check, bool], allowed: Allowed) -> bool | None:
    """Whether a state holds by the answers to its checks; ``None`` when that cannot be told. An answer to a check that
    was not permitted does not count; a sentence counts as whoever judged it answered."""
    known = [
        answers.get(check) if isinstance(check, Described) or permitted(check, allowed) else None
        for check in predicate.checks
    ]
    if True in known:
        return True
    return False if known and None not in known else None


def observed(
    predicates: Sequence[Predicate], answers: Mapping[Check, bool], allowed: Allowed, *, do: Sequence[str] = ()
) -> Step:
    """A step at run time: the actions done, with each state as its checks tell."""
    told = {predicate.name: holds(predicate, answers, allowed) for predicate in predicates}
    return Step(
        do=tuple(do),
        true=tuple(name for name, value in told.items() if value),
        unknown=tuple(name for name, value in told.items() if value is None),
    )


def planned(
    predicates: Sequence[Predicate], actions: Sequence[Sequence[str]], *, given: Mapping[str, bool] | None = None
) -> tuple[Step, ...]:
    """A plan as a trace: the actions of each step, and the states that these bring about. A state is as ``given`` until
    an action sets or clears it; before that it does not hold if some action of the language sets it, and is unknown if
    none does."""
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
