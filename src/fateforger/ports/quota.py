"""How many requests a login may make in a minute, counted together for all processes that share a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Login:
    """A login at a calendar server. Without a name it may be any login of that server, so it counts with each."""

    server: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class RequestLimit:
    """At most ``requests`` in any ``seconds``; reads in the background get at most ``background`` of them, and none
    unless ``kept`` stay free for what a person waits for.

    A reservation that is never settled, since its process died, expires when its call must have been over for
    ``seconds``: a call lasts ``call_seconds`` at most.
    """

    requests: int
    seconds: float = 60.0
    background: int = 50
    kept: int = 30
    call_seconds: float = 45.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """Requests that are about to be made. ``id`` is used once, ever."""

    id: str
    requests: int
    background: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a reservation: it cost ``requests``, and the last of them was answered ``ago`` seconds ago."""

    id: str
    requests: int
    ago: float


class Quota(Protocol):
    """Counts the requests of each login. Raises ``StoreError``."""

    async def reserve(
        self, login: Login, wanted: Reservation, limit: RequestLimit, *, settled: Sequence[Settlement] = ()
    ) -> float:
        """Record what is ``settled``. Then reserve what is ``wanted`` and return 0, or reserve nothing and return how
        many seconds it takes, as far as is known now, until there is room."""
        ...

    async def settle(self, limit: RequestLimit, settled: Sequence[Settlement]) -> None:
        """Record what reservations came to: each counts for the limit's ``seconds`` after its last answer."""
        ...
