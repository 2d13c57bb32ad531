"""Where a calendar server is: a URL to talk to, or a command line to start."""

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
    """A server that is running: streamable HTTP."""

    url: str

    @property
    def name(self) -> str:
        """The address without what may be secret in it (user, query)."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


@dataclass(frozen=True, slots=True)
class CommandEndpoint:
    """A server that is started as a child and talked to over its standard input and output.

    The child inherits no more of the environment than a program needs to run, and what ``environment`` adds.
    """

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The program and a fingerprint of its command line, which may hold secrets."""
        line = shlex.join((self.program, *self.arguments))
        return f"stdio:{PurePath(self.program).name}-{hashlib.sha256(line.encode()).hexdigest()[:12]}"


Endpoint = HttpEndpoint | CommandEndpoint


def read_endpoint(text: str, environment: Mapping[str, str] | None = None) -> Endpoint:
    """``http://...`` and ``https://...`` are URLs, anything else a command line as a shell would split it.

    Raises :class:`~fateforger.errors.BadInput`.
    """
    if "://" in text.strip().split(" ", 1)[0]:
        return HttpEndpoint(_checked_url(text))
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise BadInput(f"I cannot read the calendar server's command line: {problem}.", where="calendar_url") from None
    if not words:
        raise BadInput("The calendar server needs a URL or a command line.", where="calendar_url")
    return CommandEndpoint(words[0], tuple(words[1:]), dict(environment or {}))


def _checked_url(text: str) -> str:
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


def described(endpoint: Endpoint) -> str:
    """How to speak of the server to a person."""
    if isinstance(endpoint, HttpEndpoint):
        return f"the calendar server at {endpoint.name}"
    if isinstance(endpoint, CommandEndpoint):
        return f"the calendar server “{PurePath(endpoint.program).name}”"
    assert_never(endpoint)
