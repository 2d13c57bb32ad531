"""All that is held about a person: told, exported, erased. What is outside of this program stays, and that is said."""

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
class Dossiers:
    """Everything about one person at a time. ``recordings`` is ``None`` where turns are not recorded; ``calendar`` is
    the journal's name of the configured calendar, if that is known, and ``ownership`` says whose it is."""

    people: People
    recordings: Recordings | None
    clock: Clock
    ownership: Ownership
    calendar: str | None = None

    async def held(self, user_id: str) -> Counts:
        """How much there is of each kind. Raises ``StoreError``, ``BadInput`` for what cannot be a person."""
        counts = await self.people.held(user_id, calendar=await self._calendar_of(user_id))
        recorded = {} if self.recordings is None else await self.recordings.of(user_id)
        return _in_order({**counts, "recordings": len(recorded)})

    async def export(self, user_id: str) -> dict[str, Any]:
        """All of it as one JSON document (docs/privacy.md). Raises as :meth:`held`."""
        held: dict[str, Any] = dict(await self.people.export(user_id, calendar=await self._calendar_of(user_id)))
        if self.recordings is not None:
            texts = await self.recordings.of(user_id)
            held["recordings"] = [{"name": name, "turn": _document(text)} for name, text in texts.items()]
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "person": user_id,
            "exported_at": self.clock.now().isoformat(),
            "held": {kind: held[kind] for kind in KINDS if held.get(kind)},
        }

    async def erase(self, user_id: str) -> Counts:
        """Delete all of it, and say what there was; the calendar of its owner is closed. What is cut off in between is
        completed by doing it again; the index follows by itself. Raises as :meth:`held`, and as
        :meth:`fateforger.ports.People.erase`."""
        calendar, closing = await self._calendar_of(user_id), await self.ownership.closing(user_id)
        counts = await self.people.erase(user_id, now=self.clock.now(), calendar=calendar, closing=closing)
        if closing is not None:
            log.warning(CALENDAR_CLOSED)
        recorded = 0 if self.recordings is None else await self.recordings.forget(user_id)
        return _in_order({**counts, "recordings": recorded})

    async def _calendar_of(self, user_id: str) -> str | None:
        return self.calendar if (await self.ownership.owner()).person == user_id else None


def _in_order(counts: Counts) -> Counts:
    """The kinds that there are, in the order in which they are told."""
    return {kind: counts[kind] for kind in KINDS if counts.get(kind)}


def _document(text: str) -> Mapping[str, Any] | str:
    """A recording as the JSON document that it is, or the text of one that was cut off."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
