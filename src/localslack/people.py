"""The people of the local workspace. Light, because also those ask who start none of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkspaceUser:
    """A person of the workspace; `id` looks like Slack's (`U` and capitals or digits), `tz` is an IANA name."""

    id: str
    name: str
    real_name: str
    tz: str
    email: str
    color: str = "4a7dbf"


DEFAULT_USERS = (
    WorkspaceUser("U0000ALEX", "alex", "Alex Morgan", "Europe/Amsterdam", "alex@example.com", "2f7d6b"),
    WorkspaceUser("U0000ROBIN", "robin", "Robin Okafor", "America/New_York", "robin@example.com", "8a4fbf"),
)
