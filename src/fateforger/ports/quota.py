"""The limit of requests per login and minute, counted for all processes that share a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Login:
    """A login at a calendar server. Without a name it may be any login of that server, so it counts for each."""

    server: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class RequestLimit:
    """At most ``requests`` in any ``seconds``.

    Background reads get at most ``background`` of them, and none unless ``kept`` stay free for interactive requests. A
    reservation that is never settled, because its process died, expires ``seconds`` after the latest end of its call; a
    call lasts ``call_seconds`` at most.
    """

    requests: int
    seconds: float = 60.0
    background: int = 50
    kept: int = 30
    call_seconds: float = 45.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """Requests that are about to be made. ``id`` is used only once."""

    id: str
    requests: int
    background: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome of a reservation: it cost ``requests``, and the last of them was answered ``ago`` seconds ago."""

    id: str
    requests: int
    ago: float


class Quota(Protocol):
    """Counts the requests of each login. Raises ``StoreError``."""

    async def reserve(
        self, login: Login, wanted: Reservation, limit: RequestLimit, *, settled: Sequence[Settlement] = ()
    ) -> float:
        """Record ``settled`` reservations, then reserve ``wanted`` and return 0.

        Without room, nothing is reserved and the estimated seconds until there is room are returned.
        """
        ...

    async def settle(self, limit: RequestLimit, settled: Sequence[Settlement]) -> None:
        """Record the cost of reservations: each counts for the limit's ``seconds`` after its last answer."""
        ...
