"""Slack with several workspaces: one address for all, tokens by OAuth, and one app that is installed in each of them.

Each workspace is the local one, with the same people, channels and ids; only the id of its team differs. Payloads of
all of them reach the app over sockets of its own, as in Slack.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

LOCAL = "T0000LOCAL"
"""The team of a local workspace, which each of these replaces by its own."""
Json = dict[str, Any]


@dataclass
class Team:
    """A workspace at ``url``, or an ``organization`` that installs the app for all of its workspaces. ``sockets`` are those of the app, of which so many were ``offered``; ``users`` changes what Slack says of its people."""

    id: str
    url: str
    bot_token: str
    offered: int = 0
    sockets: list[WebSocket] = field(default_factory=list)
    users: dict[str, Json] = field(default_factory=dict)
    organization: bool = False


@dataclass
class SlackTeams:
    """All workspaces. ``tokens`` are valid now, ``lasts`` is their life in seconds; without it they do not end."""

    app_token: str
    client_id: str = "12.34"
    client_secret: str = "the-secret"
    lasts: int | None = None
    teams: dict[str, Team] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    refresh_tokens: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Calls to each workspace, as ``TEAM METHOD BODY``."""
    _codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop | None = None

    def add(self, team_id: str, url: str, bot_token: str, *, organization: bool = False) -> None:
        """Add a workspace, whose own server knows the app by ``bot_token``."""
        self.teams[team_id] = Team(team_id, url, bot_token, organization=organization)

    def grant(self, team_id: str) -> Json:
        """Install the app in a workspace, and return what ``oauth.v2.access`` answers."""
        token = f"xoxb-{team_id}-{secrets.token_hex(6)}"
        self.tokens[token] = team_id
        granted = {"ok": True, "app_id": "A1", "access_token": token, "token_type": "bot", "bot_user_id": "U00000BOT"}
        granted |= {"scope": "chat:write,files:write,users:read", "authed_user": {"id": "U0000ALEX"}}
        granted |= {"team": {"id": team_id, "name": f"Team {team_id}"}, "enterprise": None}
        if self.teams[team_id].organization:
            whole = {"id": team_id, "name": f"Team {team_id}"}
            granted |= {"team": None, "enterprise": whole, "is_enterprise_install": True}
        if self.lasts is not None:
            refresh_token = f"xoxe-{secrets.token_hex(6)}"
            self.refresh_tokens[refresh_token] = team_id
            granted |= {"refresh_token": refresh_token, "expires_in": self.lasts}
        return granted

    def revoke(self, team_id: str) -> None:
        """Invalidate the tokens of a workspace, without notice to the app."""
        for tokens in (self.tokens, self.refresh_tokens):
            for token in [token for token, team in tokens.items() if team == team_id]:
                del tokens[token]

    def uninstall(self, team_id: str) -> None:
        """Remove the app from a workspace, as an administrator does; Slack tells it in two events."""
        self.revoke(team_id)
        self.tell(team_id, {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U00000BOT"]}})
        self.tell(team_id, {"type": "app_uninstalled"})

    def tell(self, team_id: str, event: Json, **outer: Any) -> None:
        """Send an event of a workspace to the app."""
        whole = self.teams[team_id].organization
        authorization = {
            "enterprise_id": team_id if whole else None,
            "team_id": None if whole else team_id,
            "user_id": "U00000BOT",
            "is_bot": True,
            "is_enterprise_install": whole,
        }
        payload = {
            "type": "event_callback",
            "team_id": team_id,
            "api_app_id": "A1",
            "event": event,
            "event_id": f"Ev{secrets.token_hex(6)}",
            "event_time": int(time.time()),
            "authorizations": [authorization],
            **outer,
        }
        self.send(team_id, "events_api", payload)

    def send(self, team_id: str, kind: str, payload: Json) -> None:
        """Send any payload to the app, in the name of a workspace."""
        frame = json.dumps({"envelope_id": secrets.token_hex(8), "type": kind, "payload": payload})
        assert self._loop is not None, "the app is connected"
        socket = self.teams[team_id].sockets[-1]
        asyncio.run_coroutine_threadsafe(socket.send_text(frame), self._loop).result(20)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/oauth/v2/authorize", self._consent),
                Route("/api/{method}", self._answer, methods=["GET", "POST"]),
                WebSocketRoute("/link/{team}", self._link),
            ]
        )

    async def _consent(self, request: Request) -> Response:
        """Let the person say yes at once, in the workspace that they name; ``deny`` means no."""
        asked = request.query_params
        back = {"state": asked["state"]}
        if asked.get("team") == "deny":
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back | {'error': 'access_denied'})}")
        code = secrets.token_hex(6)
        self._codes[code] = (asked["team"], asked["redirect_uri"])
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back | {'code': code})}")

    async def _answer(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        method, body = request.path_params["method"], await request.body()
        if method == "oauth.v2.access":
            return JSONResponse(self._exchange(request, parse_qs(body.decode())))
        form = parse_qs(body.decode()) if b"{" not in body[:1] else {}
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or form.get("token", [""])[0]
        if method == "apps.connections.open":
            if token != self.app_token:
                return JSONResponse({"ok": False, "error": "invalid_auth"})
            team = min(self.teams.values(), key=lambda each: each.offered)
            team.offered += 1
            return JSONResponse({"ok": True, "url": f"ws://{request.headers['host']}/link/{team.id}"})
        team_id = self.tokens.get(token)
        if team_id is None:
            self.refused.append((method, token))
            return JSONResponse({"ok": False, "error": "token_revoked"})
        self.calls.append((team_id, method))
        self.said.append(f"{team_id} {method} {body.decode(errors='replace')}")
        return await self._pass_on(self.teams[team_id], request, method, body)

    def _exchange(self, request: Request, form: dict[str, list[str]]) -> Json:
        given = {name: values[0] for name, values in form.items()}
        auth = httpx.BasicAuth(self.client_id, self.client_secret)._auth_header
        if request.headers.get("authorization") != auth:
            return {"ok": False, "error": "bad_client_secret"}
        if given.get("grant_type") == "refresh_token":
            self.calls.append(("", "refresh"))
            team_id = self.refresh_tokens.pop(given["refresh_token"], None)
            return {"ok": False, "error": "invalid_refresh_token"} if team_id is None else self.grant(team_id)
        granted = self._codes.pop(given.get("code", ""), None)
        if granted is None or granted[1] != given.get("redirect_uri"):
            return {"ok": False, "error": "invalid_code"}
        return self.grant(granted[0])

    async def _pass_on(self, team: Team, request: Request, method: str, body: bytes) -> Response:
        headers = {"authorization": f"Bearer {team.bot_token}", "content-type": request.headers.get("content-type", "")}
        async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
            answer = await http.request(
                request.method,
                f"{team.url}/api/{method}",
                params=request.query_params,
                content=body.replace(team.id.encode(), LOCAL.encode()),
                headers=headers,
            )
        content = answer.text.replace(LOCAL, team.id)
        if method == "users.info":
            found = json.loads(content)
            if found["ok"]:
                found["user"] |= team.users.get(found["user"]["id"], {})
            content = json.dumps(found)
        kept = {name: value for name, value in answer.headers.items() if name in {"retry-after", "x-oauth-scopes"}}
        return Response(content, answer.status_code, kept, media_type="application/json")

    async def _link(self, socket: WebSocket) -> None:
        """Carry the frames of a workspace to the app, and its acknowledgements back."""
        team = self.teams[socket.path_params["team"]]
        async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
            headers = {"authorization": f"Bearer {self.app_token}"}
            opened = (await http.post(f"{team.url}/api/apps.connections.open", headers=headers)).json()
        await socket.accept()
        team.sockets.append(socket)
        try:
            async with connect(opened["url"], proxy=None) as inner:
                out = asyncio.create_task(_carry_out(inner, socket, team.id))
                try:
                    while True:
                        await inner.send((await socket.receive_text()).replace(team.id, LOCAL))
                finally:
                    out.cancel()
        except (WebSocketDisconnect, ConnectionClosed, RuntimeError):
            pass
        finally:
            team.sockets.remove(socket)
            team.offered -= 1


async def _carry_out(inner: Any, socket: WebSocket, team_id: str) -> None:
    async for frame in inner:
        await socket.send_text(str(frame).replace(LOCAL, team_id))
