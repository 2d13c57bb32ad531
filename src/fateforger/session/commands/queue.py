"""What a person can ask for about their queue, outside of any session.

``channel``, ``thread_ts`` and ``ts`` say where the answer belongs: the card ``ts`` is shown anew, else there is a new
one. ``tz`` is the person's IANA zone. Where they are empty, the chat side fills them in before the command is recorded.
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.tasks import Deed, Origin, TaskSpec, Where
from fateforger.tasks.parts import Parts

Word = Literal["done", "put_back", "approve", "retry", "open"]
"""What a person can say about a task: that it is done, that it shall wait again or be tried again, that the parts of a
goal are right; ``open`` only shows it."""


class ForQueue(BaseModel):
    """What all commands about the queue carry."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    command_id: str
    user_id: str
    at: datetime
    channel: str = ""
    thread_ts: str | None = None
    ts: str | None = None
    tz: str = ""


class EnqueueTask(ForQueue):
    """Put a task into the queue. ``message_channel`` and ``message_ts`` name the message it was made of, if any."""

    kind: Literal["enqueue_task"] = "enqueue_task"
    spec: TaskSpec
    origin: Origin
    message_channel: str = ""
    message_ts: str = ""


class PullTask(ForQueue):
    """Claim a task and carry it out: the one of that id, else the next (S158, S159)."""

    kind: Literal["pull_task"] = "pull_task"
    task_id: str | None = None


class ShowTasks(ForQueue):
    """List the queue (S157)."""

    kind: Literal["show_tasks"] = "show_tasks"


class DoTaskNow(ForQueue):
    """Do what a task says without the queue; what is complex only if the person ``insists`` (S163-S165)."""

    kind: Literal["do_task_now"] = "do_task_now"
    task_id: str
    insists: bool = False


class SettleTask(ForQueue):
    """The person's word about a task. With ``done`` come the criteria that they ticked (their positions) and what they
    did, in order, by the names of the workflow's actions."""

    kind: Literal["settle_task"] = "settle_task"
    task_id: str
    word: Word
    met: tuple[int, ...] = ()
    did: tuple[str, ...] = ()


class WriteParts(ForQueue):
    """Break a goal into these parts."""

    kind: Literal["write_parts"] = "write_parts"
    task_id: str
    parts: Parts


class BlockTimeFor(ForQueue):
    """Put a block for a task into the plan of a day."""

    kind: Literal["block_time_for"] = "block_time_for"
    task_id: str
    date: Date
    minutes: int = Field(gt=0, le=24 * 60)
    start: time | None = None


class AtHome(ForQueue):
    """What all deeds on App Home carry: that page is their answer."""


class MoveTask(AtHome):
    """Put a task elsewhere in the queue; ``other`` is the one that it shall come before (S167)."""

    kind: Literal["move_task"] = "move_task"
    task_id: str
    where: Where
    other: str | None = None


class ChangeTask(AtHome):
    """Pause a task, resume it, stop it, try it again (S167)."""

    kind: Literal["change_task"] = "change_task"
    task_id: str
    deed: Deed


class ReviseTask(AtHome):
    """A task as it shall be from now on."""

    kind: Literal["revise_task"] = "revise_task"
    task_id: str
    spec: TaskSpec


class TurnQueue(AtHome):
    """Show another page of a long queue, counted from 1."""

    kind: Literal["turn_queue"] = "turn_queue"
    page: int


CardCommand = EnqueueTask | PullTask | ShowTasks | DoTaskNow | SettleTask | BlockTimeFor | WriteParts
"""Those whose answer is a card."""
HomeCommand = MoveTask | ChangeTask | ReviseTask | TurnQueue
QueueCommand = CardCommand | HomeCommand
