"""The address of a calendar server: a URL to call, or a command line to start."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import assert_never
from urllib.parse import urlsplit

from fateforger.errors import BadInput


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A running server that speaks streamable HTTP."""

    url: str

    @property
    def name(self) -> str:
        """Return the address without the parts that may be secret (user, query)."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


@dataclass(frozen=True, slots=True)
class CommandEndpoint:
    """A server that runs as a child process and speaks over standard input and output.

    The child inherits only the environment a program needs to run, plus ``environment``.
    """

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Return the program and a fingerprint of its command line, which may hold secrets."""
        line = shlex.join((self.program, *self.arguments))
        return f"stdio:{PurePath(self.program).name}-{hashlib.sha256(line.encode()).hexdigest()[:12]}"


Endpoint = HttpEndpoint | CommandEndpoint


def read_endpoint(text: str, environment: Mapping[str, str] | None = None) -> Endpoint:
    """Parse ``http://...`` and ``https://...`` as URLs, anything else as a shell-quoted command line.

    Raises :class:`~fateforger.errors.BadInput`.
    """
    if "://" in text.strip().split(" ", 1)[0]:
        return HttpEndpoint(_check_url(text))
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise BadInput(f"I cannot read the calendar server's command line: {problem}.", where="calendar_url") from None
    if not words:
        raise BadInput("The calendar server needs a URL or a command line.", where="calendar_url")
    return CommandEndpoint(words[0], tuple(words[1:]), dict(environment or {}))


def _check_url(text: str) -> str:
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(
            f"“{text[:100]}” is not the address of a calendar server; it looks like http://127.0.0.1:3000/mcp.",
            where="calendar_url",
        )
    return text.strip()


def describe_server(endpoint: Endpoint) -> str:
    """Return the server's name for use in a sentence."""
    if isinstance(endpoint, HttpEndpoint):
        return f"the calendar server at {endpoint.name}"
    if isinstance(endpoint, CommandEndpoint):
        return f"the calendar server “{PurePath(endpoint.program).name}”"
    assert_never(endpoint)
