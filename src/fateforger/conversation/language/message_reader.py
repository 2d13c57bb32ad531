"""Reader of messages in a thread (K4, S124).

A message costs one question to a model for what it wants, and at most one for each wish.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TypeVar, assert_never

from pydantic import BaseModel

from fateforger.conversation.language.answers import (
    AnswerWords,
    DayWords,
    Decision,
    Intent,
    MemoryWords,
    ReplanWords,
    Wish,
)
from fateforger.conversation.language.memory_requests import memory_commands
from fateforger.conversation.language.message_commands import (
    GOALS,
    INTENT_MOVES,
    answer_pending,
    command_fields,
    commands_to,
    course_commands,
    day_commands,
    find_unanswered,
    move_of,
    read_aside,
)
from fateforger.conversation.language.model_calls import ModelQuestion, Row, Table, ask, prompt_for
from fateforger.conversation.language.plan_ops import find_block
from fateforger.conversation.language.plan_proposals import TimeboxPatcher
from fateforger.conversation.language.queue_requests import ask_queue, read_request
from fateforger.conversation.language.tables import (
    OutsideContext,
    aim_facts,
    clock_facts,
    day_facts,
    exchange_facts,
    frame_facts,
    list_blocks,
    list_box_items,
    list_constraints,
    list_exchanges,
    list_findings,
    list_history,
    list_left_over,
    list_meetings,
    list_pending,
    list_reminders,
    list_tasks,
    list_unplaced,
    list_upcoming_days,
    quality_facts,
)
from fateforger.errors import ModelError, ModelTimedOut, ModelUnusable, UserError
from fateforger.memory.versions import Version
from fateforger.ports.model import Model, Role
from fateforger.session.boxes import list_boxes
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ApplyPatch, ExplainBlock, MovePlan
from fateforger.session.commands.thread import RequestWork, TimeboxingUserReply
from fateforger.session.gate import offered_moves
from fateforger.session.messages import NOTHING_FOUND
from fateforger.session.model import Session
from fateforger.session.pending import ABOUT_RULES, PendingKind, PendingQuestion, pending_questions
from fateforger.session.queue_commands import QueueCommandBase
from fateforger.session.recall import constraints_for_message, count_left_out, followed_constraints
from fateforger.session.stages import DECISION_LIMIT, GATE_LIMIT, TimeboxingStage
from fateforger.session.undone import find_undone
from fateforger.tasks.transitions import HydratedMessage, Purpose
from fateforger.text import gettext as _
from fateforger.text import mark_message, match_language
from fateforger.values import replace

log = logging.getLogger(__name__)


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
NOTHING = mark_message(
    "I found nothing in that to change here. Say it another way, or use the buttons and forms on this card."
)
UNSURE = mark_message(
    "The language model did not tell me in time what you want, so I took your message as information for this step."
)
REMEDY = mark_message("You can do the same with the buttons and forms on this card.")


@dataclass(frozen=True, slots=True)
class MessageReading:
    """Result of reading a message.

    ``commands`` are in order, ``lines`` are for the person, and ``trouble`` says why the message could not be read.
    """

    commands: tuple[SessionCommand, ...] = ()
    lines: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    code: str = ""
    """Code of the notice that the lines become."""
    spoken: str | None = None
    """Text that the person may answer next in words; with ``asks`` it is a question, otherwise a remark."""
    asks: bool = True
    asks_back: bool = False
    """If true, the pending question and the last words stay as they are."""


@dataclass(frozen=True, slots=True)
class MessageWishes:
    """What a message wants, in order; ``trouble`` says why it could not be read.

    ``rules`` is true if the message may say how the person's days should be in general. ``language`` is that of the
    message, if it is another one than that of the thread, which follows it. ``lines`` are for the person.
    """

    wishes: tuple[Wish, ...] = ()
    rules: bool = True
    language: str | None = None
    trouble: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


_TOLD = frozenset({Intent.ANSWER, Intent.CHANGE, Intent.ASK, Intent.MEMORY, Intent.REPLAN, Intent.WORK})
"""Intents whose part of the message is read further."""
_PLAN = frozenset({Intent.ANSWER, Intent.CHANGE})
"""Intents that change the plan, or what it is made from."""


async def find_wishes(
    reply: TimeboxingUserReply, session: Session, model: Model, waiting: Sequence[PendingQuestion]
) -> MessageWishes:
    """Return what a message wants. Raises nothing for a failing model.

    A classification that fails or times out counts as giving information, never as a move (S124), and the person is
    told so.
    """
    try:
        decision = await _MessageReader(reply, session, model, (), waiting).classify()
    except (ModelTimedOut, ModelUnusable):
        return MessageWishes((Wish(intent=Intent.ANSWER, number=None, words=None),), lines=(_(UNSURE),))
    except ModelError as error:
        return MessageWishes(trouble=(error.message, _(REMEDY)))
    wishes = merge_wishes(order_wishes(decision.wishes))
    if len(wishes) == 1:
        wishes = (replace(wishes[0], words=None),)
    return MessageWishes(wishes, decision.rules, find_new_language(session, decision.language))


def order_wishes(wishes: Sequence[Wish]) -> tuple[Wish, ...]:
    """Return the wishes with changes of the plan before what is said about rules, where both follow each other (S23).

    A change that a rule forbids is held back, and made once the same message takes that rule back.
    """
    ordered: list[Wish] = []
    for told, run in groupby(wishes, key=lambda wish: wish.intent in _PLAN | {Intent.MEMORY}):
        ordered += sorted(run, key=lambda wish: told and wish.intent is Intent.MEMORY)
    return tuple(ordered)


def merge_wishes(wishes: Sequence[Wish]) -> tuple[Wish, ...]:
    """Return the wishes, those of the same kind in a row as one, because they are read together."""
    merged: list[Wish] = []
    for wish in wishes:
        last = merged[-1] if merged else None
        if last is not None and last.intent is wish.intent and wish.intent in _TOLD - {Intent.ASK, Intent.WORK}:
            words = "\n".join(text for text in (last.words, wish.words) if text)
            merged[-1] = replace(last, words=words or None)
        else:
            merged.append(wish)
    return tuple(merged)


async def read_wish(
    wish: Wish,
    reply: TimeboxingUserReply,
    session: Session,
    model: Model,
    nameable: Sequence[Version] = (),
    waiting: Sequence[PendingQuestion] | None = None,
    context: OutsideContext | None = None,
) -> MessageReading:
    """Read one wish of a message. Changes nothing, and raises nothing for a failing model.

    ``reply`` holds the words of the wish. ``nameable`` are the constraints that it may refer to. ``waiting`` are the
    questions and offers on the card that the person had in view; by default those of the session. A yes or no refers
    only to these (see :mod:`fateforger.conversation.language.message_commands`). ``context`` is what a wish may be
    about that is not in the plan.
    """
    asked = pending_questions(session) if waiting is None else waiting
    reader = _MessageReader(reply, session, model, nameable, asked, context)
    try:
        heard = await _follow_wish(reader, wish)
    except ModelError as error:
        return MessageReading(trouble=(error.message, _(REMEDY)))
    except UserError as error:
        return MessageReading(trouble=(error.message,), spoken=error.message, asks=False)
    return heard if heard.commands or heard.lines else MessageReading(lines=(_(NOTHING),), code=NOTHING_FOUND)


def find_new_language(session: Session, written: str | None) -> str | None:
    """Return the language in which a message was written, if the thread has another one that was not chosen."""
    code = match_language(written)
    return None if code == session.options.language or session.options.language_chosen else code


async def read_memory_request(
    reply: TimeboxingUserReply, session: Session, model: Model, nameable: Sequence[Version]
) -> MessageReading:
    """Read a message about memory outside of a plan; ``session`` is that of the person, today.

    Raises nothing for a failing model.
    """
    try:
        return await _MessageReader(reply, session, model, nameable, ()).read_memory_request()
    except (ModelError, UserError) as error:
        return MessageReading(trouble=(error.message,))


async def _follow_wish(reader: _MessageReader, wish: Wish) -> MessageReading:
    session = reader.session
    first = find_unanswered(reader.waiting, wish.intent)
    if first:
        return MessageReading(lines=first, asks_back=True)
    match wish.intent:
        case Intent.ACCEPT_PENDING | Intent.REFUSE_PENDING:
            return await reader.answer_pending(wish)
        case Intent.ASK:
            return await reader.answer_question()
        case Intent.MEMORY:
            return await reader.read_memory_request()
        case Intent.WORK:
            return await reader.read_work()
        case Intent.CHANGE if session.stage is Stage.SKELETON:
            # A change of a draft is made in Refine, which the session goes on to by itself.
            heard = await reader.read_change()
            on = move_of(reader.reply, session, Intent.PROCEED)
            return replace(heard, commands=(on, *heard.commands)) if heard.commands else heard
        case Intent.ANSWER | Intent.CHANGE:
            return await reader.read_stage_values()
        case Intent.REPLAN:
            return await reader.read_progress()
        case Intent.DRAFT | Intent.COMMIT:
            return MessageReading(commands_to(reader.reply, session, GOALS[wish.intent]))
        case _:
            aside = read_aside(reader.reply, session, wish, reader.waiting)
            return MessageReading((aside or move_of(reader.reply, session, wish.intent),))


class _MessageReader:
    """Reader of one message in one session."""

    def __init__(
        self,
        reply: TimeboxingUserReply,
        session: Session,
        model: Model,
        nameable: Sequence[Version],
        waiting: Sequence[PendingQuestion],
        context: OutsideContext | None = None,
    ) -> None:
        self.reply = reply
        self.session = session
        self.waiting = waiting
        self._context = context or OutsideContext()
        self._model = model
        self._now: datetime = reply.at
        self._nameable = nameable

    async def classify(self) -> Decision:
        return await self._ask(
            "decide",
            Role.DECIDE,
            Decision,
            shown=(("possible", {"intents": " ".join(self._list_possible())}),),
            tables=self._list_numbered_rows(),
            seconds=DECISION_LIMIT,
        )

    def _list_possible(self) -> Iterator[Intent]:
        """Yield the intents that can be carried out now."""
        session, kinds = self.session, {question.kind for question in self.waiting}
        there = offered_moves(session)
        planned = session.stage in {Stage.REFINE, Stage.REVIEW_COMMIT}
        thread = session.thread
        missing = {
            Intent.ACCEPT_PENDING: not self.waiting,
            Intent.REFUSE_PENDING: not self.waiting,
            Intent.KEEP_CALENDAR: PendingKind.CALENDAR not in kinds,
            Intent.KEEP_PLAN: PendingKind.CALENDAR not in kinds,
            Intent.FIX: PendingKind.FIX not in kinds,
            Intent.CHANGE: not planned and session.stage is not Stage.SKELETON,
            Intent.REPLAN: not planned,
            Intent.DRAFT: session.stage.number >= Stage.SKELETON.number,
            Intent.COMMIT: session.stage is Stage.REVIEW_COMMIT,
            Intent.REDO_CHANGE: find_undone(session) is None,
            Intent.UNDO_WRITE: thread.history is None,
            Intent.REDO_WRITE: thread.history is None,
            Intent.OLDER_HISTORY: thread.history is None,
            Intent.CLOSE_HISTORY: thread.history is None,
            Intent.CLOSE_PREVIEW: thread.preview is None,
            Intent.CLOSE_MEMORY: thread.memory is None,
            **{intent: move not in there for intent, move in INTENT_MOVES.items()},
        }
        return (intent for intent in Intent if not missing.get(intent, False))

    def _list_numbered_rows(self) -> list[Table]:
        """Return the lists whose rows the message can refer to by number."""
        tables = [list_pending(self.waiting)] if self.waiting else []
        return [*tables, list_history(self.session)] if self.session.thread.history is not None else tables

    async def answer_pending(self, wish: Wish) -> MessageReading:
        """Answer the pending question. A message that answers the last words is read together with them."""
        answer = answer_pending(self.reply, self.waiting, wish)
        if answer.in_words:
            of_queue = answer.question is not None and answer.question.kind is PendingKind.QUEUE
            return await (self.read_work() if of_queue else self.read_stage_values())
        return MessageReading(
            () if answer.command is None else (answer.command,), answer.lines, asks_back=answer.asks_back
        )

    async def answer_question(self) -> MessageReading:
        """Answer a question from the tables alone. Code explains the position of a block."""
        kept = list_reminders(constraints_for_message(self.session), left_out=count_left_out(self.session))
        words = await self._ask(
            "ask",
            Role.GATE,
            AnswerWords,
            shown=(
                ("frame", frame_facts(self.session)),
                ("quality", quality_facts(self.session)),
                *aim_facts(self.session),
            ),
            tables=(
                list_tasks(self.session),
                list_blocks(self.session),
                list_meetings(self.session),
                list_findings(self.session),
                *kept,
            ),
        )
        key = None if words.block is None else find_block(self.session.planning.plan, words.block)
        if key is None:
            return MessageReading(lines=(words.answer,), spoken=words.answer, asks=False)
        return MessageReading((ExplainBlock(**command_fields(self.reply), key=key),))

    async def read_memory_request(self) -> MessageReading:
        """Extract the change of memory that the message asks for; the plan is not touched (S24)."""
        asked = [question for question in self.waiting if question.kind in ABOUT_RULES]
        words = await self._ask(
            "memory",
            Role.GATE,
            MemoryWords,
            tables=(
                list_constraints(self._nameable, followed_constraints(self.session)),
                *((list_pending(asked),) if asked else ()),
                list_upcoming_days(self._now, self.session.tz),
            ),
        )
        wanted = memory_commands(self.reply, self.session, self._nameable, words)
        return MessageReading(wanted, _to_lines(words.question), spoken=words.question)

    async def read_work(self) -> MessageReading:
        """Extract a request about the queue, the week or another day, as from a first message."""
        words = await ask_queue(self.reply, self.session, self._model, self._context)
        if words.wants is Purpose.MEMORY:
            return await self.read_memory_request()
        request = read_request(self.reply, words, self._context, self.session.tz)
        if request is None:
            return MessageReading()
        if isinstance(request, HydratedMessage | QueueCommandBase):
            request = RequestWork(**command_fields(self.reply), request=request)
        return MessageReading((request,))

    async def read_progress(self) -> MessageReading:
        """Extract the progress of the day: delays, finished blocks, and blocks that are not for today."""
        words = await self._ask(
            "replan",
            Role.GATE,
            ReplanWords,
            shown=(("clock", clock_facts(self.session, self._now)), ("frame", frame_facts(self.session))),
            tables=(
                list_blocks(self.session),
                list_meetings(self.session),
                list_unplaced(self.session),
                list_upcoming_days(self._now, self.session.tz),
                *((list_box_items(self.session),) if list_boxes(self.session) else ()),
                *list_reminders(followed_constraints(self.session), left_out=count_left_out(self.session)),
            ),
        )
        lines = _to_lines(words.question)
        return MessageReading(course_commands(self.reply, self.session, words), lines, spoken=words.question)

    async def read_stage_values(self) -> MessageReading:
        """Extract the values that the message gives for the current stage."""
        match self.session.stage:
            case Stage.DATE:
                return await self._day(
                    "date", [list_upcoming_days(self._now, self.session.tz), list_tasks(self.session)]
                )
            case Stage.COLLECT_CONSTRAINTS | Stage.CAPTURE_INPUTS:
                return await self._day("facts", [*self._list_tasks(), list_meetings(self.session)])
            case Stage.SKELETON:
                known = (*self._list_tasks(), list_meetings(self.session), list_blocks(self.session))
                return await self._day("facts", known)
            case Stage.REFINE | Stage.REVIEW_COMMIT:
                return await self.read_change()
            case _:
                assert_never(self.session.stage)

    def _list_tasks(self) -> list[Table]:
        """Return the tasks of the day, and those that could be added."""
        more = [list_left_over(self.session)] if self.session.open_work.offered else []
        return [list_tasks(self.session), *more]

    async def _day(self, name: str, tables: Sequence[Table]) -> MessageReading:
        kept = (
            list_reminders(constraints_for_message(self.session), left_out=count_left_out(self.session))
            if name == "facts"
            else ()
        )
        words = await self._ask(
            name,
            Role.GATE,
            DayWords,
            shown=(("frame", frame_facts(self.session)), *aim_facts(self.session)),
            tables=(*tables, *((list_upcoming_days(self._now, self.session.tz),) if name == "facts" else ()), *kept),
        )
        wanted = day_commands(self.reply, self.session, words)
        return MessageReading(wanted, _to_lines(words.question), spoken=words.question)

    async def read_change(self) -> MessageReading:
        """Extract a change of the plan."""
        # A correction of the committed plan is carried out in Refine within the same turn (S52).
        refining = replace(self.session, stage=Stage.REFINE)
        patcher = TimeboxPatcher(self._model)
        asked = await patcher.patch(refining, self.reply.text, cause=self.reply.command_id, now=self._now)
        head = command_fields(self.reply)
        changes: list[SessionCommand] = [ApplyPatch(**head, patch=asked.patch)] if asked.patch.ops else []
        if asked.day is not None and asked.day != self.session.date:
            changes.append(MovePlan(**head, day=asked.day))
        return MessageReading(tuple(changes), _to_lines(asked.question), spoken=asked.question)

    async def _ask(
        self,
        name: str,
        role: Role,
        answer: type[T],
        *,
        shown: Sequence[tuple[str, Row]] = (),
        tables: Sequence[Table] = (),
        seconds: float = GATE_LIMIT,
    ) -> T:
        stage = self.session.stage
        prompt = prompt_for(
            name,
            role,
            answer,
            self.reply.text,
            facts=(
                ("step", {"name": stage.heading, "purpose": PURPOSES[stage]}),
                ("day", day_facts(self.session, self._now)),
                *exchange_facts(self.session),
                *shown,
            ),
            tables=(*list_exchanges(self.session), *tables),
        )
        return await ask(self._model, ModelQuestion(prompt, answer, seconds=seconds))


def _to_lines(question: str | None) -> tuple[str, ...]:
    return (question,) if question else ()
