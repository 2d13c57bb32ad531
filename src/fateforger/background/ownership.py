"""Whose calendar plans are written to: named by a setting, claimed with a code, or the person of the local page."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from fateforger.ports import Clock
from fateforger.ports.owners import Claim, Closing, OwnerRecord, Owners

SETTING = "named by FATEFORGER_CALENDAR_OWNER"
PAGE = "the local page is theirs"
PLANNED_FIRST = "planned first"
CODE_LETTERS = "ACDEFGHJKMNPQRTUVWXY34679"
"""Letters and digits of which none looks like another."""
GROUP, GROUPS = 4, 2
TRIES = 10
"""Wrong codes, whoever sends them, before the code is void."""
WAIT = timedelta(seconds=10)
"""How long a person waits after a wrong code."""
MOST_WAITING = 1_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CalendarOwner:
    """Whose calendar it is, how they became its owner and since when. Without a ``person`` it is nobody's: nobody
    claimed it yet, or it is ``closed`` because its owner was erased."""

    person: str | None = None
    origin: str | None = None
    since: datetime | None = None
    closed: bool = False


class Claiming(Enum):
    """What a person is told who presented a code."""

    DONE = auto()
    ALREADY_YOURS = auto()
    TAKEN = auto()
    WRONG = auto()
    TOO_SOON = auto()
    NO_CODE = auto()


class Ownership:
    """Decides who owns the calendar. ``named`` is the person in the setting; ``page`` are the people of the local page,
    the one whose machine it is first; with ``real_slack`` nobody is there. All raise ``StoreError``."""

    def __init__(
        self, owners: Owners, clock: Clock, *, named: str | None, page: Sequence[str], real_slack: bool
    ) -> None:
        self._owners = owners
        self._clock = clock
        self._named = named
        self._page = tuple(page)
        self._real_slack = real_slack
        self._hashes: dict[str, bool] = {}
        self._wait_until: dict[str, datetime] = {}

    async def owner(self) -> CalendarOwner:
        """Return whose calendar it is now."""
        return await self._decide(await self._owners.read())

    async def _decide(self, record: OwnerRecord) -> CalendarOwner:
        if self._named is not None and not await self._was_erased(self._named, record):
            return CalendarOwner(self._named, SETTING)
        # Who planned first may have done so on the local page, before there was a Slack.
        of_the_page = record.origin == PLANNED_FIRST and record.person in self._page
        if record.person is not None and not (self._real_slack and of_the_page):
            return CalendarOwner(record.person, record.origin, record.since)
        if record.closed_at is not None:
            return CalendarOwner(since=record.closed_at, closed=True)
        if not self._real_slack and self._page:
            return CalendarOwner(self._page[0], PAGE)
        return CalendarOwner()

    async def _was_erased(self, person: str, record: OwnerRecord) -> bool:
        """Check whether the setting names who was erased; the answer is remembered, for hashing takes a while."""
        kept = record.closed_for
        if kept is None:
            return False
        if kept not in self._hashes:
            salt, _, digest = kept.partition(":")
            self._hashes[kept] = hmac.compare_digest(digest, await _hashed(person, salt))
        return self._hashes[kept]

    async def closing(self, user_id: str) -> Closing | None:
        """Return how to close the calendar when this person is erased; ``None`` if it is not theirs, or if the local
        page is: nobody else is there."""
        owner = await self.owner()
        if owner.person != user_id:
            return None
        if owner.origin == SETTING:
            salt = secrets.token_hex(16)
            return Closing(closed_for=f"{salt}:{await _hashed(user_id, salt)}")
        return None if not self._real_slack and user_id == self._page[0] else Closing()

    async def offer_code(self) -> str | None:
        """Make a new code with which somebody can claim the calendar and return it; ``None`` if it has an owner. Only
        its hash is kept, so this is the one time that it can be shown."""
        if (await self.owner()).person is not None:
            return None
        letters = [secrets.choice(CODE_LETTERS) for _ in range(GROUP * GROUPS)]
        groups = ["".join(letters[first : first + GROUP]) for first in range(0, len(letters), GROUP)]
        code, salt = "-".join(groups), secrets.token_hex(16)
        await self._owners.offer(await _hashed(_bare(code), salt), salt, tries=TRIES)
        return code

    async def claim(self, user_id: str, code: str) -> Claiming:
        """Make the person the owner if this is the code. After a wrong one they wait before the next counts."""
        record = await self._owners.read()
        owner = await self._decide(record)
        if owner.person is not None:
            return Claiming.ALREADY_YOURS if owner.person == user_id else Claiming.TAKEN
        if record.code_salt is None:
            return Claiming.NO_CODE
        now = self._clock.now()
        if self._wait_until.get(user_id, now) > now:
            return Claiming.TOO_SOON
        self._hold(user_id, now + WAIT)
        match await self._owners.claim(user_id, await _hashed(_bare(code), record.code_salt), now=now):
            case Claim.CLAIMED:
                log.warning("%s claimed the calendar with the code", user_id)
                del self._wait_until[user_id]
                return Claiming.DONE
            case Claim.WRONG_FOR_THE_LAST_TIME:
                log.warning(
                    "there were %d wrong codes, the last one by %s, so the code is void; start fateforger again for a"
                    " new one",
                    TRIES,
                    user_id,
                )
                return Claiming.WRONG
            case Claim.WRONG:
                log.warning("%s sent a wrong code", user_id)
                return Claiming.WRONG
            case Claim.NO_CODE:
                return Claiming.NO_CODE

    def _hold(self, user_id: str, until: datetime) -> None:
        """Set before the code is looked at: codes that arrive together count as one."""
        if len(self._wait_until) >= MOST_WAITING:
            self._wait_until.clear()
        self._wait_until[user_id] = until


def is_code(text: str) -> bool:
    """Check whether the text has the form of a code, in whatever case."""
    groups = text.upper().split("-")
    return len(groups) == GROUPS and all(len(group) == GROUP and set(group) <= set(CODE_LETTERS) for group in groups)


def _bare(code: str) -> str:
    return code.strip().upper().replace("-", "")


async def _hashed(text: str, salt: str) -> str:
    return await asyncio.to_thread(_hash, text, salt)


def _hash(text: str, salt: str) -> str:
    return hashlib.scrypt(text.encode(), salt=bytes.fromhex(salt), n=2**13, r=8, p=1).hex()
