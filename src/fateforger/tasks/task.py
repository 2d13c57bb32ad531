"""Tasks: the spec, the state, the id and the wording of a task, and what it lacks (S154, S157-S162)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, model_validator

from fateforger.limits import (
    MAX_LABEL_CHARS,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_REFERENCE_CHARS,
    MAX_TAG_CHARS,
    MAX_TASK_LINKS,
    MAX_TASK_TAGS,
    MAX_TITLE_CHARS,
)
from fateforger.planning.task_details import TaskDetails, read_day
from fateforger.text import format_day, mark_message, truncate
from fateforger.text import gettext as _
from fateforger.values import Value
from fateforger.workflow.trace import Step

Mode = Literal["dispositor", "executor", "direct"]
"""Mode in which work was started.

A dispositor put it into the queue, and nothing was carried out; an executor pulled it from the queue and carried it out
under its rules; direct work bypassed the queue: a command, a question, or at the person's request.
"""


NORMAL = 2
COARSE = 7
"""Most parts of a goal that can be reviewed at once."""
PROBE = "PROBE"
"""Tag of a part that finds something out."""

Priority = Annotated[int, Field(ge=0, le=4)]
"""0 comes first, 4 comes last, 2 is normal."""


class PlanDay(Value):
    """Plan a day in a thread of its own. Done when that day's plan was committed."""

    kind: Literal["plan_day"] = "plan_day"
    date: Date


class ReviewConstraints(Value):
    """Look at what is remembered and waits for a word. Done when nothing waits any more."""

    kind: Literal["review_constraints"] = "review_constraints"


class Decompose(Value):
    """Break a goal into parts, with a review task that blocks them (S168). Done when the parts were approved."""

    kind: Literal["decompose"] = "decompose"


class ReviewParts(Value):
    """Approve the parts of a goal; until then they stay blocked. Done by the person's word."""

    kind: Literal["review_parts"] = "review_parts"
    goal: str


class BlockTime(Value):
    """Put a block for the task into the plan of a day, at ``start`` if it is given. Done when the plan holds it.
    ``task`` is the id of the task that the time is for, if it is one of the queue.
    """

    kind: Literal["block_time"] = "block_time"
    date: Date
    minutes: int = Field(gt=0, le=MAX_MINUTES)
    start: time | None = None
    task: str | None = None


class Do(Value):
    """Something that the person does; ``minutes`` if they know how long it takes. Done by their word."""

    kind: Literal["do"] = "do"
    minutes: int | None = Field(None, gt=0, le=MAX_MINUTES)


Work = Annotated[
    PlanDay | ReviewConstraints | Decompose | ReviewParts | BlockTime | Do,
    Field(discriminator="kind"),
]
"""Work to be done, with all that carrying it out needs."""
WORK: TypeAdapter[Work] = TypeAdapter(Work)


class Origin(Value):
    """Source of a task.

    ``door`` is the way in. ``reference`` names the source for people, such as a link to a Slack message or the name
    of an agent.
    """

    door: Literal["slack", "cli", "mcp", "task"]
    reference: str = Field("", max_length=MAX_REFERENCE_CHARS)


class TaskSpec(Value):
    """Content of a task.

    The body has four parts (S154): ``context``, ``relevant_files``, ``acceptance_criteria`` and ``workflow``, the
    name of the workflow whose rules apply. ``project`` and ``tags`` help to find it again. The
    priority of the task counts, not one of its ``details``.
    """

    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    work: Work = Do()
    project: str = Field("", max_length=MAX_LABEL_CHARS)
    priority: Priority = NORMAL
    tags: tuple[Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)], ...] = Field(
        (), max_length=MAX_TASK_TAGS
    )
    context: str = Field("", max_length=MAX_NOTES_CHARS)
    relevant_files: tuple[Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)], ...] = Field(
        (), max_length=MAX_TASK_LINKS
    )
    acceptance_criteria: tuple[Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)], ...] = Field(
        (), max_length=MAX_TASK_LINKS
    )
    workflow: str = Field("", max_length=MAX_LABEL_CHARS)
    remind_at: AwareDatetime | None = None
    """Instant at which the person wants to be reminded, in their zone."""
    details: TaskDetails = TaskDetails()
    """Details that a day's plan needs. On the first day that it may begin, the task is put on the list of that day."""
    _stored = model_validator(mode="before")(read_day)


class TaskState(StrEnum):
    """State of a task.

    Only ``active`` tasks can be pulled. ``waiting`` ones were pulled and wait for the person.
    """

    ACTIVE = "active"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"
    STOPPED = "stopped"


ENDED = frozenset({TaskState.DONE, TaskState.STOPPED})
IN_HAND = frozenset({TaskState.WAITING, TaskState.RUNNING})
"""States of a task that somebody works on."""


class Claim(Value):
    """A claim on a task: its executor, and the instant at which it expires unless extended.

    ``fence`` grows with every claim of the task; an executor with an older fence has lost it.
    """

    executor: str
    until: datetime
    fence: int


class Progress(Value):
    """Progress of a task before the person's last note, and the number of its steps with that note."""

    steps: tuple[Step, ...] = ()
    standing: dict[str, bool] | None = None
    until: int


class QueuedTask(Value):
    r"""One task of one person.

    ``id`` is short enough to be typed, and unique across all people.
    ``rank`` orders tasks of one priority, the lowest first. A new one is its ``created_at`` in microseconds of the
    Unix epoch, or one more than the person's highest, so the oldest task comes first until the person reorders.
    ``goal`` is the task that this one is a part of. ``blocked_by`` are tasks that must be done first.
    ``claim`` is set exactly while the task is ``running``; ``fence`` is that of the latest claim.
    ``steps`` are the steps done so far, which the rules of its workflow are checked against, and ``standing`` the
    states since then; what is not in it is unknown. Without it, the steps determine them.
    ``outcome`` says in a sentence how the task ended, or what it waits for; ``place`` is where work on it continues
    (for example, a session id).
    ``mode`` is how it was last started. ``handled`` are the latest commands that changed it; each takes effect once.
    ``version`` grows with each change.
    """

    id: str
    user_id: str
    spec: TaskSpec
    origin: Origin
    created_at: datetime
    changed_at: datetime
    state: TaskState = TaskState.ACTIVE
    rank: int
    goal: str | None = None
    blocked_by: tuple[str, ...] = ()
    claim: Claim | None = None
    fence: int = 0
    attempts: int = 0
    steps: tuple[Step, ...] = ()
    standing: dict[str, bool] | None = None
    noted: Progress | None = None
    """Progress before the last note, while that can be taken back."""
    outcome: str = ""
    place: str = ""
    mode: Mode = "dispositor"
    handled: tuple[str, ...] = ()
    version: int = 1


@dataclass(frozen=True, slots=True)
class OutsideTask:
    """An open task of another list, as far as a day needs it.

    ``id`` is stable across reads and contains no space. A higher ``priority`` is more important (0 for none). ``due``
    is a day in the person's time zone.
    """

    id: str
    title: str
    notes: str = ""
    priority: int = 0
    due: date | None = None


PREFIX = "ff-"
LETTERS = "23456789bcdfghjkmnpqrstvwxz"
"""Alphabet without 0 1 i l o y, and without vowels, so that no id is a word."""
LENGTH = 6


def new_task_id(pick: Callable[[str], str]) -> str:
    """Return an id; ``pick`` chooses one of the given letters."""
    return PREFIX + "".join(pick(LETTERS) for _ in range(LENGTH))


def read_task_id(text: str) -> str | None:
    """Return the id that a person typed, or ``None`` if it cannot be one.

    The prefix is optional, and case is ignored.
    """
    bare = text.strip().strip("`*_<>“”\"'").lower().removeprefix(PREFIX)
    if len(bare) != LENGTH or any(letter not in LETTERS for letter in bare):
        return None
    return PREFIX + bare


SHORT = 80


def short_title(text: str) -> str:
    """Return the first non-empty line of the text, cut with an ellipsis."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return truncate(line, SHORT)


PRIORITIES: Mapping[int, str] = {
    0: mark_message("urgent"),
    1: mark_message("high"),
    2: mark_message("normal"),
    3: mark_message("low"),
    4: mark_message("some day"),
}
"""Names of the priorities."""

STATES: Mapping[TaskState, str] = {
    TaskState.ACTIVE: mark_message("ready"),
    TaskState.RUNNING: mark_message("being done"),
    TaskState.WAITING: mark_message("waiting for you"),
    TaskState.PAUSED: mark_message("paused"),
    TaskState.FAILED: mark_message("failed"),
    TaskState.DONE: mark_message("done"),
    TaskState.STOPPED: mark_message("stopped"),
}
"""Names of the states."""


_PRIORITY_NAMES: Mapping[int, str] = {
    0: mark_message("urgent"),
    1: mark_message("high priority"),
    3: mark_message("low priority"),
    4: mark_message("some day"),
}


def name_priority(priority: int) -> str:
    """Return a priority as a list of tasks shows it; empty for the normal one."""
    return _(_PRIORITY_NAMES[priority]) if priority in _PRIORITY_NAMES else ""


def describe_reminder(at: datetime) -> str:
    """Return the day and time of a reminder, in the zone in which it was set."""
    return _("{day} at {time:%H:%M}", day=format_day(at.date()), time=at)


LONG = 60
"""Minutes from which it should be clear when a task is done."""


class Gap(StrEnum):
    LENGTH = "length"
    DONE_WHEN = "done when"


def find_gaps(task: QueuedTask) -> tuple[Gap, ...]:
    """Return what is not known of a task that the person does; nothing for one that is over."""
    work = task.spec.work
    if task.state in ENDED or not isinstance(work, Do):
        return ()
    gaps = [Gap.LENGTH] if work.minutes is None else []
    needs_criteria = (work.minutes or 0) >= LONG or bool(task.spec.workflow)
    if needs_criteria and not task.spec.acceptance_criteria:
        gaps.append(Gap.DONE_WHEN)
    return tuple(gaps)
