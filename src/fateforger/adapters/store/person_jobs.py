"""Select the jobs and job receipts that are about a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from fateforger.adapters.store.documents import parse_mapping
from fateforger.adapters.store.jobs import JOB, RECEIPT
from fateforger.ports.people import ERASING_LANE
from fateforger.values import replace

_JOBS = select(JOB).where(JOB.c.lane != ERASING_LANE).order_by(JOB.c.seq)
_RECEIPTS = select(RECEIPT).order_by(RECEIPT.c.lane, RECEIPT.c.dedupe)
_WORD = re.compile(r"\w+", re.ASCII)
_DIRECT = "D"
"""The first letter of Slack's ids of direct messages, conversations of the bot with one person."""


@dataclass(frozen=True)
class Names:
    """The names of a person: their id, sessions, proposals, and the threads and channels where they talk to the bot."""

    user_id: str
    sessions: frozenset[str]
    proposals: frozenset[str]
    threads: frozenset[tuple[str, str | None]]
    direct: frozenset[str]

    @cached_property
    def _all(self) -> frozenset[str]:
        return self.sessions | self.proposals | self.direct | {self.user_id}

    @cached_property
    def _odd(self) -> tuple[re.Pattern[str], ...]:
        """The names that are more than one word."""
        odd = (name for name in self._all if not _WORD.fullmatch(name))
        return tuple(re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.ASCII) for name in odd)

    def occur_in(self, text: str) -> bool:
        """Check whether a text contains one of the names as a word of its own."""
        return not self._all.isdisjoint(_WORD.findall(text)) or any(odd.search(text) for odd in self._odd)


def collect_names(
    user_id: str, sessions: Mapping[str, tuple[str, str | None]], proposals: Mapping[str, str | None]
) -> Names:
    """Return the names of a person.

    ``sessions`` gives channel and thread of each session, ``proposals`` the channel of each proposal's card.
    """
    channels = {*(channel for channel, _ in sessions.values()), *(filter(None, proposals.values()))}
    return Names(
        user_id=user_id,
        sessions=frozenset(sessions),
        proposals=frozenset(proposals),
        threads=frozenset((channel, thread) for channel, thread in sessions.values() if thread is not None),
        direct=frozenset(channel for channel in channels if channel.startswith(_DIRECT)),
    )


@dataclass(frozen=True, slots=True)
class JobShare:
    """A person's jobs by number, and receipts by lane and name. ``at_work``: one of the jobs is running."""

    jobs: tuple[int, ...]
    receipts: tuple[tuple[str, str], ...]
    at_work: bool


def find_job_share(connection: Connection, names: Names, *, now: datetime | None) -> JobShare:
    """Return a person's share of the jobs. Without ``now``, ``at_work`` is false."""
    rows = [(row, parse_mapping(row.payload, f"Job {row.seq}")) for row in connection.execute(_JOBS)]
    said = {str(p["channel"]) for _, p in rows if p.get("user_id") == names.user_id and p.get("channel")}
    names = replace(names, direct=names.direct | {channel for channel in said if channel.startswith(_DIRECT)})
    theirs = [row for row, payload in rows if _concerns(names, row.key, payload)]
    marks = [(mark.lane, mark.dedupe) for mark in connection.execute(_RECEIPTS) if names.occur_in(mark.dedupe)]
    at_work = now is not None and any(
        row.state == "open" and row.leased_until is not None and row.leased_until > now for row in theirs
    )
    return JobShare(tuple(row.seq for row in theirs), tuple(marks), at_work)


def _concerns(names: Names, key: str, payload: Mapping[str, Any]) -> bool:
    """Check whether a job is about the person it names; if it names none, use its session, proposal, place or key.

    Quoted text proves nothing, since people mention each other.
    """
    if isinstance(person := payload.get("user_id"), str):
        return person == names.user_id
    channel = payload.get("channel")
    return (
        payload.get("session_id") in names.sessions
        or payload.get("proposal") in names.proposals
        or channel in names.direct
        or (channel, payload.get("thread_ts")) in names.threads
        or names.occur_in(key)
    )
