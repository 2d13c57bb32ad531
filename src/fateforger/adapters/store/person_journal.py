"""Select the part of the journal that is about a person.

A calendar is one person's, but the journal may hold several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, select

from fateforger.adapters.store.documents import parse_mapping
from fateforger.adapters.store.journal_rows import TX
from fateforger.adapters.store.leases import LEASE
from fateforger.journal.model import TxState

_UNFINISHED = frozenset({TxState.APPLYING.value, TxState.PAUSED.value})
_ALL = select(TX.c.id, TX.c.calendar, TX.c.day, TX.c.state, TX.c.undoes, TX.c.context).order_by(TX.c.seq)
_LEASES = select(LEASE.c.calendar, LEASE.c.expires_at)


@dataclass(frozen=True, slots=True)
class JournalShare:
    """A person's part of the journal.

    ``calendars`` are theirs alone; of the others, ``days`` are those on which only they wrote. ``unfinished``: one of
    their writes is running, paused, or was cut off.
    """

    transactions: tuple[str, ...]
    calendars: frozenset[str]
    days: frozenset[tuple[str, date]]
    unfinished: bool


def find_journal_share(
    connection: Connection, user_id: str, owners: Mapping[str, str], *, calendar: str | None, now: datetime | None
) -> JournalShare:
    """Return a person's part of the journal.

    ``owners`` maps sessions to people. A transaction without a session belongs to the person of the calendar if there
    is only one, or to the only person there is. ``calendar`` is known to be theirs.
    """
    rows, leases = connection.execute(_ALL).all(), connection.execute(_LEASES).all()
    writers: dict[str, str | None] = {}
    people: dict[str, set[str]] = {row.calendar: set() for row in (*rows, *leases)}
    if calendar is not None:
        people[calendar] = {user_id}
    for row in rows:
        session = parse_mapping(row.context, f"Transaction {row.id}").get("session")
        writer = owners.get(session) if isinstance(session, str) else writers.get(row.undoes)
        writers[row.id] = writer
        people[row.calendar].update(() if writer is None else (writer,))
    if set(owners.values()) == {user_id}:
        people = {name: found or {user_id} for name, found in people.items()}
    alone = frozenset(name for name, found in people.items() if found == {user_id})
    theirs = [r for r in rows if writers[r.id] == user_id or (writers[r.id] is None and r.calendar in alone)]
    ids = {row.id for row in theirs}
    others = {(row.calendar, row.day) for row in rows if row.id not in ids}
    touched = alone | {row.calendar for row in theirs}
    held = now is not None and any(
        row.calendar in touched and row.expires_at is not None and row.expires_at > now for row in leases
    )
    return JournalShare(
        transactions=tuple(row.id for row in theirs),
        calendars=alone,
        days=frozenset({(row.calendar, row.day) for row in theirs if row.calendar not in alone} - others),
        unfinished=held or any(row.state in _UNFINISHED for row in theirs),
    )
