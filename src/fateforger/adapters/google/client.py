"""Requests to Google's Calendar API: access, a token for each, one repetition of reads, and events in its form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx
from authlib.integrations.httpx_client import AsyncAssertionClient  # type: ignore[import-untyped]  # it ships no types
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from fateforger.adapters.answers import limit_answers, read_retry_after
from fateforger.adapters.oauth import (
    CALL_SECONDS,
    AccountClient,
    OAuthProvider,
    RenewedTokens,
    Tokens,
    TokenSource,
    read_tokens,
    translate_errors,
)
from fateforger.calendar.calls import Budget, TokenBucket
from fateforger.calendar.directory import Unreadable, build_extras, format_time, read_event
from fateforger.calendar.event import EventExtras, EventFields, EventImage, Marker, OwnedId
from fateforger.calendar.refusals import RefusalKind, Refused, Wording
from fateforger.errors import BadInput, CalendarIncomplete
from fateforger.limits import MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import mark_message

NOT_ALLOWED = mark_message("Google does not let me read this calendar ({reason}).")
GOOGLE = Wording(
    login=mark_message("Google does not let me into your calendar any more ({reason}). Please connect it again."),
    not_found=mark_message(
        "Google does not find your calendar ({reason}). Please check that it still exists, or choose another one."
    ),
    no_write={
        RefusalKind.READ_ONLY: mark_message(
            "I may read this calendar but not write to it ({reason}). Please choose a calendar of your own."
        ),
        RefusalKind.FORBIDDEN: mark_message("Google does not allow it ({reason})."),
        RefusalKind.INVALID: mark_message("Google cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.LIMITED: mark_message("Google takes no more requests for the moment ({reason})."),
        RefusalKind.TROUBLE: mark_message("I cannot reach your Google calendar ({reason})."),
    },
    unusable=mark_message("I cannot use the answer of Google ({reason})."),
    wait=mark_message("Google takes no more requests for the moment"),
)
refuse = partial(Refused, GOOGLE)
"""Return a refusal of Google."""

_LIMITS = frozenset({
    "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "calendarUsageLimitsExceeded",
    "limitExceeded",
})  # fmt: skip
_SCOPES = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_SIMPLE = {
    400: RefusalKind.INVALID,
    401: RefusalKind.LOGIN,
    404: RefusalKind.NOT_FOUND,
    409: RefusalKind.CONFLICT,
    412: RefusalKind.CHANGED,
    429: RefusalKind.LIMITED,
}


def classify(status: int, reason: str) -> RefusalKind:
    """Classify an error by its status and the first reason that Google gave."""
    if status == 403:
        if reason in _LIMITS:
            return RefusalKind.LIMITED
        if reason in _SCOPES:
            return RefusalKind.LOGIN
        return RefusalKind.READ_ONLY if reason == "requiredAccessLevel" else RefusalKind.FORBIDDEN
    if status == 410:
        return RefusalKind.EXPIRED if reason in {"fullSyncRequired", "updatedMinTooLongAgo"} else RefusalKind.DELETED
    return _SIMPLE.get(status, RefusalKind.TROUBLE if status >= 500 else RefusalKind.UNCLEAR)


API_URL = "https://www.googleapis.com/calendar/v3"
REQUEST_SECONDS = 8.0
"""Seconds for one request."""
CALLS_AT_ONCE = 6
"""Concurrent requests per account. A write is one request, where one through a calendar server is up to three; Google
limits bursts of writes to one calendar."""
PAGE_SIZE = 2500
"""The most events that Google puts on a page."""
PROJECT = TokenBucket("Google", size=5_000, per_second=80)
"""The requests for all people, below the 10,000 a minute that Google allows a project."""


def build_account_bucket(account: str) -> TokenBucket:
    """Return the limit of one account, below Google's of 600 requests a minute."""
    return TokenBucket(f"Google {account}", size=300, per_second=5)


Json = Mapping[str, Any]


class GoogleClient(AccountClient):
    """The interface for one account.

    A read that fails on its way is repeated once; a write never is, since it may have taken effect.
    """

    provider = "google"
    wording = GOOGLE
    at_once = CALLS_AT_ONCE

    def __init__(
        self,
        tokens: TokenSource,
        clock: Clock,
        *,
        budget: Budget | None = None,
        url: str = API_URL,
        call_seconds: float = REQUEST_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(tokens, budget=budget, transport=transport, call_seconds=call_seconds)
        self._clock = clock
        self._url = url.rstrip("/")

    async def read(self, path: str, query: Mapping[str, str | int] | None = None) -> Json | Refused:
        """Send a GET, once more if it fails on its way."""
        answer = await self.request("GET", path, query=query)
        if isinstance(answer, Refused) and answer.refusal is RefusalKind.TROUBLE:
            answer = await self.request("GET", path, query=query)
        return answer

    async def read_pages(self, path: str, query: Mapping[str, str | int]) -> AsyncIterator[Json | Refused]:
        """Yield all pages of a list. A refusal is the last one."""
        token: str | None = None
        while True:
            page = await self.read(path, query if token is None else {**query, "pageToken": token})
            yield page
            token = None if isinstance(page, Refused) else page.get("nextPageToken")
            if token is None:
                return

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Json | None = None,
        if_match: str | None = None,
    ) -> Json | Refused:
        """Send a request; with ``if_match``, only an event with that etag changes."""
        headers = {} if if_match is None else {"If-Match": if_match}
        operation = _name_operation(method, path)
        response = await self.send(method, f"{self._url}{path}", operation, query=query, body=body, headers=headers)
        if isinstance(response, Refused):
            return response
        return _read_json(response) if response.is_success else self._read_refusal(response)

    def _read_refusal(self, response: httpx.Response) -> Refused:
        try:
            error = response.json()["error"]
            errors = error.get("errors") or [{}]
            message, reason = str(error.get("message", "")), str(errors[0].get("reason", ""))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):  # a gateway's page, for example
            message, reason = "", ""
        kind = classify(response.status_code, reason)
        words = message or _("status {status}", status=response.status_code)
        return refuse(kind, words, read_retry_after(response.headers.get("retry-after", ""), self._clock.now()))


def _name_operation(method: str, path: str) -> str:
    """Return the name of an operation; the path itself holds ids."""
    match path.split("/")[1:]:
        case ["users", *_]:
            return f"{method} calendars"
        case ["channels", *_] | [_, _, "events", "watch"]:
            return f"{method} channel"
        case [_, _, "events"]:
            return f"{method} events"
        case _:
            return f"{method} event"


def _read_json(response: httpx.Response) -> Json | Refused:
    try:
        content = json.loads(response.content or b"{}")
    except ValueError:
        content = None
    if not isinstance(content, dict):
        return refuse(RefusalKind.UNCLEAR, _("its answer cannot be read"))
    return content


def build_path(*parts: str) -> str:
    """Return a path of parts that may hold any character."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


_NAMES = {"summary": "summary", "description": "description", "color_id": "colorId"}


def has_etag(event: EventImage) -> bool:
    """Check whether an event was read with the version that a conditional write needs."""
    return not event.gone and event.version is not None and event.raw.get("etag") == event.version


def read_page(page: Json | Refused) -> list[EventImage]:
    """Read a page of a list of events. Raises :class:`~fateforger.errors.CalendarError`."""
    if isinstance(page, Refused):
        raise page.to_error()
    try:
        return [read_event(shown) for shown in page.get("items", ())]
    except (Unreadable, TypeError) as problem:
        raise CalendarIncomplete(_("I do not understand Google's answer: {problem}.", problem=problem)) from None


def read_answer(answer: Json, event_id: str) -> EventImage | Refused:
    """Read an answer about one event; one about another event is refused."""
    try:
        image = read_event(answer)
    except Unreadable as problem:
        return refuse(RefusalKind.UNCLEAR, _("I do not understand Google's answer: {problem}.", problem=problem))
    if image.id != event_id:
        return refuse(RefusalKind.UNCLEAR, f"an answer about event {image.id}")
    return image


def build_event(
    event_id: OwnedId, fields: EventFields, marker: Marker, extras: EventExtras, time_zone: str
) -> dict[str, Any]:
    """Return a new event. What has its usual value is left out, as Google leaves it out."""
    given = build_extras(extras)
    given.pop("otherProperties", None)
    shared = {"shared": dict(extras.shared_properties)} if extras.shared_properties else {}
    return {
        "id": event_id,
        "summary": fields.summary,
        "start": _build_time(fields.start, time_zone),
        "end": _build_time(fields.end, time_zone),
        **({"description": fields.description} if fields.description else {}),
        **({} if fields.color_id is None else {"colorId": fields.color_id}),
        **({"status": "tentative"} if extras.tentative else {}),
        **given,
        "extendedProperties": {"private": {**extras.properties, **marker.properties()}, **shared},
    }


def build_changes(changes: Mapping[str, Any], marker: Marker, time_zone: str) -> dict[str, Any]:
    """Return what a PATCH sends: what it does not name stays, and a color of ``None`` is removed."""
    times = {name: _build_time(changes[name], time_zone) for name in ("start", "end") if name in changes}
    return {
        **{_NAMES[name]: value for name, value in changes.items() if name in _NAMES},
        **times,
        "extendedProperties": {"private": marker.properties()},
    }


def _build_time(moment: datetime, time_zone: str) -> dict[str, str]:
    return {"dateTime": format_time(moment), "timeZone": time_zone}


_AUTH = "https://www.googleapis.com/auth/calendar"
SCOPES = (f"{_AUTH}.events.owned", f"{_AUTH}.events.readonly", f"{_AUTH}.calendarlist.readonly")
"""Change events on calendars that the person owns, read events on all of theirs, and list those: nothing else."""
ACCOUNTS_URL = "https://accounts.google.com"
TOKENS_URL = "https://oauth2.googleapis.com"


def build_provider(*, accounts_url: str = ACCOUNTS_URL, tokens_url: str = TOKENS_URL) -> OAuthProvider:
    """Return Google's addresses and the access that is asked for, also while the person is away."""
    return OAuthProvider(
        name="Google",
        authorize_url=f"{accounts_url}/o/oauth2/v2/auth",
        token_url=f"{tokens_url}/token",
        scopes=SCOPES,
        revoke_url=f"{tokens_url}/revoke",
        # Google gives a refresh token only at the first consent, unless the page is asked for again.
        consent_parameters={"access_type": "offline", "prompt": "consent select_account"},
    )


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A service account whose client id an administrator authorized for the whole domain, for :data:`SCOPES`."""

    email: str
    private_key: str = field(repr=False)
    token_url: str = f"{TOKENS_URL}/token"


def read_service_account(content: str) -> ServiceAccount:
    """Read the key file that Google's console gives for a service account. Raises ``BadInput``."""
    try:
        found = json.loads(content)
        account = ServiceAccount(found["client_email"], found["private_key"], found["token_uri"])
        usable = RSAKey.import_key(account.private_key).is_private
    except (ValueError, KeyError, TypeError, JoseError):
        usable = False
    if not usable:
        raise BadInput(_("That is not the key file of a service account of Google."))
    return account


def open_delegated_tokens(
    account: ServiceAccount, person: str, clock: Clock, *, scopes: Sequence[str] = SCOPES
) -> TokenSource:
    """Return tokens for the calendar of ``person``, an address in the domain, without their consent."""
    provider = OAuthProvider("Google", "", account.token_url, tuple(scopes))

    async def renew(_refused: str) -> Tokens:
        now = clock.now()
        client = AsyncAssertionClient(
            account.token_url,
            issuer=account.email,
            subject=person,
            claims={"scope": " ".join(scopes)},
            header={"alg": "RS256"},
            key=RSAKey.import_key(account.private_key),
            issued_at=int(now.timestamp()),
            timeout=CALL_SECONDS,
        )
        limit_answers(client, MAX_LOGIN_ANSWER_BYTES)
        async with translate_errors(provider.name), client:
            return read_tokens(await client.refresh_token(), provider, now)

    return RenewedTokens(renew, clock)
