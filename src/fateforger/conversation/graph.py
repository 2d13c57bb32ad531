"""Graph of one turn. Its edges between stages are the transition table (S59)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import TypeGuard, TypeVar

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, StructuredMessage
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_core import CancellationToken
from pydantic import BaseModel, ConfigDict, Field

from fateforger.conversation.language.message_reader import read_message
from fateforger.conversation.plan_nodes import JUDGEMENTS
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import (
    Effect,
    MemoryReading,
    StageInput,
    TurnInput,
    TurnOutcome,
    begin_turn,
    present_outcome,
)
from fateforger.ports.model import Model
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ExplainBlock
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.constants import MOST_STEPS
from fateforger.session.gate import find_refusal, get_requested_move
from fateforger.session.messages import LastWords, Notice
from fateforger.session.pending import pending_questions
from fateforger.session.recall import nameable_constraints
from fateforger.session.stages import TRANSITIONS, Move, TimeboxingStage, target
from fateforger.text import speak
from fateforger.values import replace

TURN_INIT, DECISION, TRANSITION, PRESENTER = "turn_init", "decision", "transition", "presenter"


class Step(BaseModel):
    """Message from one node to the next: the current stage and the move to make from there.

    A message in words may produce several commands: ``rest`` holds those after the first, and ``lines`` are shown at
    the end.
    """

    model_config = ConfigDict(frozen=True)
    stage: TimeboxingStage
    move: Move = Move.STAY
    refused: bool = False
    turn: TurnInput | None = Field(None, exclude=True, repr=False)
    stage_input: StageInput | None = Field(None, exclude=True, repr=False)
    rest: tuple[SessionCommand, ...] = Field((), exclude=True, repr=False)
    heard: tuple[SessionCommand, ...] = Field((), exclude=True, repr=False)
    lines: tuple[str, ...] = Field((), exclude=True, repr=False)
    last_words: LastWords | None = Field(None, exclude=True, repr=False)
    effects: tuple[Effect, ...] = Field((), exclude=True, repr=False)
    outcome: TurnOutcome | None = Field(None, exclude=True, repr=False)


Message = StructuredMessage[Step]
Work = Callable[[Step], Step | Awaitable[Step]]
T = TypeVar("T")


class Node(BaseChatAgent):
    """Graph node that runs a function. All functions are pure except the one that asks a model to read a message."""

    def __init__(self, name: str, work: Work) -> None:
        super().__init__(name, description=(work.__doc__ or name).strip())
        self._work = work

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (Message,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        step = messages[-1]
        if not isinstance(step, StructuredMessage) or not isinstance(step.content, Step):
            raise TypeError(f"{self.name} was handed a {type(step).__name__}")
        with speak(_language_of(step.content)):
            done = self._work(step.content)
            content = await cancellation_token.link_future(asyncio.ensure_future(done)) if _is_awaitable(done) else done
        return Response(chat_message=Message(content=content, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        del cancellation_token  # A node keeps no state.


def _language_of(step: Step) -> str:
    """Return the language of the session: as it is when the turn begins, or as its message was written."""
    return (_require(step.turn) if step.stage_input is None else step.stage_input).session.options.language


def stage_node(stage: TimeboxingStage) -> str:
    """Return the name of a stage's node."""
    return f"stage_{stage.value}"


def build_timeboxing_graphflow(model: Model | None = None) -> GraphFlow:
    """Build a graph for one turn. Without a ``model``, messages are not read."""
    builder = DiGraphBuilder()
    works: dict[str, Work] = {TURN_INIT: _turn_init, DECISION: _build_decision(model), TRANSITION: _transition}
    works |= {stage_node(stage): _in_thread for stage in TimeboxingStage}
    works[PRESENTER] = _presenter
    for name, work in works.items():
        builder.add_node(Node(name, work), activation="any")
    builder.add_edge(TURN_INIT, DECISION)
    builder.add_edge(DECISION, TRANSITION)
    _edge(builder, TRANSITION, PRESENTER, lambda step: step.refused)
    for stage in TimeboxingStage:
        _edge(builder, TRANSITION, stage_node(stage), _lets_in(stage))
        for goal, moves in group_moves_by_goal(stage).items():
            name = PRESENTER if goal is stage else stage_node(goal)
            _edge(builder, stage_node(stage), name, _makes_one_of(moves))
    builder.set_entry_point(TURN_INIT)
    return GraphFlow(
        builder.get_participants(), graph=builder.build(), max_turns=MOST_STEPS, custom_message_types=[Message]
    )


@cache
def group_moves_by_goal(stage: TimeboxingStage) -> dict[TimeboxingStage, frozenset[Move]]:
    """Return the moves from a stage, by the stage they lead to. A move to the stage itself ends the turn."""
    moves = {Move.STAY, *TRANSITIONS[stage]}
    goals = {target(stage, move) for move in moves} - {None}
    return {goal: frozenset(m for m in moves if target(stage, m) is goal) for goal in goals if goal is not None}


async def run_graph(turn: TurnInput, model: Model | None = None) -> TurnOutcome:
    """Run the graph once.

    Cancellation also cancels the work a node waits for; the library alone would let it finish first.
    """
    task = Message(content=Step(stage=turn.session.stage, turn=turn), source="coordinator")
    token = CancellationToken()
    running = asyncio.ensure_future(build_timeboxing_graphflow(model).run(task=task, cancellation_token=token))
    try:
        result = await asyncio.shield(running)
    except asyncio.CancelledError:
        token.cancel()
        await asyncio.wait([running])
        raise
    last = result.messages[-1]
    if not isinstance(last, StructuredMessage) or last.content.outcome is None:
        raise RuntimeError(f"the turn ended at {last.source}, not at the presenter")
    outcome: TurnOutcome = last.content.outcome
    return outcome


def _is_awaitable(done: Step | Awaitable[Step]) -> TypeGuard[Awaitable[Step]]:
    return inspect.isawaitable(done)


def _edge(builder: DiGraphBuilder, source: str, goal: str, condition: Callable[[Step], bool]) -> None:
    def holds(message: BaseChatMessage) -> bool:
        return isinstance(message, StructuredMessage) and condition(message.content)

    builder.add_edge(source, goal, condition=holds, activation_condition="any")


def _lets_in(stage: TimeboxingStage) -> Callable[[Step], bool]:
    return lambda step: not step.refused and step.stage is stage


def _makes_one_of(moves: frozenset[Move]) -> Callable[[Step], bool]:
    return lambda step: step.move in moves


def _turn_init(step: Step) -> Step:
    """Clear the last notice and apply the fresh readings to the session."""
    turn = _require(step.turn)
    first = StageInput(
        session=begin_turn(turn),
        asked=Move.STAY,
        command=turn.command,
        cause=turn.command.command_id,
        now=turn.now,
        memory=turn.memory,
    )
    return Step(
        stage=step.stage,
        turn=turn,
        stage_input=first,
        rest=turn.rest,
        lines=turn.lines,
        last_words=turn.last_words,
    )


def _build_decision(model: Model | None) -> Work:
    async def decision(step: Step) -> Step:
        """Determine the move that a command asks for. A message in words is read by the model first."""
        given = _require(step.stage_input)
        if model is None or not isinstance(given.command, TimeboxingUserReply):
            return _asking(step, given, given.command)
        memory = given.memory or MemoryReading()
        listed = nameable_constraints(given.session, memory.versions, memory.near)
        # A yes refers to the card that the person had in view, whatever has been found out since.
        turn = _require(step.turn)
        in_view = pending_questions(turn.session, turn.proposals)
        heard = await read_message(given.command, given.session, model, listed, in_view)
        if heard.language is not None:
            given = replace(given, session=given.session.with_options(language=heard.language))
        before = given.session.thread.last_words if heard.asks_back else None
        words = None if heard.spoken is None else LastWords.of(heard.spoken, asks=heard.asks)
        step = replace(step, last_words=words or before)
        if heard.trouble or not heard.commands:
            notice = Notice(lines=heard.trouble or heard.lines, refused=bool(heard.trouble), code=heard.code)
            return _refuse(step, given, notice)
        first, *rest = heard.commands
        asking = _asking(step, replace(given, command=first), first)
        return replace(asking, rest=tuple(rest), lines=(*step.lines, *heard.lines), heard=heard.commands)

    return decision


def _asking(step: Step, given: StageInput, command: SessionCommand | None) -> Step:
    asked = Move.STAY if command is None else get_requested_move(command)
    return replace(step, move=asked, stage_input=replace(given, asked=asked))


def _refuse(step: Step, given: StageInput, notice: Notice) -> Step:
    session = given.session.with_thread(notice=notice)
    stopped = replace(given, session=session)
    return replace(step, move=Move.STAY, refused=True, rest=(), stage_input=stopped)


def _transition(step: Step) -> Step:
    """Refuse a command that is not allowed in the current stage."""
    given = _require(step.stage_input)
    no = None if step.refused or given.command is None else find_refusal(given.session, given.command)
    return step if no is None else _refuse(step, given, no.notice)


async def _in_thread(step: Step) -> Step:
    """Run the stage in a thread: drafting takes a good part of a second of CPU time."""
    return await asyncio.to_thread(_stage, step)


def _stage(step: Step) -> Step:
    """Run the stage, command by command, and hand over to the next stage if a move leads there."""
    given = _require(step.stage_input)
    output = run_stage(given)
    step = replace(step, effects=(*step.effects, *output.effects))
    goal = target(step.stage, output.move)
    if goal is not None and goal is not step.stage:
        arriving = replace(
            given,
            session=replace(output.session, stage=goal),
            asked=Move.STAY,
            command=output.command,
            arrived=output.move,
        )
        return replace(step, stage=goal, move=output.move, stage_input=arriving)
    here = replace(given, session=output.session)
    notice = output.session.thread.notice
    held = output.session.sync.held is not None and output.session.sync.held.asked == given.cause
    # A held change can be confirmed within the same message; a move does not proceed until it is answered.
    answer = held and bool(step.rest) and isinstance(step.rest[0], JUDGEMENTS)
    if not step.rest or (held and not answer) or (notice is not None and notice.refused and not held):
        return replace(step, move=Move.STAY, rest=(), stage_input=here)
    command, *rest = step.rest
    following = replace(here, command=command, arrived=None)
    after = _transition(_asking(replace(step, rest=tuple(rest)), following, command))
    return after if after.refused else _stage(after)


def _presenter(step: Step) -> Step:
    """Build the outcome of the turn."""
    given = _require(step.stage_input)
    session = given.session
    if given.command is None or not given.command.is_view:
        session = session.with_thread(last_words=step.last_words)
    if session.sync.held is not None and session.sync.held.asked != given.cause and not _keeps_held(given.command):
        session = session.with_sync(held=None)
    if step.lines:
        session = session.remark(*step.lines)
    outcome = replace(present_outcome(session, step.effects), heard=step.heard, lines=step.lines)
    return Step(stage=step.stage, outcome=outcome)


def _keeps_held(command: SessionCommand | None) -> bool:
    """Check whether a held change can still be answered after this command.

    That is so after opening or closing a view, a question, or words without effect, such as an answer that has to be
    asked for again.
    """
    if command is None:
        return False
    return command.is_view or isinstance(command, ExplainBlock | TimeboxingUserReply)


def _require(value: T | None) -> T:
    if value is None:
        raise RuntimeError("a node ran before the one it depends on")
    return value
