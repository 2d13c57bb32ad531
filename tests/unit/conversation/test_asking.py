"""A model's text becomes a value or an error, within its time and a bounded number of tries (S72, S98)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time

import pytest
from pydantic import BaseModel, ConfigDict

from fateforger.conversation.language.answers import DayWords, FrameWords, InputWords
from fateforger.conversation.language.model_calls import ModelQuestion, ask
from fateforger.conversation.recordings import ListeningModel
from fateforger.conversation.running_turns import RunningTurn, TurnModel
from fateforger.errors import BadInput, ModelAuthFailed, ModelTimedOut, ModelUnusable
from fateforger.ports.model import Completion, Model, Prompt, Role

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PROMPT = Prompt(name="pick/1", role=Role.DECIDE, system="Pick.", user="One or two?")


class PickedNumber(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    number: int


@dataclass
class Lines:
    """A model that says its lines in order; an exception is raised, ``None`` never answers."""

    lines: Sequence[str | Exception | None]
    prompts: list[Prompt] = field(default_factory=list)
    time_factor: float = 1.0
    seconds: list[float] = field(default_factory=list)

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        line = self.lines[len(self.prompts)]
        self.prompts.append(prompt)
        self.seconds.append(seconds)
        if isinstance(line, Exception):
            raise line
        if line is None:
            await asyncio.Event().wait()
        return Completion(text=str(line), model="lines", seconds=0.0)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def question(*, seconds: float = 5, tries: int = 2) -> ModelQuestion[PickedNumber]:
    return ModelQuestion(PROMPT, PickedNumber, seconds=seconds, tries=tries, accept=_small)


def _small(pick: PickedNumber) -> None:
    if pick.number > 2:
        raise BadInput("There is no such number.")


async def test_a_right_answer_takes_one_call() -> None:
    model = Lines(['{"number": 1}'])
    asked = await ask(model, question())
    assert (asked, len(model.prompts)) == (PickedNumber(number=1), 1)


async def test_s72_a_wrong_answer_goes_back_with_what_is_wrong() -> None:
    model = Lines(['{"number": "three"}', '{"number": 7}', '{"number": 2}'])
    asked = await ask(model, question(tries=3))
    assert asked == PickedNumber(number=2)
    assert model.prompts[2].history == (
        (
            '{"number": "three"}',
            "“number” cannot be used: input should be a valid integer, unable to parse string as an integer. (at number)",
        ),
        ('{"number": 7}', "There is no such number."),
    )


async def test_s72_tries_are_bounded() -> None:
    model = Lines(["no", "still no", '{"number": 1}'])
    with pytest.raises(ModelUnusable) as caught:
        await ask(model, question())
    assert len(model.prompts) == 2
    assert caught.value.message == "The language model gave no answer that I can use."


async def test_s72_a_refused_key_stops_at_once() -> None:
    model = Lines([ModelAuthFailed("The key was refused."), '{"number": 1}'])
    with pytest.raises(ModelAuthFailed):
        await ask(model, question())
    assert len(model.prompts) == 1


async def test_s98_no_answer_in_time_is_an_error() -> None:
    with pytest.raises(ModelTimedOut):
        await ask(Lines([None]), question(seconds=0.05))


@pytest.mark.parametrize(
    "wrap", [lambda m: m, ListeningModel, lambda m: TurnModel(m, RunningTurn(NOW), lambda _: None)]
)
async def test_a_slow_model_has_more_time(wrap: Callable[[Model], Model]) -> None:
    """S274: this holds for any wrapper between the model and its caller."""
    model = Lines(['{"number": 1}'], time_factor=3.0)
    await ask(wrap(model), question(seconds=20))
    assert 50 < model.seconds[0] <= 60


async def test_a_field_that_is_null_is_one_that_was_left_out() -> None:
    """S264: also where only its absence is allowed, which spares a second try."""
    model = Lines(['{"frame": {"day_start": "08:00", "no_lunch": null}, "inputs": {"add": null, "remove": null}}'])
    asked = await ask(model, ModelQuestion(PROMPT, DayWords, seconds=5))
    assert asked == DayWords(frame=FrameWords(day_start=time(8)), inputs=InputWords())
