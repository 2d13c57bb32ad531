"""The three entry points of one task under rules: the thread (forms, buttons and words), the command line, and agents."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.factories.agents import ANNA, Agents
from tests.factories.inside import run_inside
from tests.factories.words import outside, wanting
from tests.fakes.table_facts import TableFacts
from tests.laws.ruled_tasks import LOOKED_UP, Fact, RuledTask, Steps
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.adapters.store.store import open_store
from fateforger.ports.model import Prompt
from fateforger.session.commands.thread import Opening
from fateforger.session.forms import FormErrors
from fateforger.tasks.task import QueuedTask, TaskState

NOW = "2026-03-02T07:00:00+00:00"
Said = Mapping[str, bool]


@dataclass
class Listener:
    """A model that finds, in the tables that it is shown, the rows of what a message says of a task."""

    says: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, prompt: Prompt) -> dict[str, Any]:
        if prompt.name.startswith("start/"):
            return outside("queue")
        title = self.says["title"]
        (number,) = _find_rows(prompt.user, "queue", title)
        steps, questions = (_find_rows(prompt.user, name, title) for name in ("steps", "questions"))
        of_step, of_question = ({row[1].split()[-1]: int(row[0]) for row in rows} for rows in (steps, questions))
        so, not_so = (
            [of_question[name] for name, holds in self.says["said"].items() if holds is which and name in of_question]
            for which in (True, False)
        )
        did = [of_step[name] for name in self.says["did"] if name in of_step]
        return wanting(self.says["wants"], number=int(number[0]), did=did, so=so, not_so=not_so)


def _find_rows(text: str, table: str, title: str) -> list[list[str]]:
    """Return the rows of a prompt's table that are about a task."""
    found = re.search(rf"^{table}\[\d+\]\{{[^\n]*\n((?:  [^\n]*\n)*)", text, re.MULTILINE)
    rows = [line.strip().split(",") for line in found[1].splitlines()] if found else []
    return [row for row in rows if title in row]


@dataclass
class EntryPoint:
    """An entry point for one task. ``so`` is what is really so now."""

    case: RuledTask
    random: Random
    so: dict[str, bool] = field(default_factory=dict)

    async def begin(self) -> None: ...
    async def report(self, do: tuple[str, ...]) -> bool:
        """Report one step in progress, with the rights that it needs."""
        return await self.note((do,), {})

    async def note(self, steps: Steps, said: Said) -> bool:
        raise NotImplementedError

    async def end(self, steps: Steps, said: Said) -> bool:
        raise NotImplementedError

    async def task(self) -> QueuedTask:
        raise NotImplementedError

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.case.facts if f.kind == "tag" and self.so[f.name])

    def shows(self, fact: Fact) -> bool:
        """Return the result of a check: the truth, except for forged signatures."""
        return fact.kind == "signed" or self.so[fact.name]

    def really_do(self, do: tuple[str, ...]) -> None:
        self.so |= self.case.after(self.so, do)


@dataclass
class Thread(EntryPoint):
    """The queue in a thread: forms, the buttons of cards, and words where they can say it."""

    queue_person: QueuePerson | None = None
    listener: Listener = field(default_factory=Listener)
    name: str = ""
    task_id: str = ""

    @property
    def person(self) -> QueuePerson:
        assert self.queue_person is not None
        return self.queue_person

    async def begin(self) -> None:
        self.look()
        added = await self.person.adds(self.name, workflow=self.name, tags=self.tags)
        self.task_id = added.id
        await self.person.pulls(added.id)

    def look(self) -> None:
        facts = self.person.harness.facts
        assert isinstance(facts, TableFacts)
        facts.answers = {}
        for fact in self.case.facts:
            if fact.kind in {*LOOKED_UP, "signed"}:
                facts.answers[fact.name if fact.kind == "command" else f"{fact.name}.txt"] = self.shows(fact)

    async def note(self, steps: Steps, said: Said) -> bool:
        return await self._tell("note", steps, said)

    async def end(self, steps: Steps, said: Said) -> bool:
        await self._tell("done", steps, said)
        return (await self.task()).state is TaskState.DONE

    async def _tell(self, wants: str, steps: Steps, said: Said) -> bool:
        """Say it in words or by a form; words name one action a step, and only those that the queue does not add."""
        in_words = all(len(do) == 1 and do[0] != "close_task" for do in steps) and self.random.random() < 0.5
        return await (self._say if in_words else self._fill)(wants, steps, said)

    async def _say(self, wants: str, steps: Steps, said: Said) -> bool:
        self.look()
        did = [do[0] for do in steps]
        self.listener.says = {"wants": wants, "title": self.name, "did": did, "said": said}
        before, about = (await self.task()).version, self.person.about()
        opening = Opening(**about, thread_ts=about["command_id"], text="I did it.")
        await self.person.harness.coordinator.on_opening(opening)
        await self.person.read()
        return (await self.task()).version > before

    async def _fill(self, wants: str, steps: Steps, said: Said) -> bool:
        self.look()
        form = f"queue_{wants}"
        asked = {each.name: each for each in (await self.person.opens(form, target=self.task_id)).inputs}
        given: dict[str, Any] = {"order": "\n".join(" + ".join(do) for do in steps)}
        if "so" in asked and said:
            offered = {choice.value for choice in getattr(asked["so"], "choices", ())}
            given["so"] = tuple(name for name, holds in said.items() if holds and name in offered)
        before = (await self.task()).version
        answer = await self.person.fill(form, target=self.task_id, **given)
        return not isinstance(answer, FormErrors) and (await self.task()).version > before

    async def task(self) -> QueuedTask:
        return await self.person.task(self.task_id)


@dataclass
class Shell(EntryPoint):
    """The command line, with files and commands of its own folder."""

    folder: Path = Path()
    name: str = ""
    task_id: str = ""

    async def begin(self) -> None:
        self.look()
        tags = [f"--tag={name}" for name in self.tags]
        self.task_id = json.loads(await self._run("add", self.name, "--workflow", self.name, *tags))["task"]["id"]
        await self._run("pull", self.task_id)

    def look(self) -> None:
        for fact in self.case.facts:
            (self.folder / f"{fact.name}.txt").write_text("yes" if self.shows(fact) else "no")
            flag = self.folder / f"{fact.name}.flag"
            flag.touch() if self.so[fact.name] else flag.unlink(missing_ok=True)

    async def note(self, steps: Steps, said: Said) -> bool:
        return await self._run("note", self.task_id, *_options(steps, said)) != ""

    async def end(self, steps: Steps, said: Said) -> bool:
        return await self._run("done", self.task_id, *_options(steps, said)) != ""

    async def _run(self, *arguments: str) -> str:
        """Run a command and return its output; an empty string if it was refused."""
        self.look()
        where = ("--user", ANNA, "--data-dir", str(self.folder), "--now", NOW, "--json")
        status, out, err = await asyncio.to_thread(run_inside, "tasks", *arguments, *where)
        assert status in {0, 2}, (arguments, out, err)
        return out if status == 0 else ""

    async def task(self) -> QueuedTask:
        store = open_store(self.folder / "fateforger.db")
        try:
            found = await store.tasks.get(ANNA, self.task_id)
        finally:
            await store.aclose()
        assert found is not None
        return found


def _options(steps: Steps, said: Said) -> list[str]:
    words = [f"--{'so' if holds else 'not-so'}={name}" for name, holds in said.items()]
    return [*(f"--did={'+'.join(do)}" for do in steps), *words]


@dataclass
class Agent(Thread):
    """A task that an agent pulled; the person answers in the thread what only they can."""

    agents: Agents | None = None

    @property
    def robot(self) -> Agents:
        assert self.agents is not None
        return self.agents

    async def begin(self) -> None:
        self.look()
        headings = "\n".join(f"## {fact.name}" for fact in self.case.facts)
        spec = {"title": self.name, "workflow": self.name, "tags": list(self.tags), "context": headings}
        self.task_id = (await self.robot.expect_success("create_task", spec))["task"]["id"]
        await self.robot.ask("pull", {"task_id": self.task_id})

    async def report(self, do: tuple[str, ...]) -> bool:
        """Report a step. Steps that prove facts for the person are the person's to report."""
        touches = (fact.set_by | fact.cleared_by for fact in self.case.facts if fact.needs_person)
        theirs = any(not names.isdisjoint(do) for names in touches)
        return await (self.note((do,), {}) if theirs else self.record((do,)))

    async def record(self, steps: Steps) -> bool:
        self.look()
        told = {"task_id": self.task_id, "steps": [{"do": list(do)} for do in steps]}
        return not (await self.robot.ask("record_steps", told)).is_error

    async def finish(self, steps: Steps, outcome: str = "done") -> bool:
        self.look()
        told = {
            "task_id": self.task_id,
            "outcome": outcome,
            "evidence": "It is.",
            "steps": [{"do": list(do)} for do in steps],
        }
        return not (await self.robot.ask("finish_task", told)).is_error
