"""Statements of a person about their rules outside of any plan, in a direct message or a channel (S245)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import time
from pathlib import Path

import pytest
from tests.factories.wishes import rule, wish
from tests.factories.words import outside
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import open_harness_at
from tests.unit.conversation.queue.test_hydration import Talk

from fateforger.errors import ModelUnreachable
from fateforger.session.forms import FormRequest

Begin = Callable[..., Awaitable[Talk]]


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Begin]:
    opened = []

    async def begin(*lines: Line) -> Talk:
        opened.append(await open_harness_at(tmp_path, model=ScriptedModel(*lines)))
        return Talk(opened[-1])

    yield begin
    for harness in opened:
        await harness.close()


def words(ben: Talk) -> str:
    """Return the text of the newest card."""
    return "\n".join(part["text"] for part in ben.deliveries[-1]["card"]["parts"] if "text" in part)


async def test_a_rule_is_remembered_shown_and_forgotten_in_words(talk: Begin) -> None:
    ben = await talk(
        outside("memory"),
        wish("remember", rule=rule(description="No meetings before ten", necessity="must")),
        outside("memory"),
        wish("memory_list_constraints"),
        outside("memory"),
        wish("memory_archive_constraint", 1),
        outside("memory"),
        wish("memory_list_constraints"),
    )
    await ben.says("Remember: no meetings before ten", "1.0")
    assert words(ben).startswith("I'll remember “No meetings before ten”.\n**No meetings before ten**\nMust")
    await ben.says("What do you know about me?", "2.0")
    assert words(ben).startswith("These are your rules.\n**No meetings before ten**")
    await ben.says("Forget that one", "3.0")
    assert words(ben).startswith("“No meetings before ten” is put away; I won't use it any more.")
    await ben.says("What do you know about me?", "4.0")
    assert words(ben).startswith("I know no rules of yours yet.")


async def test_how_days_are_planned_is_set_in_words(talk: Begin) -> None:
    lunch = rule(description="Lunch at one for an hour", slot="lunch", minutes_min=60, windows=[
        {"kind": "prefer", "start": "13:00", "end": "14:00"}])  # fmt: skip
    air = rule(description="Leave me more air", slot="slack", change="more")
    ben = await talk(outside("memory"), wish("remember", rule=lunch), outside("memory"), wish("remember", rule=air))
    await ben.says("Lunch at 1 for an hour from now on", "1.0")
    await ben.says("and leave me more air", "2.0")
    form = await ben.harness.coordinator.open_form(FormRequest(form="policy", session_id="", user_id=ben.user))
    shown = {field.name: field.value for field in form.inputs}
    assert (shown["lunch_start"], shown["lunch_minutes"], shown["slack"]) == (time(13), 60, 20)


async def test_a_message_that_no_model_can_read_changes_nothing(talk: Begin) -> None:
    ben = await talk(outside("memory"), ModelUnreachable("It is down."))
    await ben.says("Remember: no meetings before ten")
    assert words(ben).startswith("It is down.")
    assert await ben.harness.store.constraints.of(ben.user) == ()
