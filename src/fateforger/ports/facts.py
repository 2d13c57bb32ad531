"""What a predicate may ask of the machine this runs on: what files hold, and whether commands end well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, assert_never

from fateforger.workflow.evaluating import Evaluated, Known, Told, evaluated, looks
from fateforger.workflow.predicates import Check, CommandOutput, FileContent, Predicate


class Facts(Protocol):
    """Looks, and changes nothing but what an allowed command does. What is not allowed, not there or too slow is
    unknown, with its reason as a sentence; nothing is raised for it."""

    async def contains(self, pattern: str, text: str) -> Told:
        """Whether a file that fits the pattern (relative to an allowed folder; ``*`` for anything within a name, ``**``
        for any folders) holds the text, upper and lower case as it is written."""
        ...

    async def succeeds(self, command: str) -> Told:
        """Whether a command ends with exit status 0, by the name under which it was allowed."""
        ...


async def evaluate(predicates: Sequence[Predicate], known: Known, facts: Facts) -> tuple[Evaluated, ...]:
    """Each state as it is now. One look after the other, and each command once: two may get in each other's way."""
    asked = looks(predicates)
    ran = {
        name: await facts.succeeds(name)
        for name in dict.fromkeys(look.command for look in asked if isinstance(look, CommandOutput))
    }
    looked: dict[Check, Told] = {}
    for look in asked:
        match look:
            case FileContent(pattern, text):
                looked[look] = await facts.contains(pattern, text)
            case CommandOutput(command, succeeds):
                told = ran[command]
                looked[look] = told if told.holds is None else Told(told.holds is succeeds, told.why)
            case _:
                assert_never(look)
    return tuple(evaluated(predicate, known, looked) for predicate in predicates)
