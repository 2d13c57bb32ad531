"""Wording for tasks."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.tasks.model import QueuedTask, TaskState

LONGEST_TITLE = 80
"""Most characters of a title in a sentence."""

PRIORITIES: Mapping[int, str] = {0: "urgent", 1: "high", 2: "normal", 3: "low", 4: "some day"}
"""Names of the priorities."""

STATES: Mapping[TaskState, str] = {
    TaskState.ACTIVE: "ready",
    TaskState.RUNNING: "being done",
    TaskState.WAITING: "waiting for you",
    TaskState.PAUSED: "paused",
    TaskState.FAILED: "failed",
    TaskState.DONE: "done",
    TaskState.STOPPED: "stopped",
}
"""Names of the states."""


def priority_words(priority: int) -> str:
    """Return a priority with its name: ``2 (normal)``."""
    return f"{priority} ({PRIORITIES[priority]})"


def quote_task(task: QueuedTask) -> str:
    """Return the title in quotes, on one line, truncated."""
    title = " ".join(task.spec.title.split())
    return f"“{title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + '…'}”"
