"""Whose calendar plans are written to, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """What is kept about the owner. ``origin`` says how ``person`` became it, ``since`` when. ``closed_at`` is set when
    the owner was erased; ``closed_for`` is a salted hash of the person whom the setting named then. ``code_salt`` is
    the salt of the code that can be claimed with just now, if there is one."""

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
    """The one record of who owns the calendar. Each call is one commit and reads one row. Raises
    :class:`~fateforger.errors.StoreError`. An owner is erased by :meth:`fateforger.ports.People.erase`."""

    async def read(self) -> OwnerRecord:
        """Return what is kept."""
        ...

    async def offer(self, code_hash: str, salt: str, *, tries: int) -> None:
        """Let the code with that hash be claimed with, once; an earlier code is void from then on. It is void as well
        after ``tries`` wrong ones."""
        ...

    async def claim(self, user_id: str, code_hash: str, *, now: datetime) -> Claim:
        """Make the person the owner if the hash is that of the code on offer; a wrong one costs a try."""
        ...
