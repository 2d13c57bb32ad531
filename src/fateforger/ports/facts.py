"""The facts of this machine that predicates may check: contents of files, and results of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, assert_never

from fateforger.workflow.evaluating import CheckAnswer, EvaluatedState, KnownValues, collect_lookups, evaluate_state
from fateforger.workflow.predicates import Check, CommandOutput, FileContent, Predicate


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
