"""Random workflows as the rules of tasks, over three entry points (S136, S162).

A client that does what a plan of the rules says, and says what is so, gets its task done. Whatever another client does,
a task that is done kept its rules, by an independent evaluator; a look at files and commands is never contradicted; and
nothing counts as approved that the person did not approve.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories import rules as draw
from tests.factories.agents import ANNA, Agents
from tests.factories.inside import run_inside
from tests.fakes.table_facts import TableFacts
from tests.laws.ruled_tasks import LOOKED_UP, RuledTask, Steps, ruled_task
from tests.unit.conversation.person import House, open_house_at
from tests.unit.conversation.queue.desk import Desk

from fateforger.adapters.store.store import open_store
from fateforger.errors import BadInput
from fateforger.session.forms import FormErrors
from fateforger.session.queue_commands import SettleTask
from fateforger.tasks.task import QueuedTask, TaskState
from fateforger.tasks.workflows import Workflows
from fateforger.workflow.definition import read_workflow

SHARES, CASES = 80, int(os.environ.get("GATE_CASES", "2000"))
NOW = "2026-03-02T07:00:00+00:00"
FACTS = "folder: .\nfiles: ['*.txt']\ncommands:\n" + "".join(
    f"  {name}: {{run: [test, -e, {name}.flag]}}\n" for name in draw.STATES
)
Said = Mapping[str, bool]


@dataclass
class Door:
    """An entry point for one task. ``so`` is what is really so now."""

    case: RuledTask
    so: dict[str, bool] = field(default_factory=dict)

    async def begin(self) -> None: ...
    async def note(self, steps: Steps, said: Said) -> bool:
        raise NotImplementedError

    async def end(self, steps: Steps, said: Said) -> bool:
        raise NotImplementedError

    async def task(self) -> QueuedTask:
        raise NotImplementedError

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.case.facts if f.kind == "tag" and self.so[f.name])

    def really_do(self, do: tuple[str, ...]) -> None:
        self.so |= self.case.after(self.so, do)


@dataclass
class Thread(Door):
    """The queue in a thread: forms, and the buttons of cards."""

    desk: Desk | None = None
    name: str = ""
    task_id: str = ""

    @property
    def person(self) -> Desk:
        assert self.desk is not None
        return self.desk

    async def begin(self) -> None:
        self.look()
        added = await self.person.adds(self.name, workflow=self.name, tags=self.tags)
        self.task_id = added.id
        await self.person.pulls(added.id)

    def look(self) -> None:
        facts = self.person.house.facts
        assert isinstance(facts, TableFacts)
        facts.answers = {}
        for fact in self.case.facts:
            if fact.kind in LOOKED_UP:
                facts.answers[fact.name if fact.kind == "command" else f"{fact.name}.txt"] = self.so[fact.name]

    async def note(self, steps: Steps, said: Said) -> bool:
        return await self._fill("queue_note", steps, said)

    async def end(self, steps: Steps, said: Said) -> bool:
        await self._fill("queue_done", steps, said)
        return (await self.task()).state is TaskState.DONE

    async def _fill(self, form: str, steps: Steps, said: Said) -> bool:
        self.look()
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
class Shell(Door):
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
            (self.folder / f"{fact.name}.txt").write_text("yes" if self.so[fact.name] else "no")
            flag = self.folder / f"{fact.name}.flag"
            flag.touch() if self.so[fact.name] else flag.unlink(missing_ok=True)

    async def note(self, steps: Steps, said: Said) -> bool:
        return await self._run("note", self.task_id, *_options(steps, said)) != ""

    async def end(self, steps: Steps, said: Said) -> bool:
        return await self._run("done", self.task_id, *_options(steps, said)) != ""

    async def _run(self, *arguments: str) -> str:
        """What a command printed; nothing if it was refused."""
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
        self.task_id = (await self.robot.done("create_task", spec))["task"]["id"]
        await self.robot.ask("pull", {"task_id": self.task_id})

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


def said_at_first(case: RuledTask) -> Said:
    """What the person says of a task that they begin: all that nothing else tells."""
    return {fact.name: case.before[fact.name] for fact in case.facts if fact.kind in {"session", "approval", "judged"}}


async def play_honestly(door: Door, steps: Steps) -> bool:
    """Do a plan of the rules step by step, and say what is so. Return whether the task was done."""
    await door.begin()
    assert await door.note((), said_at_first(door.case)), "what is so at first"
    for do in steps:
        door.really_do(do)
        if isinstance(door, Agent) and not any(
            fact.needs_person and not (fact.set_by | fact.cleared_by).isdisjoint(do) for fact in door.case.facts
        ):
            told = await door.record((do,))
        else:
            told = await door.note((do,), {})
        assert told, do
    if isinstance(door, Agent):
        assert await door.finish(()), "the agent's end"
    return await door.end((), {})


async def play_hostilely(door: Door, random: Random) -> bool:
    """Claim anything, in any order. Return whether the task was done."""
    await door.begin()
    for _ in range(random.randint(1, 5)):
        steps = tuple(_anything(random) for _ in range(random.randint(0, 3)))
        said = {} if isinstance(door, Agent) else {f.name: random.random() < 0.5 for f in door.case.facts}
        if not isinstance(door, Agent):
            await random.choice((door.note, door.end))(steps, said)
        elif random.random() < 0.6:
            await door.record(steps or (("write",),))
        else:
            await door.finish(steps, random.choice(("done", "done", "failed")))
        if (await door.task()).state is TaskState.DONE:
            return True
    if isinstance(door, Agent):
        await door.finish(())
        if (await door.task()).state is TaskState.WAITING:
            await door.person.send(_say_done(door))
    return (await door.task()).state is TaskState.DONE


def _anything(random: Random) -> tuple[str, ...]:
    return tuple(random.sample((*draw.ACTIONS, *draw.ACTIONS, "close_task"), random.randint(1, 2)))


def _say_done(door: Agent) -> Any:
    return SettleTask(**door.person.about(), task_id=door.task_id, word="done")


def check_done(door: Door, task: QueuedTask, *, by_agent: bool) -> None:
    """A task that is done kept its rules, agrees with what a look finds, and has no approval of an agent."""
    trace = [step.model_dump(mode="json") for step in task.steps]
    assert door.case.broken(trace) == []
    for fact in door.case.facts:
        for step in reversed(task.steps):
            if not (fact.set_by | fact.cleared_by).isdisjoint(step.do):
                break
            if fact.kind in LOOKED_UP and any(fact.name in str(rule) for rule in door.case.rules):
                assert (fact.name in step.true) == door.so[fact.name], (fact, trace)
    approvals = {fact.name for fact in door.case.facts if fact.kind == "approval"}
    if by_agent:
        assert not any(approvals & {*step.true} for step in task.steps), trace


@dataclass
class Doors:
    """The three entry points, for one case after another."""

    house: House
    agents: Agents
    folder: Path
    own: dict[str, Any]

    def open(self, seed: int, case: RuledTask) -> Door:
        name = f"w{seed}"
        self.own[name] = read_workflow(case.text(name))
        so = dict(case.before)
        match seed % 3:
            case 0:
                return Thread(case, so, desk=Desk(self.house), name=name)
            case 1:
                for old in (self.folder / "workflows").iterdir():
                    old.unlink()
                (self.folder / "workflows" / f"{name}.yaml").write_text(case.text(name))
                return Shell(case, so, folder=self.folder, name=name)
            case _:
                self.agents.clock.at += timedelta(minutes=2)  # an agent may make so many calls a minute
                return Agent(case, so, desk=Desk(self.house), name=name, agents=self.agents)


@pytest.fixture
async def doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Doors]:
    own: dict[str, Any] = {}
    facts = TableFacts()
    house = await open_house_at(tmp_path)
    house.workflows, house.facts = Workflows(own), facts
    house.restart()
    agents = Agents(house.store, workflows=Workflows(own), facts=facts)
    await agents.let_in()
    shell = tmp_path / "shell"
    (shell / "workflows").mkdir(parents=True)
    (shell / "facts.yaml").write_text(FACTS)
    new_file(shell).rename(shell / "fateforger.db")
    monkeypatch.setenv("FATEFORGER_WORKFLOWS", str(shell / "workflows"))
    monkeypatch.setenv("FATEFORGER_FACTS", str(shell / "facts.yaml"))
    yield Doors(house, agents, shell, own)
    await house.close()


def draw_case(random: Random) -> RuledTask:
    """A workflow whose rules can all be kept in some step."""
    while True:
        case = ruled_task(random)
        try:
            read_workflow(case.text("w"))
        except BadInput:
            continue
        return case


async def play(doors: Doors, seeds: range) -> Counter[str]:
    """Play each case at its entry point, honestly where its rules allow a plan and its turn has come."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)
        case = draw_case(random)
        door = doors.open(seed, case)
        plans = list(case.plans(random)) if seed // 3 % 3 else []
        plan = random.choice(plans) if plans else None
        who = type(door).__name__
        try:
            if plan is not None:
                assert await play_honestly(door, plan), plan
                seen[f"{who} honest"] += 1
                check_done(door, await door.task(), by_agent=False)
            else:
                done = await play_hostilely(door, random)
                seen[f"{who} hostile {'done' if done else 'refused'}"] += 1
                if done:
                    check_done(door, await door.task(), by_agent=isinstance(door, Agent))
        except AssertionError as error:
            raise AssertionError(f"seed {seed} by {who}\n{case.text('w')}\nbefore {case.before}\n{error}") from error
    return seen


async def test_a_task_is_done_exactly_as_its_rules_allow(doors: Doors) -> None:
    """S136, S162: a few of the campaign, over the thread, the command line and agents."""
    seen = await play(doors, range(24))
    assert sum(seen.values()) == 24
    assert {key for key in seen if key.endswith("honest")} == {"Thread honest", "Shell honest", "Agent honest"}


@pytest.mark.extra  # a campaign of many random cases
@pytest.mark.parametrize("share", range(SHARES))
async def test_many_tasks_are_done_exactly_as_their_rules_allow(doors: Doors, share: int) -> None:
    """S136, S162: two thousand tasks; each kind of client at each entry point gets through, or is stopped."""
    size = CASES // SHARES
    seen = await play(doors, range(1_000 + share * size, 1_000 + (share + 1) * size))
    assert sum(seen[f"{who} honest"] for who in ("Thread", "Shell", "Agent")), seen
    assert sum(seen[f"{who} hostile refused"] for who in ("Thread", "Shell", "Agent")), seen
