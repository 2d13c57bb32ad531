"""Pages under the public address, and pages for this machine only."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from fateforger.app.web import Guard, Rules

HOST, PUBLIC = "plan.example.org", "https://plan.example.org"


async def _say(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.url.path)


async def ask(path: str, *, public: str | None = PUBLIC, **headers: str) -> int:
    app = Guard(Starlette(routes=[Route("/{path:path}", _say)]), Rules(frozenset({"127.0.0.1"}), public))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        return (await client.get(path, headers=headers)).status_code


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/connect/abc", True),
        ("/changes/google", True),
        ("/calendar/mcp", False),
        ("/calendars/x/mcp", False),
        ("/", False),
    ],
)
async def test_only_the_connect_page_and_notices_are_public(path: str, *, allowed: bool) -> None:
    """S309: a proxy that passes everything on does not open the calendar, the local page or the server for agents."""
    assert (await ask(path, host=HOST) == 200) is allowed
    assert await ask(path) == 200


async def test_no_other_host_and_no_foreign_page_gets_in() -> None:
    assert await ask("/connect/abc", host="evil.example.org") == 403
    assert await ask("/connect/abc", host=HOST, origin="https://evil.example.org") == 403
    assert await ask("/connect/abc", host=HOST, origin=PUBLIC) == 200
    assert await ask("/connect/abc", host=HOST, public=None) == 403


@pytest.mark.parametrize("origin", ["http://plan.example.org", "https://plan.example.org:8443", "null"])
async def test_an_origin_has_a_scheme_and_a_port(origin: str) -> None:
    """S370: another server on the same machine is another page."""
    assert await ask("/connect/abc", host=HOST, origin=origin) == 403
    assert await ask("/connect/abc", host=HOST, origin=f"{PUBLIC}:443") == 200
    for other in ("http://127.0.0.1:9999", "https://127.0.0.1", "http://localhost"):
        assert await ask("/", origin=other) == 403
    assert await ask("/", origin="http://127.0.0.1") == 200
    assert await ask("/", host="a@127.0.0.1") == 403
