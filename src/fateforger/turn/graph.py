"""The graph of one turn, built from the transitions table: its edges between stages are the table (S59).

    turn_init -> decision -> transition -> the session's stage -> (a move) another stage ... -> presenter

AutoGen lives here and nowhere else. The graph is built for each turn and thrown away: durable state is the session.
Between nodes travels a :class:`Step`; what is large in it is left out of the library's own copies for its logs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StructuredMessage
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_core import CancellationToken
from pydantic import BaseModel, ConfigDict, Field

from fateforger.stages import TRANSITIONS, Move, TimeboxingStage, target
from fateforger.turn.constants import MOST_STEPS
from fateforger.turn.model import Effect, StageInput, TurnInput, TurnOutcome
from fateforger.turn.nodes.decision import asked_of
from fateforger.turn.nodes.presenter import presented
from fateforger.turn.nodes.stage import run_stage
from fateforger.turn.nodes.transition import objection
from fateforger.turn.nodes.turn_init import begun

TURN_INIT, DECISION, TRANSITION, PRESENTER = "turn_init", "decision", "transition", "presenter"


class Step(BaseModel):
    """What one node tells the next: the stage that the session stands in, and the move to make from there."""

    model_config = ConfigDict(frozen=True)
    stage: TimeboxingStage
    move: Move = Move.STAY
    refused: bool = False
    turn: TurnInput | None = Field(None, exclude=True, repr=False)
    stage_input: StageInput | None = Field(None, exclude=True, repr=False)
    effects: tuple[Effect, ...] = Field((), exclude=True, repr=False)
    outcome: TurnOutcome | None = Field(None, exclude=True, repr=False)


Message = StructuredMessage[Step]
Work = Callable[[Step], Step]
T = TypeVar("T")


class Node(BaseChatAgent):
    """A pure function as a node."""

    def __init__(self, name: str, work: Work) -> None:
        super().__init__(name, description=(work.__doc__ or name).strip())
        self._work = work

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (Message,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        del cancellation_token  # nothing here waits
        step = messages[-1]
        if not isinstance(step, StructuredMessage) or not isinstance(step.content, Step):
            raise TypeError(f"{self.name} was handed a {type(step).__name__}")
        return Response(chat_message=Message(content=self._work(step.content), source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        del cancellation_token  # a node remembers nothing


def stage_node(stage: TimeboxingStage) -> str:
    """The name of a stage's node."""
    return f"stage_{stage.value}"


def build_timeboxing_graphflow() -> GraphFlow:
    """A fresh graph for one turn."""
    builder = DiGraphBuilder()
    works: dict[str, Work] = {TURN_INIT: _turn_init, DECISION: _decision, TRANSITION: _transition}
    works |= {stage_node(stage): _stage for stage in TimeboxingStage}
    works[PRESENTER] = _presenter
    for name, work in works.items():
        builder.add_node(Node(name, work), activation="any")
    builder.add_edge(TURN_INIT, DECISION)
    builder.add_edge(DECISION, TRANSITION)
    _edge(builder, TRANSITION, PRESENTER, lambda step: step.refused)
    for stage in TimeboxingStage:
        _edge(builder, TRANSITION, stage_node(stage), _lets_in(stage))
        for goal, moves in leading(stage).items():
            name = PRESENTER if goal is stage else stage_node(goal)
            _edge(builder, stage_node(stage), name, _makes_one_of(moves))
    builder.set_entry_point(TURN_INIT)
    return GraphFlow(
        builder.get_participants(), graph=builder.build(), max_turns=MOST_STEPS, custom_message_types=[Message]
    )


def leading(stage: TimeboxingStage) -> dict[TimeboxingStage, frozenset[Move]]:
    """The table of one stage by goal. A move that leads to the stage itself ends the turn there."""
    moves = {Move.STAY, *TRANSITIONS[stage]}
    goals = {target(stage, move) for move in moves} - {None}
    return {goal: frozenset(m for m in moves if target(stage, m) is goal) for goal in goals if goal is not None}


async def run(turn: TurnInput) -> TurnOutcome:
    """One run of the graph."""
    task = Message(content=Step(stage=turn.session.stage, turn=turn), source="coordinator")
    result = await build_timeboxing_graphflow().run(task=task)
    last = result.messages[-1]
    if not isinstance(last, StructuredMessage) or last.content.outcome is None:
        raise RuntimeError(f"the turn ended at {last.source}, not at the presenter")
    outcome: TurnOutcome = last.content.outcome
    return outcome


def _edge(builder: DiGraphBuilder, source: str, goal: str, condition: Callable[[Step], bool]) -> None:
    def holds(message: BaseChatMessage) -> bool:
        return isinstance(message, StructuredMessage) and condition(message.content)

    builder.add_edge(source, goal, condition=holds, activation_condition="any")


def _lets_in(stage: TimeboxingStage) -> Callable[[Step], bool]:
    return lambda step: not step.refused and step.stage is stage


def _makes_one_of(moves: frozenset[Move]) -> Callable[[Step], bool]:
    return lambda step: step.move in moves


def _turn_init(step: Step) -> Step:
    """Forget what was said, take in what the calendar shows."""
    turn = _given(step.turn)
    first = StageInput(
        session=begun(turn),
        asked=Move.STAY,
        command=turn.command,
        cause=turn.command.command_id,
        now=turn.now,
    )
    return Step(stage=step.stage, stage_input=first)


def _decision(step: Step) -> Step:
    """Which move the command asks for."""
    given = _given(step.stage_input)
    asked = Move.STAY if given.command is None else asked_of(given.command)
    return step.model_copy(update={"move": asked, "stage_input": given.model_copy(update={"asked": asked})})


def _transition(step: Step) -> Step:
    """Whether that is possible here."""
    given = _given(step.stage_input)
    no = None if given.command is None else objection(given.session, given.command, given.asked)
    if no is None:
        return step
    session = given.session.model_copy(update={"notice": no})
    return Step(stage=step.stage, refused=True, stage_input=given.model_copy(update={"session": session}))


def _stage(step: Step) -> Step:
    """Let a stage do its work, and hand over to the next where its move leads."""
    given = _given(step.stage_input)
    output = run_stage(given)
    effects = (*step.effects, *output.effects)
    goal = target(step.stage, output.move)
    if goal is None or goal is step.stage:
        ended = given.model_copy(update={"session": output.session})
        return Step(stage=step.stage, stage_input=ended, effects=effects)
    arriving = given.model_copy(
        update={
            "session": output.session.model_copy(update={"stage": goal}),
            "asked": Move.STAY,
            "command": output.command,
            "arrived": output.move,
        }
    )
    return Step(stage=goal, move=output.move, stage_input=arriving, effects=effects)


def _presenter(step: Step) -> Step:
    """What the turn came to."""
    outcome = presented(_given(step.stage_input).session, step.effects)
    return Step(stage=step.stage, outcome=outcome)


def _given(value: T | None) -> T:
    if value is None:
        raise RuntimeError("a node ran before the one it depends on")
    return value
