"""Read a message in a thread and turn it into commands (K4, S124). At most two questions to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar, assert_never

from pydantic import BaseModel

from fateforger.constraints import Version
from fateforger.errors import BadInput, ModelError, ModelTimedOut, ModelUnusable, UserError
from fateforger.ports import Model, Role
from fateforger.session.commands import ApplyPatch, ExplainBlock, SessionCommand, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.moves import offered_moves
from fateforger.session.pending import PendingQuestion, pending_questions
from fateforger.session.recall import count_left_out, followed_constraints
from fateforger.stages import TimeboxingStage
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.constants import DECISION_LIMIT, GATE_LIMIT
from fateforger.turn.patcher import TimeboxPatcher
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts, meaning
from fateforger.turn.reading.answering import answer_pending, find_unanswered
from fateforger.turn.reading.besides import read_aside
from fateforger.turn.reading.course import course_commands
from fateforger.turn.reading.facts import Row, Table
from fateforger.turn.reading.remembered import memory, reminders
from fateforger.turn.reading.remembering import memory_commands
from fateforger.turn.reading.rules import MemoryWords
from fateforger.turn.reading.values import (
    AnswerWords,
    DayWords,
    Decision,
    Intent,
    ReplanWords,
)
from fateforger.values import replace

T = TypeVar("T", bound=BaseModel)
Stage = TimeboxingStage

PURPOSES = {
    Stage.DATE: "which day is planned, and in which time zone.",
    Stage.COLLECT_CONSTRAINTS: "when the day starts and ends, and the lunch break; the meetings are known already.",
    Stage.CAPTURE_INPUTS: "what the person wants to get done, how long it takes, and which of it matters most.",
    Stage.SKELETON: "a first draft of the day, to look at.",
    Stage.REFINE: "the plan, block by block: add, move, resize, rename, remove. Proceeding puts it on the calendar.",
    Stage.REVIEW_COMMIT: "the plan is on the calendar. Changes are still possible.",
}
NOTHING = "I found nothing in that to change here. Say it another way, or use the buttons and forms on this card."
ONE_AT_A_TIME = "One thing at a time: I took the first part of that; please say the rest once more."
REMEDY = "The buttons and forms on this card do the same."


@dataclass(frozen=True, slots=True)
class MessageReading:
    """Result of reading a message.

    ``commands`` are in order, ``lines`` are for the person, and ``trouble`` says why the message could not be read.
    """

    commands: tuple[SessionCommand, ...] = ()
    lines: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    spoken: str | None = None
    """Text that the person may answer next in words; with ``asks`` it is a question, otherwise a remark."""
    asks: bool = True
    asks_back: bool = False
    """If true, the pending question and the last words stay as they are."""


async def read_message(
    reply: TimeboxingUserReply,
    session: Session,
    model: Model,
    nameable: Sequence[Version] = (),
    waiting: Sequence[PendingQuestion] | None = None,
) -> MessageReading:
    """Read a message. Changes nothing, and raises nothing for a failing model.

    A classification that fails or times out counts as giving information, never as a move (S124). ``nameable`` are the
    constraints that the message may refer to. ``waiting`` are the questions and offers on the card that the person had
    in view; by default those of the session. A yes or no refers only to these (see
    :mod:`fateforger.turn.reading.answering`).
    """
    ear = _MessageReader(reply, session, model, nameable, pending_questions(session) if waiting is None else waiting)
    try:
        decision = await ear.classify()
    except (ModelTimedOut, ModelUnusable):
        decision = Decision(intent=Intent.ANSWER, number=None, also=False)
    except ModelError as error:
        return MessageReading(trouble=(error.message, REMEDY))
    try:
        heard = await _follow_decision(ear, decision)
    except ModelError as error:
        return MessageReading(trouble=(error.message, REMEDY))
    except UserError as error:
        return MessageReading(trouble=(error.message,), spoken=error.message, asks=False)
    return heard if heard.commands or heard.lines else MessageReading(lines=(NOTHING,))


async def _follow_decision(ear: _MessageReader, decision: Decision) -> MessageReading:
    first = find_unanswered(ear.waiting, decision.intent)
    if first:
        return MessageReading(lines=first, asks_back=True)
    match decision.intent:
        case Intent.ACCEPT_PENDING | Intent.REFUSE_PENDING:
            return await ear.answer_pending(decision)
        case Intent.ASK:
            return await ear.answer_question()
        case Intent.MEMORY:
            return await ear.read_memory_request(also=decision.also)
        case Intent.ANSWER:
            return await ear.read_stage_values()
        case Intent.REPLAN:
            return await ear.read_progress(also=decision.also)
        case Intent.PROCEED if decision.also:
            told = await ear.read_stage_values()
            on = meaning.move_of(ear.reply, ear.session, Intent.PROCEED)
            return replace(told, commands=(*told.commands, on)) if not told.lines else told
        case _:
            aside = read_aside(ear.reply, ear.session, decision, ear.waiting)
            command = aside or meaning.move_of(ear.reply, ear.session, decision.intent)
            return MessageReading((command,), (ONE_AT_A_TIME,) if decision.also else ())


class _MessageReader:
    """Reader of one message in one session."""

    def __init__(
        self,
        reply: TimeboxingUserReply,
        session: Session,
        model: Model,
        nameable: Sequence[Version],
        waiting: Sequence[PendingQuestion],
    ) -> None:
        self.reply = reply
        self.session = session
        self.waiting = waiting
        self._model = model
        self._now: datetime = reply.at
        self._nameable = nameable

    async def classify(self) -> Decision:
        """Classify the message."""
        there = offered_moves(self.session)
        possible = [intent.value for intent, move in meaning.MOVES.items() if move in there]
        return await self._ask(
            "decide",
            Role.DECIDE,
            Decision,
            tables=self._list_numbered_rows(),
            seconds=DECISION_LIMIT,
            words={
                **self._step(),
                "possible": ", ".join([*possible, "answer", "ask"]),
                "planned": self.session.stage in {Stage.REFINE, Stage.REVIEW_COMMIT},
                "last_step": self.session.stage is Stage.REFINE,
                "history": self.session.history is not None,
                "preview": self.session.preview is not None,
                "memory": self.session.memory is not None,
                "pending": bool(self.waiting),
                "kinds": {question.kind.value for question in self.waiting},
            },
        )

    def _list_numbered_rows(self) -> list[Table]:
        """Return the lists whose rows the message can refer to by number."""
        tables = [facts.list_pending(self.waiting)] if self.waiting else []
        return [*tables, facts.history(self.session)] if self.session.history is not None else tables

    async def answer_pending(self, decision: Decision) -> MessageReading:
        """Answer the pending question. A message that answers the last words is read together with them."""
        answer = answer_pending(self.reply, self.waiting, decision)
        if answer.in_words:
            return await self.read_stage_values()
        more = (ONE_AT_A_TIME,) if decision.also else ()
        return MessageReading(
            () if answer.command is None else (answer.command,), (*answer.lines, *more), asks_back=answer.asks_back
        )

    async def answer_question(self) -> MessageReading:
        """Answer a question from the tables alone. Code explains the position of a block."""
        kept = reminders(followed_constraints(self.session), left_out=count_left_out(self.session))
        words = await self._ask(
            "ask",
            Role.GATE,
            AnswerWords,
            shown=(("frame", facts.frame_facts(self.session)), ("quality", facts.quality_facts(self.session))),
            tables=(
                facts.tasks(self.session),
                facts.blocks(self.session),
                facts.meetings(self.session),
                facts.findings(self.session),
                *kept,
            ),
            words={**self._step(), "remembered": bool(kept)},
        )
        events = () if self.session.plan is None else self.session.plan.events
        if words.block is None or not 0 <= words.block < len(events):
            return MessageReading(lines=(words.answer,), spoken=words.answer, asks=False)
        return MessageReading((ExplainBlock(**meaning.envelope(self.reply), key=events[words.block].block_key),))

    async def read_memory_request(self, *, also: bool) -> MessageReading:
        """Extract the change of memory that the message asks for; the plan is not touched (S24)."""
        words = await self._ask(
            "memory",
            Role.GATE,
            MemoryWords,
            tables=(
                memory(self._nameable, followed_constraints(self.session)),
                facts.list_upcoming_days(self._now, self.session.tz),
            ),
        )
        wanted = memory_commands(self.reply, self.session, self._nameable, words)
        return MessageReading(
            wanted, (*_to_lines(words.question), *((ONE_AT_A_TIME,) if also else ())), spoken=words.question
        )

    async def read_progress(self, *, also: bool) -> MessageReading:
        """Extract the progress of the day: delays, finished blocks, and blocks that are not for today."""
        words = await self._ask(
            "replan",
            Role.GATE,
            ReplanWords,
            shown=(("clock", facts.clock(self.session, self._now)), ("frame", facts.frame_facts(self.session))),
            tables=(facts.blocks(self.session), facts.meetings(self.session), facts.list_unplaced(self.session)),
            words=self._step(),
        )
        lines = (*_to_lines(words.question), *((ONE_AT_A_TIME,) if also else ()))
        return MessageReading(course_commands(self.reply, self.session, words), lines, spoken=words.question)

    async def read_stage_values(self) -> MessageReading:
        """Extract the values that the message gives for the current stage."""
        match self.session.stage:
            case Stage.DATE:
                return await self._day(
                    "date", [facts.list_upcoming_days(self._now, self.session.tz), facts.tasks(self.session)]
                )
            case Stage.COLLECT_CONSTRAINTS | Stage.CAPTURE_INPUTS:
                return await self._day("facts", [*self._list_tasks(), facts.meetings(self.session)])
            case Stage.SKELETON:
                known = (*self._list_tasks(), facts.meetings(self.session), facts.blocks(self.session))
                return await self._day("facts", known)
            case Stage.REFINE | Stage.REVIEW_COMMIT:
                return await self._patch()
            case _:
                assert_never(self.session.stage)

    def _list_tasks(self) -> list[Table]:
        """Return the tasks of the day, and those that could be added."""
        more = [facts.list_left_over(self.session)] if self.session.offered else []
        return [facts.tasks(self.session), *more]

    async def _day(self, name: str, tables: Sequence[Table]) -> MessageReading:
        kept = (
            reminders(followed_constraints(self.session), left_out=count_left_out(self.session))
            if name == "facts"
            else ()
        )
        words = await self._ask(
            name,
            Role.GATE,
            DayWords,
            shown=(("frame", facts.frame_facts(self.session)),),
            tables=(*tables, *kept),
            words={**self._step(), "drafted": self.session.stage is Stage.SKELETON, "remembered": bool(kept)},
        )
        wanted = meaning.day_commands(self.reply, self.session, words)
        return MessageReading(wanted, _to_lines(words.question), spoken=words.question)

    async def _patch(self) -> MessageReading:
        # A correction of the committed plan is carried out in Refine within the same turn (S52).
        refining = replace(self.session, stage=Stage.REFINE)
        patcher = TimeboxPatcher(self._model)
        asked = await patcher.patch(refining, self.reply.text, cause=self.reply.command_id, now=self._now)
        change = ApplyPatch(**meaning.envelope(self.reply), patch=asked.patch)
        heard = MessageReading((change,) if asked.patch.ops else (), _to_lines(asked.question), spoken=asked.question)
        if asked.memory is None:
            return heard
        try:
            more = memory_commands(self.reply, refining, asked.shown, asked.memory)
        except BadInput as error:  # The change of the plan is still made.
            return replace(heard, lines=(*heard.lines, error.message), spoken=error.message)
        return replace(heard, commands=(*heard.commands, *more))

    def _step(self) -> Row:
        return {"step": self.session.stage.heading, "purpose": PURPOSES[self.session.stage]}

    async def _ask(
        self,
        name: str,
        role: Role,
        answer: type[T],
        *,
        shown: Sequence[tuple[str, Row]] = (),
        tables: Sequence[Table] = (),
        seconds: float = GATE_LIMIT,
        words: Row | None = None,
    ) -> T:
        day = ("day", facts.day_facts(self.session, self._now))
        last = self.session.last_words
        exchange = () if last is None else (("last_words", facts.last_words(last)),)
        prompt = prompt_for(
            name,
            role,
            answer,
            self.reply.text,
            facts=(day, *exchange, *shown),
            tables=tables,
            words={**(words or {}), "last_words": last is not None},
        )
        asked = await ask(self._model, ModelQuestion(prompt, answer, seconds=seconds))
        return asked.value


def _to_lines(question: str | None) -> tuple[str, ...]:
    return (question,) if question else ()
