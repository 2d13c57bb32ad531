"""The requests of messages to the queue (S147-S153), and the state transitions of a task (S167).

               ┌──────── release, a dead executor ────────┐
ACTIVE ──> RUNNING ──> DONE                                │
  ^ │         ├──────> WAITING ──> DONE | ACTIVE           │
  │ v         ├──────> FAILED ───> ACTIVE (retry)          │
PAUSED        └────────────────────────────────────────────┘

ACTIVE becomes WAITING when the person is reminded of it.
STOPPED can be reached from everything that has not ended, and ACTIVE from it (retry). DONE becomes WAITING again when
the person takes back that it is done.

Pure functions, the same for every store. An edit that makes no sense is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import ValidationError

from fateforger.errors import BadInput, InternalError, first_mistake
from fateforger.limits import MAX_TITLE_CHARS
from fateforger.tasks.task import PRIORITIES, STATES, Claim, QueuedTask, TaskSpec, TaskState
from fateforger.tasks.task import (
    TaskState as S,
)
from fateforger.text import find_command, join_sentences, join_words, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import Value, replace


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


MOVES: Mapping[S, frozenset[S]] = {
    S.ACTIVE: frozenset({S.RUNNING, S.WAITING, S.PAUSED, S.STOPPED}),
    S.RUNNING: frozenset({S.DONE, S.WAITING, S.FAILED, S.ACTIVE, S.STOPPED}),
    S.WAITING: frozenset({S.DONE, S.ACTIVE, S.FAILED, S.STOPPED}),
    S.PAUSED: frozenset({S.ACTIVE, S.STOPPED}),
    S.FAILED: frozenset({S.ACTIVE, S.STOPPED}),
    S.STOPPED: frozenset({S.ACTIVE}),
    S.DONE: frozenset({S.WAITING, S.ACTIVE}),
}


def can_move(task: S, to: S) -> bool:
    """Check whether the transition is legal."""
    return to in MOVES[task]


def as_of(task: QueuedTask, now: datetime) -> QueuedTask:
    """Return the task, active again if its claim expired by ``now``."""
    ran_out = task.state is TaskState.RUNNING and (task.claim is None or task.claim.until <= now)
    return replace(task, state=TaskState.ACTIVE, claim=None) if ran_out else task


def claim_task(task: QueuedTask, executor: str, *, now: datetime, until: datetime) -> QueuedTask:
    fence = task.fence + 1
    claimed = replace(
        task,
        state=TaskState.RUNNING,
        claim=Claim(executor=executor, until=until, fence=fence),
        fence=fence,
        attempts=task.attempts + 1,
    )
    return _record_change(claimed, now)


def holds_claim(mine: QueuedTask, there: QueuedTask | None) -> bool:
    """Check whether the claim on ``mine`` is still valid, given the stored task.

    An expired claim is kept until another executor takes the task.
    """
    if mine.claim is None or there is None or there.claim is None:
        return False
    return there.state is TaskState.RUNNING and there.claim.fence == mine.claim.fence


def extend_claim(task: QueuedTask, *, now: datetime, until: datetime) -> QueuedTask:
    if task.claim is None:
        raise InternalError("Only a claim can be extended.")
    return _record_change(replace(task, claim=replace(task.claim, until=until)), now)


def release_claim(task: QueuedTask, *, now: datetime) -> QueuedTask:
    """Return the task, active again, without its claim."""
    return _record_change(replace(task, state=TaskState.ACTIVE, claim=None), now)


def apply_change(before: QueuedTask, after: QueuedTask, *, now: datetime) -> QueuedTask:
    """Return the task to write when ``before`` is edited into ``after``.

    Raises :class:`BadInput` for an illegal state transition, and for values that no task can have.
    """
    if after == before:
        return before
    _check(after)
    fixed = ("id", "user_id", "origin", "created_at")
    if any(getattr(after, name) != getattr(before, name) for name in fixed):
        raise InternalError("A change keeps whose task it is, its id and where it came from.")
    if after.state is not before.state:
        if after.state is TaskState.RUNNING:
            raise InternalError("A task runs by being claimed.")
        if not can_move(before.state, after.state):
            title, was, to = quote_title(before.spec.title), _(STATES[before.state]), _(STATES[after.state])
            raise BadInput(
                _("The state of {title} is “{was}”; it cannot become “{to}”.", title=title, was=was, to=to),
                where="state",
            )
    claim = before.claim if after.state is TaskState.RUNNING else None
    return _record_change(replace(after, claim=claim, fence=before.fence, version=before.version), now)


def _check(task: QueuedTask) -> None:
    """Check that the task can be read back: ``model_copy`` does not validate."""
    try:
        QueuedTask.model_validate_json(task.model_dump_json())
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where) from None


def _record_change(task: QueuedTask, now: datetime) -> QueuedTask:
    return replace(task, changed_at=now, version=task.version + 1)


TaskAction = Literal["pause", "resume", "stop", "retry"]
"""Actions on a task that are available at any time."""


TASK_ACTIONS: Mapping[TaskAction, tuple[S, frozenset[S]]] = {
    "pause": (S.PAUSED, frozenset({S.ACTIVE})),
    "resume": (S.ACTIVE, frozenset({S.PAUSED})),
    "stop": (S.STOPPED, frozenset({S.ACTIVE, S.RUNNING, S.WAITING, S.PAUSED, S.FAILED})),
    "retry": (S.ACTIVE, frozenset({S.FAILED, S.STOPPED, S.DONE})),
}
"""Target state and allowed source states of each action.

Every transition is one of :data:`fateforger.tasks.transitions.MOVES`.
"""

_INSTEAD: Mapping[tuple[TaskAction, S], str] = {
    ("pause", S.RUNNING): mark_message("{title} is being done just now; stop it if it shall not go on."),
    ("pause", S.WAITING): mark_message("{title} is in your hands already; say that it is done, or stop it."),
    ("pause", S.PAUSED): mark_message("{title} is paused already."),
    ("pause", S.FAILED): mark_message("{title} failed, so it does not run; try it again, or stop it."),
    ("resume", S.ACTIVE): mark_message("{title} is not paused; it can be pulled."),
    ("resume", S.RUNNING): mark_message("{title} is being done just now."),
    ("resume", S.WAITING): mark_message("{title} is not paused; it waits for you."),
    ("resume", S.FAILED): mark_message("{title} is not paused, it failed; try it again."),
    ("resume", S.STOPPED): mark_message("{title} was stopped; try it again instead."),
    ("stop", S.STOPPED): mark_message("{title} is stopped already."),
    ("retry", S.ACTIVE): mark_message("{title} is ready to be pulled already."),
    ("retry", S.RUNNING): mark_message("{title} is being done just now; stop it first to start again."),
    ("retry", S.WAITING): mark_message("{title} waits for you; stop it first to start again."),
    ("retry", S.PAUSED): mark_message("{title} is paused; resume it."),
}
_DONE_ALREADY: Mapping[TaskAction, str] = {
    "pause": mark_message("{title} is done already, so there is nothing left to pause."),
    "resume": mark_message("{title} is done already, so there is nothing left to resume."),
    "stop": mark_message("{title} is done already, so there is nothing left to stop."),
}
_PAST: Mapping[TaskAction, str] = {
    "pause": mark_message("{title} is paused. It keeps its place until you resume it."),
    "resume": mark_message("{title} can be pulled again."),
    "stop": mark_message("{title} is stopped. Nothing more happens to it unless you try it again."),
    "retry": mark_message("{title} is back in the queue."),
}


def apply_action(task: QueuedTask, deed: TaskAction) -> QueuedTask:
    """Return the task after the action.

    Raises :class:`BadInput` when the action makes no sense in the task's state.
    """
    to, sensible = TASK_ACTIONS[deed]
    if task.state not in sensible:
        why = _INSTEAD.get((deed, task.state)) or _DONE_ALREADY[deed]
        raise BadInput(_(why, title=quote_title(task.spec.title)), where="state")
    return replace(task, state=to, outcome="", place="" if deed == "retry" else task.place)


def possible_actions(task: QueuedTask) -> tuple[TaskAction, ...]:
    """Return the actions that the task's state allows."""
    return tuple(deed for deed, (_, sensible) in TASK_ACTIONS.items() if task.state in sensible)


def describe_action(task: QueuedTask, deed: TaskAction, tasks: Iterable[QueuedTask]) -> str:
    """Describe a finished action in a sentence.

    ``tasks`` are the person's open ones; those that now wait for this task are mentioned.
    """
    said = _(_PAST[deed], title=quote_title(task.spec.title))
    held_up = [quote_title(t.spec.title) for t in tasks if task.id in t.blocked_by] if deed in {"pause", "stop"} else []
    if not held_up:
        return said
    titles = join_words(held_up, 1)
    more = ngettext("{titles} still waits for it.", "{titles} still wait for it.", len(held_up), titles=titles)
    return join_sentences(said, more)


def rename_task(task: QueuedTask, title: str) -> QueuedTask:
    """Return the task with another title.

    Raises :class:`BadInput`.
    """
    words = " ".join(title.split())
    if not words:
        raise BadInput(_("A task needs a title; a few words will do."), where="title")
    if len(words) > MAX_TITLE_CHARS:
        raise BadInput(
            _("A title has {most} characters at most; this has {count}.", most=MAX_TITLE_CHARS, count=len(words)),
            where="title",
        )
    return replace_spec(task, replace(task.spec, title=words))


def set_priority(task: QueuedTask, priority: int) -> QueuedTask:
    """Return the task with another priority.

    Raises :class:`BadInput`.
    """
    if priority not in PRIORITIES:
        text = _("There is no priority {number}; they go from 0, urgent, to 4, some day.", number=priority)
        raise BadInput(text, where="priority")
    return replace_spec(task, replace(task.spec, priority=priority))


def replace_spec(task: QueuedTask, spec: TaskSpec) -> QueuedTask:
    """Return the task with another spec. Steps that were checked against other rules are dropped.

    Raises :class:`BadInput` for a task that is done.
    """
    if task.state is S.DONE:
        title = quote_title(task.spec.title)
        raise BadInput(_("{title} is done, so it stays as it was.", title=title), where="state")
    if spec.workflow != task.spec.workflow:
        task = replace(task, steps=(), standing=None, noted=None)
    return replace(task, spec=spec)


def reopen_task(task: QueuedTask) -> QueuedTask:
    """Return a task that is not done after all: it is in the person's hands again."""
    return replace(task, state=S.WAITING, outcome=_("It is open again. Say here when it is done."))
