"""The front service has nothing to carry work out with, by construction (S145)."""

from __future__ import annotations

import ast

from tests.sources import modules
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.conversation.queue.dispatch import TaskAccess
from fateforger.conversation.queue.service import FORMS
from fateforger.memory.credentials import TOO_LONG
from fateforger.session.cards import Button
from fateforger.session.commands import ACTIONS
from fateforger.session.forms import FormErrors
from fateforger.tasks.task import BlockTime, Decompose, TaskState
from fateforger.ui.card_parts import START

EXECUTING = (
    "queue.work",
    "queue.execution",
    "queue.decisions",
    "queue.service",
    "effects",
    "conversation.coordinator",
    "turns",
    "session_starter",
    "calendar",
    "workers",
    "adapters",
)


def test_of_the_queue_it_can_add_and_look_and_nothing_else() -> None:
    """S145: it is given no way to claim, settle or change a task."""
    assert {name for name in vars(TaskAccess) if not name.startswith("_")} == {"add", "of", "get"}


def test_it_imports_nothing_that_carries_work_out() -> None:
    """S145: import-linter holds the same."""
    imported = {
        node.module
        for name in ("dispatch", "forms", "cards")
        for node in modules()[f"conversation/queue/{name}.py"].find(ast.ImportFrom)
        if node.module is not None
    }
    assert "fateforger.session.cards" in imported
    assert [name for name in imported if any(part in name for part in EXECUTING)] == []


async def test_what_is_queued_sets_nothing_going(anna: QueuePerson) -> None:
    """S145, S154: neither a session nor a command waits anywhere after it."""
    task = await anna.adds(
        "Report", work=BlockTime.model_validate({"date": "2026-03-06", "minutes": 60}), relevant_files=("a.md",)
    )
    assert (task.state, task.attempts, task.claim) == (TaskState.ACTIVE, 0, None)
    assert (await anna.harness.waiting(), await anna.harness.store.sessions.of_user(anna.user)) == (0, ())


async def test_no_button_of_the_queue_is_dead(anna: QueuePerson) -> None:
    """S214: each action of its cards is a command or opens a form."""
    seen: set[str] = set()

    def note() -> None:
        for part in anna.card.parts:
            items = getattr(part, "items", ()) or (getattr(part, "control", None),)
            seen.update(each.action for each in items if isinstance(each, Button))

    await anna.adds(work=Decompose(), workflow="decompose")
    note()
    await anna.press("Do it now")
    note()
    task = await anna.adds(acceptance_criteria=("A", "B"))
    note()
    await anna.lists()
    note()
    await anna.pulls(task.id)
    note()
    await anna.lists()
    note()
    forms = {f"form.{name}" for name in FORMS}
    assert {"queue.now", "queue.anyway", "queue.pull", "queue.back", "queue.open", "form.queue_done"} <= seen
    assert seen <= ACTIONS.keys() | forms | {START.action}


async def test_the_longest_message_becomes_a_form_and_a_form_has_a_limit(anna: QueuePerson) -> None:
    """No text stops the program: a message is cut before it is looked through, and what was typed is refused."""
    form = await anna.opens("queue_add", text="word " * 12_000)
    shown = {field.name: field.value for field in form.inputs}
    assert str(shown["context"]).startswith("word word")
    errors = await anna.fill("queue_add", title="Call", context="a" * 60_000)
    assert isinstance(errors, FormErrors)
    assert errors.errors == {"context": TOO_LONG}
