"""The owner of the calendar, the language of each person, and the export and erasure of all that is stored about one.

The owner is named by a setting, claims the calendar with a code, or is the person of the local page.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fateforger.ports.clock import Clock
from fateforger.ports.model import Recordings
from fateforger.ports.people import KINDS, Claim, Counts, Languages, OwnerRecord, Owners, People, PersonLanguage
from fateforger.text import match_language

SETTING = "named by FATEFORGER_CALENDAR_OWNER"
PAGE = "the local page is theirs"
PLANNED_FIRST = "planned first"
CODE_LETTERS = "ACDEFGHJKMNPQRTUVWXY34679"
"""Letters and digits that cannot be mistaken for one another."""
GROUP, GROUPS = 4, 2
TRIES = 10
"""Wrong codes, from all people together, after which the code is void."""
WAIT = timedelta(seconds=10)
"""Time that a person has to wait after a wrong code."""
MOST_WAITING = 1_000
CODE_VOID = "there were %d wrong codes, the last one by %s, so the code is void; start fateforger again for a new one"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LanguageService:
    """Decides in which language a person is answered. All methods raise ``StoreError``.

    It is the one that they chose, else the one in which they wrote last, else that of their Slack profile, else
    ``usual``.
    """

    languages: Languages
    usual: str

    async def of(self, user_id: str) -> PersonLanguage:
        """Return the language of a person; there is a catalogue for it."""
        known = await self.languages.of(user_id)
        return PersonLanguage(self.usual) if known is None or match_language(known.code) is None else known

    async def note_written(self, user_id: str, code: str) -> None:
        """Note the language in which a person wrote. One that they chose stays."""
        if not (await self.of(user_id)).chosen:
            await self.languages.keep(user_id, PersonLanguage(code))

    async def note_profile(self, user_id: str, tag: str | None) -> None:
        """Note the language of a person's profile, such as ``nl-NL``, while nothing else is known of theirs."""
        code = match_language(tag)
        if code is not None and await self.languages.of(user_id) is None:
            await self.languages.keep(user_id, PersonLanguage(code))

    async def choose(self, user_id: str, code: str | None) -> None:
        """Keep a language as chosen; ``None`` follows what the person writes again."""
        now = await self.of(user_id)
        await self.languages.keep(user_id, PersonLanguage(code or now.code, chosen=code is not None))


@dataclass(slots=True)
class Ownership:
    """Decides who owns the calendar.

    ``named`` is the person in the setting. ``page`` lists the people of the local page, its main user first; with
    ``real_slack`` they do not count. All methods raise ``StoreError``.
    """

    owners: Owners
    clock: Clock
    named: str | None = field(kw_only=True)
    page: Sequence[str] = field(kw_only=True)
    real_slack: bool = field(kw_only=True)
    _hashes: dict[str, bool] = field(init=False, default_factory=dict)
    _wait_until: dict[str, datetime] = field(init=False, default_factory=dict)

    async def owner(self) -> OwnerRecord:
        """Return the current owner of the calendar, without what only the store needs."""
        return await self._decide(await self.owners.read())

    async def _decide(self, record: OwnerRecord) -> OwnerRecord:
        if self.named is not None and not await self._was_erased(self.named, record):
            return OwnerRecord(self.named, SETTING)
        # The first person to plan may have done so on the local page, before Slack was connected.
        of_the_page = record.origin == PLANNED_FIRST and record.person in self.page
        if record.person is not None and not (self.real_slack and of_the_page):
            return OwnerRecord(record.person, record.origin, record.since)
        if record.closed_at is not None:
            return OwnerRecord(closed_at=record.closed_at)
        if not self.real_slack and self.page:
            return OwnerRecord(self.page[0], PAGE)
        return OwnerRecord()

    async def _was_erased(self, person: str, record: OwnerRecord) -> bool:
        """Check whether the person in the setting was erased. The answer is cached, because hashing is slow."""
        kept = record.closed_for
        if kept is None:
            return False
        if kept not in self._hashes:
            salt, _, digest = kept.partition(":")
            self._hashes[kept] = hmac.compare_digest(digest, await _hash_in_thread(person, salt))
        return self._hashes[kept]

    async def build_closing(self, user_id: str) -> str | None:
        """Return what closes the calendar when this person is erased, as :meth:`People.erase` takes it.

        Returns ``None`` if they do not own it, or if they are the main user of the local page, who has no successor.
        """
        owner = await self.owner()
        if owner.person != user_id:
            return None
        if owner.origin == SETTING:
            salt = secrets.token_hex(16)
            return f"{salt}:{await _hash_in_thread(user_id, salt)}"
        return None if not self.real_slack and user_id == self.page[0] else ""

    async def offer_code(self) -> str | None:
        """Create and return a new code to claim the calendar with; ``None`` if the calendar has an owner.

        Only a hash of the code is stored, so it cannot be shown again.
        """
        if (await self.owner()).person is not None:
            return None
        letters = [secrets.choice(CODE_LETTERS) for _ in range(GROUP * GROUPS)]
        groups = ["".join(letters[first : first + GROUP]) for first in range(0, len(letters), GROUP)]
        code, salt = "-".join(groups), secrets.token_hex(16)
        await self.owners.offer(await _hash_in_thread(_normalize_code(code), salt), salt, tries=TRIES)
        return code

    async def claim(self, user_id: str, code: str) -> Claim:
        """Make the person the owner if the code is right. After a wrong code they have to wait for :data:`WAIT`."""
        record = await self.owners.read()
        owner = await self._decide(record)
        if owner.person is not None:
            return Claim.ALREADY_YOURS if owner.person == user_id else Claim.TAKEN
        if record.code_salt is None:
            return Claim.NO_CODE
        now = self.clock.now()
        if self._wait_until.get(user_id, now) > now:
            return Claim.TOO_SOON
        self._delay_next_try(user_id, now + WAIT)
        code_hash = await _hash_in_thread(_normalize_code(code), record.code_salt)
        claim = await self.owners.claim(user_id, code_hash, now=now)
        if claim is Claim.CLAIMED:
            log.warning("%s claimed the calendar with the code", user_id)
            del self._wait_until[user_id]
        elif claim is Claim.WRONG:
            log.warning("%s sent a wrong code", user_id)
        elif claim is Claim.WRONG_FOR_THE_LAST_TIME:
            log.warning(CODE_VOID, TRIES, user_id)
        return claim

    def _delay_next_try(self, user_id: str, until: datetime) -> None:
        """Make the person wait. This is called before the code is checked: codes that arrive together count as one."""
        if len(self._wait_until) >= MOST_WAITING:
            self._wait_until.clear()
        self._wait_until[user_id] = until


def is_code(text: str) -> bool:
    """Check whether the text has the form of a code; case does not matter."""
    groups = text.upper().split("-")
    return len(groups) == GROUPS and all(len(group) == GROUP and set(group) <= set(CODE_LETTERS) for group in groups)


def _normalize_code(code: str) -> str:
    return code.strip().upper().replace("-", "")


async def _hash_in_thread(text: str, salt: str) -> str:
    return await asyncio.to_thread(_hash, text, salt)


def _hash(text: str, salt: str) -> str:
    return hashlib.scrypt(text.encode(), salt=bytes.fromhex(salt), n=2**13, r=8, p=1).hex()


FORMAT, FORMAT_VERSION = "fateforger/person", 1
CALENDAR_CLOSED = (
    "The calendar is closed: its owner was erased, and nobody inherits it. Start fateforger again to get a code with"
    " which somebody can claim it, or name somebody else with FATEFORGER_CALENDAR_OWNER."
)


EndAccess = Callable[[str], Awaitable[str]]
"""Ends the access to a person's calendar at its provider, and returns what only they can do themselves."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The number of deleted items of each kind, and what only the person can do themselves; empty if nothing."""

    counts: Counts
    remains: str = ""


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
    end_access: EndAccess | None = None

    async def count_held(self, user_id: str) -> Counts:
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

    async def erase(self, user_id: str) -> Erased:
        """Delete everything, and end the access to the person's calendar.

        The calendar is closed if this person owns it. An interrupted run is completed by repeating it: the access ends
        first, while its token is still known. The search index is updated later by its own worker. Raises the errors of
        :meth:`held` and of :meth:`fateforger.ports.people.People.erase`.
        """
        calendar, closing = await self._calendar_of(user_id), await self.ownership.build_closing(user_id)
        await self.people.check_idle(user_id, now=self.clock.now(), calendar=calendar)
        remains = "" if self.end_access is None else await self.end_access(user_id)
        counts = await self.people.erase(user_id, now=self.clock.now(), calendar=calendar, closing=closing)
        if closing is not None:
            log.warning(CALENDAR_CLOSED)
        recorded = 0 if self.recordings is None else await self.recordings.forget(user_id)
        return Erased(_sort_kinds({**counts, "recordings": recorded}), remains)

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
