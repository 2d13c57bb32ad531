"""The model of one turn: it reports progress, and ends its request when the turn is stopped."""

from __future__ import annotations

from typing import assert_never

from fateforger.coordinator.underway import RunningTurn, TurnStopped
from fateforger.errors import ModelUnreachable
from fateforger.ports import Completion, Model, Prompt, Role
from fateforger.session.progress import Activity, Progress, ProgressCallback


class TurnModel:
    """Wraps the model for one turn.

    ``prompts`` are the names, with versions, of the prompts that shaped the turn. A stop ends the current request, and
    its caller sees an unreachable model; so the turn ends wherever it was.
    """

    def __init__(self, model: Model, course: RunningTurn, tell: ProgressCallback) -> None:
        self._model = model
        self._course = course
        self._tell = tell
        self.prompts: tuple[str, ...] = ()

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`Model.complete`."""
        doing = _find_progress(prompt.role)
        if doing is not None:
            self._tell(Progress(doing=doing))
        try:
            completion = await self._course.unless_stopped(self._model.complete(prompt, seconds=seconds))
        except TurnStopped:
            raise ModelUnreachable("The turn was stopped.") from None
        self.prompts = tuple(dict.fromkeys((*self.prompts, prompt.name)))
        return completion

    async def aclose(self) -> None:
        """Do nothing: the model outlives the turn."""


def _find_progress(role: Role) -> Activity | None:
    match role:
        case Role.DECIDE | Role.GATE:
            return Activity.READING
        case Role.DRAFT:
            return Activity.DRAFTING
        case Role.PATCH:
            return Activity.CHANGING
        case Role.EXTRACT:
            return None
        case _:
            assert_never(role)
