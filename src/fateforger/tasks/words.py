"""Tasks in words."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.tasks.model import QueuedTask, TaskState

LONGEST_TITLE = 80
"""Characters of a title in a sentence."""

PRIORITIES: Mapping[int, str] = {0: "urgent", 1: "high", 2: "normal", 3: "low", 4: "some day"}
"""What priorities are called."""

STATES: Mapping[TaskState, str] = {
    TaskState.ACTIVE: "ready",
    TaskState.RUNNING: "being done",
    TaskState.WAITING: "waiting for you",
    TaskState.PAUSED: "paused",
    TaskState.FAILED: "failed",
    TaskState.DONE: "done",
    TaskState.STOPPED: "stopped",
}
"""What states are called."""


def spoken_priority(priority: int) -> str:
    """``2 (normal)``."""
    return f"{priority} ({PRIORITIES[priority]})"


def quoted(task: QueuedTask) -> str:
    """The title, in quotes, on one line, not too long."""
    title = " ".join(task.spec.title.split())
    return f"“{title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + '…'}”"
