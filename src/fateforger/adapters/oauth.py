"""A person's account at another service, by OAuth 2: their consent, the tokens, and the renewal of the tokens.

The web flow has two halves. :meth:`OAuthApp.begin` returns the address to send the person to, and what to keep until
they come back; :meth:`OAuthApp.exchange` turns the code they come back with into tokens. From then on an adapter asks a
:class:`TokenSource` for a token, and tells it when the service refused one.

No token, code or secret appears in a message, a ``repr`` or a log.
"""

from __future__ import annotations

import asyncio
import copy
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, ClassVar, Protocol, Self

import httpx
import httpx2
from authlib.common.security import generate_token  # type: ignore[import-untyped]  # it ships no types
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]  # it ships no types
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # it ships no types

from fateforger.adapters.answers import describe_failure, limit_answers
from fateforger.calendar.calls import ASKED_OFTEN, OK, Budget, Unlimited, count_call, find_purpose
from fateforger.calendar.refusals import RefusalKind, Refused, Wording
from fateforger.errors import ConnectionFailed, ConnectionMisconfigured, ConnectionRevoked, ConnectionUnreachable
from fateforger.limits import MAX_CALENDAR_ANSWER_BYTES, MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.values import replace

CALL_SECONDS = 10.0
"""Seconds for one request to the service that gives tokens."""
LEEWAY = timedelta(seconds=60)
"""A token is renewed this long before it expires, so that it does not expire on its way."""
_GRANT_ENDED = frozenset({"invalid_grant", "interaction_required", "consent_required", "login_required"})
_PASSING = frozenset({"temporarily_unavailable", "server_error", "slow_down", "rate_limit_exceeded"})
_SERVER_FAILED, _TOO_MANY = 500, 429


@dataclass(frozen=True, slots=True)
class OAuthProvider:
    """A service and the access that this program asks of it.

    ``name`` is the service as people know it. ``consent_parameters`` are added to the address of the consent page;
    ``revoke_url`` is empty if the service has no such address.
    """

    name: str
    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]
    revoke_url: str = ""
    consent_parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """This program as it is registered at the service, and the address that people come back to."""

    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class Consent:
    """A consent that was asked for: the page for the person, and what has to be kept until they come back.

    ``state`` proves that an answer belongs to this request; an answer with another one is refused.
    ``verifier`` is needed for the exchange, and must not reach the browser.
    """

    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)

    def is_answered_by(self, state: str) -> bool:
        """Check whether the person came back with the state of this request."""
        return hmac.compare_digest(self.state.encode(), state.encode())


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a service gave for an account. ``scopes`` are those that the person granted, perhaps not all."""

    access_token: str = field(repr=False)
    expires_at: datetime
    refresh_token: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()

    def is_valid(self, now: datetime) -> bool:
        """Check whether the access token can be used for a while longer."""
        return now < self.expires_at - LEEWAY

    def find_missing(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the scopes that were asked for and not granted: people may leave some out."""
        return tuple(scope for scope in wanted if scope not in self.scopes)


class OAuthApp:
    """This program at one service: asks for consent, and gets, renews and revokes tokens.

    Its methods raise :class:`~fateforger.errors.ConnectionRevoked` when the person has to connect again,
    ``ConnectionUnreachable`` when another try may help, and ``ConnectionMisconfigured`` when only the
    operator can help.
    """

    def __init__(self, provider: OAuthProvider, client: OAuthClient, clock: Clock) -> None:
        self.provider = provider
        self._client = client
        self._clock = clock

    def begin(self) -> Consent:
        """Return a new request for consent, with PKCE."""
        state, verifier = generate_token(32), generate_token(64)
        url, _state = self._open(code_challenge_method="S256").create_authorization_url(
            self.provider.authorize_url,
            state=state,
            code_verifier=verifier,
            **self.provider.consent_parameters,
        )
        return Consent(url, state, verifier)

    async def exchange(self, code: str, verifier: str) -> Tokens:
        """Return the tokens for the code that the person came back with. A code is good for one exchange."""
        async with translate_errors(self.provider.name), self._open() as client:
            token = await client.fetch_token(
                self.provider.token_url, grant_type="authorization_code", code=code, code_verifier=verifier
            )
        return read_tokens(token, self.provider, self._clock.now())

    async def refresh(self, tokens: Tokens) -> Tokens:
        """Return new tokens. Services that rotate refresh tokens return another one, and the old one ends."""
        if not tokens.refresh_token:
            raise ConnectionRevoked(say_revoked(self.provider.name))
        async with translate_errors(self.provider.name), self._open() as client:
            token = await client.refresh_token(self.provider.token_url, refresh_token=tokens.refresh_token)
        renewed = read_tokens(token, self.provider, self._clock.now())
        return replace(
            renewed,
            refresh_token=renewed.refresh_token or tokens.refresh_token,
            scopes=renewed.scopes if token.get("scope") else tokens.scopes,
        )

    async def revoke(self, tokens: Tokens) -> None:
        """End the access at the service, if it offers that. Access that ended already is no error."""
        if not self.provider.revoke_url:
            return
        token = tokens.refresh_token or tokens.access_token
        async with translate_errors(self.provider.name), self._open() as client:
            answer = await client.revoke_token(self.provider.revoke_url, token=token)
            if answer.status_code == _TOO_MANY or answer.status_code >= _SERVER_FAILED:
                answer.raise_for_status()

    def _open(self, **options: str) -> Any:
        client = AsyncOAuth2Client(
            self._client.client_id,
            self._client.client_secret,
            token_endpoint_auth_method="client_secret_post",  # noqa: S106  the name of a method
            revocation_endpoint_auth_method="client_secret_post",
            scope=" ".join(self.provider.scopes),
            redirect_uri=self._client.redirect_uri,
            timeout=CALL_SECONDS,
            **options,
        )
        limit_answers(client, MAX_LOGIN_ANSWER_BYTES)
        return client


def read_tokens(answer: Mapping[str, Any], provider: OAuthProvider, now: datetime) -> Tokens:
    """Read the answer of a token address. Without a list of scopes, those that were asked for are granted."""
    access, lifetime = answer.get("access_token"), answer.get("expires_in", 3600)
    if not isinstance(access, str) or not access or not isinstance(lifetime, int | float | str):
        raise ConnectionUnreachable(say_unreachable(provider.name, _("its answer holds no token")))
    granted = answer.get("scope")
    return Tokens(
        access_token=access,
        expires_at=now.astimezone(UTC) + timedelta(seconds=float(lifetime)),
        refresh_token=str(answer.get("refresh_token") or ""),
        scopes=tuple(granted.split()) if isinstance(granted, str) and granted else provider.scopes,
    )


@asynccontextmanager
async def translate_errors(name: str) -> AsyncIterator[None]:
    """Raise errors of Authlib and of the connection as ours. ``name`` is the service's. The block has a time limit."""
    try:
        async with asyncio.timeout(CALL_SECONDS):
            yield
    except OAuthError as error:
        # The description may quote what was sent, so only the code is repeated. A gateway's error has no code.
        if not isinstance(error.error, str):
            raise ConnectionUnreachable(say_unreachable(name, _("its answer cannot be read"))) from None
        if error.error in _GRANT_ENDED:
            raise ConnectionRevoked(say_revoked(name)) from None
        if error.error in _PASSING:
            raise ConnectionUnreachable(say_unreachable(name, error.error)) from None
        raise ConnectionMisconfigured(say_misconfigured(name, error.error)) from None
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        raise ConnectionUnreachable(say_unreachable(name, _("status {status}", status=status))) from None
    except (httpx2.HTTPError, TimeoutError) as error:
        raise ConnectionUnreachable(say_unreachable(name, describe_failure(error))) from None
    except ValueError:  # Authlib's error for an answer that is no JSON object
        raise ConnectionUnreachable(say_unreachable(name, _("its answer cannot be read"))) from None


def say_revoked(name: str) -> str:
    return _("{service} has ended my access to your account. Please connect it again.", service=name)


def say_unreachable(name: str, why: str) -> str:
    return _("I cannot sign in at {service} just now ({reason}). Please try again later.", service=name, reason=why)


def say_misconfigured(name: str, why: str) -> str:
    return _(
        "{service} does not accept this program ({reason}). Its operator has to check the client's id, secret and"
        " addresses.",
        service=name,
        reason=why,
    )


class TokenSource(Protocol):
    """Access tokens for one account."""

    async def get_token(self) -> str:
        """Return a token that is valid now. Raises :class:`~fateforger.errors.ConnectionFailed`."""
        ...

    def report_refused(self, token: str) -> None:
        """Note that the service answered 401 to this token, so that it is not returned again."""
        ...


class AccountClient:
    """The HTTP interface of a calendar service for one account; ``provider`` names the service in figures.

    Each request is paid from ``budget``; without one nothing is counted. One whose token is refused is sent once more
    with another token.
    """

    provider: ClassVar[str]
    wording: ClassVar[Wording]
    at_once: ClassVar[int]
    """Concurrent requests for one account."""

    def __init__(
        self,
        tokens: TokenSource,
        *,
        budget: Budget | None,
        transport: httpx.AsyncBaseTransport | None,
        call_seconds: float,
    ) -> None:
        self._tokens = tokens
        self._budget = budget or Unlimited()
        self._background = False
        self._turn = asyncio.Semaphore(self.at_once)
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, and they hold ids of calendars
        self._http = httpx.AsyncClient(timeout=call_seconds, transport=transport)
        self._call_seconds = call_seconds
        limit_answers(self._http, MAX_CALENDAR_ANSWER_BYTES)

    def in_background(self) -> Self:
        """Return the same client for requests that leave most of the budget to others."""
        other = copy.copy(self)
        other._background = True  # noqa: SLF001  it is one of its own kind
        return other

    async def aclose(self) -> None:
        await self._http.aclose()

    async def send(
        self,
        method: str,
        url: str,
        operation: str,
        *,
        query: Mapping[str, str | int] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> httpx.Response | Refused:
        """Send a request and return the response, or a refusal if there is none. ``operation`` is for figures."""
        for _attempt in range(2):
            if wait := await self._budget.spend(find_purpose(method, background=self._background)):
                return Refused(self.wording, RefusalKind.LIMITED, _(ASKED_OFTEN), wait)
            try:
                token = await self._tokens.get_token()
                with count_call(self.provider, operation) as call:
                    async with self._turn, asyncio.timeout(self._call_seconds):
                        response = await self._http.request(
                            method,
                            url,
                            params=query,
                            json=body,
                            headers={**headers, "Authorization": f"Bearer {token}"},
                        )
                    call.code = OK if response.is_success else str(response.status_code)
            except ConnectionFailed as error:
                kind = RefusalKind.TROUBLE if isinstance(error, ConnectionUnreachable) else RefusalKind.LOGIN
                return Refused(self.wording, kind, error.message, sentence=error.message)
            except (httpx.HTTPError, TimeoutError) as error:
                return Refused(self.wording, RefusalKind.TROUBLE, describe_failure(error))
            if response.status_code != HTTPStatus.UNAUTHORIZED:
                break
            self._tokens.report_refused(token)
        return response


class TokenStore(Protocol):
    """The tokens of one account as they are kept for good, shared by all processes. Raises ``StoreError``."""

    async def load(self) -> Tokens:
        """Return the newest tokens. Raises ``ConnectionRevoked`` if there are none any more."""
        ...

    async def save(self, tokens: Tokens) -> None: ...


Renew = Callable[[str], Awaitable[Tokens]]
"""Returns tokens other than the given access token, which was refused; an empty text if none was."""


class RenewedTokens:
    """A token source that renews its token shortly before it expires, once for all callers that wait.

    A caller that gives up does not stop the renewal: where refresh tokens rotate, the new one would be lost.
    """

    def __init__(self, renew: Renew, clock: Clock) -> None:
        self._renew = renew
        self._clock = clock
        self._tokens: Tokens | None = None
        self._refused = ""
        self._renewal: asyncio.Task[Tokens] | None = None

    async def get_token(self) -> str:
        tokens = self._tokens
        if tokens is None or tokens.access_token == self._refused or not tokens.is_valid(self._clock.now()):
            if self._renewal is None:
                self._renewal = asyncio.create_task(self._run())
                self._renewal.add_done_callback(_retrieve)
            tokens = await asyncio.shield(self._renewal)
        return tokens.access_token

    def report_refused(self, token: str) -> None:
        self._refused = token

    async def _run(self) -> Tokens:
        try:
            self._tokens = await self._renew(self._refused)
        finally:
            self._renewal = None
        return self._tokens


def _retrieve(task: asyncio.Task[Tokens]) -> None:
    """Look at how a renewal ended, since every caller may have given up."""
    if not task.cancelled():
        task.exception()


SAVED_AFTER = (0.0, 1.0)
"""Seconds before each look for the tokens of another process that renewed them at the same time."""


def open_token_source(app: OAuthApp, store: TokenStore, clock: Clock) -> TokenSource:
    """Return the tokens of a person who gave consent.

    Another process may have renewed them meanwhile, and where refresh tokens rotate only its refresh token is good. So
    the store is read before a renewal, and when the service says that the access ended: at once, and again when the
    other process has had time to save.
    """

    async def renew(refused: str) -> Tokens:
        stored = await store.load()
        if stored.access_token != refused and stored.is_valid(clock.now()):
            return stored
        try:
            renewed = await app.refresh(stored)
        except ConnectionRevoked:
            for pause in SAVED_AFTER:
                await asyncio.sleep(pause)
                newer = await store.load()
                if newer.refresh_token != stored.refresh_token:
                    return newer
            raise
        await store.save(renewed)
        return renewed

    return RenewedTokens(renew, clock)
