"""The calendar that each person connected, and its push channels, in SQL; and the encryption of secrets."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from sqlalchemy import Boolean, Index, Row, Text, delete, false, literal_column, select, update
from sqlalchemy import Connection as SqlConnection
from sqlmodel import Field

from fateforger.adapters.store.database import Database, OnDatabase
from fateforger.adapters.store.homes import build_reachable, mark_home
from fateforger.adapters.store.inbox import enqueue
from fateforger.adapters.store.journal import TX
from fateforger.adapters.store.sessions import SESSION
from fateforger.adapters.store.tables import (
    AT_ONCE,
    Base,
    Instant,
    build_partial_index,
    find_row,
    iter_keys,
    open_rows,
    put_row,
    table,
)
from fateforger.calendar.channels import Channel
from fateforger.calendar.connections import Connection, FollowUp, Provider, name_share
from fateforger.errors import BadInput
from fateforger.ports.jobs import NewJob
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

HOW = (
    "FATEFORGER_SECRET_KEYS holds Fernet keys with commas between, the newest first. Make one with:"
    ' python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'
)


class SecretUnreadable(Exception):
    """A secret was encrypted with a key that is not among those given."""


class Vault:
    """Encrypts with the first key and decrypts with any, so that keys can be rotated.

    Without keys nothing can be encrypted, and what was is unreadable, as when a key is lost.
    """

    def __init__(self, keys: str | None) -> None:
        """Read Fernet keys with commas between. Raises :class:`BadInput`."""
        self._fernet: MultiFernet | None = None
        self._newest: Fernet | None = None
        self.fingerprints: tuple[str, ...] = ()
        """A name for each key, the newest first, from which the key cannot be told."""
        if keys is None:
            return
        given = [key.strip() for key in keys.split(",") if key.strip()]
        try:
            fernets = [Fernet(key) for key in given]
        except ValueError:
            raise BadInput(f"A key for secrets is not one. {HOW}", where="secret_keys") from None
        if not fernets:
            raise BadInput(f"There is no key for secrets. {HOW}", where="secret_keys")
        self._fernet, self._newest = MultiFernet(fernets), fernets[0]
        self.fingerprints = tuple(hashlib.sha256(key.encode()).hexdigest()[:16] for key in given)

    @property
    def has_keys(self) -> bool:
        """Check whether anything can be encrypted."""
        return self._fernet is not None

    def encrypt(self, secret: str) -> str:
        """Return the secret in encrypted form, which also hides when it was not changed. Raises :class:`BadInput`."""
        if self._fernet is None:
            raise BadInput(f"There is no key for secrets. {HOW}", where="secret_keys")
        return self._fernet.encrypt(secret.encode()).decode()

    def renew(self, encrypted: str) -> str | None:
        """Return the secret encrypted with the newest key; ``None`` if it is already.

        Raises :class:`SecretUnreadable`.
        """
        if self._newest is None or self._fernet is None:
            raise SecretUnreadable
        try:
            self._newest.decrypt(encrypted.encode())
        except InvalidToken:
            try:
                return self._fernet.rotate(encrypted.encode()).decode()
            except InvalidToken:
                raise SecretUnreadable from None
        return None

    def decrypt(self, encrypted: str) -> str:
        """Return the secret. Raises :class:`SecretUnreadable`."""
        if self._fernet is None:
            raise SecretUnreadable
        try:
            return self._fernet.decrypt(encrypted.encode()).decode()
        except InvalidToken:
            raise SecretUnreadable from None


def new_key() -> str:
    return Fernet.generate_key().decode()


def hash_secret(secret: str) -> str:
    """Return a digest of a secret, which is random and long enough not to be guessed from it."""
    return hashlib.sha256(secret.encode()).hexdigest()


log = logging.getLogger(__name__)

REMEDY = "put the key back into FATEFORGER_SECRET_KEYS, or these people have to connect again"
LOST_KEY = mark_message("I cannot read the login of your calendar any more. Please connect it again.")


class ConnectionRow(Base, table=True):
    """The calendar that a person connected. ``secret`` is encrypted, and empty once they disconnected.

    ``calendar`` is its name in the journal, which no other person has.
    ``names`` is a JSON object. ``due`` is a :class:`~fateforger.calendar.connections.FollowUp`.
    """

    __tablename__ = "calendar_connection"
    __table_args__ = (
        build_partial_index("ix_calendar_connection_due", "user_id", where="due <> ''"),
        Index("ix_calendar_connection_calendar", "calendar", unique=True),
    )

    user_id: str = Field(primary_key=True, sa_type=Text)
    calendar: str = Field(sa_type=Text, sa_column_kwargs={"server_default": ""})
    provider: str = Field(sa_type=Text)
    account: str = Field(sa_type=Text)
    address: str = Field(sa_type=Text)
    calendar_id: str = Field(sa_type=Text)
    reads: str = Field(sa_type=Text)
    names: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "{}"})
    secret: str = Field(sa_type=Text)
    delegated: bool = Field(sa_type=Boolean, sa_column_kwargs={"server_default": false()})
    problem: str = Field(sa_type=Text)
    due: str = Field(sa_type=Text, sa_column_kwargs={"server_default": ""})
    connected_at: datetime = Field(sa_type=Instant)


CONNECTION = table(ConnectionRow)
_IS_DUE = literal_column("due <> ''", Boolean)


class SqlConnections:
    """Implements :class:`fateforger.calendar.connections.Connections` over a :class:`Database`."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self.vault = vault

    async def of(self, user_id: str) -> Connection | None:
        row = await self._database.read(lambda connection: find_row(connection, ConnectionRow, user_id))
        return None if row is None else self._to_value(row)

    async def list_people(self) -> tuple[str, ...]:
        return await self._database.read(lambda connection: tuple(iter_keys(connection, CONNECTION.c.user_id)))

    async def find_delegated(self, provider: Provider) -> Connection | None:
        """Return a connection that uses an administrator's access at the provider."""
        wanted = (CONNECTION.c.provider == provider.value) & CONNECTION.c.delegated
        query = select(CONNECTION.c.user_id).where(wanted).order_by(CONNECTION.c.user_id).limit(1)
        user_id = await self._database.read(lambda connection: connection.execute(query).scalar())
        return None if user_id is None else await self.of(user_id)

    async def keep(self, connection: Connection) -> None:
        row = self._to_row(connection)
        await self._database.write_alone(f"calendar {connection.place}", lambda rows: _keep(rows, row))

    async def replace_secret(self, user_id: str, old: str, new: str) -> bool:
        encrypted = self.vault.encrypt(new)

        def work(connection: SqlConnection) -> bool:
            row = find_row(connection, ConnectionRow, user_id)
            if row is None or self._read_secret(row) != old:
                return False
            recovered = {"problem": "", "due": FollowUp.RESUME.value} if row.problem else {}
            _update(connection, user_id, {"secret": encrypted, **recovered})
            return True

        return await self._database.write_alone(f"connection of {user_id}", work)

    async def note_problem(self, user_id: str, problem: str) -> bool:
        def work(connection: SqlConnection) -> bool:
            row = find_row(connection, ConnectionRow, user_id)
            if row is None or not (row.secret or row.delegated) or row.problem:
                return False
            _update(connection, user_id, {"problem": problem, "due": FollowUp.TELL.value})
            return True

        return await self._database.write_alone(f"connection of {user_id}", work)

    async def renew_encryption(self) -> int:
        count, lost, after = 0, 0, ""
        while rows := await self._read_secrets(after):
            after = rows[-1].user_id
            renewed: list[tuple[str, str, str]] = []
            for row in rows:
                try:
                    new = self.vault.renew(row.secret)
                except SecretUnreadable:
                    lost += 1
                    continue
                if new is not None:
                    renewed.append((row.user_id, row.secret, new))
            if renewed:
                await self._database.write(partial(_swap_secrets, renewed=renewed))
            count += len(renewed)
        if lost:
            log.error("calendar logins that no key can decrypt: %d; %s", lost, REMEDY)
        return count

    async def _read_secrets(self, after: str) -> Sequence[Row[Any, Any]]:
        """Return the next people with a secret, and the secret."""
        found = select(CONNECTION.c.user_id, CONNECTION.c.secret).where(
            CONNECTION.c.secret != "", CONNECTION.c.user_id > after
        )
        query = found.order_by(CONNECTION.c.user_id).limit(AT_ONCE)
        return await self._database.read(lambda connection: connection.execute(query).all())

    async def list_due(self) -> tuple[tuple[str, FollowUp], ...]:
        statement = select(CONNECTION.c.user_id, CONNECTION.c.due).where(_IS_DUE).limit(AT_ONCE)
        rows = await self._database.read(
            lambda connection: connection.execute(
                statement.where(*build_reachable(connection, CONNECTION.c.user_id))
            ).all()
        )
        return tuple((row.user_id, FollowUp(row.due)) for row in rows)

    async def finish(self, user_id: str, due: FollowUp, *, now: datetime, job: NewJob | None = None) -> bool:
        def work(connection: SqlConnection) -> bool:
            row = find_row(connection, ConnectionRow, user_id)
            if row is None or row.due != due.value:
                return False
            _update(connection, user_id, {"due": FollowUp.NOTHING.value})
            if job is not None:
                enqueue(connection, job, now)
            return True

        return await self._database.write_alone(f"connection of {user_id}", work)

    def _to_value(self, row: ConnectionRow) -> Connection:
        secret = self._read_secret(row)
        found = Connection(
            user_id=row.user_id,
            provider=Provider(row.provider),
            account=row.account,
            calendar_id=row.calendar_id,
            connected_at=row.connected_at,
            address=row.address,
            reads=tuple(row.reads.splitlines()),
            names=json.loads(row.names),
            secret=secret or "",
            delegated=row.delegated,
            problem=row.problem if secret is not None else _(LOST_KEY),
        )
        return replace(found, shared=row.calendar == name_share(found.place, row.user_id))

    def _to_row(self, connection: Connection) -> ConnectionRow:
        return ConnectionRow(
            user_id=connection.user_id,
            calendar=connection.place,
            provider=connection.provider.value,
            account=connection.account,
            address=connection.address,
            calendar_id=connection.calendar_id,
            reads="\n".join(connection.reads),
            names=json.dumps(dict(connection.names), ensure_ascii=False),
            secret=self.vault.encrypt(connection.secret) if connection.secret else "",
            delegated=connection.delegated,
            problem=connection.problem,
            due=(FollowUp.RESUME if connection.is_open else FollowUp.NOTHING).value,
            connected_at=connection.connected_at,
        )

    def _read_secret(self, row: ConnectionRow) -> str | None:
        """Return the secret, empty if there is none; ``None`` if its key is lost."""
        if not row.secret:
            return ""
        try:
            return self.vault.decrypt(row.secret)
        except SecretUnreadable:
            return None


def _keep(connection: SqlConnection, row: ConnectionRow) -> None:
    user_id = row.user_id
    row.calendar = _choose_key(connection, user_id, row.calendar)
    put_row(connection, row)
    mark_home(connection, user_id)


def _choose_key(connection: SqlConnection, user_id: str, place: str) -> str:
    """Return the journal's name of a calendar for a person.

    It is the bare one unless another person has that, or wrote under it.
    """
    own = name_share(place, user_id)
    row = find_row(connection, ConnectionRow, user_id)
    if row is not None and row.calendar in {place, own}:
        return row.calendar
    others = select(CONNECTION.c.user_id).where(CONNECTION.c.calendar == place).limit(1)
    written = select(TX.c.id).join(SESSION, SESSION.c.id == TX.c.session_id)
    theirs = written.where(TX.c.calendar == place, SESSION.c.user_id != user_id).limit(1)
    taken = any(connection.execute(query).first() is not None for query in (others, theirs))
    return own if taken else place


def _swap_secrets(connection: SqlConnection, renewed: Sequence[tuple[str, str, str]]) -> None:
    """Replace people's encrypted secrets. One that changed meanwhile is newer, and stays."""
    for user_id, before, after in renewed:
        unchanged = (CONNECTION.c.user_id == user_id) & (CONNECTION.c.secret == before)
        connection.execute(update(CONNECTION).where(unchanged).values(secret=after))


def _update(connection: SqlConnection, user_id: str, values: dict[str, Any]) -> None:
    connection.execute(update(CONNECTION).where(CONNECTION.c.user_id == user_id).values(values))
    mark_home(connection, user_id)


class PushChannelRow(Base, table=True):
    """A channel, with a digest of the secret that its notices carry."""

    __tablename__ = "push_channel"
    __table_args__ = (
        Index("ix_push_channel_user", "user_id", "calendar_id"),
        Index("ix_push_channel_expires", "expires_at"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    calendar_id: str = Field(sa_type=Text)
    remote_id: str = Field(sa_type=Text)
    secret_hash: str = Field(sa_type=Text)
    notices: int
    expires_at: datetime = Field(sa_type=Instant)


CHANNEL = table(PushChannelRow)


class SqlChannels(OnDatabase):
    """Implements :class:`fateforger.calendar.channels.Channels` over a :class:`Database`."""

    async def find(self, user_id: str, calendar_id: str) -> Channel | None:
        channels = await self.of(user_id)
        opened = [each for each in channels if each.calendar_id == calendar_id and each.remote_id]
        return max(opened, key=lambda each: (each.expires_at, each.id), default=None)

    async def of(self, user_id: str) -> tuple[Channel, ...]:
        statement = select(CHANNEL).where(CHANNEL.c.user_id == user_id).order_by(CHANNEL.c.id)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return tuple(
            Channel(row.id, row.user_id, row.calendar_id, row.expires_at, row.remote_id, row.notices) for row in rows
        )

    async def add(self, channel: Channel, secret: str, *, now: datetime) -> None:
        row = PushChannelRow(
            id=channel.id,
            user_id=channel.user_id,
            calendar_id=channel.calendar_id,
            remote_id=channel.remote_id,
            secret_hash=hash_secret(secret),
            notices=0,
            expires_at=channel.expires_at,
        )

        def work(connection: SqlConnection) -> None:
            connection.execute(delete(CHANNEL).where(CHANNEL.c.expires_at <= now))
            with open_rows(connection) as rows:
                rows.add(row)

        await self._database.write(work)

    async def keep(self, channel: Channel) -> None:
        values = {"remote_id": channel.remote_id, "expires_at": channel.expires_at}
        statement = update(CHANNEL).where(CHANNEL.c.id == channel.id).values(values)
        await self._database.write(lambda connection: connection.execute(statement))

    async def remove(self, channel_id: str) -> None:
        statement = delete(CHANNEL).where(CHANNEL.c.id == channel_id)
        await self._database.write(lambda connection: connection.execute(statement))

    async def count_notice(self, channel_id: str, secret: str) -> str | None:
        def work(connection: SqlConnection) -> str | None:
            row = connection.execute(select(CHANNEL).where(CHANNEL.c.id == channel_id)).first()
            expected = "" if row is None else row.secret_hash
            if not hmac.compare_digest(hash_secret(secret), expected) or row is None:
                return None
            more = {"notices": CHANNEL.c.notices + 1}
            connection.execute(update(CHANNEL).where(CHANNEL.c.id == channel_id).values(more))
            return str(row.user_id)

        return await self._database.write(work)
