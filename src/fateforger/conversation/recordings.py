"""Recorded turns as values, the models that record or repeat answers, and a field-by-field comparison."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError, model_validator

from fateforger.conversation.language.answers import OpeningReading
from fateforger.conversation.language.tables import OutsideContext
from fateforger.conversation.turn_values import TurnInput, TurnOutcome
from fateforger.errors import BadInput, ModelBusy, ModelError, ModelTimedOut, ModelUnreachable, first_mistake
from fateforger.planning.plan import TBPlan
from fateforger.ports.model import TOO_LATE, Completion, Model, Prompt, Role
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session, Sketch
from fateforger.text import gettext as _
from fateforger.values import Value

VERSION = 1

CANCELLED = "cancelled"
"""Failure of a request that was cancelled."""


class Failure(Value):
    """Reason why there is no answer: the kind of a ``ModelError``, or ``cancelled``."""

    kind: str
    message: str


class Exchange(Value):
    """One request to a model with its answer, or the reason why there is none.

    The schema is not stored separately, because ``system`` contains it.
    """

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
        return cls(
            name=prompt.name,
            role=prompt.role,
            system=prompt.system,
            user=prompt.user,
            history=prompt.history,
            completion=completion,
            failure=failure,
        )


class Run(Value):
    """One run of the graph. ``model`` tells whether a model was connected. Without an ``outcome`` the run failed."""

    kind: Literal["turn"] = "turn"
    input: TurnInput
    model: bool
    exchanges: tuple[Exchange, ...] = ()
    outcome: TurnOutcome | None = None
    seconds: float = 0.0


class OpeningRun(Value):
    """Reading of a first message, for the ``session`` that it would begin.

    Without ``opened`` there was nothing to do, or the message could not be read.
    """

    kind: Literal["opening"] = "opening"
    reply: TimeboxingUserReply
    session: Session
    context: OutsideContext = OutsideContext()
    exchanges: tuple[Exchange, ...] = ()
    opened: OpeningReading | None = None
    seconds: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _read_queue(cls, document: Any) -> Any:
        """Read an earlier recording, which knew the queue alone."""
        if not isinstance(document, dict) or "queue" not in document:
            return document
        told = {**document}
        tasks = told.pop("queue")
        return {**told, "context": {"tasks": tasks}}


class DraftRun(Value):
    """Request for a draft of the session's day, other than ``instead_of`` if that is given.

    Without a ``sketch`` the model had none.
    """

    kind: Literal["draft"] = "draft"
    session: Session
    now: datetime
    instead_of: TBPlan | None = None
    exchanges: tuple[Exchange, ...] = ()
    sketch: Sketch | None = None
    seconds: float = 0.0


AnyRun = Run | OpeningRun | DraftRun


class EffectResult(Value):
    """Result of an effect on the calendar, in counts.

    ``status`` is ``None`` if it wrote nothing there; ``trouble`` tells that the person was told about a problem.
    """

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


class RecordedTurn(Value):
    """Recording of a turn or a draft.

    A first message is read and then run. A turn has two runs if the result of a message conflicts with the person's own
    calendar changes: the second run asks about that. ``ended`` is ``done``, or the name of the error that ended it.
    """

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


class ListeningModel:
    """Model that records requests and answers, in the order of the answers.

    ``prompts`` are the requests themselves, one for each exchange.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.exchanges: list[Exchange] = []
        self.prompts: list[Prompt] = []

    @property
    def time_factor(self) -> float:
        return self._model.time_factor

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """Complete a prompt and record the exchange. See :meth:`fateforger.ports.model.Model.complete`."""
        try:
            completion = await self._model.complete(prompt, seconds=seconds)
        except ModelError as error:
            self._keep(prompt, failure=Failure(kind=error.kind, message=error.message))
            raise
        except asyncio.CancelledError:
            self._keep(prompt, failure=Failure(kind=CANCELLED, message="Nobody waited for it any longer."))
            raise
        self._keep(prompt, completion=completion)
        return completion

    async def aclose(self) -> None:
        """Do nothing: the model outlives the turn."""

    def _keep(self, prompt: Prompt, *, completion: Completion | None = None, failure: Failure | None = None) -> None:
        self.prompts.append(prompt)
        self.exchanges.append(Exchange.of(prompt, completion=completion, failure=failure))


class AnsweringModel:
    """Model that gives the recorded answers to requests with the same purpose, in order.

    ``missed`` holds requests without a recorded answer, ``left`` the answers that have not been used.
    """

    time_factor = 1.0

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.left = list(exchanges)
        self.answered: list[tuple[Exchange, Exchange]] = []
        """Each recorded exchange with the request that it now answered."""
        self.missed: list[Exchange] = []

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """Return the recorded answer. See :meth:`fateforger.ports.model.Model.complete`."""
        del seconds  # A recorded answer is available at once.
        await asyncio.sleep(0)  # Yield to other tasks, as waiting for a server would.
        now = Exchange.of(prompt)
        then = next((e for e in self.left if read_purpose(e.name) == read_purpose(now.name)), None)
        if then is None:
            self.missed.append(now)
            raise ModelUnreachable("The recording has no answer to this.")
        self.left.remove(then)
        self.answered.append((then, now))
        if then.completion is None:
            raise build_error(then.failure)
        return then.completion

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def read_purpose(name: str) -> str:
    """Return the name of a request without its version: ``decide/2`` and ``decide/3`` have the same purpose."""
    return name.partition("/")[0]


def build_error(failure: Failure | None) -> ModelError:
    if failure is None or failure.kind == CANCELLED:
        return ModelTimedOut(_(TOO_LATE))
    kinds = {kind("").kind: kind for kind in (*ModelError.__subclasses__(), ModelError)}
    kind = kinds.get(failure.kind, ModelError)
    return ModelBusy(failure.message) if kind is ModelBusy else kind(failure.message)


NOTHING: Final = None
"""Value of a field or item that one side does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between two JSON values.

    ``part`` is session, plan, effects, outcome or prompts; ``where`` is a path within it, such as ``events[1].n``;
    ``was`` and ``now`` are JSON, ``None`` if absent.
    """

    part: str
    where: str
    was: Any
    now: Any


def differences(part: str, was: Any, now: Any, where: str = "") -> Iterator[Difference]:
    """Yield every difference between two JSON values, as deep as possible."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in (*was, *(name for name in now if name not in was)):
            path = f"{where}.{name}" if where else str(name)
            yield from differences(part, was.get(name, NOTHING), now.get(name, NOTHING), path)
    elif isinstance(was, list) and isinstance(now, list):
        for place in range(max(len(was), len(now))):
            left, right = (side[place] if place < len(side) else NOTHING for side in (was, now))
            yield from differences(part, left, right, f"{where}[{place}]")
    elif was != now or type(was) is not type(now):
        yield Difference(part, where, was, now)
