"""A recorded turn, run again with the answers that were recorded. Nothing outside of this process is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fateforger.errors import FateforgerError
from fateforger.turn.model import TurnOutcome
from fateforger.turn.recording.differences import Difference, differences
from fateforger.turn.recording.models import AnsweringModel, ListeningModel, purpose
from fateforger.turn.recording.values import Exchange, RecordedTurn, Run
from fateforger.turn.run import run_turn


async def rerun(run: Run) -> Run:
    """The run as it goes now, in the words of the recorded answers."""
    return (await _again(run))[0]


async def replay(recorded: RecordedTurn) -> tuple[Difference, ...]:
    """What is different now, field by field; nothing when the turn goes as it went."""
    found: list[Difference] = []
    for number, run in enumerate(recorded.runs):
        prefix = f"run {number + 1}: " if len(recorded.runs) > 1 else ""
        now, model = await _again(run)
        found += [
            replace(difference, where=prefix + difference.where)
            for difference in (*_asked(model), *_came_out(run.outcome, now.outcome))
        ]
    return tuple(found)


async def _again(run: Run) -> tuple[Run, AnsweringModel]:
    answering = AnsweringModel(run.exchanges)
    listening = ListeningModel(answering)
    try:
        outcome = await run_turn(run.input, listening if run.model else None)
    except (FateforgerError, RuntimeError, TimeoutError):
        # It broke off; whether it did when it was recorded is for the caller to compare.
        outcome = None
    return run.model_copy(update={"exchanges": tuple(listening.exchanges), "outcome": outcome}), answering


def _asked(model: AnsweringModel) -> Iterator[Difference]:
    """Prompts that read otherwise, are new, or are not asked any more."""
    for place, (then, now) in enumerate(model.answered):
        yield from differences("prompts", _text(then), _text(now), f"[{place}] {purpose(then.name)}")
    for now in model.missed:
        yield Difference("prompts", f"{purpose(now.name)} (not recorded)", None, now.name)
    for then in model.left:
        yield Difference("prompts", f"{purpose(then.name)} (not asked)", then.name, None)


def _text(exchange: Exchange) -> dict[str, Any]:
    return exchange.model_dump(mode="json", include={"name", "role", "system", "user", "history"})


def _came_out(was: TurnOutcome | None, now: TurnOutcome | None) -> Iterator[Difference]:
    if was is None or now is None:
        if was is not now:
            yield Difference("outcome", "", _ended(was), _ended(now))
        return
    old, new = was.model_dump(mode="json"), now.model_dump(mode="json")
    sessions = old.pop("session"), new.pop("session")
    yield from differences("plan", *(session.pop("plan") for session in sessions))
    yield from differences("session", *sessions)
    yield from differences("effects", old.pop("effects"), new.pop("effects"))
    yield from differences("outcome", old, new)


def _ended(outcome: TurnOutcome | None) -> str:
    return "broke off" if outcome is None else "came to its end"


def alike(these: Sequence[Run], those: Sequence[Run]) -> bool:
    """Whether runs took the same way, whatever the words: the same stages, commands, effects and questions."""
    return [_way(run) for run in these] == [_way(run) for run in those]


def _way(run: Run) -> tuple[object, ...]:
    asked = tuple(exchange.name for exchange in run.exchanges)
    if run.outcome is None:
        return (asked,)
    session = run.outcome.session
    return (
        asked,
        session.stage,
        session.status,
        session.notice is not None and session.notice.refused,
        tuple(command.kind for command in run.outcome.heard),
        tuple(effect.kind for effect in run.outcome.effects),
    )
