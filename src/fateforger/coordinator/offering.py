"""Offer other things to do on a day, from the queue, earlier sessions and an external list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fateforger.coordinator.outside import ExternalTaskList
from fateforger.ports import Sessions
from fateforger.session.model import OfferedInput, Session
from fateforger.session.offering import carry_over, with_outside, with_queue
from fateforger.stages import TimeboxingStage
from fateforger.tasks import QueuedTask

LATEST = 20
"""Recent sessions of a person that are searched for open tasks."""


class OpenTaskReader(Protocol):
    """The part of a person's queue that offers need. Raises ``StoreError``."""

    async def to_do(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that can be pulled, and those in the person's hands."""
        ...

    async def find_ended(self, user_id: str, task_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids of those tasks that are done or stopped."""
        ...


async def find_offers(
    sessions: Sessions,
    session: Session,
    queue: OpenTaskReader | None,
    outside: ExternalTaskList | None,
    *,
    now: datetime,
) -> tuple[tuple[OfferedInput, ...] | None, str | None]:
    """Return what else could be done on a day without a draft (``None`` for any other), and why it may be incomplete.

    A read of the list ``outside`` is started, but not awaited. Raises ``StoreError``.
    """
    if session.stage.number > TimeboxingStage.CAPTURE_INPUTS.number:
        return None, None
    left = carry_over(session, await sessions.of_user(session.user_id, limit=LATEST), now=now)
    if queue is not None:
        ended = await queue.find_ended(session.user_id, [each.task.id for each in left])
        left = with_queue(session, left, await queue.to_do(session.user_id), ended=ended)
    if outside is None:
        return left, None
    outside.begin()
    return with_outside(session, left, outside.state.tasks), outside.state.trouble
