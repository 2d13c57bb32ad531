"""A Slack-compatible workspace in one process: Web API, Socket Mode and a web page, kept in one SQLite file."""

from localslack.config import WorkspaceConfig
from localslack.faults import RATE_LIMITED, Fault
from localslack.listening import listening_socket
from localslack.people import DEFAULT_USERS, WorkspaceUser
from localslack.server import create_workspace
from localslack.workspace import Workspace

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
