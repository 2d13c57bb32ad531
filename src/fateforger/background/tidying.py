"""Archive outdated, unconfirmed and duplicate constraints of each person, once per local day (S173, S235)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta

from fateforger.background.memory_lane import MEMORY_LANE, TIDY
from fateforger.constraints import Context, Version, find_consolidations
from fateforger.errors import StoreError
from fateforger.plan import zone
from fateforger.ports import Clock, Constraints, Job, Jobs, NewJob, Sessions

log = logging.getLogger(__name__)

ROUND_SECONDS = 900.0
"""Interval between the checks for people whose local day has begun."""
Sleep = Callable[[float], Awaitable[None]]
_TICK = timedelta(microseconds=1)


def build_tidy_job(user_id: str, day: date, tz: str) -> NewJob:
    """Return the job that tidies up a person's constraints on a local day, once."""
    payload = {"kind": TIDY, "user_id": user_id, "day": day.isoformat(), "tz": tz}
    return NewJob(lane=MEMORY_LANE, key=user_id, dedupe=f"{TIDY}/{user_id}/{day}", payload=payload)


class TidyScheduler:
    """Enqueues one tidying job per person when their local day begins.

    Days that passed while the program was down are not made up for. ``tz`` is used for people without a known zone.
    """

    def __init__(self, constraints: Constraints, sessions: Sessions, jobs: Jobs, clock: Clock, *, tz: str) -> None:
        self._constraints = constraints
        self._sessions = sessions
        self._jobs = jobs
        self._clock = clock
        self._tz = tz
        self._done: dict[str, date] = {}

    async def run(self, sleep: Sleep) -> None:
        """Enqueue jobs until cancelled."""
        while True:
            try:
                await self.run_once()
            except StoreError as error:
                log.warning("constraints are not tidied up for now: %s", error.message)
            await sleep(ROUND_SECONDS)

    async def run_once(self) -> None:
        """Enqueue a job for everyone whose local day has begun. Raises ``StoreError``."""
        now = self._clock.now()
        for user_id in await self._constraints.people():
            tz = await self._zone(user_id)
            day = now.astimezone(zone(tz)).date()
            if self._done.get(user_id) == day:
                continue
            await self._jobs.enqueue(build_tidy_job(user_id, day, tz), now=now)
            self._done[user_id] = day

    async def _zone(self, user_id: str) -> str:
        sessions = await self._sessions.of_user(user_id, limit=1)
        return sessions[0].tz if sessions else self._tz


async def tidy(job: Job, constraints: Constraints, now: datetime) -> None:
    """Perform a tidying job. Decisions that only the person can make are left to the review.

    Raises ``StoreError``, also if a constraint was written meanwhile; the lane then retries with the new version.
    """
    user_id, tz = str(job.payload["user_id"]), str(job.payload["tz"])
    context = Context(user_id=user_id, as_of=date.fromisoformat(job.payload["day"]), now=now, timezone=tz)
    versions = await constraints.of(user_id)
    changed = build_tidy_versions(versions, context, now)
    if not changed:
        return
    seqs = {version.uid: version.seq for version in versions}
    expected = {version.uid: seqs[version.uid] for version in changed}
    await constraints.write(changed, cause=job.dedupe, expected=expected)
    log.info("constraints tidied cause=%s count=%d", job.dedupe, len(changed))


def build_tidy_versions(versions: Sequence[Version], context: Context, now: datetime) -> tuple[Version, ...]:
    """Return the versions that tidying up writes, each with its reason. Pure."""
    changes = (finding.follows for finding in find_consolidations(versions, context) if finding.follows is not None)
    return tuple(change.at(max(now, change.version.updated_at + _TICK)) for change in changes)
