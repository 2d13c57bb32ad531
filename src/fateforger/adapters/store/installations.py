"""Installations of the app in Slack, with encrypted tokens, in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Text, delete, false, or_, select, update
from sqlmodel import Field

from fateforger.adapters.store.connections import SecretUnreadable, Vault, hash_secret
from fateforger.adapters.store.database import Database
from fateforger.adapters.store.homes import WORKSPACE, WorkspaceRow
from fateforger.adapters.store.inbox import retry_failed
from fateforger.adapters.store.sessions import OUTBOX, QUEUED, SESSION
from fateforger.adapters.store.tables import Base, Instant, find_row, open_rows, table
from fateforger.errors import BadInput
from fateforger.slack.installations import NOT_INSTALLED, Installation
from fateforger.values import replace

_ALONE = "slack workspaces"
UNKNOWN_FIRST = (
    "The database has plans, but I don't know of which workspace. Please start once with its SLACK_BOT_TOKEN, so that"
    " they stay with their people."
)


class InstallRow(Base, table=True):
    """An install that has begun, with a digest of its state."""

    __tablename__ = "slack_install"

    state_hash: str = Field(primary_key=True, sa_type=Text)
    expires_at: datetime = Field(sa_type=Instant)


INSTALL = table(InstallRow)


class SqlInstallations:
    """Implements :class:`fateforger.slack.installations.Installations` over a :class:`Database`."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def get(self, tenant: str) -> Installation | None:
        row = await self._database.read(lambda connection: find_row(connection, WorkspaceRow, tenant))
        return None if row is None else self._to_value(row)

    async def find_first(self) -> Installation | None:
        row = await self._database.read(_find_first)
        return None if row is None else self._to_value(row)

    async def check_first(self) -> None:
        def work(connection: Connection) -> bool:
            has_plans = connection.execute(select(SESSION.c.id).limit(1)).first() is not None
            return has_plans and _find_first(connection) is None

        if await self._database.read(work):
            raise BadInput(UNKNOWN_FIRST, where="slack_bot_token")

    async def list_all(self) -> tuple[Installation, ...]:
        query = select(WORKSPACE).order_by(WORKSPACE.c.is_first.desc(), WORKSPACE.c.tenant)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(self._to_value(WorkspaceRow(**row._asdict())) for row in rows)

    async def keep(self, installation: Installation) -> Installation:
        token, refresh_token = map(self._encrypt, (installation.token, installation.refresh_token))

        def work(connection: Connection) -> bool:
            first, before = _find_first(connection), find_row(connection, WorkspaceRow, installation.tenant)
            is_first = first is None or first.tenant == installation.tenant
            row = WorkspaceRow(
                tenant=installation.tenant,
                name=installation.name,
                team_id=installation.team_id,
                is_first=is_first,
                scopes=installation.scopes,
                # A token of the settings is not kept; one that was granted stays, in case the settings lose theirs.
                token=token or ("" if before is None else before.token),
                refresh_token=refresh_token if token or before is None else before.refresh_token,
                expires_at=installation.expires_at if token or before is None else before.expires_at,
                installed_at=installation.installed_at,
            )
            with open_rows(connection) as rows:
                rows.merge(row)
            if before is not None and before.ended_at is not None:
                _resume(connection)
            return is_first

        return replace(installation, is_first=await self._database.write_alone(_ALONE, work), ended_at=None)

    async def claim_renewal(self, installation: Installation, *, now: datetime, until: datetime) -> bool:
        free = or_(WORKSPACE.c.renewing_until.is_(None), WORKSPACE.c.renewing_until <= now)
        unchanged = (WORKSPACE.c.tenant == installation.tenant) & (WORKSPACE.c.expires_at == installation.expires_at)
        claim = update(WORKSPACE).where(unchanged, free, WORKSPACE.c.refresh_token != "").values(renewing_until=until)
        return await self._database.write_alone(_ALONE, lambda connection: connection.execute(claim).rowcount == 1)

    async def renew(self, before: Installation, after: Installation) -> bool:
        unchanged = (WORKSPACE.c.tenant == before.tenant) & (WORKSPACE.c.expires_at == before.expires_at)
        change = (
            update(WORKSPACE)
            .where(unchanged, WORKSPACE.c.ended_at.is_(None))
            .values(
                token=self._encrypt(after.token),
                refresh_token=self._encrypt(after.refresh_token),
                expires_at=after.expires_at,
                renewing_until=None,
            )
        )
        return await self._database.write_alone(_ALONE, lambda connection: connection.execute(change).rowcount == 1)

    async def end(self, tenant: str, *, at: datetime) -> bool:
        gone = {"token": "", "refresh_token": "", "expires_at": None, "renewing_until": None, "ended_at": at}
        earlier = (WORKSPACE.c.tenant == tenant) & (WORKSPACE.c.installed_at <= at) & WORKSPACE.c.ended_at.is_(None)
        change = update(WORKSPACE).where(earlier).values(gone)
        ended = await self._database.write_alone(_ALONE, lambda connection: connection.execute(change).rowcount == 1)
        if ended:
            await self._database.scrub()
        return ended

    async def renew_encryption(self) -> int:
        if not self._vault.has_keys:
            return 0
        query = select(WORKSPACE.c.tenant, WORKSPACE.c.token, WORKSPACE.c.refresh_token).where(WORKSPACE.c.token != "")

        def work(connection: Connection) -> int:
            renewed = 0
            for row in connection.execute(query).all():
                secrets = {name: self._renew(getattr(row, name)) for name in ("token", "refresh_token")}
                changed = {name: secret for name, secret in secrets.items() if secret is not None}
                if changed:
                    connection.execute(update(WORKSPACE).where(WORKSPACE.c.tenant == row.tenant).values(changed))
                    renewed += 1
            return renewed

        return await self._database.write_alone(_ALONE, work)

    async def add_state(self, state: str, *, expires_at: datetime) -> None:
        row = InstallRow(state_hash=hash_secret(state), expires_at=expires_at)

        def work(connection: Connection) -> None:
            with open_rows(connection) as rows:
                rows.add(row)

        await self._database.write(work)

    async def take_state(self, state: str, *, now: datetime) -> bool:
        expired = delete(INSTALL).where(INSTALL.c.expires_at <= now)
        taken = delete(INSTALL).where(INSTALL.c.state_hash == hash_secret(state))

        def work(connection: Connection) -> bool:
            connection.execute(expired)
            return connection.execute(taken).rowcount == 1

        return await self._database.write(work)

    def _to_value(self, row: WorkspaceRow) -> Installation:
        return Installation(
            tenant=row.tenant,
            name=row.name,
            team_id=row.team_id,
            installed_at=row.installed_at,
            token=self._decrypt(row.token),
            refresh_token=self._decrypt(row.refresh_token),
            expires_at=row.expires_at,
            scopes=row.scopes,
            is_first=row.is_first,
            ended_at=row.ended_at,
        )

    def _encrypt(self, secret: str) -> str:
        return self._vault.encrypt(secret) if secret else ""

    def _decrypt(self, encrypted: str) -> str:
        """Return a token; empty if its key is lost, as if the app was not installed."""
        try:
            return self._vault.decrypt(encrypted) if encrypted else ""
        except SecretUnreadable:
            return ""

    def _renew(self, encrypted: str) -> str | None:
        try:
            return self._vault.renew(encrypted) if encrypted else None
        except SecretUnreadable:
            return None


def _find_first(connection: Connection) -> WorkspaceRow | None:
    row = connection.execute(select(WORKSPACE).where(WORKSPACE.c.is_first != false())).first()
    return None if row is None else WorkspaceRow(**row._asdict())


def _resume(connection: Connection) -> None:
    """Make due what waits for Slack, and jobs that wait for the app; what still cannot be done waits again."""
    connection.execute(update(OUTBOX).where(OUTBOX.c.state == QUEUED).values(retry_at=None))
    retry_failed(connection, NOT_INSTALLED)
