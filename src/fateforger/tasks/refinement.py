"""What a task of the queue lacks before it can be planned well."""

from __future__ import annotations

from enum import StrEnum

from fateforger.tasks.task import ENDED, Do, QueuedTask

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
