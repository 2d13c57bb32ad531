"""Channels, who is in them and how far each person has read."""

from collections.abc import Sequence
from dataclasses import dataclass

from localslack.store.database import Database


@dataclass(frozen=True)
class Channel:
    """A conversation; `person` is set for a direct message channel: whom the bot talks to there."""

    id: str
    name: str
    person: str | None
    is_private: bool
    created: int

    @property
    def is_im(self) -> bool:
        return self.person is not None

    @property
    def type(self) -> str:
        """`channel_type` as message events give it."""
        if self.is_im:
            return "im"
        return "group" if self.is_private else "channel"


class Channels:
    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(self, channel: Channel, members: Sequence[str]) -> None:
        """Create the channel unless it is there, and let the members in."""
        with self._database.transaction():
            self._database.write(
                "INSERT INTO channels VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                channel.id,
                channel.name,
                channel.person,
                int(channel.is_private),
                channel.created,
            )
            for member in members:
                self._database.write(
                    "INSERT INTO members (channel, user) VALUES (?, ?) ON CONFLICT DO NOTHING", channel.id, member
                )

    def get(self, channel_id: str) -> Channel | None:
        row = self._database.row("SELECT * FROM channels WHERE id = ?", channel_id)
        return None if row is None else _channel(row)

    def of_member(self, user: str) -> list[Channel]:
        rows = self._database.rows(
            "SELECT c.* FROM channels c JOIN members m ON m.channel = c.id WHERE m.user = ? ORDER BY c.rowid", user
        )
        return [_channel(row) for row in rows]

    def members(self, channel_id: str) -> list[str]:
        rows = self._database.rows("SELECT user FROM members WHERE channel = ? ORDER BY rowid", channel_id)
        return [user for (user,) in rows]

    def has_member(self, channel_id: str, user: str) -> bool:
        found = self._database.row("SELECT 1 FROM members WHERE channel = ? AND user = ?", channel_id, user)
        return found is not None

    def mark_read(self, channel_id: str, user: str) -> None:
        """Everything there now counts as read by this person."""
        unread = self.unread(channel_id, user)
        if unread:
            self._database.write(
                "UPDATE members SET last_read = (SELECT max(ts) FROM messages WHERE channel = ?1)"
                " WHERE channel = ?1 AND user = ?2",
                channel_id,
                user,
            )

    def unread(self, channel_id: str, user: str) -> int:
        row = self._database.row(
            "SELECT count(*) FROM messages m JOIN members r ON r.channel = m.channel AND r.user = ?2"
            " WHERE m.channel = ?1 AND m.ts > r.last_read AND (m.only_for IS NULL OR m.only_for = ?2)"
            " AND m.body ->> '$.user' IS NOT ?2",
            channel_id,
            user,
        )
        return 0 if row is None else int(row[0])


def _channel(row: tuple[object, ...]) -> Channel:
    channel_id, name, person, is_private, created = row
    return Channel(
        str(channel_id),
        str(name),
        None if person is None else str(person),
        bool(is_private),
        int(str(created)),
    )
