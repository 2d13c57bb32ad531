"""Edits of a queued task: pause, resume, stop, retry, rename (S167).

Pure functions. An edit that makes no sense is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from fateforger.errors import BadInput
from fateforger.tasks.model import TITLE_LENGTH, QueuedTask, TaskSpec
from fateforger.tasks.model import TaskState as S
from fateforger.tasks.words import PRIORITIES, quoted


class Deed(StrEnum):
    """Actions on a task that are available at any time."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"


DEEDS: Mapping[Deed, tuple[S, frozenset[S]]] = {
    Deed.PAUSE: (S.PAUSED, frozenset({S.ACTIVE})),
    Deed.RESUME: (S.ACTIVE, frozenset({S.PAUSED})),
    Deed.STOP: (S.STOPPED, frozenset({S.ACTIVE, S.RUNNING, S.WAITING, S.PAUSED, S.FAILED})),
    Deed.RETRY: (S.ACTIVE, frozenset({S.FAILED, S.STOPPED})),
}
"""Target state and allowed source states of each action.

Every transition is one of :data:`fateforger.tasks.moves.MOVES`.
"""

_INSTEAD: Mapping[tuple[Deed, S], str] = {
    (Deed.PAUSE, S.RUNNING): "is being done just now; stop it if it shall not go on",
    (Deed.PAUSE, S.WAITING): "is in your hands already; say that it is done, or stop it",
    (Deed.PAUSE, S.PAUSED): "is paused already",
    (Deed.PAUSE, S.FAILED): "failed, so it does not run; try it again, or stop it",
    (Deed.RESUME, S.ACTIVE): "is not paused; it can be pulled",
    (Deed.RESUME, S.RUNNING): "is being done just now",
    (Deed.RESUME, S.WAITING): "is not paused; it waits for you",
    (Deed.RESUME, S.FAILED): "is not paused, it failed; try it again",
    (Deed.RESUME, S.STOPPED): "was stopped; try it again instead",
    (Deed.STOP, S.STOPPED): "is stopped already",
    (Deed.RETRY, S.ACTIVE): "is ready to be pulled already",
    (Deed.RETRY, S.RUNNING): "is being done just now; stop it first to begin anew",
    (Deed.RETRY, S.WAITING): "waits for you; stop it first to begin anew",
    (Deed.RETRY, S.PAUSED): "is paused; resume it",
}
_DONE_ALREADY = "is done already, so there is nothing left to {}"
_PAST = {
    Deed.PAUSE: "is paused. It keeps its place until you resume it.",
    Deed.RESUME: "can be pulled again.",
    Deed.STOP: "is stopped. Nothing more happens to it unless you try it again.",
    Deed.RETRY: "is back in the queue.",
}


def done_to(task: QueuedTask, deed: Deed) -> QueuedTask:
    """Return the task after the action.

    Raises :class:`BadInput` when the action makes no sense in the task's state.
    """
    to, sensible = DEEDS[deed]
    if task.state not in sensible:
        why = _INSTEAD.get((deed, task.state)) or _DONE_ALREADY.format(deed.value)
        raise BadInput(f"{quoted(task)} {why}.", where="state")
    return task.model_copy(update={"state": to, "outcome": "", "place": "" if deed is Deed.RETRY else task.place})


def possible(task: QueuedTask) -> tuple[Deed, ...]:
    """Return the actions that the task's state allows."""
    return tuple(deed for deed, (_, sensible) in DEEDS.items() if task.state in sensible)


def deed_words(task: QueuedTask, deed: Deed, tasks: Iterable[QueuedTask]) -> str:
    """Describe a finished action in a sentence.

    ``tasks`` are the person's open ones; those that now wait for this task are mentioned.
    """
    said = f"{quoted(task)} {_PAST[deed]}"
    held_up = [quoted(t) for t in tasks if task.id in t.blocked_by] if deed in {Deed.PAUSE, Deed.STOP} else []
    if not held_up:
        return said
    more = f" and {len(held_up) - 1} more" if len(held_up) > 1 else ""
    return f"{said} {held_up[0]}{more} still wait{'' if more else 's'} for it."


def renamed(task: QueuedTask, title: str) -> QueuedTask:
    """Return the task with another title.

    Raises :class:`BadInput`.
    """
    words = " ".join(title.split())
    if not words:
        raise BadInput("A task needs a title; a few words will do.", where="title")
    if len(words) > TITLE_LENGTH:
        raise BadInput(f"A title has {TITLE_LENGTH} characters at most; this has {len(words)}.", where="title")
    return respecified(task, task.spec.model_copy(update={"title": words}))


def prioritized(task: QueuedTask, priority: int) -> QueuedTask:
    """Return the task with another priority.

    Raises :class:`BadInput`.
    """
    if priority not in PRIORITIES:
        listed = ", ".join(f"{number} ({word})" for number, word in PRIORITIES.items())
        raise BadInput(f"There is no priority {priority}; there are {listed}.", where="priority")
    return respecified(task, task.spec.model_copy(update={"priority": priority}))


def respecified(task: QueuedTask, spec: TaskSpec) -> QueuedTask:
    """Return the task with another spec.

    Raises :class:`BadInput` for a task that is done.
    """
    if task.state is S.DONE:
        raise BadInput(f"{quoted(task)} is done, so it stays as it was.", where="state")
    return task.model_copy(update={"spec": spec})
