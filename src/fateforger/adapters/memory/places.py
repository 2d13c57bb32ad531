"""The places where memories can be stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Embedded:
    """Qdrant inside this process, in a folder of its own. Good for some ten thousand memories."""

    folder: Path

    @property
    def words(self) -> str:
        return "embedded Qdrant"


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """A Qdrant server by its address; several programs may share it."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        return f"the Qdrant server at {_get_host(self.url)}"


@dataclass(frozen=True, slots=True)
class Pgvector:
    """A PostgreSQL database with the extension ``vector``; several programs may share it."""

    url: str = field(repr=False)

    @property
    def words(self) -> str:
        return f"PostgreSQL with pgvector at {_get_host(self.url)}"


Place = Embedded | QdrantServer | Pgvector


def _get_host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'this machine'}{f':{parts.port}' if parts.port else ''}"
