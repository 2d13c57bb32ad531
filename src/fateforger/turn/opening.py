"""Read a message outside any session: a request to plan a day, or something else. One question to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fateforger.errors import BadInput, ModelError
from fateforger.ports import Model, Role
from fateforger.session.commands import SessionCommand, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.tasks import QueuedTask
from fateforger.tasks.hydrated import HydratedMessage
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.constants import DECISION_LIMIT
from fateforger.turn.hydrating import hydrate, queue_table, workflow_table
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts, meaning
from fateforger.turn.reading.values import StartWords


@dataclass(frozen=True, slots=True)
class OpeningReading:
    """Result of a first message: commands for the session that it begins, and lines for the person.

    If the message does not ask for a plan, ``hydrated`` is the request it makes instead.
    """

    commands: Sequence[SessionCommand] = ()
    lines: tuple[str, ...] = ()
    hydrated: HydratedMessage | None = None


async def read_opening(
    reply: TimeboxingUserReply, session: Session, model: Model, queue: Sequence[QueuedTask] = ()
) -> OpeningReading | None:
    """Read a message that may begin ``session``, from a person with the given ``queue``.

    Returns ``None`` if there is nothing to do, or if the message cannot be read. A failing model raises nothing.
    """
    prompt = prompt_for(
        "start",
        Role.DECIDE,
        StartWords,
        reply.text,
        facts=(
            ("day", {**facts.day_facts(session, reply.at), **facts.clock(session, reply.at)}),
            ("frame", facts.frame_facts(session)),
        ),
        tables=(facts.list_upcoming_days(reply.at, session.tz), queue_table(queue), workflow_table()),
    )
    try:
        words = (await ask(model, ModelQuestion(prompt, StartWords, seconds=DECISION_LIMIT))).value
    except ModelError:
        return None
    if not words.plan:
        wanted = hydrate(reply, words, queue)
        return None if wanted is None else OpeningReading(hydrated=wanted)
    try:
        commands = meaning.day_commands(reply, session, words)
    except BadInput as error:
        return OpeningReading(lines=(error.message,))
    return OpeningReading(commands, (words.question,) if words.question else ())
