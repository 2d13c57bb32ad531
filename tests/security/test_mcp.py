"""S381: other agents over HTTP: invalid, too large, too deep or too many requests get one sentence."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts.stores import new_file
from tests.factories.agents import Agents, token_for
from tests.security.checks import PLAIN

from fateforger.adapters.store.store import open_store
from fateforger.agents.server import (
    BUSY,
    NO_FRAME,
    NO_JSON,
    POST_ONLY,
    TOO_LARGE,
    TOO_OFTEN,
    TokenMiddleware,
    build_server,
)
from fateforger.limits import MAX_CALL_BODY_BYTES, MAX_REFUSED_LOGINS_PER_MINUTE, MAX_REQUESTS_PER_MINUTE

ADDRESS = "http://127.0.0.1:8000/mcp"


@asynccontextmanager
async def open_server(folder: Path) -> AsyncIterator[tuple[Agents, httpx.AsyncClient]]:
    """Yield the server with one client, ``robot``, and an HTTP client that sends its token."""
    agents = Agents(open_store(new_file(folder)))
    await agents.let_in()
    server = build_server(agents.call_handler)
    app = server.streamable_http_app(json_response=True, stateless_http=True, host="127.0.0.1")
    transport = httpx.ASGITransport(TokenMiddleware(app, agents.call_handler), raise_app_exceptions=False)
    headers = {
        "Authorization": f"Bearer {token_for('robot')}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    async with server.session_manager.run(), httpx.AsyncClient(transport=transport, headers=headers) as http:
        yield agents, http
    await agents.store.aclose()


def frame(method: str = "tools/call", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def sentence(answer: httpx.Response) -> str:
    """Return the message of a refusal, from any layer."""
    document = answer.json()
    found = document.get("error") or document["result"]["structuredContent"]["error"]
    return str(found["message"])


WRONG: Mapping[str, tuple[bytes, str]] = {
    "no JSON": (b"{", NO_JSON),
    "half a character": (frame(name="create_task")[:-2] + b', "arguments": {"title": "\xff"}}}', NO_JSON),
    "a number without end": (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b"}", NO_JSON),
    "nested without end": (b"[" * 100_000, NO_JSON),
    "a list": (b"[]", NO_FRAME),
    "without a method": (b'{"jsonrpc": "2.0", "id": 1}', NO_FRAME),
    "params that are no object": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "x"}', NO_FRAME),
    "an id that is an object": (b'{"jsonrpc": "2.0", "id": {}, "method": "tools/call", "params": {}}', NO_FRAME),
    "a method of a megabyte": (frame("x" * 900_000), NO_FRAME),
}


@pytest.mark.attack(
    "MCP for agents", "invalid messages: not JSON, not of the protocol, endless numbers and names", "7j", "mended"
)
async def test_a_frame_that_is_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """None of the parser's own words reach the caller."""
    async with open_server(tmp_path) as (_, http):
        for name, (body, expected) in WRONG.items():
            answer = await http.post(ADDRESS, content=body)
            assert (answer.status_code, sentence(answer)) == (400, expected), name
        answer = await http.get(ADDRESS)
        assert (answer.status_code, sentence(answer)) == (405, POST_ONLY)


@pytest.mark.attack(
    "MCP for agents", "arguments that are deeply nested, huge, too many, or of the wrong kind", "-", "held"
)
async def test_arguments_of_any_kind_are_answered_in_a_sentence(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = {"a": deep}
    hostile = [
        {"title": "x" * 500_000},
        {"title": "a", "tags": ["a"] * 50_000},
        {"title": "a", "k" * 90_000: 1},
        {"title": deep},
        {"title": "a", "work": {"kind": "x" * 90_000}},
        {"title": "a", "details": {"due_day": "9999-99-99"}},
        {"title": 5},
        {},
    ]
    async with open_server(tmp_path) as (agents, http):
        for arguments in hostile:
            answer = await http.post(ADDRESS, content=frame(name="create_task", arguments=arguments))
            assert answer.status_code == 200
            assert PLAIN.fullmatch(sentence(answer)), sentence(answer)
        assert await agents.store.tasks.of("U_ANNA") == ()


@pytest.mark.attack("MCP for agents", "a request body without end", "-", "held")
async def test_a_body_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1_000):
            sent += 100_000
            yield b"x" * 100_000

    async with open_server(tmp_path) as (_, http):
        answer = await http.post(ADDRESS, content=endless())
        assert (answer.status_code, sentence(answer)) == (413, TOO_LARGE)
    assert sent <= MAX_CALL_BODY_BYTES + 200_000


@pytest.mark.attack("MCP for agents", "listing the tools again and again", "7j", "mended")
async def test_requests_of_a_client_are_limited_whatever_they_ask(tmp_path: Path) -> None:
    async with open_server(tmp_path) as (agents, http):
        for _ in range(MAX_REQUESTS_PER_MINUTE):
            assert (await http.post(ADDRESS, content=frame("tools/list"))).status_code == 200
        answer = await http.post(ADDRESS, content=frame("tools/list"))
        assert (answer.status_code, sentence(answer), answer.headers["retry-after"]) == (429, TOO_OFTEN, "60")
        agents.clock.at = agents.clock.at.replace(minute=agents.clock.at.minute + 1)
        assert (await http.post(ADDRESS, content=frame("tools/list"))).status_code == 200


@pytest.mark.attack("MCP for agents", "guessing tokens", "7j", "mended")
async def test_guesses_are_limited_and_clients_go_on(tmp_path: Path) -> None:
    """A flood of wrong tokens is refused unread; a client that was let in a moment ago still gets in."""
    async with open_server(tmp_path) as (_, http):
        assert (await http.post(ADDRESS, content=frame("tools/list"))).status_code == 200
        guess = {"Authorization": f"Bearer {token_for('nobody')}"}
        for _ in range(MAX_REFUSED_LOGINS_PER_MINUTE):
            assert (await http.post(ADDRESS, content=frame("tools/list"), headers=guess)).status_code == 401
        answer = await http.post(ADDRESS, content=frame("tools/list"), headers=guess)
        assert (answer.status_code, sentence(answer)) == (429, BUSY)
        assert (await http.post(ADDRESS, content=frame("tools/list"))).status_code == 200
