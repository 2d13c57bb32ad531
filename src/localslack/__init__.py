"""A Slack-compatible workspace in one process: Web API, Socket or HTTP mode, and a page, kept in one SQLite file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from localslack.people import DEFAULT_USERS, WorkspaceUser

if TYPE_CHECKING:
    from localslack.config import WorkspaceConfig
    from localslack.directory import Organization
    from localslack.errors import RATE_LIMITED, Fault
    from localslack.server import create_workspace, listening_socket
    from localslack.workspace import Workspace

__all__ = [
    "DEFAULT_USERS",
    "RATE_LIMITED",
    "Fault",
    "Organization",
    "Workspace",
    "WorkspaceConfig",
    "WorkspaceUser",
    "create_workspace",
    "listening_socket",
]
_HOMES = {
    "RATE_LIMITED": "errors",
    "Fault": "errors",
    "Organization": "directory",
    "Workspace": "workspace",
    "WorkspaceConfig": "config",
    "create_workspace": "server",
    "listening_socket": "server",
}


def __getattr__(name: str) -> Any:
    """Load the server when it is asked for: a caller that only needs to know the people pays for none of it."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"localslack.{_HOMES[name]}"), name)
