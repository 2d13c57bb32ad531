"""Settings of a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localslack.directory import Organization
from localslack.people import DEFAULT_USERS, WorkspaceUser


@dataclass(frozen=True)
class WorkspaceConfig:
    """Everything a workspace needs to know before it starts.

    `public_url` is absolute and without a path (`http://127.0.0.1:8080`): socket, response and upload URLs are built
    from it. `manifest` is a Slack app manifest as a dict, the same document that a real workspace is given. If it
    switches Socket Mode off, payloads are sent to its addresses, signed with `signing_secret`.
    `pane_url` is a page of the first of the `users`, who alone sees it.
    With `limits` calls are refused as Slack's documentation says.
    With an `organization`, the workspace represents all of its workspaces, and the app is installed in all of them.
    Without `agents` it refuses agent sessions and streams, as workspaces without these features do.
    """

    database: Path
    public_url: str
    bot_token: str
    app_token: str
    manifest: Mapping[str, Any]
    signing_secret: str = ""
    pane_url: str | None = None
    team_name: str = "Local workspace"
    users: tuple[WorkspaceUser, ...] = DEFAULT_USERS
    agents: bool = True
    limits: bool = False
    organization: Organization | None = None
