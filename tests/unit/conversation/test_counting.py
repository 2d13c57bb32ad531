"""The usage of models is added up for every call, and shown by a command (S221)."""

from __future__ import annotations

import json
import logging
from datetime import date
from pathlib import Path

import pytest
from tests.command_line import run_program
from tests.fakes.manual_clock import ManualClock
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import MORNING

from fateforger.adapters.store.store import Store, open_store
from fateforger.conversation.language.model_calls import CountingModel
from fateforger.errors import ModelBusy
from fateforger.ports.model import Completion, Prompt, Role, Spent

TUESDAY = date(2026, 3, 3)
DECIDE, PATCH = (Prompt(f"{role.value}/1", role, "System.", "User.") for role in (Role.DECIDE, Role.PATCH))


class Priced(ScriptedModel):
    """A model of which price and tokens are known, unless its answer is empty."""

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        said = await super().complete(prompt, seconds=seconds)
        return Completion(said.text, "big-1", 0.1, 1_000, 20, 0.000_45) if said.text else Completion("", "big-1", 0.1)


def counting(store: Store, *lines: str | Exception) -> CountingModel:
    # Midnight in Tokyo has passed.
    return CountingModel(Priced(*lines), store.usage, ManualClock(MORNING.replace(hour=16)), tz="Asia/Tokyo")


async def test_tokens_and_costs_by_day_and_role(tmp_path: Path) -> None:
    store = open_store(tmp_path / "fateforger.db")
    model = counting(store, "a", "b", "c", "")
    for prompt in (DECIDE, DECIDE, PATCH, PATCH):
        await model.complete(prompt, seconds=1)
    await model.aclose()
    assert await store.usage.since(TUESDAY) == (
        Spent(TUESDAY, Role.DECIDE, "big-1", 2, 0, 0, 0, 2_000, 40, 0.0009),
        Spent(TUESDAY, Role.PATCH, "big-1", 2, 0, 1, 1, 1_000, 20, 0.00045),
    )
    await store.aclose()


async def test_what_failed_is_counted_as_that(tmp_path: Path) -> None:
    store = open_store(tmp_path / "fateforger.db")
    model = counting(store, ModelBusy("Later."))
    with pytest.raises(ModelBusy):
        await model.complete(DECIDE, seconds=1)
    await model.aclose()
    assert await store.usage.since(TUESDAY) == (Spent(TUESDAY, Role.DECIDE, "", failed=1),)
    await store.aclose()


async def test_sums_that_cannot_be_kept_harm_nobody_and_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path / "fateforger.db")
    await store.aclose()
    model = counting(store, "a", "b")
    assert [(await model.complete(DECIDE, seconds=1)).text for _ in range(2)] == ["a", "b"]
    await model.aclose()
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "cannot be added up for now" in caplog.text


def costs(data: Path, *arguments: str) -> str:
    status, said, errors = run_program("costs", "--data-dir", str(data), *arguments)
    assert status == 0, errors
    return said


async def test_the_command_adds_up(tmp_path: Path) -> None:
    store = open_store(tmp_path / "fateforger.db")
    await store.usage.add(Spent(TUESDAY, Role.DECIDE, "big-1", 2, 0, 0, 0, 2_000, 40, 0.0009))
    await store.usage.add(Spent(TUESDAY, Role.PATCH, "", failed=1))
    await store.usage.add(Spent(date(2026, 2, 1), Role.DECIDE, "old-1", 9, 0, 0, 0, 9, 9, 9.0))
    await store.aclose()
    now = ("--now", "2026-03-03T12:00:00Z")
    document = json.loads(costs(tmp_path, "--json", "--days", "7", *now))
    assert [(each["day"], each["role"], each["calls"]) for each in document["days"]] == [
        ("2026-03-03", "decide", 2),
        ("2026-03-03", "patch", 0),
    ]
    total = {"calls": 2, "failed": 1, "uncounted": 0, "unpriced": 0, "prompt_tokens": 2000, "completion_tokens": 40}
    assert document["total"] == {**total, "cost": 0.0009}
    lines = costs(tmp_path, "--days", "7", *now).splitlines()
    assert lines[-1].split(None, 1) == ["Together", "2 answers, 2000 + 40 tokens, $0.0009, 1 without an answer"]
    nothing = costs(tmp_path, "--days", "1", "--now", "2026-05-01T00:00:00Z")
    assert nothing == "No language model was asked anything today.\n"
