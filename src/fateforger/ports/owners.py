"""The stored owner of the calendar that plans are written to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """The stored data about the owner.

    ``origin`` says how ``person`` became the owner, ``since`` when. ``closed_at`` is set when the owner was erased;
    ``closed_for`` is a salted hash of the person named in the settings at that time. ``code_salt`` is the salt of the
    current claim code, if there is one.
    """

    person: str | None = None
    origin: str | None = None
    since: datetime | None = None
    closed_at: datetime | None = None
    closed_for: str | None = None
    code_salt: str | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """Close the calendar when its owner is erased. ``closed_for`` is a salted hash of them if a setting names them."""

    closed_for: str | None = None


class Claim(Enum):
    """The result of presenting a code."""

    CLAIMED = auto()
    WRONG = auto()
    WRONG_FOR_THE_LAST_TIME = auto()
    NO_CODE = auto()


class Owners(Protocol):
    """The one record of the calendar's owner. Each call is one commit and reads one row.

    Raises :class:`~fateforger.errors.StoreError`. An owner is erased by :meth:`fateforger.ports.People.erase`.
    """

    async def read(self) -> OwnerRecord:
        """Return the stored record."""
        ...

    async def offer(self, code_hash: str, salt: str, *, tries: int) -> None:
        """Offer the code with that hash for one claim; an earlier code becomes void.

        The code also becomes void after ``tries`` wrong ones.
        """
        ...

    async def claim(self, user_id: str, code_hash: str, *, now: datetime) -> Claim:
        """Make the person the owner if the hash is that of the code on offer; a wrong one costs a try."""
        ...
