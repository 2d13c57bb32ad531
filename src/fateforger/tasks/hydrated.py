"""What a message outside of any plan comes to: what it wants, which way it goes, the task it asks for (S147-S153)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from fateforger.tasks.model import TaskSpec


class Purpose(StrEnum):
    """What a message wants, apart from having a day planned now."""

    WORK = "work"
    """Something is to be done."""
    PULL = "pull"
    """A task of the queue is to be started, the one it names or the next."""
    DONE = "done"
    """A task of the queue that was started is done."""
    TASKS = "tasks"
    """The queue is to be shown."""
    RULES = "rules"
    """The rules that wait for a word are to be looked through, now."""
    QUESTION = "question"
    """It asks something."""
    CONVERSATION = "conversation"
    """A greeting, thanks, anything else; also whatever is unclear."""


class ExecutionPath(StrEnum):
    DIRECT = "direct"
    ENQUEUE = "enqueue"


INVOCATIONS = frozenset({Purpose.PULL, Purpose.DONE, Purpose.TASKS, Purpose.RULES})
"""What the program does by itself when it is asked for by name: commands and skills."""
Haste = Literal["no", "asks", "insists"]
"""Whether a person wants something done at once, without the queue; ``insists`` once they know what that means."""


class Hydrated(BaseModel):
    """``task_id`` is the task of the queue that it is about. ``answer`` is for the person, in their language.
    ``simple`` tells that one step does it. A question never has a ``spec`` (S156)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    intent: Purpose
    execution_path: ExecutionPath
    workflow: str = ""
    spec: TaskSpec | None = None
    simple: bool = True
    haste: Haste = "no"
    task_id: str | None = None
    answer: str = ""


class Typed(NamedTuple):
    """A command that was written in a message, where Slack does not take it: in a thread."""

    name: str
    rest: str


def typed_command(text: str) -> Typed | None:
    """The command that a text begins with; ``None`` when it does not begin with a slash."""
    bare = text.strip()
    if not bare.startswith("/") or bare == "/":
        return None
    name, _, rest = bare.partition(" ")
    return Typed(name, rest.strip())


def path_of(intent: Purpose, *, slash: bool = False, changes: bool = True) -> ExecutionPath:
    """Which way a message goes (S152). In this order: a leading slash, a skill that is called for, a question, a
    conversation, and what changes nothing, are direct; everything else waits its turn."""
    if slash:
        return ExecutionPath.DIRECT
    if intent in INVOCATIONS:
        return ExecutionPath.DIRECT
    if intent is Purpose.QUESTION:
        return ExecutionPath.DIRECT
    if intent is Purpose.CONVERSATION:
        return ExecutionPath.DIRECT
    return ExecutionPath.ENQUEUE if changes else ExecutionPath.DIRECT
