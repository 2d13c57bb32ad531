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

from fateforger.conversation.language.answers import Wish
from fateforger.conversation.language.message_reader import MessageReading, find_wishes, read_wish
from fateforger.conversation.plan_nodes import JUDGEMENTS
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import (
    Effect,
    GoBack,
    MemoryReading,
    StageInput,
    TurnInput,
    TurnOutcome,
    UndoGroup,
    UndoUpdate,
    begin_turn,
    present_outcome,
)
from fateforger.ports.model import Model
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ExplainBlock
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.gate import find_refusal, get_requested_move
from fateforger.session.messages import LastWords, Notice, join_notices
from fateforger.session.pending import PendingQuestion, pending_questions
from fateforger.session.recall import nameable_constraints
from fateforger.session.stages import MOST_STEPS, TRANSITIONS, Move, TimeboxingStage, target
from fateforger.text import gettext as _
from fateforger.text import mark_message, speak
from fateforger.values import replace

TURN_INIT, DECISION, TRANSITION, PRESENTER = "turn_init", "decision", "transition", "presenter"


class Hearing(BaseModel):
    """Progress through a message in words, which may hold several wishes, each with several commands.

    ``rest`` holds the commands after the first of the current wish, ``wishes`` and ``later`` what follows it, unread
    and read; with ``ended`` that is left for another turn. ``heard`` holds the commands so far, ``notices`` what came
    of them; ``blocked`` is true if one was refused or waits for an answer. ``lines`` are shown at the end; ``answers``
    are those to wishes without a command.
    """

    model_config = ConfigDict(frozen=True)
    rest: tuple[SessionCommand, ...] = ()
    wishes: tuple[Wish, ...] = ()
    later: tuple[tuple[SessionCommand, ...], ...] = ()
    heard: tuple[tuple[SessionCommand, ...], ...] = ()
    notices: tuple[Notice, ...] = ()
    lines: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    last_words: LastWords | None = None
    begun: bool = False
    ended: bool = False
    blocked: bool = False
    rules: bool = False
    number: int = 0

    @property
    def has_more(self) -> bool:
        """True while wishes are left for this turn."""
        return bool(self.wishes or self.later) and not self.ended


class Step(BaseModel):
    """Message from one node to the next: the current stage and the move to make from there."""

    model_config = ConfigDict(frozen=True)
    stage: TimeboxingStage
    move: Move = Move.STAY
    refused: bool = False
    turn: TurnInput | None = Field(None, exclude=True, repr=False)
    stage_input: StageInput | None = Field(None, exclude=True, repr=False)
    hearing: Hearing = Field(Hearing(), exclude=True, repr=False)
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
    return f"stage_{stage.value}"


def build_timeboxing_graphflow(model: Model | None = None) -> GraphFlow:
    """Build a graph for one turn. Without a ``model``, messages are not read."""
    builder = DiGraphBuilder()
    works: dict[str, Work] = {TURN_INIT: _turn_init, DECISION: _build_decision(model), TRANSITION: _transition}
    works |= {stage_node(stage): _in_thread for stage in TimeboxingStage}
    works[PRESENTER] = _presenter
    for name, work in works.items():
        builder.add_node(Node(name, work), activation="any")
    _edge(builder, TURN_INIT, DECISION, lambda _step: True)
    builder.add_edge(DECISION, TRANSITION)
    _edge(builder, TRANSITION, PRESENTER, lambda step: step.refused and not step.hearing.has_more)
    _edge(builder, TRANSITION, DECISION, lambda step: step.refused and step.hearing.has_more)
    for stage in TimeboxingStage:
        _edge(builder, TRANSITION, stage_node(stage), _lets_in(stage))
        for goal, moves in group_moves_by_goal(stage).items():
            if goal is stage:
                _edge(builder, stage_node(stage), PRESENTER, _ends_with(moves, more=False))
                _edge(builder, stage_node(stage), DECISION, _ends_with(moves, more=True))
            else:
                _edge(builder, stage_node(stage), stage_node(goal), _makes_one_of(moves))
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


def _ends_with(moves: frozenset[Move], *, more: bool) -> Callable[[Step], bool]:
    return lambda step: step.move in moves and step.hearing.has_more is more


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
    hearing = Hearing(
        rest=turn.rest,
        wishes=turn.wishes,
        later=turn.later,
        blocked=turn.blocked,
        lines=turn.lines,
        last_words=turn.last_words,
    )
    return Step(stage=step.stage, turn=turn, stage_input=first, hearing=hearing)


def _build_decision(model: Model | None) -> Work:
    async def decision(step: Step) -> Step:
        """Determine the move that a command asks for. Words are read by the model first, wish by wish."""
        given = _require(step.stage_input)
        if step.hearing.begun:
            return await _take_next(step, model)
        hearing, command = replace(step.hearing, begun=True), given.command
        step = replace(step, hearing=hearing)
        if model is None or not isinstance(command, TimeboxingUserReply):
            heard = () if command is None or not (hearing.has_more or hearing.rest) else ((command, *hearing.rest),)
            return _asking(replace(step, hearing=replace(hearing, heard=heard, number=1)), given, command)
        if hearing.has_more:
            return await _take_next(step, model)
        found = await find_wishes(command, given.session, model, _list_in_view(step))
        if found.language is not None:
            given = replace(given, session=given.session.with_options(language=found.language))
        hearing = replace(hearing, wishes=found.wishes, rules=found.rules)
        step = replace(step, hearing=hearing, stage_input=given)
        if found.trouble:
            unread = "" if command.withheld else command.text
            return _refuse(step, given, Notice(lines=found.trouble, refused=True, unread=unread))
        with speak(given.session.options.language):
            taken = await _take_next(step, model)
        if taken.refused:
            return taken
        return replace(taken, hearing=replace(taken.hearing, lines=(*found.lines, *taken.hearing.lines)))

    return decision


NOT_GONE_ON = mark_message("Because of that I did not go on.")
_GOES_ON = frozenset({Move.PROCEED, Move.RETRY})


async def _take_next(step: Step, model: Model | None) -> Step:
    """Begin with the next wish of a message, in the session as those before it left it."""
    given, hearing = _require(step.stage_input), step.hearing
    notice = given.session.thread.notice
    if hearing.number and notice is not None:
        hearing = replace(hearing, notices=(*hearing.notices, notice))
        given = replace(given, session=given.session.with_thread(notice=None))
    given = replace(given, arrived=None)
    if any(isinstance(effect, _TAKES_BACK) for effect in step.effects) or (model is None and not hearing.later):
        ended = replace(hearing, ended=True, rest=())
        return replace(step, move=Move.STAY, refused=True, hearing=ended, stage_input=given)
    hearing = replace(hearing, number=hearing.number + 1, rest=())
    lines: tuple[str, ...] = ()
    if hearing.later:
        commands, *later = hearing.later
        hearing = replace(hearing, later=tuple(later))
    else:
        wish, *wishes = hearing.wishes
        hearing = replace(hearing, wishes=tuple(wishes))
        read = await _read_wish(replace(step, hearing=hearing), given, wish, _require(model))
        before = given.session.thread.last_words if read.asks_back else None
        words = None if read.spoken is None else LastWords.of(read.spoken, asks=read.asks)
        hearing = replace(hearing, last_words=words or before or hearing.last_words)
        commands, lines = read.commands, read.lines
        if read.trouble or not commands:
            notice = Notice(lines=read.trouble or lines, refused=bool(read.trouble), code=read.code)
            return _answer(replace(step, hearing=hearing), given, notice)
    if hearing.blocked and any(get_requested_move(command) in _GOES_ON for command in commands):
        return _answer(replace(step, hearing=hearing), given, Notice(lines=(_(NOT_GONE_ON),), refused=True))
    first, *rest = commands
    hearing = replace(
        hearing, rest=tuple(rest), lines=(*hearing.lines, *lines), heard=(*hearing.heard, tuple(commands))
    )
    return _asking(replace(step, refused=False, hearing=hearing), replace(given, command=first), first)


_TAKES_BACK = (UndoUpdate, UndoGroup, GoBack)
"""Effects that change the plan after the graph, so that the next wish can only be read in another turn."""


async def _read_wish(step: Step, given: StageInput, wish: Wish, model: Model) -> MessageReading:
    """Read a wish. What it makes has keys of its own, so the id of a further wish has its number."""
    memory, turn = given.memory or MemoryReading(), _require(step.turn)
    command, number = turn.command, step.hearing.number
    text = command.text if isinstance(command, TimeboxingUserReply) else ""
    reply = TimeboxingUserReply(
        command_id=command.command_id if number == 1 else f"{command.command_id}/{number}",
        user_id=command.user_id,
        at=command.at,
        session_id=command.session_id,
        text=wish.words or text,
    )
    listed = nameable_constraints(given.session, memory.versions)
    return await read_wish(wish, reply, given.session, model, listed, _list_in_view(step), turn.context)


def _list_in_view(step: Step) -> tuple[PendingQuestion, ...]:
    """Return what a yes refers to: the card that the person had in view, whatever has been found out since.

    What an earlier wish of the same message answered is not asked any more.
    """
    turn, session = _require(step.turn), _require(step.stage_input).session
    shown = tuple(pending_questions(turn.session, turn.proposals))
    return (
        shown if step.hearing.number < 2 else tuple(q for q in shown if q in pending_questions(session, turn.proposals))
    )


def _asking(step: Step, given: StageInput, command: SessionCommand | None) -> Step:
    asked = Move.STAY if command is None else get_requested_move(command)
    return replace(step, move=asked, stage_input=replace(given, asked=asked))


def _answer(step: Step, given: StageInput, notice: Notice) -> Step:
    """Answer a wish without a command. The answer is kept in case the other commands are carried out again."""
    refused = _refuse(step, given, notice)
    return replace(refused, hearing=replace(refused.hearing, answers=(*step.hearing.answers, *notice.lines)))


def _refuse(step: Step, given: StageInput, notice: Notice) -> Step:
    session = given.session.with_thread(notice=notice)
    stopped = replace(given, session=session)
    hearing = replace(step.hearing, blocked=step.hearing.blocked or notice.refused, rest=())
    return replace(step, move=Move.STAY, refused=True, hearing=hearing, stage_input=stopped)


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
    here, hearing = replace(given, session=output.session), step.hearing
    notice = output.session.thread.notice
    held = output.session.sync.held is not None and output.session.sync.held.asked == given.cause
    # A held change can be confirmed within the same message; a move does not proceed until it is answered.
    answer = held and bool(hearing.rest) and isinstance(hearing.rest[0], JUDGEMENTS)
    refused = notice is not None and notice.refused
    stayed = given.asked is Move.PROCEED and given.arrived is None
    if not hearing.rest or (held and not answer) or (refused and not held) or stayed:
        hearing = replace(hearing, rest=(), blocked=hearing.blocked or held or refused or stayed)
        return replace(step, move=Move.STAY, hearing=hearing, stage_input=here)
    command, *rest = hearing.rest
    step = replace(step, hearing=replace(hearing, rest=tuple(rest)))
    after = _transition(_asking(step, replace(here, command=command, arrived=None), command))
    return after if after.refused else _stage(after)


def _presenter(step: Step) -> Step:
    """Build the outcome of the turn."""
    given, hearing = _require(step.stage_input), step.hearing
    session = given.session
    if given.command is None or not given.command.is_view:
        session = session.with_thread(last_words=hearing.last_words)
    if session.sync.held is not None and session.sync.held.asked != given.cause and not _keeps_held(given.command):
        session = session.with_sync(held=None)
    notice = join_notices((*hearing.notices, session.thread.notice))
    session = session.with_thread(notice=None if notice is None else notice.with_lines_once())
    if hearing.lines:
        session = session.remark(*hearing.lines)
    outcome = replace(
        present_outcome(session, step.effects),
        wishes=hearing.heard,
        lines=(*hearing.lines, *hearing.answers),
        rules=hearing.rules,
        left=hearing.wishes,
        left_later=hearing.later,
    )
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
