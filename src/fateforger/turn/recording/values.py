"""A recorded turn. Everything in it is a value, so that it can be run again without a model, a calendar or a clock."""

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
from fateforger.turn.opening import Opened

VERSION = 1
_FROZEN = ConfigDict(frozen=True, extra="forbid")

CANCELLED = "cancelled"
"""How a request ended that nobody waited for any longer."""


class Failure(BaseModel):
    """Why there is no answer: the kind of a ``ModelError``, or ``cancelled``."""

    model_config = _FROZEN
    kind: str
    message: str


class Exchange(BaseModel):
    """One request to a model, without the schema, which is spelled out in ``system`` as well; and the answer, or why
    there is none."""

    model_config = _FROZEN
    name: str
    """What for, and which version of the text, like ``decide/1``."""
    role: Role
    system: str
    user: str
    history: tuple[tuple[str, str], ...] = ()
    completion: Completion | None = None
    failure: Failure | None = None

    @classmethod
    def of(cls, prompt: Prompt, *, completion: Completion | None = None, failure: Failure | None = None) -> Exchange:
        """The exchange that a prompt led to."""
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
    """One run of the graph. ``model`` tells whether there was one to ask. Without an ``outcome`` it broke off."""

    model_config = _FROZEN
    kind: Literal["turn"] = "turn"
    input: TurnInput
    model: bool
    exchanges: tuple[Exchange, ...] = ()
    outcome: TurnOutcome | None = None
    seconds: float = 0.0


class OpeningRun(BaseModel):
    """A first message was read, for a ``session`` that would begin with it, of a person with that ``queue``. Without an
    ``opened`` there was nothing to do about it, or it could not be read."""

    model_config = _FROZEN
    kind: Literal["opening"] = "opening"
    reply: TimeboxingUserReply
    session: Session
    queue: tuple[QueuedTask, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    opened: Opened | None = None
    seconds: float = 0.0


class DraftRun(BaseModel):
    """A model was asked for a draft of the session's day, for another one than ``instead_of`` if that is given. Without
    a ``sketch`` it had none."""

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
    """What an effect came to on the calendar, in counts; ``status`` is ``None`` when it wrote nothing there.
    ``trouble`` tells that the person was told of a problem."""

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
        """Calendar ops that were carried out."""
        return self.created + self.updated + self.deleted


class RecordedTurn(BaseModel):
    """A turn as it went, or a draft. A first message is read, and then run; and there are two runs when what a message
    came to contradicts what the person has changed on the calendar: then they are asked. ``ended`` is ``done``, or the
    name of the error that ended it."""

    model_config = _FROZEN
    version: int = VERSION
    program: str
    """Version of the program that recorded it."""
    began_at: datetime
    seconds: float
    ended: str
    titles: Literal["kept", "redacted"]
    alike: bool = True
    """Whether the turn, told in pseudonyms, went the way it really did."""
    runs: tuple[Annotated[AnyRun, Field(discriminator="kind")], ...]
    effects: tuple[EffectResult, ...] = ()


def recorded_turn(document: Any, source: str) -> RecordedTurn:
    """The recording in a JSON document. Raises ``BadInput`` when it is none, or one of a newer program."""
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
