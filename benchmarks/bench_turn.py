"""Measure the cost of our code in one turn, with a model that answers at once.

It also measures the time that a person waits for a draft that was made ahead of time.

The peer, in the same run and taking turns with us, is a bare GraphFlow of the same shape: as many nodes and edges with
conditions, as many of them run, each of which passes on a small message. Our turn is the whole of
``PlanningCoordinator.handle``: reading and saving the session on disk, reading the day, the graph, the card.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StructuredMessage
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_core import CancellationToken
from pydantic import BaseModel
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import Harness, Person, open_harness_at

from fateforger.conversation.graph import DECISION, PRESENTER, TRANSITION, TURN_INIT, group_moves_by_goal, stage_node
from fateforger.ports.model import Prompt
from fateforger.session.commands import Command
from fateforger.session.stages import TimeboxingStage

ROUNDS = 60
WARM_UP = 5
DRAFT: dict[str, Any] = {
    "blocks": [
        {"task": 1, "title": None, "type": "DW", "start": "09:30", "minutes": 60},
        {"task": None, "title": "Walk", "type": "R", "start": "10:30", "minutes": 15},
        {"task": 2, "title": None, "type": "DW", "start": "11:00", "minutes": 60},
        {"task": 3, "title": None, "type": "DW", "start": "14:00", "minutes": 60},
    ]
}
FACTS: dict[str, Any] = {
    "frame": None,
    "inputs": {"add": [], "change": [], "remove": []},
    "question": "What takes you longest?",
}
Timed = Callable[[], Awaitable[float]]
"""Milliseconds that one round took."""


def answers(prompt: Prompt) -> Line:
    match prompt.name.partition("/")[0]:
        case "decide":
            return {"wishes": [{"intent": "answer", "number": None, "words": None}], "rules": False, "language": None}
        case "facts":
            return FACTS
        case _:
            return DRAFT


# --- the peer ---


class Baton(BaseModel):
    """The message that a bare node passes on: the rest of the way."""

    way: tuple[str, ...]


Message = StructuredMessage[Baton]


class Bare(BaseChatAgent):
    """A node that hands on what it was given."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (Message,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        del cancellation_token
        given = messages[-1]
        assert isinstance(given, StructuredMessage)
        return Response(chat_message=Message(content=Baton(way=given.content.way[1:]), source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        del cancellation_token


def bare_graph() -> GraphFlow:
    """Build the nodes and edges of a turn, without their work."""
    builder = DiGraphBuilder()
    names = [TURN_INIT, DECISION, TRANSITION, *(stage_node(stage) for stage in TimeboxingStage), PRESENTER]
    for name in names:
        builder.add_node(Bare(name, name), activation="any")

    def edge(source: str, goal: str) -> None:
        def holds(message: BaseChatMessage) -> bool:
            return isinstance(message, StructuredMessage) and message.content.way[:1] == (goal,)

        builder.add_edge(source, goal, condition=holds, activation_condition="any")

    builder.add_edge(TURN_INIT, DECISION)
    builder.add_edge(DECISION, TRANSITION)
    edge(TRANSITION, PRESENTER)
    for stage in TimeboxingStage:
        edge(TRANSITION, stage_node(stage))
        for goal in group_moves_by_goal(stage):
            edge(stage_node(stage), PRESENTER if goal is stage else stage_node(goal))
    builder.set_entry_point(TURN_INIT)
    return GraphFlow(builder.get_participants(), graph=builder.build(), max_turns=12, custom_message_types=[Message])


def bare_run(*stages: TimeboxingStage) -> Timed:
    way = (TURN_INIT, DECISION, TRANSITION, *(stage_node(stage) for stage in stages), PRESENTER)

    async def once() -> float:
        began = time.perf_counter()
        result = await bare_graph().run(task=Message(content=Baton(way=way), source="coordinator"))
        assert len(result.messages) - 1 == len(stages) + 4, [m.source for m in result.messages]
        return (time.perf_counter() - began) * 1000

    return once


# --- ours ---


@dataclass
class Measured(Person):
    """``took`` is what the last turn took, in milliseconds, without posting what it had to say."""

    took: float = 0.0

    async def send(self, command: Command) -> None:
        self.deeds += 1
        began = time.perf_counter()
        await self.coordinator.handle(command)
        self.took = (time.perf_counter() - began) * 1000
        await self.read()


class Day:
    """A person who uses a program and can repeat the same actions."""

    def __init__(self, harness: Harness, model: ScriptedModel) -> None:
        self.model = model
        self.last: dict[str, Any] = DRAFT["blocks"][-1]
        harness.model = model
        harness.restart()
        self.person = Measured(harness)

    async def to_tasks(self) -> None:
        await self.person.to_tasks()
        values: dict[str, Any] = {
            f"{name}_{n}": value for n in (1, 2, 3) for name, value in (("title", f"Task {n}"), ("minutes", 60))
        }
        await self.person.fill("tasks", size=3, one_thing="1", proceed=False, **values)
        await self.wait_for_sketch()

    async def wait_for_sketch(self) -> None:
        while (await self.person.session()).planning.sketch is None:  # noqa: ASYNC110  the background announces nothing
            await asyncio.sleep(0)

    async def says(self) -> float:
        """Time a message in Stage 2 that is answered with a question: two questions to the model."""
        await self.person.says("…")
        return self.person.took

    async def click(self) -> float:
        """Time a click back to the frame; the way there and back is pressed in turn."""
        session = await self.person.session()
        back = session.stage is TimeboxingStage.CAPTURE_INPUTS
        await self.person.press("Back" if back else "Continue")
        return self.person.took

    async def skeleton(self) -> float:
        """Time the click that shows a draft made ahead of time. Then change one task, so that there is a new one."""
        if (await self.person.session()).stage is TimeboxingStage.COLLECT_CONSTRAINTS:
            await self.person.press("Continue")
        await self.wait_for_sketch()
        asked = len(self.model.prompts)
        await self.person.press("Continue")
        took = self.person.took
        assert len(self.model.prompts) == asked
        assert "Walk" in self.person.words
        await self.person.press("Back")
        self.last["minutes"] = 121 - self.last["minutes"]
        await self.person.fill_row("Task 3", "task", minutes=self.last["minutes"])
        return took


def quantile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


async def measure(ours: Timed, peer: Timed) -> tuple[list[float], list[float]]:
    pairs = [(await ours(), await peer()) for _ in range(ROUNDS + WARM_UP)][WARM_UP:]
    return [a for a, _ in pairs], [b for _, b in pairs]


async def run() -> None:
    stages = TimeboxingStage
    with tempfile.TemporaryDirectory() as folder:
        harness = await open_harness_at(Path(folder))
        day = Day(harness, ScriptedModel(by=answers))
        await day.to_tasks()
        measured = {
            "a message, two questions": (60, await measure(day.says, bare_run(stages.CAPTURE_INPUTS))),
            "a click": (60, await measure(day.click, bare_run(stages.CAPTURE_INPUTS, stages.COLLECT_CONSTRAINTS))),
            "a draft made ahead": (300, await measure(day.skeleton, bare_run(stages.CAPTURE_INPUTS, stages.SKELETON))),
        }
        await harness.close()
    print(f"{'':28}{'target p95':>12}{'p50':>9}{'p95':>9}   bare graph p50{'p95':>9}   ratio p50{'p95':>6}")
    result: dict[str, Any] = {}
    for name, (target, (times, peer_times)) in measured.items():
        row = {
            "target_p95_ms": target,
            "p50_ms": quantile(times, 0.5),
            "p95_ms": quantile(times, 0.95),
            "peer_p50_ms": quantile(peer_times, 0.5),
            "peer_p95_ms": quantile(peer_times, 0.95),
        }
        row["ratio_p50"] = row["p50_ms"] / row["peer_p50_ms"]
        row["ratio_p95"] = row["p95_ms"] / row["peer_p95_ms"]
        result[name] = row
        print(
            f"{name:28}{target:10.0f}ms{row['p50_ms']:7.1f}ms{row['p95_ms']:7.1f}ms{row['peer_p50_ms']:15.1f}ms"
            f"{row['peer_p95_ms']:7.1f}ms{row['ratio_p50']:10.1f}{row['ratio_p95']:6.1f}"
        )
    json.dump({"turn": result}, sys.stdout)
    print()


if __name__ == "__main__":
    asyncio.run(run())
