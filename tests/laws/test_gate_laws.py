"""Random workflows as the rules of tasks, over three entry points (S136, S162).

A client that follows a plan of the rules and reports the truth gets its task done. A client that acts at random is
stopped at a step exactly if that step breaks a rule, and gets its task done if there is a way on. A finished task kept
its rules, by an independent evaluator, even if its client was hostile. A look at files and commands is never
contradicted. Nothing counts as approved unless the person approved it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories import rules as draw
from tests.factories.agents import Agents
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.table_facts import TableFacts
from tests.laws.ruled_tasks import LOOKED_UP, RuledTask, Steps, draw_step, ruled_task
from tests.laws.task_entry_points import Agent, EntryPoint, Listener, Said, Shell, Thread
from tests.unit.conversation.person import Harness, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.errors import BadInput
from fateforger.session.queue_commands import SettleTask
from fateforger.tasks.task import QueuedTask, TaskState
from fateforger.tasks.workflows import Workflows
from fateforger.workflow.definition import read_workflow

SHARES, CASES = 80, int(os.environ.get("GATE_CASES", "2000"))
FACTS = "folder: .\nfiles: ['*.txt']\ncommands:\n" + "".join(
    f"  {name}: {{run: [test, -e, {name}.flag]}}\n" for name in draw.STATES
)


def said_at_first(case: RuledTask) -> Said:
    """Return the facts that the person states when they begin a task: those that no other source gives."""
    return {fact.name: case.before[fact.name] for fact in case.facts if fact.needs_person or fact.kind == "judged"}


async def begin_honestly(entry: EntryPoint) -> None:
    """Begin a task, and say what is so."""
    await entry.begin()
    assert await entry.note((), said_at_first(entry.case)), "what is so at first"


async def end_honestly(entry: EntryPoint, steps: Steps) -> None:
    """Do a plan of the rules step by step, and then say that the task is done."""
    for do in steps:
        entry.really_do(do)
        assert await entry.report(do), do
    if isinstance(entry, Agent):
        assert await entry.finish(()), "the agent's end"
    assert await entry.end((), {}), "the end"


async def play_randomly(entry: EntryPoint, random: Random) -> bool:
    """Try steps without a plan, and end where there is a way to. Return whether there was one.

    A step that is refused is not done.
    """
    await begin_honestly(entry)
    taken: Steps = ()
    for _ in range(random.randint(1, 5)):
        do, so = draw_step(random), dict(entry.so)
        forbidden = entry.case.forbids(taken, do)
        entry.really_do(do)
        assert await entry.report(do) is not forbidden, (taken, do)
        if forbidden:
            entry.so = so
        else:
            taken = (*taken, do)
    ways = list(entry.case.plans(random, taken))
    if ways:
        await end_honestly(entry, random.choice(ways))
    elif isinstance(entry, Agent):
        assert not await entry.finish(())
    else:
        assert not await entry.end((), {})
    return bool(ways)


async def play_hostilely(entry: EntryPoint, random: Random) -> bool:
    """Claim anything, in any order. Return whether the task was done."""
    await entry.begin()
    for _ in range(random.randint(1, 5)):
        steps = tuple(_anything(random) for _ in range(random.randint(0, 3)))
        said = {} if isinstance(entry, Agent) else {f.name: random.random() < 0.5 for f in entry.case.facts}
        if not isinstance(entry, Agent):
            await random.choice((entry.note, entry.end))(steps, said)
        elif random.random() < 0.6:
            await entry.record(steps or (("write",),))
        else:
            await entry.finish(steps, random.choice(("done", "done", "failed")))
        if (await entry.task()).state is TaskState.DONE:
            return True
    if isinstance(entry, Agent):
        await entry.finish(())
        if (await entry.task()).state is TaskState.WAITING:
            await entry.person.send(_say_done(entry))
    return (await entry.task()).state is TaskState.DONE


def _anything(random: Random) -> tuple[str, ...]:
    return tuple(random.sample((*draw.ACTIONS, *draw.ACTIONS, "close_task"), random.randint(1, 2)))


def _say_done(entry: Agent) -> Any:
    return SettleTask(**entry.person.about(), task_id=entry.task_id, word="done")


def check_unapproved(entry: EntryPoint, task: QueuedTask) -> None:
    """Check that no fact that needs the person became true through an agent."""
    theirs = {fact.name for fact in entry.case.facts if fact.needs_person}
    assert not any(theirs & {*step.true} for step in task.steps), task.steps
    assert not any((task.standing or {}).get(name) for name in theirs), task.standing


def check_done(entry: EntryPoint, task: QueuedTask) -> None:
    """Check that a finished task kept its rules, and agrees with the files and commands."""
    trace = [step.model_dump(mode="json") for step in task.steps]
    assert entry.case.list_broken(trace) == []
    for fact in entry.case.facts:
        for step in reversed(task.steps):
            if not (fact.set_by | fact.cleared_by).isdisjoint(step.do):
                break
            if fact.kind in LOOKED_UP and any(fact.name in str(rule) for rule in entry.case.rules):
                assert (fact.name in step.true) == entry.so[fact.name], (fact, trace)


@dataclass
class EntryPoints:
    """The three entry points, for one case after another."""

    harness: Harness
    agents: Agents
    folder: Path
    own: dict[str, Any]
    listener: Listener

    def open(self, seed: int, case: RuledTask, random: Random) -> EntryPoint:
        name = f"w{seed}"
        self.own[name] = read_workflow(case.text(name))
        so = dict(case.before)
        match seed % 3:
            case 0:
                return Thread(
                    case, random, so, queue_person=QueuePerson(self.harness), listener=self.listener, name=name
                )
            case 1:
                for old in (self.folder / "workflows").iterdir():
                    old.unlink()
                (self.folder / "workflows" / f"{name}.yaml").write_text(case.text(name))
                return Shell(case, random, so, folder=self.folder, name=name)
            case _:
                self.agents.clock.at += timedelta(minutes=2)  # an agent may make this many calls a minute
                queue_person = QueuePerson(self.harness)
                return Agent(case, random, so, queue_person, self.listener, name, agents=self.agents)


@pytest.fixture
async def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EntryPoints]:
    own: dict[str, Any] = {}
    facts, listener = TableFacts(), Listener()
    harness = await open_harness_at(tmp_path, model=ScriptedModel(by=listener))
    harness.workflows, harness.facts = Workflows(own), facts
    harness.restart()
    agents = Agents(harness.store, workflows=Workflows(own), facts=facts)
    await agents.let_in()
    shell = tmp_path / "shell"
    (shell / "workflows").mkdir(parents=True)
    (shell / "facts.yaml").write_text(FACTS)
    new_file(shell).rename(shell / "fateforger.db")
    monkeypatch.setenv("FATEFORGER_WORKFLOWS", str(shell / "workflows"))
    monkeypatch.setenv("FATEFORGER_FACTS", str(shell / "facts.yaml"))
    yield EntryPoints(harness, agents, shell, own, listener)
    await harness.close()


def draw_case(random: Random, *, feasible: bool) -> tuple[RuledTask, list[Steps]]:
    """Draw a workflow whose rules do not contradict each other, and allowed plans, some of them if ``feasible``."""
    while True:
        case = ruled_task(random)
        try:
            read_workflow(case.text("w"))
        except BadInput:
            continue
        plans = list(case.plans(random)) if feasible else []
        if plans or not feasible:
            return case, plans


async def play(entries: EntryPoints, seeds: range) -> Counter[str]:
    """Play each case at its entry point, by a client with a plan that its rules allow, a random or a hostile one."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)
        turn = seed // 3 % 3
        case, plans = draw_case(random, feasible=turn > 0)
        entry = entries.open(seed, case, random)
        who = type(entry).__name__
        try:
            how, done = await _play_one(entry, random, plans, turn)
            assert done is ((await entry.task()).state is TaskState.DONE)
            seen[f"{who} {how} {'done' if done else 'refused'}"] += 1
            if done:
                check_done(entry, await entry.task())
            if isinstance(entry, Agent) and how == "hostile":
                check_unapproved(entry, await entry.task())
        except AssertionError as error:
            raise AssertionError(f"seed {seed} by {who}\n{case.text('w')}\nbefore {case.before}\n{error}") from error
    return seen


async def _play_one(entry: EntryPoint, random: Random, plans: list[Steps], turn: int) -> tuple[str, bool]:
    match turn:
        case 1:
            await begin_honestly(entry)
            await end_honestly(entry, random.choice(plans))
            return "honest", True
        case 2:
            return "random", await play_randomly(entry, random)
        case _:
            return "hostile", await play_hostilely(entry, random)


async def test_a_task_is_done_exactly_as_its_rules_allow(entries: EntryPoints) -> None:
    """S136, S162: a few of the campaign, over the thread, the command line and agents."""
    seen = await play(entries, range(27))
    assert sum(seen.values()) == 27
    for who in ("Thread", "Shell", "Agent"):
        assert min(seen[f"{who} {how}"] for how in ("honest done", "random done", "hostile refused")), seen


@pytest.mark.extra  # a campaign of many random cases
@pytest.mark.parametrize("share", range(SHARES))
async def test_many_tasks_are_done_exactly_as_their_rules_allow(entries: EntryPoints, share: int) -> None:
    """S136, S162: two thousand tasks; each kind of client at each entry point gets through, or is stopped."""
    size = CASES // SHARES
    seen = await play(entries, range(1_000 + share * size, 1_000 + (share + 1) * size))
    for outcome in ("honest done", "hostile refused"):
        assert sum(seen[f"{who} {outcome}"] for who in ("Thread", "Shell", "Agent")), seen
