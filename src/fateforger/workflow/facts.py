"""Facts that predicates check: given values, contents of files, and results of commands.

Checks of files and commands are answered elsewhere and passed in. Each answer carries its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, assert_never

from fateforger.workflow.predicates import (
    Check,
    CommandOutput,
    Described,
    FileContent,
    Predicate,
    SessionState,
    TaskState,
    UserStatement,
)
from fateforger.workflow.trace import Step

Lookup = FileContent | CommandOutput
"""Check that the caller has to answer by reading a file or running a command."""


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Answer to a check. ``holds`` is ``None`` if it cannot be decided; ``why`` is a sentence."""

    holds: bool | None
    why: str


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Values available without reading files or running commands.

    ``session`` holds facts by name, ``task`` the fields of the current task, and ``stated`` the kinds of statements
    that a model extracted from the person's words (``None`` if no model read them).
    """

    session: Mapping[str, bool] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    stated: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedState:
    """Current value of a state.

    ``why`` holds the sentences of the checks that decide it, or of all undecided checks.
    """

    name: str
    holds: bool | None
    why: tuple[str, ...]


def collect_lookups(predicates: Sequence[Predicate]) -> tuple[Lookup, ...]:
    """Return the checks of files and commands, each once."""
    checks = (check for predicate in predicates for check in predicate.checks)
    return tuple(dict.fromkeys(check for check in checks if isinstance(check, FileContent | CommandOutput)))


def evaluate_state(predicate: Predicate, known: KnownValues, looked: Mapping[Check, CheckAnswer]) -> EvaluatedState:
    """Evaluate a state from its checks: true if any check holds, false if all fail."""
    told = [answer_check(check, known, looked) for check in predicate.checks]
    if not told:
        return EvaluatedState(predicate.name, None, ("Nothing says how it can be told.",))
    holds = True if any(each.holds for each in told) else None if any(each.holds is None for each in told) else False
    return EvaluatedState(predicate.name, holds, tuple(each.why for each in told if each.holds is holds))


def answer_check(check: Check, known: KnownValues, looked: Mapping[Check, CheckAnswer]) -> CheckAnswer:
    """Answer one check."""
    match check:
        case SessionState(fact):
            if fact not in known.session:
                return CheckAnswer(None, f"The session knows nothing of “{fact}”.")
            return CheckAnswer(known.session[fact], f"The session says so of “{fact}”.")
        case TaskState():
            return _answer_task_check(check, known.task)
        case UserStatement(statement):
            if known.stated is None:
                return CheckAnswer(None, "Nobody read what the person stated.")
            stated = statement in known.stated
            return CheckAnswer(stated, f"The person stated {'' if stated else 'no '}“{statement}”.")
        case FileContent() | CommandOutput():
            return looked.get(check, CheckAnswer(None, "Nobody looked."))
        case Described(sentence):
            return looked.get(check, CheckAnswer(None, f"Somebody has to judge it: {sentence}"))
        case _:
            assert_never(check)


def as_step(states: Sequence[EvaluatedState], do: Sequence[str] = ()) -> Step:
    """Return the current step: the given actions with the current value of each state."""
    return Step(
        do=tuple(do),
        true=tuple(state.name for state in states if state.holds),
        unknown=tuple(state.name for state in states if state.holds is None),
    )


def _answer_task_check(check: TaskState, task: Mapping[str, Any]) -> CheckAnswer:
    if check.field not in task:
        return CheckAnswer(None, f"The task has no “{check.field}”.")
    value = task[check.field]
    if check.contains is not None:
        holds = check.contains in value if isinstance(value, str | list | tuple | set | frozenset) else False
        return CheckAnswer(
            holds, f"“{check.field}” of the task {'holds' if holds else 'does not hold'} “{check.contains}”."
        )
    if check.equals is not None:
        holds = value is not None and str(value) == check.equals
        return CheckAnswer(holds, f"“{check.field}” of the task is {'' if holds else 'not '}“{check.equals}”.")
    return CheckAnswer(bool(value), f"“{check.field}” of the task is {'there' if value else 'empty'}.")


class Facts(Protocol):
    """Checks that have no effect except that of an allowed command.

    A check that is not allowed, has no object or is too slow is unknown, with a reason as a sentence; nothing is
    raised.
    """

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        """Check whether a matching file contains the text, case-sensitively.

        The pattern is relative to an allowed folder; ``*`` matches within a name, ``**`` any folders.
        """
        ...

    async def succeeds(self, command: str) -> CheckAnswer:
        """Check whether a command, by its allowed name, ends with exit status 0."""
        ...


async def evaluate(predicates: Sequence[Predicate], known: KnownValues, facts: Facts) -> tuple[EvaluatedState, ...]:
    """Return the current value of each state.

    Checks run one after another, and each command once, since two may interfere.
    """
    asked = collect_lookups(predicates)
    ran = {
        name: await facts.succeeds(name)
        for name in dict.fromkeys(look.command for look in asked if isinstance(look, CommandOutput))
    }
    looked: dict[Check, CheckAnswer] = {}
    for look in asked:
        match look:
            case FileContent(pattern, text):
                looked[look] = await facts.contains(pattern, text)
            case CommandOutput(command, succeeds):
                told = ran[command]
                looked[look] = told if told.holds is None else CheckAnswer(told.holds is succeeds, told.why)
            case _:
                assert_never(look)
    return tuple(evaluate_state(predicate, known, looked) for predicate in predicates)
