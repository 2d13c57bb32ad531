"""What a day could take up besides, from wherever it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fateforger.ports import Sessions
from fateforger.session.model import OfferedInput, Session
from fateforger.session.offering import carried_over, with_queue
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


async def offered(sessions: Sessions, session: Session, queue: Shelf | None) -> tuple[OfferedInput, ...] | None:
    """What else could be done on a day that is not drafted yet; ``None`` for any other. Raises ``StoreError``."""
    if session.stage.number > TimeboxingStage.CAPTURE_INPUTS.number:
        return None
    left = carried_over(session, await sessions.of_user(session.user_id, limit=LATEST))
    if queue is None:
        return left
    ended = await queue.ended(session.user_id, [each.task.id for each in left])
    return with_queue(session, left, await queue.to_do(session.user_id), ended=ended)
