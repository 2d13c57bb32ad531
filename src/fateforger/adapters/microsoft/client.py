"""Requests to Microsoft Graph for one mailbox: access, tokens, headers, time limits, pages, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # it ships no types

from fateforger.adapters.answers import limit_answers
from fateforger.adapters.oauth import (
    CALL_SECONDS,
    AccountClient,
    OAuthClient,
    OAuthProvider,
    RenewedTokens,
    Tokens,
    TokenSource,
    read_tokens,
    translate_errors,
)
from fateforger.calendar.calls import Budget, TokenBucket
from fateforger.calendar.refusals import RefusalKind, Refused, Wording
from fateforger.limits import MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import mark_message

NAME = "Microsoft"
LOGIN_URL = "https://login.microsoftonline.com"
SCOPES = ("offline_access", "Calendars.ReadWrite")
"""Read and change one's own calendars, also while the person is away. Microsoft does not repeat ``offline_access`` in
the list of what was granted."""
ORGANIZATION_SCOPES = ("https://graph.microsoft.com/.default",)
"""All application permissions that an administrator granted to this program."""


@dataclass(frozen=True, slots=True)
class Directory:
    """The sign-in of a Microsoft Entra directory.

    ``tenant`` is the directory's id or domain, ``organizations`` for any work or school account, ``consumers`` for any
    personal account, or ``common`` for both.
    """

    tenant: str = "common"
    login_url: str = LOGIN_URL

    def build_provider(self) -> OAuthProvider:
        """Return the addresses for people, who consent for themselves.

        Microsoft has no address to revoke tokens: people withdraw their consent on a page of their account.
        """
        return OAuthProvider(
            name=NAME,
            authorize_url=self._build_url("oauth2/v2.0/authorize"),
            token_url=self._build_url("oauth2/v2.0/token"),
            scopes=SCOPES,
            consent_parameters={"prompt": "select_account"},
        )

    def open_app_tokens(self, client: OAuthClient, clock: Clock) -> TokenSource:
        """Return tokens of this program itself, with which it may use the mailboxes that an administrator allowed."""
        provider = OAuthProvider(NAME, "", self._build_url("oauth2/v2.0/token"), ORGANIZATION_SCOPES)

        async def renew(_refused: str) -> Tokens:
            opened = AsyncOAuth2Client(
                client.client_id,
                client.client_secret,
                token_endpoint_auth_method="client_secret_post",  # noqa: S106  the name of a method
                scope=" ".join(ORGANIZATION_SCOPES),
                timeout=CALL_SECONDS,
            )
            limit_answers(opened, MAX_LOGIN_ANSWER_BYTES)
            async with translate_errors(NAME), opened:
                token = await opened.fetch_token(provider.token_url, grant_type="client_credentials")
            return read_tokens(token, provider, clock.now())

        return RenewedTokens(renew, clock)

    def _build_url(self, path: str) -> str:
        return f"{self.login_url}/{quote(self.tenant, safe='')}/{path}"


NOT_ALLOWED = mark_message(
    "I may not make changes to this Microsoft calendar ({reason}). Please choose one of your own, or ask its owner for"
    " the right to edit it."
)
NO_ANSWER = mark_message("Microsoft could not answer for your calendar ({reason}).")
MICROSOFT = Wording(
    login=mark_message("Microsoft no longer lets me use your calendar ({reason}). Please connect it again."),
    not_found=mark_message(
        "Microsoft does not find your calendar ({reason}). Please check that your account has a mailbox, and that the"
        " calendar still exists."
    ),
    no_write={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.INVALID: mark_message("Your Microsoft calendar cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.LIMITED: NO_ANSWER,
        RefusalKind.TROUBLE: NO_ANSWER,
    },
    unusable=mark_message("Microsoft did not answer the question about your calendar ({reason})."),
    wait=mark_message("Microsoft takes no more requests for the moment"),
)
refuse = partial(Refused, MICROSOFT)
"""Return a refusal of Microsoft."""

_BY_CODE = {
    "ErrorDuplicateTransactionId": RefusalKind.EXISTS,
    "ErrorFolderNotFound": RefusalKind.NO_CALENDAR,
    "ErrorInvalidId": RefusalKind.NOT_FOUND,
    "ErrorInvalidIdMalformed": RefusalKind.NOT_FOUND,
    "ErrorInvalidUser": RefusalKind.NO_CALENDAR,
    "ErrorNonExistentMailbox": RefusalKind.NO_CALENDAR,
    "MailboxNotEnabledForRESTAPI": RefusalKind.NO_CALENDAR,
    "MailboxNotSupportedForRESTAPI": RefusalKind.NO_CALENDAR,
    "Request_ResourceNotFound": RefusalKind.NO_CALENDAR,
    "ResourceNotFound": RefusalKind.NO_CALENDAR,
    "SyncStateInvalid": RefusalKind.EXPIRED,
    "SyncStateNotFound": RefusalKind.EXPIRED,
    "resyncRequired": RefusalKind.EXPIRED,
}
_BY_STATUS: Mapping[int, RefusalKind] = {
    HTTPStatus.UNAUTHORIZED: RefusalKind.LOGIN,
    HTTPStatus.FORBIDDEN: RefusalKind.FORBIDDEN,
    HTTPStatus.NOT_FOUND: RefusalKind.NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT: RefusalKind.TROUBLE,
    HTTPStatus.CONFLICT: RefusalKind.CHANGED,
    HTTPStatus.GONE: RefusalKind.EXPIRED,
    HTTPStatus.PRECONDITION_FAILED: RefusalKind.CHANGED,
    HTTPStatus.TOO_MANY_REQUESTS: RefusalKind.LIMITED,
    HTTPStatus.INSUFFICIENT_STORAGE: RefusalKind.INVALID,
}


def read_refusal(status: int, body: Any, retry_after: str | None) -> Refused:
    """Classify an answer with an error status. ``body`` is its JSON, if it has any."""
    error = body.get("error") if isinstance(body, Mapping) else None
    said = error if isinstance(error, Mapping) else {}
    code = str(said.get("code") or "")
    message = str(said.get("message") or code or _("status {status}", status=status))
    return refuse(_classify(status, code, retry_after), message, _read_seconds(retry_after))


def _classify(status: int, code: str, retry_after: str | None) -> RefusalKind:
    if status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after is not None:
        return RefusalKind.LIMITED
    if status < HTTPStatus.INTERNAL_SERVER_ERROR and code in _BY_CODE:
        return _BY_CODE[code]
    refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return _BY_STATUS.get(status, RefusalKind.INVALID if refused else RefusalKind.TROUBLE)


def _read_seconds(retry_after: str | None) -> float | None:
    """Read the seconds of a ``Retry-After`` header; Graph sends no dates."""
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None


GRAPH_URL = "https://graph.microsoft.com/v1.0"
REQUEST_SECONDS = 10.0
"""Seconds for one request."""
CALLS_AT_ONCE = 4
"""Concurrent requests that Graph allows a program for one mailbox."""
MOST_PAGES = 200
"""An answer with more pages than this is not read to its end, and counts as none."""
_NO_CONTENT, _REFUSED = 204, 400
_PREFERRED = ('IdType="ImmutableId"', 'outlook.timezone="UTC"', 'outlook.body-content-type="text"')

Json = Mapping[str, Any]


def build_mailbox_bucket(account: str) -> TokenBucket:
    """Return the limit of one mailbox, below the 10,000 requests in ten minutes that Graph allows a program there."""
    return TokenBucket(f"Microsoft {account}", size=3_600, per_second=10)


class GraphClient(AccountClient):
    """Graph as one program sees one mailbox: at most four requests at once, always with immutable ids."""

    provider = "microsoft"
    wording = MICROSOFT
    at_once = CALLS_AT_ONCE

    def __init__(
        self,
        tokens: TokenSource,
        *,
        budget: Budget | None = None,
        address: str = GRAPH_URL,
        transport: httpx.AsyncBaseTransport | None = None,
        call_seconds: float = REQUEST_SECONDS,
    ) -> None:
        super().__init__(tokens, budget=budget, transport=transport, call_seconds=call_seconds)
        self.address = address.rstrip("/")

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json | None = None,
        if_match: str | None = None,
        page_size: int | None = None,
    ) -> Json | Refused:
        """Make a request; ``path`` follows the address of Graph, or is a whole address that Graph gave."""
        url = path if "://" in path else self.address + path
        if not url.startswith(f"{self.address}/"):
            return refuse(RefusalKind.UNCLEAR, _("its answer leads to another server"))
        preferred = (*_PREFERRED, *(() if page_size is None else (f"odata.maxpagesize={page_size}",)))
        headers = {"Prefer": ", ".join(preferred), **({} if if_match is None else {"If-Match": if_match})}
        operation = _name_operation(method, url.removeprefix(self.address))
        answer = await self.send(method, url, operation, query=query, body=body, headers=headers)
        return answer if isinstance(answer, Refused) else _read_answer(answer)

    async def read_pages(
        self, path: str, query: Mapping[str, str] | None = None, *, page_size: int
    ) -> list[Json] | Refused:
        """Return all pages of an answer, at least one."""
        pages: list[Json] = []
        while len(pages) < MOST_PAGES:
            page = await self.request("GET", path, query=query, page_size=page_size)
            if isinstance(page, Refused):
                return page
            pages.append(page)
            if page.get("@odata.nextLink") is None:
                return pages
            path, query = str(page["@odata.nextLink"]), None
        return refuse(RefusalKind.UNCLEAR, _("its answer has no end"))


def _name_operation(method: str, path: str) -> str:
    """Return the name of an operation; the path itself holds ids."""
    parts = path.partition("?")[0].split("/")
    if "subscriptions" in parts[:2]:
        return f"{method} channel"
    if parts[-1] in {"calendar", "calendars"}:
        return f"{method} calendars"
    return f"{method} {'events' if parts[-1] in {'calendarView', 'delta', 'events'} else 'event'}"


def _read_answer(answer: httpx.Response) -> Json | Refused:
    if answer.status_code == _NO_CONTENT:
        return {}
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code >= _REFUSED:
        return read_refusal(answer.status_code, body, answer.headers.get("Retry-After"))
    if answer.is_success and isinstance(body, dict):
        return body
    return refuse(RefusalKind.UNCLEAR, _("its answer cannot be read"))
