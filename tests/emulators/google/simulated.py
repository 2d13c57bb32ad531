"""The Google adapter with its whole way to Google, in a simulation: no sockets, and any fault at any request.

It is armed and counted like the fake of the port, of which it is one: what is a call there is a request here.
"""

from __future__ import annotations

from urllib.parse import unquote

import httpx
from tests.emulators.google.emulator import Fault as Refused
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.google.wire import Ask, Reply
from tests.fakes.google_calendar import Answer, Status, Verb
from tests.fakes.google_store import GoogleStore
from tests.fakes.over_requests import OverRequests

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.calendars import GoogleCalendar
from fateforger.adapters.google.client import GoogleClient
from fateforger.calendar.ports import Limited, Outcome, Rejected, Unauthorized
from fateforger.errors import ConnectionRevoked

_VERBS: dict[str, Verb] = {"POST": "create", "PATCH": "update", "DELETE": "delete"}


class RecoveringLogin:
    """A login that is over once its token was refused, and good again for the next call."""

    def __init__(self) -> None:
        self._over = False

    async def get_token(self) -> str:
        if self._over:
            self._over = False
            raise ConnectionRevoked("Google has ended my access to your account.")
        return "token"

    def report_refused(self, token: str) -> None:
        self._over = True


class SimulatedGoogle(OverRequests[Reply]):
    """The port, by :class:`GoogleCalendar` over an emulator of Google whose content is ``store``."""

    def __init__(self, store: GoogleStore | None = None, *, key: str = "google/primary") -> None:
        super().__init__(store, key=key, conditional_write=True)
        self.emulator = GoogleEmulator(check_tokens=False)
        client = GoogleClient(RecoveringLogin(), SystemClock(), url="http://google/calendar/v3", transport=_Way(self))
        self.adapter = GoogleCalendar(client, "primary", time_zone=self.store.time_zone, key=key)

    async def travel(self, ask: Ask) -> Reply:
        """Let a request meet its faults. Raises an error of httpx for one without an answer."""
        self.emulator.calendars = {"primary": self.store}
        verb, event_id = name_request(ask)
        return await self.send(verb, event_id, lambda: self.emulator.handle(ask), {"ask": ask})

    def refuse(self, fault: Answer | Status) -> Reply:
        if isinstance(fault, Status):
            return Refused(fault.status, "Something went wrong.", "backendError", fault.retry_after).reply()
        return _to_refused(fault.outcome).reply()

    def is_refusal(self, reply: Reply) -> bool:
        return reply.status >= 300


class _Way(httpx.AsyncBaseTransport):
    def __init__(self, calendar: SimulatedGoogle) -> None:
        self._calendar = calendar

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        ask = Ask(request.method, request.url.path, dict(request.url.params), headers, await request.aread())
        reply = await self._calendar.travel(ask)
        return httpx.Response(reply.status, headers=dict(reply.headers), content=reply.body)


def name_request(ask: Ask) -> tuple[Verb, str | None]:
    """Return the port's verb for a request, and its event."""
    event_id = unquote(ask.path.partition("/events")[2].strip("/")) or None
    if ask.method == "POST":
        return "create", str(ask.json["id"])
    if ask.method == "GET":
        return ("window" if event_id is None else "get"), event_id
    return _VERBS[ask.method], event_id


def _to_refused(outcome: Outcome) -> Refused:
    match outcome:
        case Limited(retry_after=seconds):
            return Refused(403, "Rate Limit Exceeded", "rateLimitExceeded", seconds)
        case Unauthorized():
            return Refused(401, "Invalid Credentials", "authError")
        case Rejected(reason=reason):
            return Refused(400, reason, "invalid")
        case _:
            return Refused()
