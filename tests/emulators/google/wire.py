"""One HTTP request and its answer, free of any server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

Json = dict[str, Any]


@dataclass(frozen=True)
class Ask:
    """A request. The names of ``headers`` are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body or b"{}")
        return found

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def form_items(self) -> list[tuple[str, str]]:
        return parse_qsl(self.body.decode(), keep_blank_values=True)

    @property
    def bearer(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found


def to_json(content: Mapping[str, Any], status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(content).encode(), {"content-type": "application/json; charset=UTF-8", **headers})


def to_page(html: str, status: int = 200) -> Reply:
    return Reply(status, html.encode(), {"content-type": "text/html; charset=utf-8"})


class Refusal(Exception):
    """An error in the form of Google's interfaces. ``retry_after`` is in seconds."""

    def __init__(self, status: int, message: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason
        self.retry_after = retry_after

    def reply(self) -> Reply:
        errors = [{"domain": "global", "reason": self.reason, "message": self.message}]
        waits = {} if self.retry_after is None else {"retry-after": f"{self.retry_after:g}"}
        return to_json(
            {"error": {"code": self.status, "message": self.message, "errors": errors}}, self.status, **waits
        )
