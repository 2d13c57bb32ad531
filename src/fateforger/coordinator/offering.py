"""What a day could take up besides, from wherever it comes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fateforger.coordinator.outside import OutsideList
from fateforger.ports import Sessions
from fateforger.session.model import OfferedInput, Session
from fateforger.session.offering import carried_over, with_outside, with_queue
from fateforger.stages import TimeboxingStage
from fateforger.tasks import QueuedTask

LATEST = 20
"""Sessions of a person that are asked for what they left open."""


class Shelf(Protocol):
    """A person's queue, as far as a day asks for it. Raises ``StoreError``."""

    async def to_do(self, user_id: str) -> tuple[QueuedTask, ...]:
        """What can be pulled, and what they have in hand."""
        ...

    async def ended(self, user_id: str, task_ids: Sequence[str]) -> frozenset[str]:
        """Those of them that are done or stopped."""
        ...


async def offered(
    sessions: Sessions, session: Session, queue: Shelf | None, outside: OutsideList | None, *, now: datetime
) -> tuple[tuple[OfferedInput, ...] | None, str | None]:
    """What else could be done on a day that is not drafted yet (``None`` for any other), and why that is not all. A
    look at a list ``outside`` begins with it, and is not waited for. Raises ``StoreError``."""
    if session.stage.number > TimeboxingStage.CAPTURE_INPUTS.number:
        return None, None
    left = carried_over(session, await sessions.of_user(session.user_id, limit=LATEST), now=now)
    if queue is not None:
        ended = await queue.ended(session.user_id, [each.task.id for each in left])
        left = with_queue(session, left, await queue.to_do(session.user_id), ended=ended)
    if outside is None:
        return left, None
    outside.begin()
    return with_outside(session, left, outside.known.tasks), outside.known.trouble
