"""A person with a queue: asks, presses what is on the newest card, fills in forms, and reads what comes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.factories.forms import fill_in
from tests.unit.conversation.person import AMSTERDAM, ANNA, EXECUTOR, Harness, Person

from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.commands import COMMAND, InboxCommand
from fateforger.session.forms import Click, Form, FormErrors, FormRequest
from fateforger.session.queue_commands import EnqueueTask, PullTask, QueueCommand, ShowTasks
from fateforger.tasks.task import Origin, QueuedTask, TaskSpec
from fateforger.workers.lanes import NOTIFICATION, REMINDER, TURN

DM = "D1"
_NUMBERS = itertools.count()


@dataclass
class QueuePerson:
    """``letters`` are the cards that came, with where they belong."""

    harness: Harness
    user: str = ANNA
    deliveries: list[dict[str, Any]] = field(default_factory=list)

    # --- acting ---

    async def adds(self, title: str = "Buy milk", **spec: Any) -> QueuedTask:
        """Add a task to the queue."""
        given = TaskSpec.model_validate({"title": title, **spec})
        known = {task.id for task in await self.tasks()}
        await self.send(EnqueueTask(**self.about(), spec=given, origin=Origin(door="slack")))
        return next(task for task in await self.tasks() if task.id not in known)

    async def pulls(self, task_id: str | None = None) -> Card:
        return await self.send(PullTask(**self.about(), task_id=task_id))

    async def lists(self) -> Card:
        return await self.send(ShowTasks(**self.about()))

    async def press(self, label: str, *, row: str = "") -> Card:
        """Press a button of the newest card, in the row that shows the text."""
        found = [button for text, button in buttons(self.card) if button.label == label and row in text]
        assert len(found) == 1, f"{label!r} in {row!r} not among {buttons(self.card)}"
        return await self.send(self.read_press(found[0]))

    def read_press(self, button: Button) -> QueueCommand:
        """Return the command of a button, from its card."""
        about = self.about()
        click = Click(
            command_id=about["command_id"], user_id=self.user, at=about["at"], session_id="", action=button.action,
            target=button.target,
        )  # fmt: skip
        command = self.harness.coordinator.read_click(click)
        here = {"channel": DM, "tz": AMSTERDAM, "ts": "9.0"}
        here = {name: value for name, value in here.items() if name in type(command).model_fields}
        return COMMAND.validate_python(command.model_copy(update=here).model_dump())  # type: ignore[return-value]  # one of the queue

    async def fill(self, form: str, /, *, target: str = "", size: int = 0, **values: Any) -> FormErrors | Card:
        """Open a form, change the given fields of it, and send it."""
        kind = {name: value for name, value in values.items() if name == "kind"}
        shown = await self.opens(form, target=target, size=size, **kind)
        if shown.more and not values.keys() <= {field.name for field in shown.inputs}:
            shown = await self.opens(form, target=target, size=size + 1, **kind)
        return await self.submit(shown, **values)

    async def submit(self, shown: Form, **values: Any) -> FormErrors | Card:
        """Change the given fields of an open form, and send it."""
        about = self.about()
        read = await self.harness.coordinator.read_form(
            fill_in(shown, self.user, about["at"], command_id=about["command_id"], **values)
        )
        if isinstance(read, FormErrors):
            return read
        assert not isinstance(read, Form)
        here = {"channel": DM, "tz": AMSTERDAM}
        return await self.send(COMMAND.validate_python(read.model_copy(update=here).model_dump()))

    async def opens(self, form: str, *, target: str = "", size: int = 0, **chosen: str) -> Form:
        request = FormRequest(form=form, session_id="", user_id=self.user, target=target, size=size, chosen=chosen)
        return await self.harness.coordinator.open_form(request)

    async def send(self, command: InboxCommand) -> Card:
        await self.harness.coordinator.handle(command)
        await self.read()
        return self.card

    async def reboot(self) -> None:
        """Crash and restart the program; its claims are released."""
        self.harness.restart()
        await self.harness.store.tasks.take_back(EXECUTOR, now=self.harness.clock.now())

    async def run_commands(self) -> None:
        """Carry out what the queue has put into the inbox of sessions."""
        jobs, now = self.harness.store.jobs, self.harness.clock.now()
        while (job := await jobs.claim(TURN.name, "w", now=now, lease_seconds=60)) is not None:
            await self.harness.coordinator.handle(COMMAND.validate_python(job.payload))
            await jobs.finish(job)

    async def looks(self) -> None:
        """Run the watcher of waiting tasks once."""
        await self.harness.check_waiting_tasks()
        await self.read()

    async def waits(self, **time: float) -> None:
        """Let time pass, and every reminder come that is due by then."""
        self.harness.clock.at += timedelta(**time)
        jobs, now = self.harness.store.jobs, self.harness.clock.now()
        while (job := await jobs.claim(REMINDER.name, "w", now=now, lease_seconds=60)) is not None:
            await self.harness.reminders.perform(job)
            await jobs.finish(job)
        await self.read()

    # --- reading ---

    async def read(self) -> None:
        """Take in every card that came."""
        jobs, now = self.harness.store.jobs, self.harness.clock.now()
        while (job := await jobs.claim(NOTIFICATION.name, "w", now=now, lease_seconds=60)) is not None:
            self.deliveries.append(dict(job.payload))
            await jobs.finish(job)

    async def tasks(self, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        return await self.harness.store.tasks.of(self.user, ended=ended)

    async def task(self, task_id: str) -> QueuedTask:
        task = await self.harness.store.tasks.get(self.user, task_id)
        assert task is not None
        return task

    @property
    def card(self) -> Card:
        return Card.model_validate(self.deliveries[-1]["card"])

    @property
    def words(self) -> str:
        return words_of(self.card)

    def about(self) -> dict[str, Any]:
        return {
            "command_id": f"q-{next(_NUMBERS)}",
            "user_id": self.user,
            "at": self.harness.clock.now(),
            "channel": DM,
            "tz": AMSTERDAM,
        }

    async def planner(self) -> Person:
        """Return the person in the latest session, with every card read."""
        (session, *_) = await self.harness.store.sessions.of_user(self.user)
        person = Person(self.harness, self.user, session_id=session.id)
        await self.harness.store.sessions.attach_thread(session.id, session.channel, "1.0")
        await person.read()
        return person


def buttons(card: Card) -> list[tuple[str, Button]]:
    """Return the buttons of a card, each with the text of its row."""
    found: list[tuple[str, Button]] = []
    for part in card.parts:
        if isinstance(part, Controls):
            found += [("", control) for control in part.items if isinstance(control, Button)]
        elif isinstance(part, Prose) and isinstance(part.control, Button):
            found.append((part.text, part.control))
    return found


def labels(card: Card) -> list[str]:
    return [button.label for _, button in buttons(card)]


def words_of(card: Card) -> str:
    return "\n".join(getattr(part, "text", "") for part in card.parts)
