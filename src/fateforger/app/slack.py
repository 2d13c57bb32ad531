"""Slack app: payloads from Bolt, workers for commands, and messages from the outbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fateforger.conversation.agent_proposals import Approvals
from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import WorldError
from fateforger.limits import MAX_SLACK_BODY_BYTES
from fateforger.masks import mask_address
from fateforger.metrics import SLACK_REQUESTS
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs
from fateforger.ports.people import Homes, Zones
from fateforger.session.store import Feedbacks, Outbox, Sessions, ThreadMessages
from fateforger.slack.access import People, Places
from fateforger.slack.admission import Admission
from fateforger.slack.agent_threads import AgentThreads
from fateforger.slack.client import (
    SlackLogin,
    new_app,
    new_session,
    new_socket,
)
from fateforger.slack.delivery import Delivery
from fateforger.slack.dispatcher import SENDING_JOB, Dispatcher, build_sending_handler
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler, build_command_handler
from fateforger.slack.home import ConnectionHandler, Home, PersonalDataHandler
from fateforger.slack.ids import get_tenant, qualify
from fateforger.slack.installations import NOT_INSTALLED, Installations
from fateforger.slack.limits import Pace
from fateforger.slack.listeners import Listeners
from fateforger.slack.manifest import EVENTS_PATH
from fateforger.slack.notices import (
    build_greeting_handler,
    build_notification_handler,
    build_proposal_handler,
    build_sentence_handler,
)
from fateforger.slack.payloads import find_flaw
from fateforger.slack.poster import Poster, Render
from fateforger.slack.progress import DEFAULT_TIMING, Presence, StatusLines, Timing, build_stop_handler
from fateforger.slack.workspaces import Workspaces
from fateforger.text import join_words
from fateforger.workers.lanes import CONNECTION, ERASING, HOMES, LIMITS, PutAside
from fateforger.workers.people import LanguageService, PersonalData
from fateforger.workers.supervisor import BackgroundTasks, Handler, Repeated, Supervisor
from fateforger.workers.turns import build_turn_handler

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """Parts of the program that the chat side uses.

    ``clock`` has to tick, because retries and leases depend on it. ``render`` renders pictures of days; it is ``None``
    where the settings switch them off. On the local page there are no ``installations``, and without ``admission``
    everybody may plan.
    """

    coordinator: CoordinatorPort
    jobs: Jobs
    outbox: Outbox
    messages: ThreadMessages
    sessions: Sessions
    feedbacks: Feedbacks
    homes: Homes
    approvals: Approvals
    personal_data: PersonalData
    languages: LanguageService
    zones: Zones
    clock: Clock
    render: Render | None
    installations: Installations | None = None
    admission: Admission | None = None


class EventsEndpoint:
    """Address of Slack's requests in HTTP mode. Until ``slack`` is there, it answers that it is not ready."""

    def __init__(self) -> None:
        self.slack: SlackApp | None = None

    def routes(self, login: SlackLogin) -> tuple[Route, ...]:
        """Return the route; none in Socket Mode."""
        return () if login.signing_secret is None else (Route(EVENTS_PATH, self._answer, methods=["POST"]),)

    async def _answer(self, request: Request) -> Response:
        response = Response(status_code=503) if self.slack is None else await self.slack.handle(request)
        SLACK_REQUESTS.labels(str(response.status_code)).inc()
        return response


class SlackApp:
    """Connection to Slack for all workspaces that have the app, and the handlers of the lanes that need it."""

    def __init__(self, login: SlackLogin, services: Services, *, timing: Timing = DEFAULT_TIMING) -> None:
        self._login = login
        self._services = services
        door, jobs, outbox, clock = services.coordinator, services.jobs, services.outbox, services.clock
        self._session = session = new_session()
        self.workspaces = Workspaces(login, session, services.installations, clock)
        client = self.workspaces.client
        self._background = background = BackgroundTasks()
        people = People(client, clock, services.languages, services.zones, services.admission)
        pace = Pace() if login.is_limited else Pace(per_second=1000.0, burst=1000)
        self._poster = poster = Poster(client, pace, services.messages, services.render)
        requests = RequestHandler(
            door, jobs, services.feedbacks, people, background, poster, client, outbox, clock=clock
        )
        forms = FormHandler(door, requests, client, background, timing=timing)
        home = Home(door, services.homes, people, poster, client, background, clock)
        self._listeners = Listeners(requests, forms, home, services.languages, clock=clock, people=people)
        self._app = new_app(client, self.workspaces.build_authorize(), login.signing_secret)
        self.workspaces.register(self._app)
        self._listeners.register(self._app)
        self._sockets: list[AsyncSocketModeHandler] = []
        self._answers_http = False
        self._programs = 1
        agent = AgentThreads(client, pace, poster.latest)
        delivery = Delivery(outbox, services.sessions, poster, people, agent, clock=clock)
        dispatcher = Dispatcher(outbox, delivery, clock=clock)
        self.workspaces.on_install(dispatcher.wake)
        self._presence = Presence(
            build_command_handler(door, jobs, people, Places(people, client), home, clock),
            door.stop,
            jobs,
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
            build_sentence_handler(people),
            build_notification_handler(poster),
            build_stop_handler(jobs, services.sessions, services.languages, people, self._presence),
            build_proposal_handler(services.approvals, services.languages, poster, people),
            ERASING.handle(personal_data.perform, personal_data.given_up),
            Repeated(HOMES, home.publish_due),
            Repeated(LIMITS, self._divide_limits),
            CONNECTION.handle(ConnectionHandler(door, poster, people, home, services.languages).perform),
        )

    @property
    def mode(self) -> Literal["socket", "http"]:
        """Way by which payloads arrive."""
        return "socket" if self._login.signing_secret is None else "http"

    async def _divide_limits(self) -> None:
        """Take this program's share of Slack's limits, and resume the work of a program that has ended."""
        before, self._programs = self._programs, await self._services.jobs.count_programs()
        self.workspaces.divide_limits(self._programs)
        if self._programs < before:
            await self._services.coordinator.resume()

    async def check_job(self, job: Job) -> None:
        """Raise ``PutAside`` for a job in a workspace that removed the app. Raises ``StoreError``.

        It is done once the app is installed again. Erasures are done all the same.
        """
        if job.lane == ERASING.name:
            return
        named = job.payload.get("user_id") or job.payload.get("channel")
        if named is None and (session_id := job.payload.get("session_id")):
            session = await self._services.sessions.load(session_id)
            named = None if session is None else session.user_id
        if named is not None and await self.workspaces.is_gone(get_tenant(named)):
            raise PutAside(NOT_INSTALLED)

    async def is_connected(self) -> bool:
        """Check whether payloads can arrive: whether a socket is connected, or requests are answered."""
        if self.mode == "http":
            return self._answers_http
        open_now = [await socket.client.is_connected() for socket in self._sockets]
        return any(open_now)

    async def log_in(self) -> str:
        """Check the tokens, and clean up after a process that died; return the names of the workspaces.

        Raises like :func:`~fateforger.slack.client.check_login`, and ``StoreError``.
        """
        await self.workspaces.log_in()
        active = await self.workspaces.list_active()
        for each in active:
            scopes = frozenset(filter(None, each.scopes.split(","))) or None
            self._poster.pictures.apply_scopes(scopes, qualify(each.key, "app"))
        await self._services.jobs.enqueue(SENDING_JOB, now=self._services.clock.now())
        await self._presence.sweep()
        return join_words([each.name for each in active]) or "no workspace yet"

    async def connect(self) -> None:
        """Open the sockets, or begin to answer requests. From here on people are answered. Raises ``WorldError``."""
        if self.mode == "http":
            self._answers_http = True
            log.info("requests of Slack are answered at %s", EVENTS_PATH)
            return
        self._sockets = [new_socket(self._app, self._login) for _ in range(self._login.connections)]
        try:
            async with asyncio.timeout(self._login.open_seconds):
                await asyncio.gather(*(socket.connect_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here
        except TimeoutError:
            raise WorldError(
                f"Slack answers at {mask_address(self._login.base_url)}, but no socket to it can be opened. Please"
                " check whether a firewall or proxy stops WebSockets, and try again."
            ) from None
        log.info("connected to Slack with %d sockets", len(self._sockets))

    async def handle(self, request: Request) -> Response:
        """Answer a request of Slack. Bolt checks its signature and its age; one that is too large is not read."""
        length = request.headers.get("content-length", "")
        if not self._answers_http:
            return Response(status_code=503)
        if not length.isdigit() or int(length) > MAX_SLACK_BODY_BYTES:
            return Response(status_code=413)
        try:
            asked = to_async_bolt_request(request, await request.body())
        except (ValueError, RecursionError):  # neither JSON nor a form, so it is not from Slack
            return Response(status_code=400)
        except (LookupError, TypeError, AttributeError) as error:  # Bolt reads ids before it checks the signature
            log.info("a request is refused: its payload cannot be read: %r", error)
            return Response(status_code=400)
        if (flaw := find_flaw(asked.body)) is not None:
            log.info("a request is refused: Slack sends no such %s", flaw)
            return Response(status_code=400)
        answer = await self._app.async_dispatch(asked)
        retry, reason = (request.headers.get(f"x-slack-retry-{name}", "") for name in ("num", "reason"))
        if retry and answer.status != 401:
            log.info("Slack sent a payload again: retry %s, after %s", retry, reason)
        return to_starlette_response(answer)

    async def disconnect(self) -> None:
        """Stop accepting payloads; Slack delivers them to the next process."""
        self._answers_http = False
        await self._listeners.close()
        await asyncio.gather(*(socket.close_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here

    async def close(self) -> None:
        """Finish short calls within seconds, and close the connections. Call this when no lane is running any more."""
        await self._background.close(seconds=2.0)
        await self._session.close()


@asynccontextmanager
async def run_slack_app(app: SlackApp, supervisor: Supervisor) -> AsyncIterator[str]:
    """Connect to Slack, yield the names of the workspaces, and run all background work until the block ends.

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
