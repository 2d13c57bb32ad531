"""Replay a recorded turn with its recorded answers. Nothing outside this process is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from pydantic import TypeAdapter

from fateforger.errors import FateforgerError
from fateforger.ports import Model
from fateforger.turn.model import TurnOutcome
from fateforger.turn.opening import read_opening
from fateforger.turn.recording.differences import Difference, differences
from fateforger.turn.recording.models import AnsweringModel, ListeningModel, purpose
from fateforger.turn.recording.values import AnyRun, DraftRun, Exchange, OpeningRun, RecordedTurn, Run
from fateforger.turn.run import run_turn
from fateforger.turn.sketching import sketch_day
from fateforger.values import replace


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
        came_to = await _run(run, listening)
    except (FateforgerError, RuntimeError, TimeoutError):
        # The run failed; the caller compares that with the recording.
        came_to = None
    changes = {"exchanges": tuple(listening.exchanges), _RESULTS[run.kind]: came_to}
    return run.model_copy(update=changes), answering


async def _run(run: AnyRun, model: Model) -> object:
    match run:
        case Run():
            return await run_turn(run.input, model if run.model else None)
        case OpeningRun():
            return await read_opening(run.reply, run.session, model, run.queue)
        case DraftRun():
            return await sketch_day(run.session, model, now=run.now, instead_of=run.instead_of)
        case _:
            assert_never(run)


_RESULTS = {"turn": "outcome", "opening": "opened", "draft": "sketch"}
_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def _compare_prompts(model: AnsweringModel) -> Iterator[Difference]:
    """Yield prompts that differ, are new, or are no longer asked."""
    for place, (then, now) in enumerate(model.answered):
        yield from differences("prompts", _text(then), _text(now), f"[{place}] {purpose(then.name)}")
    for now in model.missed:
        yield Difference("prompts", f"{purpose(now.name)} (not recorded)", None, now.name)
    for then in model.left:
        yield Difference("prompts", f"{purpose(then.name)} (not asked)", then.name, None)


def _text(exchange: Exchange) -> dict[str, Any]:
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
        yield from differences("plan", *(session.pop("plan") for session in sessions))
        yield from differences("session", *sessions)
        yield from differences("effects", old.pop("effects"), new.pop("effects"))
    elif "plan" in old:
        yield from differences("plan", old.pop("plan"), new.pop("plan"))
    yield from differences("outcome", old, new)


def have_same_path(these: Sequence[AnyRun], those: Sequence[AnyRun]) -> bool:
    """Check whether runs took the same path, whatever their texts: the same stages, commands, effects and questions."""
    return [_way(run) for run in these] == [_way(run) for run in those]


def _way(run: AnyRun) -> tuple[object, ...]:
    asked = tuple(exchange.name for exchange in run.exchanges)
    match run:
        case Run(outcome=TurnOutcome() as outcome):
            notice = outcome.session.notice
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
