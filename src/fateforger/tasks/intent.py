"""Intent, path, and task of a message outside of any plan (S147-S153)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

from fateforger.tasks.task import TaskSpec
from fateforger.text import find_command
from fateforger.values import Value


class Purpose(StrEnum):
    """What a message wants, apart from having a day planned now."""

    WORK = "work"
    """Something is to be done."""
    PULL = "pull"
    """A task of the queue is to be started, the one it names or the next."""
    DONE = "done"
    """A task of the queue that was started is done."""
    NOTE = "note"
    """Some steps of a task of the queue are done, or something is so of it."""
    UNREMIND = "unremind"
    """The reminder of a task of the queue is not wanted any more."""
    TASKS = "tasks"
    """The queue is to be shown."""
    REFINE = "refine"
    """The tasks of the queue are to be gone through, one at a time, to make them clear."""
    WEEK = "week"
    """The tasks of the queue are to be planned over the coming working days."""
    NEXT_WEEK = "next_week"
    """The same for the next week."""
    RITUALS = "rituals"
    """It is about the messages that the bot sends by itself: when they come, or that they do not."""
    REVIEW = "review"
    """It asks how the week went."""
    NOW = "now"
    """A task of the queue is to be done at once, without the queue."""
    PUT_BACK = "put_back"
    APPROVE = "approve"
    RETRY = "retry"
    OPEN = "open"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    UP = "up"
    DOWN = "down"
    FIRST = "first"
    LAST = "last"
    EDIT = "edit"
    """A task of the queue is to be different."""
    TIME = "time"
    """A task of the queue is to get time in the plan of a day."""
    TICK = "tick"
    UNTICK = "untick"
    BUTTON = "button"
    """It answers the last card, like one of its buttons."""
    DURATION = "duration"
    """It says how long tasks of a kind take, or that this is to be forgotten."""
    LANGUAGE = "language"
    """It says in which language to answer."""
    RULES = "rules"
    """The rules that wait for a word are to be looked through, now."""
    MEMORY = "memory"
    """It asks what is known of the person, or for a rule to be remembered, changed or forgotten."""
    QUESTION = "question"
    """It asks something."""
    CONVERSATION = "conversation"
    """A greeting, thanks, anything else; also whatever is unclear."""


ExecutionPath = Literal["direct", "enqueue"]
Urgency = Literal["no", "asks", "insists"]
"""Wish to skip the queue.

``insists`` means that the person knows the consequence.
"""


class HydratedMessage(Value):
    """A hydrated message.

    ``task_id`` is the queue's task that it is about. ``answer`` is for the person, in their language. ``simple`` is
    true when one step is enough. A question never has a ``spec`` (S156).
    """

    intent: Purpose
    execution_path: ExecutionPath
    workflow: str = ""
    spec: TaskSpec | None = None
    simple: bool = True
    haste: Urgency = "no"
    task_id: str | None = None
    answer: str = ""
    reminds: bool = False
    """True if the person wants to be reminded of the task."""


class TypedCommand(NamedTuple):
    """A slash command typed into a message, for threads, where Slack does not run commands.

    ``name`` is one of :data:`~fateforger.text.COMMANDS`, or empty.
    """

    name: str
    rest: str


def parse_command(text: str) -> TypedCommand | None:
    """Return the command that a text begins with, or ``None`` without a leading slash."""
    bare = text.strip()
    if not bare.startswith("/") or bare == "/":
        return None
    name, _, rest = bare.partition(" ")
    return TypedCommand(find_command(name) or "", rest.strip())


def path_of(intent: Purpose, *, slash: bool = False, changes: bool = True) -> ExecutionPath:
    """Return the path of a message (S152).

    Only work that changes something is enqueued. A leading slash, a called skill, a question, and a conversation are
    direct.
    """
    return "enqueue" if intent is Purpose.WORK and changes and not slash else "direct"
