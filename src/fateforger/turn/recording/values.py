"""Recorded turn. It holds values only, so it can be replayed without a model, a calendar or a clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fateforger.errors import BadInput
from fateforger.plan import TBPlan
from fateforger.plan.mistakes import first_mistake
from fateforger.ports import Completion, Prompt, Role
from fateforger.session.commands import TimeboxingUserReply
from fateforger.session.model import Session, Sketch
from fateforger.tasks import QueuedTask
from fateforger.turn.model import TurnInput, TurnOutcome
from fateforger.turn.opening import OpeningReading

VERSION = 1
_FROZEN = ConfigDict(frozen=True, extra="forbid")

CANCELLED = "cancelled"
"""Failure of a request that was cancelled."""


class Failure(BaseModel):
    """Reason why there is no answer: the kind of a ``ModelError``, or ``cancelled``."""

    model_config = _FROZEN
    kind: str
    message: str


class Exchange(BaseModel):
    """One request to a model with its answer, or the reason why there is none.

    The schema is not stored separately, because ``system`` contains it.
    """

    model_config = _FROZEN
    name: str
    """Purpose and version of the prompt, such as ``decide/1``."""
    role: Role
    system: str
    user: str
    history: tuple[tuple[str, str], ...] = ()
    completion: Completion | None = None
    failure: Failure | None = None

    @classmethod
    def of(cls, prompt: Prompt, *, completion: Completion | None = None, failure: Failure | None = None) -> Exchange:
        """Build the exchange of a prompt."""
        return cls(
            name=prompt.name,
            role=prompt.role,
            system=prompt.system,
            user=prompt.user,
            history=prompt.history,
            completion=completion,
            failure=failure,
        )


class Run(BaseModel):
    """One run of the graph. ``model`` tells whether a model was connected. Without an ``outcome`` the run failed."""

    model_config = _FROZEN
    kind: Literal["turn"] = "turn"
    input: TurnInput
    model: bool
    exchanges: tuple[Exchange, ...] = ()
    outcome: TurnOutcome | None = None
    seconds: float = 0.0


class OpeningRun(BaseModel):
    """Reading of a first message, for the ``session`` that it would begin and a person with this ``queue``.

    Without ``opened`` there was nothing to do, or the message could not be read.
    """

    model_config = _FROZEN
    kind: Literal["opening"] = "opening"
    reply: TimeboxingUserReply
    session: Session
    queue: tuple[QueuedTask, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    opened: OpeningReading | None = None
    seconds: float = 0.0


class DraftRun(BaseModel):
    """Request for a draft of the session's day, other than ``instead_of`` if that is given.

    Without a ``sketch`` the model had none.
    """

    model_config = _FROZEN
    kind: Literal["draft"] = "draft"
    session: Session
    now: datetime
    instead_of: TBPlan | None = None
    exchanges: tuple[Exchange, ...] = ()
    sketch: Sketch | None = None
    seconds: float = 0.0


AnyRun = Run | OpeningRun | DraftRun


class EffectResult(BaseModel):
    """Result of an effect on the calendar, in counts.

    ``status`` is ``None`` if it wrote nothing there; ``trouble`` tells that the person was told about a problem.
    """

    model_config = _FROZEN
    kind: str
    status: Literal["changed", "unchanged", "partial", "failed", "undone"] | None = None
    created: int = 0
    updated: int = 0
    deleted: int = 0
    trouble: bool = False
    seconds: float = 0.0

    @property
    def ops(self) -> int:
        """Number of calendar operations that were carried out."""
        return self.created + self.updated + self.deleted


class RecordedTurn(BaseModel):
    """Recording of a turn or a draft.

    A first message is read and then run. A turn has two runs if the result of a message conflicts with the person's own
    calendar changes: the second run asks about that. ``ended`` is ``done``, or the name of the error that ended it.
    """

    model_config = _FROZEN
    version: int = VERSION
    program: str
    """Version of the program that recorded the turn."""
    began_at: datetime
    seconds: float
    ended: str
    titles: Literal["kept", "redacted"]
    alike: bool = True
    """True if the redacted turn took the same path as the original."""
    runs: tuple[Annotated[AnyRun, Field(discriminator="kind")], ...]
    effects: tuple[EffectResult, ...] = ()


def parse_recorded_turn(document: Any, source: str) -> RecordedTurn:
    """Parse a recording. Raises ``BadInput`` if it is not valid, or was made by a newer program."""
    found = document.get("version") if isinstance(document, Mapping) else None
    if not isinstance(found, int) or "runs" not in document:
        raise BadInput("This is no recorded turn.", where=source)
    if found > VERSION:
        raise BadInput(
            f"This turn was recorded by a newer fateforger (format {found}, this one knows {VERSION}); please upgrade.",
            where=source,
        )
    try:
        return RecordedTurn.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        by = document.get("program", "another version")
        raise BadInput(
            f"This turn was recorded by fateforger {by} and cannot be read any more: {mistake.sentence}"
            f" (at {mistake.where or 'the top'})",
            where=source,
        ) from None
