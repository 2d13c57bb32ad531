"""Run the MCP server for other agents, a separate process on the same database, under the person's workflows."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import datetime
from functools import partial

from pydantic import ValidationError

from fateforger.adapters.facts import LocalFacts, read_allow_file
from fateforger.agents.access import MOST_SESSIONS, AgentAccess
from fateforger.agents.clients import Client, Scope, format_token, hash_token
from fateforger.agents.server import CallHandler
from fateforger.app.resources import build_clock, open_state
from fateforger.config import Settings
from fateforger.errors import BadInput, first_mistake
from fateforger.tasks.workflows import Workflows, read_own
from fateforger.workflow.trace import Facts, NothingAllowed


def build_workflows(settings: Settings) -> Workflows:
    """Read the folder of the person's own workflows. Raises ``BadInput`` with the file and the place in it."""
    folder = settings.workflows
    if folder is None:
        return Workflows()
    if not folder.is_dir():
        raise BadInput(f"{folder}, which FATEFORGER_WORKFLOWS names, is no folder.", where="workflows")
    texts = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            texts[path.stem] = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"I cannot read {path}: it is no text, or may not be read.", where=path.name) from error
    return read_own(texts)


def build_facts(settings: Settings) -> Facts:
    """Return the facts that predicates may look at. Raises ``BadInput`` with the place in the file that allows them."""
    return NothingAllowed() if settings.facts is None else LocalFacts(read_allow_file(settings.facts))


@asynccontextmanager
async def open_call_handler(settings: Settings) -> AsyncIterator[CallHandler]:
    """Open the tool handler. It reads sessions and constraints, reaches no calendar, and writes no constraint.

    Raises ``StoreUnavailable``.
    """
    async with aclosing(await open_state(settings)) as store:
        reach = AgentAccess(
            sessions_of=partial(store.sessions.of_user, limit=MOST_SESSIONS),
            constraints_of=store.constraints.of,
            tasks=store.tasks,
            proposals=store.proposals,
            tz=settings.time_zone,
            workflows=build_workflows(settings),
            facts=build_facts(settings),
        )
        yield CallHandler(reach, store.clients, store.calls, build_clock(settings), store.standings.is_reachable)


async def serve_stdio(settings: Settings) -> None:
    """Serve one agent on stdin and stdout until it hangs up. Raises ``Refused`` if its token is invalid."""
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  heavy

    from fateforger.agents.server import build_server  # noqa: PLC0415  heavy

    token = None if settings.mcp_token is None else settings.mcp_token.get_secret_value()
    async with open_call_handler(settings) as handler:
        await handler.authenticate(token)
        server = build_server(handler, token)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


@asynccontextmanager
async def serve_http(settings: Settings, host: str, port: int) -> AsyncIterator[str]:
    """Serve agents over streamable HTTP at the yielded address.

    Each request carries its own token, and no state is kept between requests. Raises ``BadInput`` if the port is taken.
    """
    from fateforger.agents.server import TokenMiddleware, build_server  # noqa: PLC0415  heavy
    from fateforger.app.web import WebServer  # noqa: PLC0415  heavy

    async with AsyncExitStack() as stack:
        handler = await stack.enter_async_context(open_call_handler(settings))
        server = build_server(handler)
        app = server.streamable_http_app(json_response=True, stateless_http=True, host=host)
        await stack.enter_async_context(server.session_manager.run())
        web = WebServer(host, port)
        stack.callback(web.close)
        stack.push_async_callback(web.stop)
        await web.start(TokenMiddleware(app, handler))
        yield f"{web.url}/mcp"


async def register_client(
    settings: Settings, name: str, user_id: str, scopes: tuple[Scope, ...], expires_at: datetime | None
) -> tuple[Client, str]:
    """Register a client and return it with its token, which cannot be looked up later.

    Raises ``BadInput`` and ``StoreError``.
    """
    key, now = secrets.token_hex(6), build_clock(settings).now()
    token = format_token(key, secrets.token_urlsafe(32))
    if expires_at is not None and expires_at <= now:
        raise BadInput("That is over already, so the token would be of no use.", where="expires")
    try:
        client = Client(name=name, key=key, user_id=user_id, scopes=scopes, created_at=now, expires_at=expires_at)
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence, where="name") from None
    async with aclosing(await open_state(settings)) as store:
        await store.clients.add(client, hash_token(token))
    return client, token
