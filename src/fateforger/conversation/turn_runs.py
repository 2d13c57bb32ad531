"""Runs of a turn: with a model, or from a recording with its recorded answers.

AutoGen is imported with the first turn, so that programs that run none start quickly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from pydantic import TypeAdapter

from fateforger.conversation.language.opening_reader import read_opening
from fateforger.conversation.language.plan_proposals import sketch_day
from fateforger.conversation.recordings import (
    AnsweringModel,
    AnyRun,
    Difference,
    DraftRun,
    Exchange,
    ListeningModel,
    OpeningRun,
    RecordedTurn,
    Run,
    differences,
    read_purpose,
)
from fateforger.conversation.turn_values import TurnInput, TurnOutcome
from fateforger.errors import FateforgerError
from fateforger.ports.model import Model
from fateforger.session.constants import TURN_LIMIT
from fateforger.values import replace, replace_named


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
