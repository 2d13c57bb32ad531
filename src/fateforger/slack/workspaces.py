"""Many workspaces in one program: a client with its own limits for each, and payloads and calls that never mix them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from fateforger.errors import StoreError
from fateforger.ports.clock import Clock
from fateforger.slack.client import (
    Authorize,
    NotInstalled,
    SlackCallError,
    SlackLogin,
    build_client,
    call_slack,
    check_login,
)
from fateforger.slack.ids import (
    find_tenant,
    get_tenant,
    qualify,
    qualify_answer,
    qualify_payload,
    to_slack,
)
from fateforger.slack.installations import Installation, Installations
from fateforger.slack.limits import LimitedClient, MethodLimit, SlackLimits
from fateforger.values import replace

KEPT = timedelta(seconds=2)
"""Time for which an installation is not looked up again; another program may record its end meanwhile."""
RENEW_BEFORE = timedelta(hours=1)
"""Time before the end of a token in which it is renewed. Slack's tokens last for twelve hours."""
CLAIM = timedelta(seconds=30)
_LOOK_SECONDS = 0.1
_HELD = ("json", "params", "data")
"""Places in a call of Slack's client that have its arguments."""

_REMOVALS = _UNINSTALLED, _REVOKED = ("app_uninstalled", "tokens_revoked")

log = logging.getLogger(__name__)


class Workspaces:
    """The workspaces and organizations that have the app.

    ``login`` may hold the token of one; the others are in ``installations``. Without ``installations``, as on the local
    page, there is only the one, and its ids are bare.
    """

    def __init__(
        self, login: SlackLogin, session: aiohttp.ClientSession, installations: Installations | None, clock: Clock
    ) -> None:
        self._login = login
        self._session = session
        self._installations = installations
        self._clock = clock
        self._configured: Installation | None = None
        self._first: str | None = None
        self._known: dict[str, tuple[Installation | None, datetime]] = {}
        self._clients: dict[str, LimitedClient] = {}
        self._limits: dict[str, SlackLimits] = {}
        self._programs = 1
        self._plain = build_client(login, session, None, SlackLimits(keep=login.is_limited))
        self.client = WorkspacesClient(self, base_url=login.base_url, session=session, retry_handlers=[])
        self.client.proxy = login.proxy
        self._on_install: Callable[[], None] = lambda: None

    def on_install(self, after: Callable[[], None]) -> None:
        """Call ``after`` whenever the app was installed, because messages may have waited for it."""
        self._on_install = after

    async def log_in(self) -> Installation | None:
        """Check the tokens of the settings, and return the installation of the bot token, if there is one.

        Raises like :func:`~fateforger.slack.client.check_login`, and ``StoreError``.
        """
        checked = await check_login(self._login, build_client(self._login, self._session, self._login.bot_token))
        if checked is None:
            if self._installations is not None:
                await self._installations.check_first()
            return None
        found = Installation(
            tenant=checked.tenant,
            name=checked.name,
            team_id=checked.team_id,
            installed_at=self._clock.now(),
            scopes=checked.scopes or "",
            is_first=True,
        )
        if self._installations is not None:
            found = await self._installations.keep(replace(found, is_first=False))
        self._configured = replace(found, token=str(self._login.bot_token), refresh_token="", expires_at=None)
        self._known.clear()
        if not found.is_first:
            log.warning(
                "this database began with another workspace, so ids of people in %s begin with %s/",
                found.name,
                found.tenant,
            )
        return self._configured

    async def list_active(self) -> tuple[Installation, ...]:
        """Return the installations that can be used. Raises ``StoreError``."""
        stored = () if self._installations is None else await self._installations.list_all()
        own = self._configured
        others = (each for each in stored if each.ended_at is None and each.token and not self._is_configured(each))
        return (*(() if own is None else (own,)), *others)

    async def install(self, installation: Installation) -> Installation:
        """Keep a new installation; what waited for it goes on. Raises ``StoreError`` and ``BadInput``."""
        assert self._installations is not None  # noqa: S101  for the type checker: the pages need a store
        kept = await self._installations.keep(installation)
        self._known.pop(kept.tenant, None)
        if self._is_configured(kept):
            self._configured = replace(kept, token=str(self._login.bot_token))
        log.info("the app was installed in %s", kept.name)
        self._on_install()
        return kept

    async def end(self, tenant: str, *, at: datetime) -> None:
        """Delete the tokens of a tenant that removed the app at that moment. Raises ``StoreError``."""
        if self._installations is None or not await self._installations.end(tenant, at=at):
            return
        log.warning("the app was removed from %s; plans there wait until it is installed again", tenant)
        self._known.pop(tenant, None)
        self._forget_configured(tenant)

    def _is_configured(self, installation: Installation) -> bool:
        return self._configured is not None and self._configured.tenant == installation.tenant

    async def get(self, tenant: str) -> Installation | None:
        """Return the installation of a tenant that can be used, if there is one. Raises ``StoreError``."""
        found = await self._load(tenant)
        if found is not None and found.ended_at is not None:
            self._forget_configured(tenant)
            return None
        if self._configured is not None and self._configured.tenant == tenant:
            return self._configured
        return found if found is not None and found.token else None

    async def is_gone(self, key: str) -> bool:
        """Check whether a tenant has removed the app, whichever program received the event. Raises ``StoreError``."""
        if self._installations is None:
            return False
        found = await self._load(key or await self._find_first())
        return found is not None and found.ended_at is not None

    def _forget_configured(self, tenant: str) -> None:
        """Stop using the token of the settings, which ended with its installation. A new install brings a new one."""
        if self._configured is not None and self._configured.tenant == tenant:
            self._configured = None

    async def _load(self, tenant: str) -> Installation | None:
        now = self._clock.now()
        known, until = self._known.get(tenant, (None, now))
        if known is None or until <= now:
            known = None if self._installations is None else await self._installations.get(tenant)
            self._known[tenant] = (known, now + KEPT)
        return known

    async def _find_first(self) -> str:
        if self._first is None:
            first = self._configured if self._installations is None else await self._installations.find_first()
            if first is None:
                raise NotInstalled
            self._first = first.tenant
        return self._first

    async def client_of(self, key: str) -> LimitedClient:
        """Return the client of a tenant, with a token that is valid now. Raises ``NotInstalled`` and ``StoreError``."""
        found = await self.get(key or await self._find_first())
        if found is None:
            raise NotInstalled
        found = await self._renew(found)
        client = self._clients.get(found.tenant)
        if client is None:
            client = build_client(self._login, self._session, found.token, self.limits_of(key))
            self._clients[found.tenant] = client
        client.token, client.team = found.token, found.team_id
        return client

    def limits_of(self, key: str) -> SlackLimits:
        """Return this program's part of the limits that Slack has for the app in one tenant."""
        if key not in self._limits:
            self._limits[key] = SlackLimits(keep=self._login.is_limited)
            self._limits[key].divide(self._programs)
        return self._limits[key]

    def divide_limits(self, programs: int) -> None:
        """Keep to this program's part of all limits, of so many that use the same app."""
        self._programs = programs
        for limits in self._limits.values():
            limits.divide(programs)

    # --- renewal of tokens

    async def _renew(self, found: Installation) -> Installation:
        """Return the installation with a token that is not about to end, renewed by one process for all."""
        now = self._clock.now()
        if found.expires_at is None or now < found.expires_at - RENEW_BEFORE:
            return found
        if self._installations is None or self._login.oauth is None:
            return found
        if not await self._installations.claim_renewal(found, now=now, until=now + CLAIM):
            return await self._await_renewal(found)
        try:
            answer = await call_slack(
                self._plain.oauth_v2_access(
                    client_id=self._login.oauth.client_id,
                    client_secret=self._login.oauth.client_secret,
                    grant_type="refresh_token",
                    refresh_token=found.refresh_token,
                )
            )
        except SlackCallError as trouble:
            # The old token is good until it ends. Then Slack refuses the call, which is tried again.
            log.warning("the token of %s is not renewed: %s", found.name, trouble)
            return found
        renewed = replace(
            found,
            token=str(answer["access_token"]),
            refresh_token=str(answer["refresh_token"]),
            expires_at=now + timedelta(seconds=int(answer["expires_in"])),
        )
        if await self._installations.renew(found, renewed):
            self._known[found.tenant] = (renewed, now + KEPT)
        else:
            self._known.pop(found.tenant, None)
        return renewed

    async def _await_renewal(self, found: Installation) -> Installation:
        """Return what another process has renewed; meanwhile, a token that has not ended is good."""
        until = self._clock.now() + CLAIM
        while True:
            self._known.pop(found.tenant, None)
            latest = await self._load(found.tenant)
            if latest is None or latest.ended_at is not None:
                raise NotInstalled
            now = self._clock.now()
            if latest.token != found.token or latest.expires_at is None or now < latest.expires_at or now > until:
                return latest
            await asyncio.sleep(_LOOK_SECONDS)  # another process sends no event

    # --- payloads

    def register(self, app: AsyncApp) -> None:
        """Qualify the ids of each payload before any listener reads it, and listen to where the app is removed."""
        app.use(self._qualify)
        app.event(_UNINSTALLED)(self._note_removal)
        app.event(_REVOKED)(self._note_revocation)

    def build_authorize(self) -> Authorize:
        """Return a function that finds the token for a payload. A payload without one is ignored later.

        Bolt would otherwise ask, at an address that the payload itself names, to install the app.
        """

        async def authorize(context: AsyncBoltContext) -> AuthorizeResult:
            found = await self.get(_read_tenant(context))
            token = None if found is None else found.token
            return AuthorizeResult(enterprise_id=context.enterprise_id, team_id=context.team_id, bot_token=token)

        return authorize

    async def _qualify(
        self,
        body: dict[str, Any],
        context: AsyncBoltContext,
        ack: AsyncAck,
        next_: Callable[[], Awaitable[None]],
    ) -> BoltResponse | None:
        found = await self.get(_read_tenant(context))
        if found is None:
            # Slack reports a removal after the tokens are gone.
            if (body.get("event") or {}).get("type") not in _REMOVALS:
                log.info("a payload of a workspace without the app is ignored")
                return await ack()
        else:
            try:
                qualify_payload(body, found.key)
                for name in ("user_id", "channel_id"):
                    if name in context:
                        context[name] = qualify(found.key, context[name])
            except ValueError as error:
                log.warning("a payload of %s is left alone: %s", found.name, error)
                return await ack()
        await next_()
        return None

    async def _note_removal(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> BoltResponse:
        try:
            await self.end(_read_tenant(context), at=_read_time(body))
        except StoreError as error:
            log.error("a removal is not acknowledged: %s", error.message)  # noqa: TRY400  the sentence says it all
            return BoltResponse(status=503, body="")
        return await ack()

    async def _note_revocation(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> BoltResponse:
        """Handle revoked tokens. No tokens of people are kept, so only those of the bot count."""
        revoked = body["event"].get("tokens") or {}
        return await self._note_removal(body, context, ack) if revoked.get("bot") else await ack()


def _read_tenant(context: AsyncBoltContext) -> str:
    """Return the tenant of a payload: the organization if it installed the app for all of its workspaces."""
    return str((context.enterprise_id if context.is_enterprise_install else context.team_id) or "")


def _read_time(body: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(int(body["event_time"]), UTC)


class WorkspacesClient(LimitedClient):
    """Makes each call in the workspace of the ids in its arguments, which are those of the program."""

    def __init__(self, workspaces: Workspaces, **settings: Any) -> None:
        super().__init__(SlackLimits(), **settings)
        self._workspaces = workspaces

    def limit_of(self, method: str, where: str) -> MethodLimit:
        return self._workspaces.limits_of(get_tenant(where)).of(method)

    async def client_of(self, where: str) -> LimitedClient:
        return await self._workspaces.client_of(get_tenant(where))

    async def api_call(self, api_method: str, **details: Any) -> AsyncSlackResponse:
        """Call a method. Raises what the client raises, ``NotInstalled``, ``StoreError`` and ``ValueError``."""
        held = next((name for name in _HELD if details.get(name)), None)
        tenant = None if held is None else find_tenant(details[held])
        if held is None or tenant is None:
            raise ValueError(f"{api_method} names nobody, so its workspace is unknown")
        client = await self._workspaces.client_of(tenant)
        answer = await client.api_call(api_method, **{**details, held: to_slack(details[held], tenant)})
        if isinstance(answer.data, dict):
            qualify_answer(answer.data, tenant)
        return answer
