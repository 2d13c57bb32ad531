"""The model of one turn: it says what it is being asked for, and stops when the turn is to stop."""

from __future__ import annotations

from typing import assert_never

from fateforger.coordinator.underway import Course, TurnStopped
from fateforger.errors import ModelUnreachable
from fateforger.ports import Completion, Model, Prompt, Role
from fateforger.session.progress import Doing, Progress, Tell


class TellingModel:
    """``prompts`` are those, with versions, that shaped the turn. A stop ends the request under way, and whoever asked
    hears that the model is not to be had: so the turn ends by itself, wherever in it that was."""

    def __init__(self, model: Model, course: Course, tell: Tell) -> None:
        self._model = model
        self._course = course
        self._tell = tell
        self.prompts: tuple[str, ...] = ()

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`Model.complete`."""
        doing = _doing(prompt.role)
        if doing is not None:
            self._tell(Progress(doing=doing))
        try:
            completion = await self._course.unless_stopped(self._model.complete(prompt, seconds=seconds))
        except TurnStopped:
            raise ModelUnreachable("The turn was stopped.") from None
        self.prompts = tuple(dict.fromkeys((*self.prompts, prompt.name)))
        return completion

    async def aclose(self) -> None:
        """The model outlives the turn."""


def _doing(role: Role) -> Doing | None:
    match role:
        case Role.DECIDE | Role.GATE:
            return Doing.READING
        case Role.DRAFT:
            return Doing.DRAFTING
        case Role.PATCH:
            return Doing.CHANGING
        case Role.EXTRACT:
            return None
        case _:
            assert_never(role)
