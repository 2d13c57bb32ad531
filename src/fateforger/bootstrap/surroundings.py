"""Connect to Slack and the calendar, or start the local stand-ins on the program's own web server."""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount

from fateforger.bootstrap.claim import read_or_create
from fateforger.bootstrap.ground import build_embedded_calendar, build_google_calendar, start_local_calendar
from fateforger.bootstrap.web import WebServer
from fateforger.config import Settings
from fateforger.ports import Calendar, Clock, Quota
from fateforger.slack.connection import SLACK_URL, SlackLogin
from fateforger.slack.manifest import app_manifest
from fateforger.values import replace
from localslack import DEFAULT_USERS, Workspace, WorkspaceConfig, create_workspace

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendar
    from fateforger.adapters.calendar import McpCalendar, SeveralCalendars


@dataclass(frozen=True, slots=True)
class Integrations:
    """Connections to Slack and the calendar.

    ``page_url`` is ``None`` with real Slack; ``caldav_url`` is ``None`` unless the calendar is local.
    ``calendar_words`` describe the calendar. ``watched`` is the same calendar for background reads.
    """

    login: SlackLogin
    calendar: Calendar
    watched: Calendar
    page_url: str | None
    caldav_url: str | None
    calendar_words: str


async def open_integrations(
    stack: AsyncExitStack, settings: Settings, clock: Clock, health: BaseRoute, quota: Quota
) -> Integrations:
    """Start the local stand-ins and the web server, which also serves the ``health`` route.

    ``quota`` counts requests to Google. Raises ``UserError``.
    """
    web = WebServer(settings.host, settings.port)
    stack.callback(web.close)
    routes, calendar, local, words = await _open_calendar(stack, settings, clock, web, quota)
    login = _build_login(settings, web)
    if not settings.real_slack:
        workspace = _build_workspace(settings, clock, web, login, pane=local is not None)
        stack.callback(workspace.close)
        routes.append(Mount("/", workspace.app))
    # On shutdown the web server stops before the parts it serves, and after their clients.
    stack.push_async_callback(web.stop)
    await web.start(Starlette(routes=[health, *routes]))
    if local is not None:
        stack.callback(local.release_pages)
    stack.push_async_callback(calendar.aclose)
    caldav_url = None if local is None else local.caldav_url
    page_url = None if settings.real_slack else web.url
    return Integrations(login, calendar, calendar.in_background(), page_url, caldav_url, words)


async def _open_calendar(
    stack: AsyncExitStack, settings: Settings, clock: Clock, web: WebServer, quota: Quota
) -> tuple[list[BaseRoute], McpCalendar | SeveralCalendars, LocalCalendar | None, str]:
    """Return the calendar's routes, its port, the local server behind it, if any, and a sentence about it."""
    if settings.calendar_url:
        calendar = build_google_calendar(settings, settings.calendar_url, quota)
        return [], calendar, None, f"Calendar: {settings.calendar_id}, through your calendar server."
    caldav_port = settings.caldav_port if settings.port else 0
    local = await stack.enter_async_context(start_local_calendar(settings, clock, port=caldav_port))
    calendar = build_embedded_calendar(settings, f"{web.url}/calendar/mcp")
    routes: list[BaseRoute] = [Mount("/calendar", local.mcp_app), Mount("/day", local.pane_app)]
    spoken = "Calendar: your CalDAV server." if settings.caldav_url else "Calendar: the embedded one."
    return routes, calendar, local, spoken


def _build_login(settings: Settings, web: WebServer) -> SlackLogin:
    if settings.slack_bot_token is not None and settings.slack_app_token is not None:
        return SlackLogin(
            bot_token=settings.slack_bot_token.get_secret_value(),
            app_token=settings.slack_app_token.get_secret_value(),
            base_url=settings.slack_api_base_url or SLACK_URL,
        )
    # The token of the local page.
    secret = read_or_create(settings.data_dir / "workspace.secret", lambda: secrets.token_hex(16))
    return SlackLogin(bot_token=f"xoxb-{secret}", app_token=f"xapp-{secret}", base_url=f"{web.url}/api/")


def _build_workspace(settings: Settings, clock: Clock, web: WebServer, login: SlackLogin, *, pane: bool) -> Workspace:
    first, *others = DEFAULT_USERS
    config = WorkspaceConfig(
        database=settings.data_dir / "workspace.db",
        public_url=web.url,
        bot_token=login.bot_token,
        app_token=login.app_token,
        manifest=app_manifest(),
        pane_url="/day/" if pane else None,
        team_name="FateForger",
        users=(replace(first, tz=settings.time_zone), *others),
    )
    return create_workspace(config, now=clock.now)
