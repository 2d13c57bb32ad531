"""The unmodified google-calendar-mcp as a process, on a machine that has it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import httpx

SERVER = os.environ.get("CALENDAR_TEST_SERVER", "")
"""Its ``build/index.js``; empty where it is not installed."""
TO_THE_STAND_IN = """
const https = require('https'), http = require('http'), real = https.request;
https.request = function (where, options, answered) {
  const url = typeof where === 'string' || where instanceof URL ? new URL(where) : null;
  if (!url || !url.hostname.endsWith('googleapis.com')) return real.apply(this, arguments);
  const plain = Object.assign({}, options, {agent: undefined, protocol: undefined});
  return http.request(process.env.STAND_IN + url.pathname + url.search, plain, answered);
};
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


async def answering(url: str, server: asyncio.subprocess.Process) -> None:
    """Wait until the server answers, at most 30 s."""
    deadline = asyncio.get_running_loop().time() + 30
    async with httpx.AsyncClient(trust_env=False) as client:
        while server.returncode is None and asyncio.get_running_loop().time() < deadline:
            try:
                await client.get(url)
            except httpx.TransportError:
                await asyncio.sleep(0.05)
            else:
                return
    raise AssertionError("the server did not start")


def settings_in(folder: Path) -> dict[str, str]:
    """Return the environment of the server: keys, an invented login, and Google's address replaced by ``STAND_IN``."""
    (folder / "redirect.cjs").write_text(TO_THE_STAND_IN)
    keys = {"client_id": "x", "client_secret": "y", "redirect_uris": ["http://localhost:3500/oauth2callback"]}
    (folder / "keys.json").write_text(json.dumps({"installed": keys}))
    token = {"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "expiry_date": 4102444800000}
    (folder / "tokens.json").write_text(json.dumps({"normal": token}))
    return {
        "NODE_OPTIONS": f"--require {folder / 'redirect.cjs'}",
        "GOOGLE_OAUTH_CREDENTIALS": str(folder / "keys.json"),
        "GOOGLE_CALENDAR_MCP_TOKEN_PATH": str(folder / "tokens.json"),
    }
