"""Slack app: payloads from Bolt, workers for commands, and messages from the outbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

from fateforger.conversation.agent_proposals import Approvals
from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import WorldError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.store import Feedbacks, Outbox, Sessions, ThreadMessages
from fateforger.slack.access import People
from fateforger.slack.agent_threads import AgentThreads
from fateforger.slack.client import (
    SlackLogin,
    check_login,
    new_app,
    new_client,
    new_session,
    new_socket,
)
from fateforger.slack.delivery import Delivery
from fateforger.slack.dispatcher import SENDING_JOB, Dispatcher, build_sending_handler
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler, build_command_handler
from fateforger.slack.home import ConnectionHandler, Home, PersonalDataHandler
from fateforger.slack.limits import Pace
from fateforger.slack.listeners import Listeners
from fateforger.slack.notices import (
    build_greeting_handler,
    build_notification_handler,
    build_proposal_handler,
)
from fateforger.slack.places import Places
from fateforger.slack.poster import Poster, Render
from fateforger.slack.progress import DEFAULT_TIMING, Presence, StatusLines, Timing, build_stop_handler
from fateforger.workers.lanes import CONNECTION, ERASING, LIMITS
from fateforger.workers.people import LanguageService, PersonalData
from fateforger.workers.supervisor import BackgroundTasks, Handler, Repeated, Supervisor
from fateforger.workers.turns import build_turn_handler


@dataclass(frozen=True, slots=True)
class Services:
    """Parts of the program that the chat side uses.

    ``clock`` has to tick, because retries and leases depend on it. ``render`` renders pictures of days; it is ``None``
    where the settings switch them off.
    """

    coordinator: CoordinatorPort
    jobs: Jobs
    outbox: Outbox
    messages: ThreadMessages
    sessions: Sessions
    feedbacks: Feedbacks
    approvals: Approvals
    personal_data: PersonalData
    languages: LanguageService
    clock: Clock
    render: Render | None


class SlackApp:
    """Connection to one workspace, and the handlers of the lanes that need it."""

    def __init__(self, login: SlackLogin, services: Services, *, timing: Timing = DEFAULT_TIMING) -> None:
        self._login = login
        self._services = services
        door, jobs, outbox, clock = services.coordinator, services.jobs, services.outbox, services.clock
        self._session = session = new_session()
        self._client = client = new_client(login, session)
        self._background = background = BackgroundTasks()
        people = People(client, clock, services.languages)
        pace = Pace() if login.is_limited else Pace(per_second=1000.0, burst=1000)
        self._poster = poster = Poster(client, pace, services.messages, services.render)
        requests = RequestHandler(door, jobs, services.feedbacks, people, background, poster, client, clock=clock)
        forms = FormHandler(door, requests, client, background, timing=timing)
        home = Home(door, people, client, background)
        self._listeners = Listeners(requests, forms, home, services.languages, clock=clock)
        self._app = new_app(client)
        self._listeners.register(self._app)
        self._sockets: list[AsyncSocketModeHandler] = []
        self._agent = agent = AgentThreads(client, pace, poster.latest)
        delivery = Delivery(outbox, services.sessions, poster, people, agent, clock=clock)
        dispatcher = Dispatcher(outbox, delivery, clock=clock)
        self._presence = Presence(
            build_command_handler(door, jobs, people, Places(people, client), home, clock),
            StatusLines(agent, services.sessions, outbox, delivery),
            services.sessions,
            outbox,
            background,
            clock=clock,
            timing=timing,
        )
        personal_data = PersonalDataHandler(
            services.personal_data, jobs, poster, people, home, services.languages, client
        )
        self.handlers: tuple[Handler, ...] = (
            build_sending_handler(dispatcher.run, wake=dispatcher.wake, halt=dispatcher.halt),
            build_turn_handler(self._presence.handle, jobs, services.sessions, services.languages, clock),
            build_greeting_handler(door, people, poster, client),
            build_notification_handler(poster),
            build_stop_handler(door, services.languages, people, self._presence),
            build_proposal_handler(services.approvals, services.languages, poster, people),
            ERASING.handle(personal_data.perform, personal_data.given_up),
            Repeated(LIMITS, self._divide_limits),
            CONNECTION.handle(ConnectionHandler(door, poster, people, home, services.languages).perform),
        )

    async def _divide_limits(self) -> None:
        self._client.limits.divide(await self._services.jobs.count_programs())

    async def is_connected(self) -> bool:
        """Check whether a socket is connected."""
        open_now = [await socket.client.is_connected() for socket in self._sockets]
        return any(open_now)

    async def log_in(self) -> str:
        """Check the tokens, and clean up after a process that died; return the name of the workspace.

        Raises like :func:`check_login`.
        """
        team, self._agent.team_id, scopes = await check_login(self._login, self._client)
        self._poster.pictures.apply_scopes(scopes)
        await self._services.jobs.enqueue(SENDING_JOB, now=self._services.clock.now())
        await self._presence.sweep()
        return team

    async def connect(self) -> None:
        """Open the sockets. From here on people are answered. Raises ``WorldError``."""
        self._sockets = [new_socket(self._app, self._login) for _ in range(self._login.connections)]
        try:
            async with asyncio.timeout(self._login.open_seconds):
                await asyncio.gather(*(socket.connect_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here
        except TimeoutError:
            raise WorldError(
                f"Slack answers at {self._login.base_url}, but no socket to it can be opened. Please check whether a"
                " firewall or proxy stops WebSockets, and try again."
            ) from None

    async def disconnect(self) -> None:
        """Stop accepting payloads; Slack delivers them to the next process."""
        await self._listeners.close()
        await asyncio.gather(*(socket.close_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here

    async def close(self) -> None:
        """Finish short calls within seconds, and close the connections. Call this when no lane is running any more."""
        await self._background.close(seconds=2.0)
        await self._session.close()


@asynccontextmanager
async def run_slack_app(app: SlackApp, supervisor: Supervisor) -> AsyncIterator[str]:
    """Connect to a workspace, yield its name, and run all background work until the block ends.

    Unfinished work resumes when the program starts again. Raises ``BadInput`` for a token that Slack rejects,
    ``WorldError`` if Slack cannot be reached; then nothing is left open.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(app.close)
        team = await app.log_in()
        stack.push_async_callback(supervisor.stop)
        supervisor.start()
        stack.push_async_callback(app.disconnect)
        await app.connect()
        yield team
