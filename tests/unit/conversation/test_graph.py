"""The graph of one turn: it is the table, and it is AutoGen's (S59, S60, S107)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from autogen_agentchat.messages import StructuredMessage
from autogen_agentchat.teams import GraphFlow
from tests.unit.conversation.sessions import make_command, move, plan_session, session, task, turn

from fateforger.conversation.graph import (
    DECISION,
    PRESENTER,
    TRANSITION,
    TURN_INIT,
    Hearing,
    Message,
    Step,
    build_timeboxing_graphflow,
    run_graph,
    stage_node,
)
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import TurnInput, TurnOutcome
from fateforger.ports.model import Completion, Prompt
from fateforger.session.stages import TRANSITIONS, Move, TimeboxingStage, target


def edges_of(flow: GraphFlow, node: str) -> list[Any]:
    return list(flow._graph.nodes[node].edges)


def follows(flow: GraphFlow, node: str, step: Step) -> list[str]:
    """Return the nodes that a node leads to with this step."""
    message = Message(content=step, source=node)
    return [edge.target for edge in edges_of(flow, node) if edge.check_condition(message)]


@pytest.mark.parametrize("stage", TimeboxingStage)
def test_edges_between_stages_are_the_table(stage: TimeboxingStage) -> None:
    """S59: for every stage and every move of the table exactly the table's goal; what stays, and only that, is
    presented."""
    flow = build_timeboxing_graphflow()
    for wanted in (Move.STAY, *TRANSITIONS[stage]):
        goal = target(stage, wanted)
        assert goal is not None
        name = PRESENTER if goal is stage else stage_node(goal)
        assert follows(flow, stage_node(stage), Step(stage=goal, move=wanted)) == [name]
        more = Step(stage=goal, move=wanted, hearing=Hearing(later=((),)))
        assert follows(flow, stage_node(stage), more) == [DECISION if goal is stage else name]
    for illegal in set(Move) - TRANSITIONS[stage].keys() - {Move.STAY}:
        assert follows(flow, stage_node(stage), Step(stage=stage, move=illegal)) == []
    goals = {PRESENTER, DECISION} | {stage_node(g) for g in TRANSITIONS[stage].values() if g is not stage}
    assert {edge.target for edge in edges_of(flow, stage_node(stage))} == goals


def test_the_way_in() -> None:
    flow = build_timeboxing_graphflow()
    assert flow._graph.get_start_nodes() == {TURN_INIT}
    assert flow._graph.get_leaf_nodes() == {PRESENTER}
    assert [e.target for e in edges_of(flow, TURN_INIT)] == [DECISION]
    assert [e.target for e in edges_of(flow, DECISION)] == [TRANSITION]
    for stage in TimeboxingStage:
        assert follows(flow, TRANSITION, Step(stage=stage)) == [stage_node(stage)]
        assert follows(flow, TRANSITION, Step(stage=stage, refused=True)) == [PRESENTER]
        assert follows(flow, TRANSITION, Step(stage=stage, refused=True, hearing=Hearing(later=((),)))) == [DECISION]


async def way(given: TurnInput) -> list[str]:
    task_message = Message(content=Step(stage=given.session.stage, turn=given), source="coordinator")
    result = await build_timeboxing_graphflow().run(task=task_message)
    return [m.source for m in result.messages if isinstance(m, StructuredMessage)][1:]


@pytest.mark.parametrize(
    ("given", "stages"),
    [
        (turn(session(TimeboxingStage.DATE), make_command("commit_date")), ["date", "collect_constraints"]),
        (
            turn(
                session(TimeboxingStage.CAPTURE_INPUTS),
                make_command("add_tasks", tasks=[task("Report").model_dump()], proceed=True),
            ),
            ["capture_inputs", "skeleton"],
        ),
        (turn(plan_session(TimeboxingStage.REVIEW_COMMIT), move(Move.BACK)), ["review_commit", "refine"]),
        (
            turn(plan_session(TimeboxingStage.REVIEW_COMMIT), make_command("shift_block", key="mail", minutes=15)),
            ["review_commit", "refine"],
        ),
        (turn(session(TimeboxingStage.COLLECT_CONSTRAINTS), move(Move.REDO)), ["collect_constraints"]),
        (turn(session(TimeboxingStage.CAPTURE_INPUTS), move(Move.PROCEED)), []),
        (turn(session(TimeboxingStage.DATE), move(Move.BACK)), []),
        (turn(session(TimeboxingStage.DATE), make_command("user_reply", text="hello")), []),
    ],
    ids=["commit", "tasks and on", "back", "correction", "redo", "too early", "illegal", "words"],
)
async def test_ways_through_the_graph(given: TurnInput, stages: list[str]) -> None:
    """S52, S56, S124: which nodes run, in which order."""
    names = [stage_node(TimeboxingStage(name)) for name in stages]
    assert await way(given) == [TURN_INIT, DECISION, TRANSITION, *names, PRESENTER]


async def test_turns_run_side_by_side() -> None:
    """One graph per turn: sessions do not see each other."""
    inputs = [turn(session(stage), move(Move.CANCEL)) for stage in TimeboxingStage] * 2
    outcomes = await asyncio.gather(*(run_turn(given) for given in inputs))
    assert [o.session.stage for o in outcomes] == [i.session.stage for i in inputs]
    assert {o.session.status.value for o in outcomes} == {"cancelled"}


async def test_the_same_turn_gives_the_same_outcome() -> None:
    given = turn(plan_session(TimeboxingStage.REFINE), make_command("shift_block", key="mail", minutes=15))
    assert await run_graph(given) == await run_graph(given)


async def test_turns_can_be_kept_and_replayed() -> None:
    """Input and outcome survive JSON."""
    given = turn(plan_session(TimeboxingStage.REFINE), make_command("shift_block", key="mail", minutes=15))
    kept = TurnInput.model_validate_json(given.model_dump_json())
    assert kept == given
    outcome = await run_turn(kept)
    assert TurnOutcome.model_validate_json(outcome.model_dump_json()) == await run_turn(given)


def test_what_travels_in_the_graph_is_not_in_its_logs() -> None:
    """The library formats every message for its logs; sessions hold private data."""
    step = Step(stage=TimeboxingStage.DATE, turn=turn(session(), make_command("user_reply", text="secret plans")))
    message = Message(content=step, source="coordinator")
    assert "secret" not in repr(message) + str(message.model_dump_json()) + message.to_text()


def test_autogen_is_imported_with_the_first_turn() -> None:
    """A command starts without it."""
    code = (
        "import sys, fateforger.conversation, fateforger.ui\n"
        "sys.exit(any(name.startswith('autogen') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class SilentModel:
    """A model that never answers, and tells when it was asked and when it was let go."""

    time_factor = 1.0

    def __init__(self) -> None:
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        del prompt, seconds
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.let_go.set()
        raise AssertionError

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


async def test_a_turn_that_is_cancelled_ends_its_call_of_the_model() -> None:
    """As when it takes longer than any turn should, or the program stops."""
    model = SilentModel()
    running = asyncio.create_task(
        run_turn(
            turn(
                plan_session(TimeboxingStage.REFINE, task("Mail")), make_command("user_reply", text="make it shorter")
            ),
            model,
        )
    )
    await asyncio.wait_for(model.asked.wait(), 60)
    running.cancel()
    await asyncio.wait([running], timeout=60)
    assert (running.cancelled(), model.let_go.is_set()) == (True, True)
