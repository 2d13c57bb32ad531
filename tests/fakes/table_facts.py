"""Facts as a table: each command by its name, each file by its pattern. The rest is unknown."""

from __future__ import annotations

from fateforger.workflow.trace import CheckAnswer


class TableFacts:
    """``files`` is the answer for all patterns that are not in the table."""

    def __init__(self, *, files: bool | None = None, **answers: bool) -> None:
        self.answers = answers
        self.files = files
        self.allowed = True

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        del text
        return CheckAnswer(self.answers.get(pattern, self.files), f"I looked at {pattern}.")

    async def succeeds(self, command: str) -> CheckAnswer:
        return CheckAnswer(self.answers.get(command), f"I ran {command}.")
