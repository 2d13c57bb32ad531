"""A database that fails at the moments a test names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from fateforger.adapters.store.store import Store
from fateforger.errors import StoreUnavailable
from fateforger.ports.jobs import Jobs, NewJob
from fateforger.session.messages import Outgoing
from fateforger.session.store import Outbox, Sent

DOWN = StoreUnavailable("The database is away.")


class Failing:
    """``enqueue`` lists how the next calls fail: ``before`` anything was written, or ``after`` it was. With ``sent``
    no message can be recorded as sent."""

    def __init__(self) -> None:
        self.enqueue: list[str] = []
        self.enqueued: list[str] = []
        self.sent = False
        self.recorded = 0
        self.refused = 0

    def jobs(self, store: Store) -> Jobs:
        return _Jobs(store.jobs, self)

    def outbox(self, store: Store) -> Outbox:
        return _Outbox(store.outbox, self)


class _Passing:
    def __init__(self, real: Any, faults: Failing) -> None:
        self._real = real
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Jobs(_Passing):
    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        how = self._faults.enqueue.pop(0) if self._faults.enqueue else ""
        if how == "before":
            raise DOWN
        accepted: bool = await self._real.enqueue(job, now=now)
        self._faults.enqueued.append(_kind(job.payload))
        if how == "after":
            raise DOWN
        return accepted


class _Outbox(_Passing):
    async def mark_sent(self, outgoing_id: str, where: Sent, *, now: datetime, shown: Sequence[Outgoing] = ()) -> None:
        if self._faults.sent:
            self._faults.refused += 1
            raise DOWN
        await self._real.mark_sent(outgoing_id, where, now=now, shown=shown)
        self._faults.recorded += 1


def _kind(payload: Mapping[str, Any]) -> str:
    return "message" if payload.get("kind") == "user_reply" else str(payload.get("kind"))
