"""What a workspace is started with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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


@dataclass(frozen=True)
class WorkspaceConfig:
    """Everything a workspace needs to know before it starts.

    `public_url` is absolute and without a path (`http://127.0.0.1:8080`): socket, response and upload URLs are built
    from it. `manifest` is a Slack app manifest as a dict, the same document that a real workspace is given.
    """

    database: Path
    public_url: str
    bot_token: str
    app_token: str
    manifest: Mapping[str, Any]
    pane_url: str | None = None
    team_name: str = "Local workspace"
    users: tuple[WorkspaceUser, ...] = DEFAULT_USERS
