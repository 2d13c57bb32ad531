"""Reader of messages, in a thread and outside of any session (K4, S124, S153).

A message costs at most two questions to a model.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar, assert_never

from pydantic import BaseModel, ValidationError

from fateforger.conversation.language.answers import (
    AnswerWords,
    DayWords,
    Decision,
    Intent,
    MemoryWords,
    OpeningReading,
    ReplanWords,
    StartWords,
    WorkWords,
)
from fateforger.conversation.language.memory_tools import memory_commands
from fateforger.conversation.language.message_commands import (
    INTENT_MOVES,
    answer_pending,
    command_fields,
    course_commands,
    day_commands,
    find_unanswered,
    move_of,
    read_aside,
)
from fateforger.conversation.language.model_calls import ModelQuestion, ask, prompt_for
from fateforger.conversation.language.plan_proposals import TimeboxPatcher
from fateforger.conversation.language.tables import (
    LONGEST_TEXT,
    Row,
    Table,
    clock_facts,
    day_facts,
    frame_facts,
    last_words_facts,
    list_blocks,
    list_box_items,
    list_constraints,
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
from fateforger.errors import BadInput, ModelError, ModelTimedOut, ModelUnusable, UserError
from fateforger.memory.versions import Version
from fateforger.planning.task_details import PLAIN, TaskDetails, change_details
from fateforger.ports.model import Model, Role
from fateforger.session.boxes import list_boxes
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ApplyPatch, ExplainBlock
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.constants import DECISION_LIMIT, GATE_LIMIT
from fateforger.session.gate import offered_moves
from fateforger.session.model import Session
from fateforger.session.pending import PendingQuestion, pending_questions
from fateforger.session.recall import count_left_out, followed_constraints
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.intent import HydratedMessage, Purpose, path_of
from fateforger.tasks.task import (
    NORMAL,
    TEXT_LENGTH,
    TITLE_LENGTH,
    BlockTime,
    Decompose,
    Do,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    TaskSpec,
    Work,
)
from fateforger.text import current_language, mark_message, match_language, shorten, speak
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workflow.definition import list_shipped, load_shipped

log = logging.getLogger(__name__)

MOST_TASKS = 25
OWN = "timeboxing"
"""Workflow of the program itself, which no task uses."""
DECOMPOSE = "decompose"


def hydrate(reply: TimeboxingUserReply, words: StartWords, queue: Sequence[QueuedTask]) -> HydratedMessage | None:
    """Convert the words into a request; ``None`` if there is nothing to do and nothing to say."""
    path = path_of(words.wants, changes=words.changes)
    named = _find_task_id(words.number, queue)
    if words.wants is Purpose.WORK and words.work is not None and path == "enqueue":
        spec = _build_spec(reply, words.work)
        return HydratedMessage(
            intent=words.wants,
            execution_path=path,
            workflow=spec.workflow,
            spec=spec,
            simple=words.work.simple,
            haste=words.work.haste,
        )
    if words.wants in _OF_ONE and words.number is not None and named is None:
        # A task that does not exist must not start or end another one: the queue is shown instead (S223).
        return HydratedMessage(intent=Purpose.TASKS, execution_path=path_of(Purpose.TASKS))
    if words.wants is Purpose.DONE and named is None:
        return None
    if path == "enqueue" or (words.wants in _TALK and not words.answer):
        return None
    return HydratedMessage(intent=words.wants, execution_path=path, task_id=named, answer=words.answer or "")


_OF_ONE = frozenset({Purpose.PULL, Purpose.DONE})
_TALK = frozenset({Purpose.QUESTION, Purpose.CONVERSATION, Purpose.WORK})


def queue_table(queue: Sequence[QueuedTask]) -> Table:
    """Return a person's queue as a table, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": shorten(task.spec.title, LONGEST_TEXT),
            "state": task.state.value,
            "priority": task.spec.priority,
        }
        for number, task in enumerate(queue[:MOST_TASKS], 1)
    ]
    return "queue", rows, len(queue) - len(rows)


def workflow_table() -> Table:
    """Return the workflows whose rules can apply to a task."""
    rows = [{"name": name, "for": "; ".join(load_shipped(name).applies_when)} for name in list_shipped() if name != OWN]
    return "workflows", rows, 0


def _find_task_id(number: int | None, queue: Sequence[QueuedTask]) -> str | None:
    if number is None or not 1 <= number <= min(len(queue), MOST_TASKS):
        return None
    return queue[number - 1].id


def _build_spec(reply: TimeboxingUserReply, words: WorkWords) -> TaskSpec:
    """Build the task. Values that cannot be used are left out rather than guessed."""
    work = _build_work(words)
    known = words.workflow if words.workflow in list_shipped() and words.workflow != OWN else None
    given = {
        "title": words.title,
        "work": work,
        "project": words.project or "",
        "priority": NORMAL if words.priority is None else words.priority,
        "tags": tuple(dict.fromkeys(tag for tag in words.tags if tag))[:20],
        "context": (words.context or reply.text)[:TEXT_LENGTH],
        "relevant_files": tuple(name for name in words.files if name)[:50],
        "acceptance_criteria": tuple(text for text in words.criteria if text)[:50],
        "details": _build_details(words),
        "workflow": DECOMPOSE if isinstance(work, Decompose) else known or "",
    }
    try:
        return TaskSpec.model_validate(given)
    except ValidationError:
        return TaskSpec(title=words.title[:TITLE_LENGTH], work=work, context=reply.text[:TEXT_LENGTH])


def _build_details(words: WorkWords) -> TaskDetails:
    if words.details is None:
        return PLAIN
    try:
        return change_details(words.details.model_dump(exclude_none=True, exclude={"after"}))
    except BadInput:
        return PLAIN


def _build_work(words: WorkWords) -> Work:
    minutes = words.minutes if words.minutes is not None and 0 < words.minutes <= 24 * 60 else None
    match words.kind:
        case "plan_day" if words.date is not None:
            return PlanDay(date=words.date)
        case "block_time" if words.date is not None and minutes is not None:
            return BlockTime(date=words.date, minutes=minutes, start=words.start)
        case "decompose":
            return Decompose()
        case "review_rules":
            return ReviewConstraints()
        case _:
            return Do(minutes=minutes)


async def read_opening(
    reply: TimeboxingUserReply, session: Session, model: Model, queue: Sequence[QueuedTask] = ()
) -> OpeningReading:
    """Read a message that may begin ``session``, from a person with the given ``queue``.

    A failing model raises nothing; the reading says that the message is ``unread``.
    """
    prompt = prompt_for(
        "start",
        Role.DECIDE,
        StartWords,
        reply.text,
        facts=(
            ("day", {**day_facts(session, reply.at), **clock_facts(session, reply.at)}),
            ("frame", frame_facts(session)),
        ),
        tables=(list_upcoming_days(reply.at, session.tz), queue_table(queue), workflow_table()),
        words={"language": None},
    )
    try:
        words = (await ask(model, ModelQuestion(prompt, StartWords, seconds=DECISION_LIMIT))).value
    except ModelError as error:
        log.warning("a first message was not read: %s", error.message)
        return OpeningReading(plan=False, unread=True)
    language = find_new_language(session, words.language)
    if not words.plan:
        return OpeningReading(hydrated=hydrate(reply, words, queue), plan=False, language=language)
    with speak(language or current_language()):
        try:
            commands = day_commands(reply, session, words)
        except BadInput as error:
            return OpeningReading(lines=(error.message,), language=language)
    return OpeningReading(commands, (words.question,) if words.question else (), language=language)


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
NOTHING_FOUND = "nothing-found"
ONE_AT_A_TIME = mark_message("One thing at a time: I took the first part of that; please say the rest once more.")
REMEDY = mark_message("The buttons and forms on this card do the same.")


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
    language: str | None = None
    """Language of the message, if it is another one than that of the thread, which follows it."""


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
    :mod:`fateforger.conversation.language.message_commands`).
    """
    ear = _MessageReader(reply, session, model, nameable, pending_questions(session) if waiting is None else waiting)
    try:
        decision = await ear.classify()
    except (ModelTimedOut, ModelUnusable):
        decision = Decision(intent=Intent.ANSWER, number=None, also=False)
    except ModelError as error:
        return MessageReading(trouble=(error.message, _(REMEDY)))
    language = find_new_language(session, decision.language)
    with speak(language or current_language()):
        return replace(await _read_further(ear, decision), language=language)


async def _read_further(ear: _MessageReader, decision: Decision) -> MessageReading:
    """Read a message further, as it was classified."""
    try:
        heard = await _follow_decision(ear, decision)
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
        return await _MessageReader(reply, session, model, nameable, ()).read_memory_request(also=False)
    except (ModelError, UserError) as error:
        return MessageReading(trouble=(error.message,))


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
            on = move_of(ear.reply, ear.session, Intent.PROCEED)
            return replace(told, commands=(*told.commands, on)) if not told.lines else told
        case _:
            aside = read_aside(ear.reply, ear.session, decision, ear.waiting)
            command = aside or move_of(ear.reply, ear.session, decision.intent)
            return MessageReading((command,), (_(ONE_AT_A_TIME),) if decision.also else ())


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
        possible = [intent.value for intent, move in INTENT_MOVES.items() if move in there]
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
                "history": self.session.thread.history is not None,
                "preview": self.session.thread.preview is not None,
                "memory": self.session.thread.memory is not None,
                "pending": bool(self.waiting),
                "kinds": {question.kind.value for question in self.waiting},
            },
        )

    def _list_numbered_rows(self) -> list[Table]:
        """Return the lists whose rows the message can refer to by number."""
        tables = [list_pending(self.waiting)] if self.waiting else []
        return [*tables, list_history(self.session)] if self.session.thread.history is not None else tables

    async def answer_pending(self, decision: Decision) -> MessageReading:
        """Answer the pending question. A message that answers the last words is read together with them."""
        answer = answer_pending(self.reply, self.waiting, decision)
        if answer.in_words:
            return await self.read_stage_values()
        more = (_(ONE_AT_A_TIME),) if decision.also else ()
        return MessageReading(
            () if answer.command is None else (answer.command,), (*answer.lines, *more), asks_back=answer.asks_back
        )

    async def answer_question(self) -> MessageReading:
        """Answer a question from the tables alone. Code explains the position of a block."""
        kept = list_reminders(followed_constraints(self.session), left_out=count_left_out(self.session))
        words = await self._ask(
            "ask",
            Role.GATE,
            AnswerWords,
            shown=(("frame", frame_facts(self.session)), ("quality", quality_facts(self.session))),
            tables=(
                list_tasks(self.session),
                list_blocks(self.session),
                list_meetings(self.session),
                list_findings(self.session),
                *kept,
            ),
            words={**self._step(), "remembered": bool(kept)},
        )
        events = () if self.session.planning.plan is None else self.session.planning.plan.events
        if words.block is None or not 0 <= words.block < len(events):
            return MessageReading(lines=(words.answer,), spoken=words.answer, asks=False)
        return MessageReading((ExplainBlock(**command_fields(self.reply), key=events[words.block].block_key),))

    async def read_memory_request(self, *, also: bool) -> MessageReading:
        """Extract the change of memory that the message asks for; the plan is not touched (S24)."""
        words = await self._ask(
            "memory",
            Role.GATE,
            MemoryWords,
            tables=(
                list_constraints(self._nameable, followed_constraints(self.session)),
                list_upcoming_days(self._now, self.session.tz),
            ),
        )
        wanted = memory_commands(self.reply, self.session, self._nameable, words)
        return MessageReading(
            wanted, (*_to_lines(words.question), *((_(ONE_AT_A_TIME),) if also else ())), spoken=words.question
        )

    async def read_progress(self, *, also: bool) -> MessageReading:
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
                *((list_box_items(self.session),) if list_boxes(self.session) else ()),
            ),
            words=self._step(),
        )
        lines = (*_to_lines(words.question), *((_(ONE_AT_A_TIME),) if also else ()))
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
                return await self._patch()
            case _:
                assert_never(self.session.stage)

    def _list_tasks(self) -> list[Table]:
        """Return the tasks of the day, and those that could be added."""
        more = [list_left_over(self.session)] if self.session.open_work.offered else []
        return [list_tasks(self.session), *more]

    async def _day(self, name: str, tables: Sequence[Table]) -> MessageReading:
        kept = (
            list_reminders(followed_constraints(self.session), left_out=count_left_out(self.session))
            if name == "facts"
            else ()
        )
        words = await self._ask(
            name,
            Role.GATE,
            DayWords,
            shown=(("frame", frame_facts(self.session)),),
            tables=(*tables, *kept),
            words={**self._step(), "drafted": self.session.stage is Stage.SKELETON, "remembered": bool(kept)},
        )
        wanted = day_commands(self.reply, self.session, words)
        return MessageReading(wanted, _to_lines(words.question), spoken=words.question)

    async def _patch(self) -> MessageReading:
        # A correction of the committed plan is carried out in Refine within the same turn (S52).
        refining = replace(self.session, stage=Stage.REFINE)
        patcher = TimeboxPatcher(self._model)
        asked = await patcher.patch(refining, self.reply.text, cause=self.reply.command_id, now=self._now)
        change = ApplyPatch(**command_fields(self.reply), patch=asked.patch)
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
        day = ("day", day_facts(self.session, self._now))
        last = self.session.thread.last_words
        exchange = () if last is None else (("last_words", last_words_facts(last)),)
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
