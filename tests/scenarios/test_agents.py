"""Another agent, over a real pipe and real HTTP, with the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.factories.inside import run_inside

from fateforger.adapters.store.store import open_store
from fateforger.agents.server import NO_TOKEN, PERSON_GONE, TOOLS, WRONG_TOKEN
from fateforger.app.agents import serve_http
from fateforger.config import read_settings
from fateforger.slack.admission import Standing

ALEX = "U0000ALEX"
TASKS = "tasks:read,tasks:write"


async def run_agents(data: Path, *arguments: str) -> str:
    """Run ``fateforger mcp ...`` and return its output."""
    status, out, err = await asyncio.to_thread(run_inside, "mcp", *arguments, "--data-dir", str(data))
    assert status == 0, err
    return out


async def let_in(data: Path, name: str, scopes: str = TASKS) -> str:
    """Return the token of a new client, as the command line prints it."""
    return (await run_agents(data, "client", "add", name, "--user", ALEX, "--scopes", scopes)).strip()


def everything_kept(data: Path) -> bytes:
    """Return all bytes in all files."""
    return b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())


def build_parameters(data: Path, token: str) -> StdioServerParameters:
    """Return the parameters with which an agent starts the program."""
    environment = {"FATEFORGER_MCP_TOKEN": token, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "fateforger", "mcp", "--data-dir", str(data)], env=environment
    )


@asynccontextmanager
async def open_client(url: str, token: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def expect_success(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the document of a call that has to succeed."""
    result = await client.call_tool(tool, arguments)
    found = result.structured_content
    assert not result.is_error, found
    assert isinstance(found, dict)
    return found


async def expect_refusal(client: Client, tool: str, **arguments: Any) -> str:
    """Return the sentence of a call that has to be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    text: str = result.content[0].text  # type: ignore[union-attr]
    return text


@pytest.mark.process
async def test_over_a_pipe(tmp_path: Path) -> None:
    """The token comes from the environment; one that was revoked meanwhile is of no use from then on."""
    token = await let_in(tmp_path, "robot")
    async with Client(build_parameters(tmp_path, token)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
        task = (await expect_success(client, "create_task", title="Write the report"))["task"]
        assert (await expect_success(client, "pull"))["task"]["id"] == task["id"]
        await run_agents(tmp_path, "client", "revoke", "robot")
        assert "was revoked" in await expect_refusal(client, "list_tasks")
    async with aclosing(open_store(tmp_path / "fateforger.db")) as store:
        noted = [action.command for action in await store.operator_log.latest(ALEX, limit=9)]
    assert noted == ["mcp client revoke", "mcp client add"], "the person sees that the operator did this"
    out = await run_agents(tmp_path, "log", "--json")
    assert [call["tool"] for call in json.loads(out)["calls"]] == ["list_tasks", "pull", "create_task"]
    assert token.split("_", 2)[2].encode() not in out.encode() + everything_kept(tmp_path)


@pytest.mark.process
def test_over_a_pipe_without_a_token(tmp_path: Path) -> None:
    """The program answers nothing; its message says what to do."""
    ended = subprocess.run(
        [sys.executable, "-m", "fateforger", "mcp", "--data-dir", str(tmp_path)],
        input=b"",
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr.decode().strip()) == (2, b"", NO_TOKEN)


async def test_over_http_each_request_brings_its_token(tmp_path: Path) -> None:
    """Wrong, revoked, expired and foreign: a refusal, and nothing is done."""
    token, gone, reader = [await let_in(tmp_path, name) for name in ("robot", "gone", "reader")]
    await run_agents(tmp_path, "client", "revoke", "gone")
    settings = read_settings(data_dir=tmp_path)
    async with serve_http(settings, "127.0.0.1", 0) as url:
        async with open_client(url, token) as client:
            await expect_success(client, "create_task", title="Write the report")
        async with open_client(url, reader) as client:
            assert [task["title"] for task in (await expect_success(client, "list_tasks"))["tasks"]] == [
                "Write the report"
            ]
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_task", "arguments": {}}}
        accept = {"Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(trust_env=False) as http:
            for bearer, sentence in ((None, NO_TOKEN), ("x", WRONG_TOKEN), (gone, "This token was revoked.")):
                headers = accept | ({} if bearer is None else {"Authorization": f"Bearer {bearer}"})
                answer = await http.post(url, json=call, headers=headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert answer.json()["error"]["message"].startswith(sentence)
            mine = accept | {"Authorization": f"Bearer {token}"}
            for foreign in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
                assert (await http.post(url, json=call, headers=mine | foreign)).status_code == 403


async def test_the_agent_of_somebody_who_left_is_refused(tmp_path: Path) -> None:
    """S417: until the person is back."""
    token = await let_in(tmp_path, "robot")
    async with (
        aclosing(open_store(tmp_path / "fateforger.db")) as store,
        serve_http(read_settings(data_dir=tmp_path), "127.0.0.1", 0) as url,
        open_client(url, token) as client,
        httpx2.AsyncClient(trust_env=False) as http,
    ):
        headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {}}}
        await expect_success(client, "create_task", title="Write the report")
        await store.standings.keep(ALEX, Standing.DEACTIVATED)
        answer = await http.post(url, json=call, headers=headers)
        assert (answer.status_code, answer.json()["error"]["message"]) == (401, PERSON_GONE)
        await store.standings.keep(ALEX, Standing.MEMBER)
        assert [task["title"] for task in (await expect_success(client, "list_tasks"))["tasks"]] == ["Write the report"]
