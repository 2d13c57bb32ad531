"""Count, export and erase everything that is stored about a person.

Nothing outside of this program is touched; the callers tell the person what stays.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fateforger.background.ownership import Ownership
from fateforger.ports import KINDS, Clock, Counts, People, Recordings

FORMAT, FORMAT_VERSION = "fateforger/person", 1
CALENDAR_CLOSED = (
    "The calendar is closed: its owner was erased, and nobody inherits it. Start fateforger again to get a code with"
    " which somebody can claim it, or name somebody else with FATEFORGER_CALENDAR_OWNER."
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PersonalData:
    """Read and erase the data of one person at a time.

    ``recordings`` is ``None`` where turns are not recorded. ``calendar`` is the journal's name of the configured
    calendar, if it is known, and ``ownership`` decides who owns that calendar.
    """

    people: People
    recordings: Recordings | None
    clock: Clock
    ownership: Ownership
    calendar: str | None = None

    async def held(self, user_id: str) -> Counts:
        """Return the number of stored items of each kind.

        Raises ``StoreError``, and ``BadInput`` for an id that cannot belong to a person.
        """
        counts = await self.people.count_held(user_id, calendar=await self._calendar_of(user_id))
        recorded = {} if self.recordings is None else await self.recordings.of(user_id)
        return _sort_kinds({**counts, "recordings": len(recorded)})

    async def export(self, user_id: str) -> dict[str, Any]:
        """Return everything as one JSON document (docs/privacy.md). Raises the errors of :meth:`held`."""
        held: dict[str, Any] = dict(await self.people.export(user_id, calendar=await self._calendar_of(user_id)))
        if self.recordings is not None:
            texts = await self.recordings.of(user_id)
            held["recordings"] = [{"name": name, "turn": _parse_recording(text)} for name, text in texts.items()]
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "person": user_id,
            "exported_at": self.clock.now().isoformat(),
            "held": {kind: held[kind] for kind in KINDS if held.get(kind)},
        }

    async def erase(self, user_id: str) -> Counts:
        """Delete everything and return the number of deleted items of each kind.

        The calendar is closed if this person owns it. An interrupted run is completed by repeating it. The search index
        is updated later by its own worker. Raises the errors of :meth:`held` and of
        :meth:`fateforger.ports.People.erase`.
        """
        calendar, closing = await self._calendar_of(user_id), await self.ownership.build_closing(user_id)
        counts = await self.people.erase(user_id, now=self.clock.now(), calendar=calendar, closing=closing)
        if closing is not None:
            log.warning(CALENDAR_CLOSED)
        recorded = 0 if self.recordings is None else await self.recordings.forget(user_id)
        return _sort_kinds({**counts, "recordings": recorded})

    async def _calendar_of(self, user_id: str) -> str | None:
        return self.calendar if (await self.ownership.owner()).person == user_id else None


def _sort_kinds(counts: Counts) -> Counts:
    """Return the kinds that occur, in display order."""
    return {kind: counts[kind] for kind in KINDS if counts.get(kind)}


def _parse_recording(text: str) -> Mapping[str, Any] | str:
    """Return a recording as a JSON document, or as text if it was cut off."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
