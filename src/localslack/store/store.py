"""The tables of a workspace over one file."""

from dataclasses import dataclass
from pathlib import Path

from localslack.store.channels import Channels
from localslack.store.database import Database
from localslack.store.files import Files
from localslack.store.messages import Messages
from localslack.store.response_urls import ResponseUrls
from localslack.store.schedule import Schedule
from localslack.store.sessions import Sessions
from localslack.store.views import Views


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
