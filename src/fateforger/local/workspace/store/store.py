"""The tables of a workspace over one file."""

from dataclasses import dataclass
from pathlib import Path

from fateforger.local.workspace.store.channels import Channels
from fateforger.local.workspace.store.database import Database
from fateforger.local.workspace.store.files import Files
from fateforger.local.workspace.store.messages import Messages
from fateforger.local.workspace.store.response_urls import ResponseUrls
from fateforger.local.workspace.store.schedule import Schedule
from fateforger.local.workspace.store.sessions import Sessions
from fateforger.local.workspace.store.views import Views


@dataclass(frozen=True)
class Store:
    database: Database
    channels: Channels
    messages: Messages
    views: Views
    response_urls: ResponseUrls
    sessions: Sessions
    schedule: Schedule
    files: Files


def open_store(path: Path) -> Store:
    """Open the file, creating it and its tables when they are missing."""
    database = Database(path)
    return Store(
        database=database,
        channels=Channels(database),
        messages=Messages(database),
        views=Views(database),
        response_urls=ResponseUrls(database),
        sessions=Sessions(database),
        schedule=Schedule(database),
        files=Files(database),
    )
