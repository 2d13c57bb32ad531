"""The queue on App Home: what it shows, and what can be done to it while something runs (S157, S160, S167)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from sqlalchemy import delete
from tests.factories.forms import fill_in
from tests.factories.tasks import task
from tests.unit.conversation.person import ANNA, EXECUTOR, Harness
from tests.unit.conversation.queue.person import QueuePerson, labels, words_of

from fateforger.adapters.store.tasks import TASK
from fateforger.conversation.queue.cards import build_queue_parts
from fateforger.conversation.queue.service import SAID_FOR
from fateforger.errors import BadInput
from fateforger.session.cards import Card, Menu, Prose, Select
from fateforger.session.commands import COMMAND, SessionCommand
from fateforger.session.forms import Click, Form, FormErrors
from fateforger.session.queue_commands import PullTask, QueueCommand, TurnQueue
from fateforger.slack.blocks import HOME, render
from fateforger.tasks.task import Do, QueuedTask, TaskState
from fateforger.ui.home_card import build_own_data

LANGUAGE, RITUALS, RULES = 2, 3, 3
"""Parts in which the language is chosen."""

TODAY = date(2026, 3, 2)


class Page:
    """A person looks at their App Home, and presses what is on it."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.card = Card(text="", parts=())
        self._clicks = 0

    async def look(self) -> str:
        """Return the text about the queue, which comes before the data kept about her."""
        await self.harness.store.homes.open(ANNA)
        home = await self.harness.coordinator.home(ANNA)
        self.card = home.model_copy(update={"parts": home.parts[: -len(build_own_data()) - LANGUAGE - RITUALS - RULES]})
        return words_of(self.card).partition("Your queue\n")[2]

    def rows(self) -> list[tuple[str, Menu]]:
        return [(p.text, p.control) for p in self.card.parts if isinstance(p, Prose) and isinstance(p.control, Menu)]

    def choices(self, row: str) -> list[str]:
        return [choice.label for text, menu in self.rows() if row in text for choice in menu.choices]

    def choose_command(self, label: str, row: str) -> QueueCommand:
        """Return the command of a choice in the menu of a row."""
        ((action, target),) = [
            (choice.value, menu.target)
            for text, menu in self.rows()
            if row in text
            for choice in menu.choices
            if choice.label == label
        ]
        return self.command(action, target)

    def command(self, action: str, target: str = "", value: str | None = None) -> QueueCommand:
        self._clicks += 1
        click = Click(
            command_id=f"home-{self._clicks}",
            user_id=ANNA,
            at=self.harness.clock.now(),
            session_id="",
            action=action,
            target=target,
            value=value,
        )
        command = self.harness.coordinator.read_click(click)
        return COMMAND.validate_json(COMMAND.dump_json(command))  # type: ignore[return-value]  # one of the queue

    async def choose(self, label: str, row: str) -> str:
        await self.harness.coordinator.handle(self.choose_command(label, row))
        return await self.look()


@pytest.fixture
async def page(harness: Harness, anna: QueuePerson) -> Page:
    for title, priority in (("Ask Ann", 1), ("Buy milk", 2), ("Call Carl", 2)):
        await anna.adds(title, priority=priority)
    found = Page(harness)
    await found.look()
    return found


async def test_an_empty_queue_can_be_added_to(harness: Harness) -> None:
    """S160"""
    page = Page(harness)
    assert await page.look() == "Your queue is empty. Tasks that have no day yet wait here.\n"
    assert labels(page.card)[-1] == "Add a task"


async def test_the_next_task_comes_first_with_where_each_stands(page: Page, anna: QueuePerson) -> None:
    """S157"""
    a, b, c = (t.id for t in await anna.tasks())
    assert await page.look() == (
        "3 tasks, 3 ready. Next: **Ask Ann**.\n\n"
        f"1. **Ask Ann** `{a}`\n  high priority · ready\n2. **Buy milk** `{b}`\n  ready\n3. **Call Carl** `{c}`\n  ready\n"
    )
    assert page.choices("Ask Ann") == ["Pull", "Down", "Pause", "Stop"]
    assert page.choices("Buy milk") == ["Pull", "Up", "Down", "Pause", "Stop"]
    assert page.choices("Call Carl") == ["Pull", "Up", "Pause", "Stop"]
    assert "Pull the next" in labels(page.card)
    assert page.command("queue.pull", b) == PullTask(
        command_id="home-1", user_id=ANNA, at=page.harness.clock.now(), task_id=b
    )


async def test_no_full_stop_follows_a_title_that_is_cut(harness: Harness, anna: QueuePerson) -> None:
    """S457"""
    await anna.adds("Write " * 30)
    assert " Write W…**\n" in await Page(harness).look()


async def test_what_keeps_a_task_is_said() -> None:
    tasks = (
        task("a", priority=0, after=("b", "c", "d")),
        task("b", state="running"),
        task("c", state="waiting").model_copy(update={"outcome": "It was pulled."}),
        task("d", state="failed"),
    )
    card = Card(text="", parts=build_queue_parts(tasks, today=TODAY))
    assert words_of(card).splitlines()[2:] == [
        "4 tasks, 0 ready. 1 waits for you. None can be pulled just now.",
        "",
        "1. **a** `a`",
        "  urgent · after “b” and 2 more",
        "2. **b** `b`",
        "  being done",
        "3. **c** `c`",
        "  waiting for you",
        "  _It was pulled._",
        "4. **d** `d`",
        "  failed",
    ]
    assert labels(card) == ["Add a task", "Plan my week"]


async def test_what_was_stopped_keeps_what_waits_for_it(page: Page, harness: Harness, anna: QueuePerson) -> None:
    first, *_ = await anna.tasks()
    await anna.adds("Later")
    later = (await anna.tasks())[-1]
    after = later.model_copy(update={"blocked_by": (first.id,)})
    await harness.store.tasks.change(ANNA, later.id, lambda _: after, now=harness.clock.now())
    assert "“Ask Ann” is stopped. Nothing more happens to it unless you try it again. “Later” still waits for it." in (
        await page.choose("Stop", "1. **Ask Ann")
    )
    assert "after “Ask Ann” (which was stopped)" in await page.look()
    assert page.choices("**Later**") == ["Up", "Pause", "Stop"]
    listed = await anna.lists()
    assert "after “Ask Ann”" in words_of(listed)
    buttons = ["Pull the next", "Add a task", "Plan my day", "Plan my week", "Go through my tasks"]
    assert labels(listed) == ["Pull", "Pull", *buttons]
    assert [t.spec.title for t in [await anna.task(first.id)] if t.state is TaskState.STOPPED] == ["Ask Ann"]


async def test_it_is_seen_reordered_and_stopped_while_something_runs(page: Page, harness: Harness) -> None:
    """S167"""
    held = await harness.store.tasks.claim(ANNA, EXECUTOR, now=harness.clock.now(), lease_seconds=60)
    assert held is not None
    assert "high priority · being done" in await page.look()
    assert page.choices("Ask Ann") == ["Down", "Stop"]
    assert (await page.choose("Up", "Call Carl")).startswith("“Call Carl” is number 2 of 3 now.\n")
    assert (await page.choose("Pause", "Buy milk")).startswith(
        "“Buy milk” is paused. It keeps its place until you resume it.\n"
    )
    assert (await page.choose("Stop", "Ask Ann")).startswith("“Ask Ann” is stopped.")
    assert [text.splitlines()[0][:13] for text, _ in page.rows()] == ["1. **Call Car", "2. **Buy milk"]
    assert await harness.store.tasks.settle(held, lambda t: t, now=harness.clock.now()) is None
    assert page.choices("Buy milk") == ["Up", "Resume", "Stop"]
    assert "can be pulled again" in await page.choose("Resume", "Buy milk")
    assert "can be pulled again" in await page.look(), "it may be published again at once"
    harness.clock.at += SAID_FOR
    assert "can be pulled again" not in await page.look()


async def test_a_deed_counts_once_also_after_a_restart(page: Page, harness: Harness) -> None:
    up = page.choose_command("Up", "Call Carl")
    await harness.coordinator.handle(up)
    harness.restart()
    await harness.coordinator.handle(up)
    await page.look()
    assert [text.splitlines()[0][:13] for text, _ in page.rows()] == ["1. **Ask Ann*", "2. **Call Car", "3. **Buy milk"]
    assert await harness.coordinator.is_carried_out(up)


async def test_another_program_shows_the_same_page_and_result(page: Page, harness: Harness, anna: QueuePerson) -> None:
    """S392: one program carries out a click, and any of them publishes App Home."""
    for n in range(45):
        await anna.adds(f"Task {n}")
    one, shown = harness.coordinator, await page.look()
    harness.restart()
    await one.handle(TurnQueue(command_id="page", user_id=ANNA, at=harness.clock.now(), page=2))
    assert "1. **Ask Ann**" in shown
    assert "1. **Ask Ann**" not in await page.look()
    await one.handle(TurnQueue(command_id="back", user_id=ANNA, at=harness.clock.now(), page=1))
    await page.look()
    await one.handle(page.choose_command("Pause", "Buy milk"))
    assert (await page.look()).startswith("“Buy milk” is paused.")


async def test_what_makes_no_sense_any_more_is_said(page: Page, harness: Harness, anna: QueuePerson) -> None:
    stop = page.choose_command("Stop", "Ask Ann")
    first, *_ = await anna.tasks()
    await harness.store.database.write(lambda connection: connection.execute(delete(TASK)))
    await harness.coordinator.handle(stop)
    assert (await page.look()).startswith("That task is not in your queue any more.\n")
    other = await anna.adds("Other")
    await page.look()
    pause = page.command("queue.do.pause", other.id)
    await anna.pulls(other.id)
    await harness.coordinator.handle(pause)
    assert (await page.look()).startswith("“Other” is in your hands already; say that it is done, or stop it.\n")
    assert first.id != other.id


async def test_a_long_queue_has_pages(harness: Harness, anna: QueuePerson) -> None:
    """S489: one after the other, or any of them."""
    for n in range(45):
        await anna.adds(f"Task {n}")
    page = Page(harness)
    await page.look()
    assert len(page.rows()) == 20
    assert labels(page.card)[-1:] == ["Next page"]
    await harness.coordinator.handle(page.command("queue.page", "3"))
    words = await page.look()
    assert "Tasks 41 to 45 of 45." in words
    assert page.rows()[0][0].startswith("41. **Task 40**")
    assert labels(page.card)[-1:] == ["Previous page"]
    (pages,) = [c for p in page.card.parts for c in getattr(p, "items", ()) if isinstance(c, Select)][:1]
    assert [choice.label for choice in pages.choices] == ["1–20", "21–40", "41–45"]
    await harness.coordinator.handle(page.command(pages.action, value=pages.choices[1].value))
    assert "Tasks 21 to 40 of 45." in await page.look()
    with pytest.raises(BadInput):
        page.command("queue.page", "many")
    blocks = render(page.card, session="", v="v", size=HOME).blocks
    assert len(blocks) <= 100


async def test_an_edit_keeps_what_else_has_changed_since(page: Page, anna: QueuePerson, harness: Harness) -> None:
    """S502: the form is sent before the click is carried out that moves the task."""
    ask = (await anna.tasks())[0]
    down = page.choose_command("Down", "Ask Ann")
    edit = await submit(harness, await anna.opens("queue_edit", target=ask.id), title="Ask Anna")
    assert not isinstance(edit, FormErrors | Form)
    for command in (down, edit):
        await harness.coordinator.handle(command)
    await page.look()
    assert [text.split("**")[1] for text, _ in page.rows()] == ["Buy milk", "Ask Anna", "Call Carl"]


async def test_an_edit_keeps_what_has_changed_since_the_form_was_opened(anna: QueuePerson) -> None:
    """S513: also of a field that the form would not show any more."""
    await anna.adds("Taxes", priority=1, project="Home", work={"kind": "do", "minutes": 30})
    taxes = next(task for task in await anna.tasks() if task.spec.title == "Taxes")
    shown = await anna.opens("queue_edit", target=taxes.id)
    await anna.fill("queue_edit", target=taxes.id, minutes=90, project="", priority="3", place="Office")
    await anna.submit(shown, title="Tax return")
    spec = next(task.spec for task in await anna.tasks() if task.id == taxes.id)
    assert (spec.title, spec.work, spec.project, spec.priority) == ("Tax return", Do(minutes=90), "", 3)
    assert spec.details.travel is not None


async def test_a_task_is_changed_by_form(page: Page, anna: QueuePerson, harness: Harness) -> None:
    buy = (await anna.tasks())[1]
    (select,) = [c for p in page.card.parts for c in getattr(p, "items", ()) if isinstance(c, Select)]
    assert (select.action, select.choices[1].value) == ("form.queue_edit", buy.id)
    form = await anna.opens("queue_edit", target=buy.id, size=1)
    assert await submit(harness, form, title="") == FormErrors(
        errors={"title": "A task needs a title; a few words will do."}
    )
    given: dict[str, Any] = {
        "title": "Buy oat milk",
        "priority": "0",
        "minutes": 20,
        "criteria": "Cold\n Two of them",
        "project": "Home",
    }
    command = await submit(harness, form, **given)
    assert not isinstance(command, FormErrors | Form)
    await harness.coordinator.handle(command)
    assert (await page.look()).startswith("“Buy oat milk” is saved.\n")
    after = await anna.task(buy.id)
    assert (after.spec.title, after.spec.priority, after.spec.project) == ("Buy oat milk", 0, "Home")
    assert after.spec.acceptance_criteria == ("Cold", "Two of them")
    assert after.state is TaskState.ACTIVE
    assert (await anna.tasks())[0].id == buy.id


async def submit(harness: Harness, form: Form, **values: Any) -> SessionCommand | QueueCommand | Form | FormErrors:
    return await harness.coordinator.read_form(fill_in(form, ANNA, harness.clock.now(), **values))


def test_pages_that_are_not_there_show_the_nearest() -> None:
    tasks = tuple(task(f"t{n}", rank=n) for n in range(21))
    assert build_queue_parts(tasks, today=TODAY, page=9) == build_queue_parts(tasks, today=TODAY, page=2)
    assert build_queue_parts(tasks, today=TODAY, page=-1) == build_queue_parts(tasks, today=TODAY, page=1)
    assert isinstance(tasks[0], QueuedTask)


async def test_the_forms_of_the_queue_fold_away_what_is_empty(anna: QueuePerson) -> None:
    """S260: what is folded away stays as it is."""
    form = await anna.opens("queue_add")
    assert [field.name for field in form.inputs] == ["title", "minutes"]
    shown = {field.name: field.value for field in (await anna.opens("queue_add", size=1, title="Chair")).inputs}
    assert shown["title"] == "Chair"
    form = await anna.opens("queue_add", kind="block_time")
    assert [field.name for field in form.inputs] == ["kind", "title", "date", "minutes"]
    assert "due_day" in shown
    await anna.fill("queue_add", title="Buy a chair", minutes=30, place="Market", priority="1")
    (buy,) = await anna.tasks()
    form = await anna.opens("queue_edit", target=buy.id)
    assert [field.name for field in form.inputs] == ["title", "minutes", "priority", "place"]
    await anna.fill("queue_edit", target=buy.id, title="Buy two chairs")
    (after,) = await anna.tasks()
    assert (after.spec.title, after.spec.priority, after.spec.details) == ("Buy two chairs", 1, buy.spec.details)
