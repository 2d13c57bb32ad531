"""A message outside of any session: does it want a day planned, and what does it say of that day; or what else does it
want? A model is asked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fateforger.errors import BadInput, ModelError
from fateforger.ports import Model, Role
from fateforger.session.commands import SessionCommand, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.tasks import QueuedTask
from fateforger.tasks.hydrated import Hydrated
from fateforger.turn.asking import Question, ask
from fateforger.turn.constants import DECISION_LIMIT
from fateforger.turn.hydrating import hydrated, queue_table, workflow_table
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts, meaning
from fateforger.turn.reading.values import StartWords


@dataclass(frozen=True, slots=True)
class Opened:
    """What a first message says of the day, as commands to the session that it begins; ``lines`` are for the person.
    When it wants no day planned, ``hydrated`` is what it wants instead."""

    commands: Sequence[SessionCommand] = ()
    lines: tuple[str, ...] = ()
    hydrated: Hydrated | None = None


async def hear_opening(
    reply: TimeboxingUserReply, session: Session, model: Model, queue: Sequence[QueuedTask] = ()
) -> Opened | None:
    """Read a message to a ``session`` that would begin with it, by a person with that ``queue``; ``None`` when there is
    nothing to do about it, or it cannot be read. Nothing is raised for what a model does."""
    prompt = prompt_for(
        "start",
        Role.DECIDE,
        StartWords,
        reply.text,
        facts=(
            ("day", {**facts.day_facts(session, reply.at), **facts.clock(session, reply.at)}),
            ("frame", facts.frame_facts(session)),
        ),
        tables=(facts.upcoming(reply.at, session.tz), queue_table(queue), workflow_table()),
    )
    try:
        words = (await ask(model, Question(prompt, StartWords, seconds=DECISION_LIMIT))).value
    except ModelError:
        return None
    if not words.plan:
        wanted = hydrated(reply, words, queue)
        return None if wanted is None else Opened(hydrated=wanted)
    try:
        commands = meaning.day_commands(reply, session, words)
    except BadInput as error:
        return Opened(lines=(error.message,))
    return Opened(commands, (words.question,) if words.question else ())
