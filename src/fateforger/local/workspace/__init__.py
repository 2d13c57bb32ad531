"""A Slack-compatible workspace in one process: Web API, Socket Mode and a web page, kept in one SQLite file."""

from fateforger.local.people import DEFAULT_USERS, WorkspaceUser
from fateforger.local.workspace.config import WorkspaceConfig
from fateforger.local.workspace.faults import RATE_LIMITED, Fault
from fateforger.local.workspace.listening import listening_socket
from fateforger.local.workspace.server import create_workspace
from fateforger.local.workspace.workspace import Workspace

__all__ = [
    "DEFAULT_USERS",
    "RATE_LIMITED",
    "Fault",
    "Workspace",
    "WorkspaceConfig",
    "WorkspaceUser",
    "create_workspace",
    "listening_socket",
]
