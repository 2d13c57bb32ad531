"""Reader of messages outside of any plan: what each is about, and what it says of a day to plan (K4, S153).

A message about the queue costs a second question to a model; see
:mod:`fateforger.conversation.language.queue_requests`.
"""

from __future__ import annotations

import logging
from typing import Any, assert_never

from fateforger.conversation.language.answers import OpeningReading, StartWords
from fateforger.conversation.language.message_commands import command_fields, day_commands
from fateforger.conversation.language.message_reader import find_new_language, merge_wishes
from fateforger.conversation.language.model_calls import ModelQuestion, ask, prompt_for
from fateforger.conversation.language.queue_requests import ask_queue, find_thread, list_open_plans, read_request
from fateforger.conversation.language.tables import (
    OutsideContext,
    clock_facts,
    day_facts,
    frame_facts,
    list_upcoming_days,
)
from fateforger.errors import BadInput, ModelError
from fateforger.ports.model import Model, Role
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.day import TimeboxingCommitDate
from fateforger.session.commands.thread import StageAction, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.stages import DECISION_LIMIT, ENOUGH_CONFIDENCE, Move
from fateforger.tasks.transitions import HydratedMessage, Purpose
from fateforger.text import current_language, speak

log = logging.getLogger(__name__)


async def read_opening(
    reply: TimeboxingUserReply, session: Session, model: Model, context: OutsideContext
) -> OpeningReading:
    """Read a message that may begin ``session``.

    A failing model raises nothing; the reading says that the message is ``unread``.
    """
    try:
        words = await ask_start(reply, session, model, context)
        language = find_new_language(session, words.language)
        if not words.plan:
            with speak(language or current_language()):
                fields = await _read_outside(reply, session, model, words, context)
            return OpeningReading(**fields, plan=False, language=language)
    except ModelError as error:
        log.warning("a first message was not read: %s", error.message)
        return OpeningReading(plan=False, unread=True)
    also = merge_wishes(words.also)
    with speak(language or current_language()):
        try:
            commands = day_commands(reply, session, words)
        except BadInput as error:
            return OpeningReading(lines=(error.message,), language=language, further=also, rules=words.rules)
    lines = (words.question,) if words.question else ()
    moves = _list_settled_steps(reply, words)
    return OpeningReading(commands, lines, language=language, moves=moves, further=also, rules=words.rules)


def _list_settled_steps(reply: TimeboxingUserReply, words: StartWords) -> tuple[SessionCommand, ...]:
    """Return the moves past the steps of a first message that need no confirmation.

    A day that it names is the day; with work for that day, the usual frame holds as well.
    """
    if words.date is None or words.question:
        return ()
    confirm = TimeboxingCommitDate(**command_fields(reply))
    if words.inputs is None or not words.inputs.add:
        return (confirm,)
    return confirm, StageAction(**command_fields(reply), move=Move.PROCEED)


async def ask_start(reply: TimeboxingUserReply, session: Session, model: Model, context: OutsideContext) -> StartWords:
    """Ask what a message outside of any plan is about, and what it says of a day to plan. Raises ``ModelError``."""
    facts = (
        ("day", {**day_facts(session, reply.at), **clock_facts(session, reply.at)}),
        ("frame", frame_facts(session)),
    )
    tables = (list_upcoming_days(reply.at, session.tz), *list_open_plans(context))
    prompt = prompt_for("start", Role.DECIDE, StartWords, reply.text, facts=facts, tables=tables)
    return await ask(model, ModelQuestion(prompt, StartWords, seconds=DECISION_LIMIT))


async def _read_outside(
    reply: TimeboxingUserReply, session: Session, model: Model, words: StartWords, context: OutsideContext
) -> dict[str, Any]:
    """Return the fields of the reading of a message that asks for no plan. Raises ``ModelError``.

    A message is handed on only by a model that is sure enough; any other stays here (S223).
    """
    match words.wants:
        case "queue" | "thread" if words.confidence < ENOUGH_CONFIDENCE:
            return {"rest": words.rest}
        case "queue":
            return await _read_of_queue(reply, session, model, context)
        case "thread":
            return {"rest": words.rest, "thread": find_thread(words, context)}
        case "memory":
            return {"rest": words.rest, "hydrated": HydratedMessage(intent=Purpose.MEMORY, execution_path="direct")}
        case "conversation" if words.answer:
            talk = HydratedMessage(intent=Purpose.CONVERSATION, execution_path="direct", answer=words.answer)
            return {"rest": words.rest, "hydrated": talk}
        case "conversation":
            return {"rest": words.rest}
        case _:
            assert_never(words.wants)


async def _read_of_queue(
    reply: TimeboxingUserReply, session: Session, model: Model, context: OutsideContext
) -> dict[str, Any]:
    words = await ask_queue(reply, session, model, context)
    fields: dict[str, Any] = {"rest": words.rest}
    try:
        request = read_request(reply, words, context, session.tz)
    except BadInput as error:
        return {**fields, "lines": (error.message,)}
    return {**fields, "hydrated" if isinstance(request, HydratedMessage) else "command": request}
