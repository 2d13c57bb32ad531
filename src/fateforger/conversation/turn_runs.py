"""Runs of a turn: with a model, or from a recording with its recorded answers; and the log of turns (S215, S220, S221).

The lines of the log hold no words of a person; recordings are made if they are configured. AutoGen is imported with the
first turn, so that programs that run none start quickly.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, assert_never

from pydantic import TypeAdapter

from fateforger import __version__
from fateforger.conversation.language.answers import OpeningReading
from fateforger.conversation.language.opening_reader import read_opening
from fateforger.conversation.language.plan_proposals import sketch_day
from fateforger.conversation.language.tables import OutsideContext
from fateforger.conversation.recordings import (
    AnsweringModel,
    AnyRun,
    Difference,
    DraftRun,
    EffectResult,
    Exchange,
    ListeningModel,
    OpeningRun,
    RecordedTurn,
    Run,
    differences,
    read_purpose,
)
from fateforger.conversation.redaction import Redaction
from fateforger.conversation.turn_values import Effect, TurnInput, TurnOutcome
from fateforger.errors import FateforgerError
from fateforger.metrics import EFFECT_SECONDS, TURN_SECONDS
from fateforger.planning.plan import TBPlan
from fateforger.ports.clock import Clock
from fateforger.ports.model import Model, Prompt, Recordings
from fateforger.ports.traces import trace
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.plan import ApplyPatch, ApprovedChange
from fateforger.session.commands.thread import AnswerProposal, StageAction, TimeboxingUserReply
from fateforger.session.draft import basis_of
from fateforger.session.model import Session, Sketch
from fateforger.session.recall import ConstraintEvent, uids_of
from fateforger.session.stages import TURN_LIMIT
from fateforger.values import replace, replace_named
from fateforger.workers.supervisor import BackgroundTasks


async def run_turn(turn: TurnInput, model: Model | None = None) -> TurnOutcome:
    """Run one turn; ``model`` reads words. Raises ``TimeoutError`` if it takes longer than any turn should."""
    from fateforger.conversation.graph import run_graph  # noqa: PLC0415  heavy

    async with asyncio.timeout(TURN_LIMIT * (1 if model is None else model.time_factor)):
        return await run_graph(turn, model)


def warm_up() -> None:
    """Import what the first turn needs, so that the first person does not wait for it. Blocks for about a second."""
    import fateforger.conversation.graph  # noqa: F401, PLC0415  heavy


async def rerun(run: AnyRun) -> AnyRun:
    """Run a recorded run again, with the recorded answers."""
    return (await _run_again(run))[0]


async def replay(recorded: RecordedTurn) -> tuple[Difference, ...]:
    """Replay a turn and return the differences, field by field; none if nothing has changed."""
    found: list[Difference] = []
    for number, run in enumerate(recorded.runs):
        prefix = f"run {number + 1}: " if len(recorded.runs) > 1 else ""
        now, model = await _run_again(run)
        found += [
            replace(difference, where=prefix + difference.where)
            for difference in (*_compare_prompts(model), *_compare_results(run, now))
        ]
    return tuple(found)


async def _run_again(run: AnyRun) -> tuple[AnyRun, AnsweringModel]:
    answering = AnsweringModel(run.exchanges)
    listening = ListeningModel(answering)
    try:
        came_to = await _run_recorded(run, listening)
    except (FateforgerError, RuntimeError, TimeoutError):
        # The run failed; the caller compares that with the recording.
        came_to = None
    changes = {"exchanges": tuple(listening.exchanges), _RESULTS[run.kind]: came_to}
    return replace_named(run, changes), answering


async def _run_recorded(run: AnyRun, model: Model) -> object:
    match run:
        case Run():
            return await run_turn(run.input, model if run.model else None)
        case OpeningRun():
            return await read_opening(run.reply, run.session, model, run.context)
        case DraftRun():
            return await sketch_day(run.session, model, now=run.now, instead_of=run.instead_of)
        case _:
            assert_never(run)


_RESULTS = {"turn": "outcome", "opening": "opened", "draft": "sketch"}
_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def _compare_prompts(model: AnsweringModel) -> Iterator[Difference]:
    """Yield prompts that differ, are new, or are no longer asked."""
    for place, (then, now) in enumerate(model.answered):
        yield from differences("prompts", _dump_prompt(then), _dump_prompt(now), f"[{place}] {read_purpose(then.name)}")
    for now in model.missed:
        yield Difference("prompts", f"{read_purpose(now.name)} (not recorded)", None, now.name)
    for then in model.left:
        yield Difference("prompts", f"{read_purpose(then.name)} (not asked)", then.name, None)


def _dump_prompt(exchange: Exchange) -> dict[str, Any]:
    return exchange.model_dump(mode="json", include={"name", "role", "system", "user", "history"})


def _compare_results(run: AnyRun, again: AnyRun) -> Iterator[Difference]:
    was, now = (getattr(each, _RESULTS[each.kind]) for each in (run, again))
    if was is None or now is None:
        if was is not now:
            yield Difference("outcome", "", *("nothing" if each is None else "something" for each in (was, now)))
        return
    old, new = (_JSON.dump_python(each, mode="json") for each in (was, now))
    if isinstance(was, TurnOutcome):
        sessions = old.pop("session"), new.pop("session")
        yield from differences("plan", *(session["planning"].pop("plan") for session in sessions))
        yield from differences("session", *sessions)
        yield from differences("effects", old.pop("effects"), new.pop("effects"))
    elif "plan" in old:
        yield from differences("plan", old.pop("plan"), new.pop("plan"))
    yield from differences("outcome", old, new)


def have_same_path(these: Sequence[AnyRun], those: Sequence[AnyRun]) -> bool:
    """Check whether runs took the same path, whatever their texts: the same stages, commands, effects and questions."""
    return [_find_path(run) for run in these] == [_find_path(run) for run in those]


def _find_path(run: AnyRun) -> tuple[object, ...]:
    asked = tuple(exchange.name for exchange in run.exchanges)
    match run:
        case Run(outcome=TurnOutcome() as outcome):
            notice = outcome.session.thread.notice
            return (
                asked,
                outcome.session.stage,
                outcome.session.status,
                notice is not None and notice.refused,
                tuple(command.kind for command in outcome.heard),
                tuple(effect.kind for effect in outcome.effects),
            )
        case OpeningRun(opened=opened) if opened is not None:
            return (asked, tuple(command.kind for command in opened.commands))
        case _:
            return (asked, getattr(run, _RESULTS[run.kind]) is None)


log = logging.getLogger(__name__)

HERE: tuple[ConstraintEvent, ...] = ("selected", "set_aside", "applied")
"""Events of a turn. Extraction, storage and queueing are logged where they happen."""


def log_constraint_events(before: Session, after: Session, cause: str) -> None:
    """Log one line for each event that affected constraints since ``before``, with the number of constraints now."""
    was, now = uids_of(before), uids_of(after)
    for event in HERE:
        if now[event] != was[event]:
            log.info("constraints %s session=%s command=%s count=%d", event, after.id, cause, len(now[event]))


DONE = "done"


@dataclass(frozen=True, slots=True)
class RecordingSink:
    """The destination of recordings, and the redaction before they are stored."""

    recordings: Recordings
    cleaning: Redaction


@dataclass(frozen=True, slots=True)
class EntryCause:
    """The cause of an entry: the id, kind and intent of a command, its origin, and the id of an agent's proposal."""

    id: str
    kind: str
    intent: str
    source: Literal["words", "control", "background"]
    proposal: str = ""


class LogEntry:
    """One turn in progress. Its runs and effects pass through here unchanged."""

    def __init__(self, occasion: EntryCause, session: Session, began_at: datetime) -> None:
        self.occasion = occasion
        self.session = session
        self.began_at = began_at
        self.runs: list[AnyRun] = []
        self.prompts: list[Sequence[Prompt]] = []
        """The requests of each run."""
        self.effects: list[EffectResult] = []
        self._began = asyncio.get_running_loop().time()

    @property
    def seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._began

    async def run(self, turn: TurnInput, model: Model | None = None) -> TurnOutcome:
        """Run a turn and record it; see :func:`fateforger.conversation.turn_runs.run_turn`."""
        listening = None if model is None else ListeningModel(model)
        began, outcome = self.seconds, None
        try:
            outcome = await run_turn(turn, listening)
        finally:
            self._note(Run(input=turn, model=model is not None, outcome=outcome), listening, began)
        return outcome

    async def opening(
        self, reply: TimeboxingUserReply, session: Session, model: Model, context: OutsideContext
    ) -> OpeningReading:
        """Interpret an opening and record it; see :func:`.opening_reader.read_opening`."""
        listening, began, opened = ListeningModel(model), self.seconds, None
        try:
            opened = await read_opening(reply, session, listening, context)
        finally:
            self._note(OpeningRun(reply=reply, session=session, context=context, opened=opened), listening, began)
        return opened

    async def draft(
        self, session: Session, model: Model, *, now: datetime, instead_of: TBPlan | None, seconds: float
    ) -> Sketch:
        """Make a draft and record it; see :func:`fateforger.conversation.language.plan_proposals.sketch_day`."""
        listening, began, sketch = ListeningModel(model), self.seconds, None
        try:
            sketch = await sketch_day(session, listening, now=now, instead_of=instead_of, seconds=seconds)
        finally:
            self._note(DraftRun(session=session, now=now, instead_of=instead_of, sketch=sketch), listening, began)
        return sketch

    def _note(self, run: AnyRun, listening: ListeningModel | None, began: float) -> None:
        heard = () if listening is None else tuple(listening.exchanges)
        took = round(self.seconds - began, 3)
        self.runs.append(replace(run, exchanges=heard, seconds=took))
        self.prompts.append(() if listening is None else tuple(listening.prompts))

    async def effect(self, effect: Effect, session: Session, carrying_out: Awaitable[Session]) -> Session:
        """Await ``carrying_out``, record its effect, and return the session after it; ``session`` is the one before."""
        began = self.seconds
        with trace("effect", kind=effect.kind):
            after = await carrying_out
        result = _summarize_effect(effect, session, after, seconds=self.seconds - began)
        self.effects.append(result)
        status = "trouble" if result.trouble else result.status or DONE
        EFFECT_SECONDS.labels(effect.kind, status).observe(result.seconds)
        log.info("effect kind=%s session=%s status=%s seconds=%.3f", effect.kind, after.id, status, result.seconds)
        return after


class TurnLog:
    """Logs every turn. With ``kept`` each one is also recorded, in the background.

    A failed recording does not affect the turn, and is logged once.
    """

    def __init__(self, clock: Clock, kept: RecordingSink | None = None) -> None:
        self._clock = clock
        self._kept = kept
        self._keeping = BackgroundTasks()
        self._in_order = asyncio.Lock()
        self._complained = False

    def turn(self, command: SessionCommand, session: Session) -> AbstractContextManager[LogEntry]:
        """Record a turn of a session until the block ends. Exceptions are recorded and propagated."""
        source: Literal["words", "control"] = "words" if isinstance(command, TimeboxingUserReply) else "control"
        intent, proposal = _find_intent(command), _find_proposal(command)
        return self._entry(EntryCause(command.command_id, command.kind, intent, source, proposal), session)

    def draft(self, session: Session) -> AbstractContextManager[LogEntry]:
        """Record a draft that a model makes in the background."""
        made = mint_key("d", session.id, basis_of(session), self._clock.now())
        return self._entry(EntryCause(made, "draft", "draft", "background"), session)

    @contextmanager
    def _entry(self, occasion: EntryCause, session: Session) -> Iterator[LogEntry]:
        entry, ended = LogEntry(occasion, session, self._clock.now()), DONE
        try:
            with trace("turn", kind=occasion.kind, stage=session.stage.value):
                yield entry
        except BaseException as error:  # a cancelled turn is recorded, too; the error goes on
            ended = error.kind if isinstance(error, FateforgerError) else type(error).__name__
            raise
        finally:
            self._close(entry, ended)

    async def aclose(self) -> None:
        """Wait for the recordings that are being written."""
        await self._keeping.close(seconds=None)

    def _close(self, entry: LogEntry, ended: str) -> None:
        TURN_SECONDS.labels(entry.session.stage.value, ended).observe(entry.seconds)
        log.info("turn %s", " ".join(f"{name}={value}" for name, value in format_turn(entry, ended).items()))
        if self._kept is None or not entry.runs:
            return
        turn = RecordedTurn(
            program=__version__,
            began_at=entry.began_at,
            seconds=round(entry.seconds, 3),
            ended=ended,
            titles="kept",
            runs=tuple(entry.runs),
            effects=tuple(entry.effects),
        )
        name = f"{entry.began_at:%Y%m%dT%H%M%S}-{mint_key('r', entry.occasion.id)}.json"
        self._keeping.start(self._keep(self._kept, name, turn, tuple(entry.prompts)), name=f"recording {name}")

    async def _keep(
        self, kept: RecordingSink, name: str, turn: RecordedTurn, prompts: Sequence[Sequence[Prompt]]
    ) -> None:
        try:
            async with self._in_order:
                cleaned = kept.cleaning.redact_turn(turn, prompts)
                if cleaned is not turn:
                    runs = tuple([await rerun(run) for run in cleaned.runs])
                    cleaned = replace(cleaned, alike=have_same_path(turn.runs, runs), runs=runs)
                await kept.recordings.keep(name, kept.cleaning.redact_document(cleaned.model_dump_json(indent=1)))
        except Exception as error:  # noqa: BLE001  the outermost edge of recording, which must not affect a turn
            if not self._complained:
                why = error.message if isinstance(error, FateforgerError) else type(error).__name__
                log.warning("turns cannot be recorded for now: %s", why)
            self._complained = True
        else:
            self._complained = False


def format_turn(entry: LogEntry, ended: str) -> dict[str, Any]:
    """Return the facts of a turn for the log: names, counts and times, never texts.

    ``tokens`` are input/output, ``cost`` is in US dollars; both omit what the server did not count or no price is set
    for.
    """
    exchanges = [exchange for run in entry.runs for exchange in run.exchanges]
    done = [exchange.completion for exchange in exchanges if exchange.completion is not None]
    last = entry.runs[-1] if entry.runs else None
    heard = last.outcome.heard if isinstance(last, Run) and last.outcome is not None else ()
    gate = None if not isinstance(last, Run) or last.outcome is None else last.outcome.gate
    return {
        "session": entry.session.id,
        "command": entry.occasion.id,
        "source": entry.occasion.source,
        "kind": entry.occasion.kind,
        "intent": "+".join(_find_intent(each) for each in heard) or entry.occasion.intent,
        "stage": entry.session.stage.value,
        "mode": entry.session.options.calendar_write,
        "ready": "-" if gate is None else "yes" if gate.ready else "no",
        "facts": "-" if gate is None else "+".join(gate.facts) or "none",
        "proposal": entry.occasion.proposal or "-",
        "ops": sum(effect.ops for effect in entry.effects),
        "model_calls": len(exchanges),
        "tokens": f"{sum(c.prompt_tokens or 0 for c in done)}/{sum(c.completion_tokens or 0 for c in done)}",
        "cost": f"{sum(c.cost or 0.0 for c in done):.6f}",
        "seconds": f"{entry.seconds:.3f}",
        "ended": ended,
    }


def _find_intent(command: SessionCommand) -> str:
    return command.move.value if isinstance(command, StageAction) else command.kind


def _find_proposal(command: SessionCommand) -> str:
    """Return the id of the agent's proposal that a command answers or carries out; empty if it is about none."""
    match command:
        case AnswerProposal(proposal=proposal):
            return proposal
        case ApplyPatch(approved=ApprovedChange(proposal=proposal)):
            return proposal
        case _:
            return ""


def _summarize_effect(effect: Effect, before: Session, after: Session, *, seconds: float) -> EffectResult:
    """Return the result of an effect, as far as the session shows it."""
    result = EffectResult(kind=effect.kind, trouble=_has_trouble(before, after), seconds=round(seconds, 3))
    report = after.sync.last_sync
    if report is None or report is before.sync.last_sync:
        return result
    return replace(result, status=report.status, created=report.created, updated=report.updated, deleted=report.deleted)


def _has_trouble(before: Session, after: Session) -> bool:
    refused = (
        after.thread.notice is not None and after.thread.notice.refused and after.thread.notice != before.thread.notice
    )
    return refused or (after.sync.problem is not None and after.sync.problem != before.sync.problem)
