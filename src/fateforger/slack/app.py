"""Slack app: payloads from Bolt, workers for commands, and messages from the outbox."""

from __future__ import annotations

import asyncio
import logging

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

from fateforger.conversation.agent_proposals import Approvals
from fateforger.conversation.coordinator import CoordinatorPort
from fateforger.errors import WorldError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.ports.painter import Rasterizer
from fateforger.session.store import Feedbacks, Outbox, Sessions
from fateforger.slack.access import Audience, People
from fateforger.slack.client import (
    SLACK_URL,
    UNHURRIED,
    Pace,
    PacePolicy,
    SlackLogin,
    Workspace,
    check_login,
    new_app,
    new_client,
    new_session,
    new_socket,
)
from fateforger.slack.delivery import SENDING, Delivery, Dispatcher, sending_worker
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler, with_welcome
from fateforger.slack.home import Home, PersonalDataHandler, personal_data_workers, with_home_refresh
from fateforger.slack.inbox import Intake
from fateforger.slack.notices import ProposalCards, greeting_workers, notification_workers, proposal_workers
from fateforger.slack.poster import EphemeralMessages, LatestMessages, Pictures, Poster
from fateforger.slack.progress import BackgroundTasks, Presence, StatusLines, Timing, stop_workers
from fateforger.workers.lane import LanePolicy, LaneWorkers
from fateforger.workers.people import PersonalData
from fateforger.workers.turns import build_turn_workers

log = logging.getLogger(__name__)


class SlackApp:
    """Connection to one workspace. Created by :func:`open_slack_app`, already connected."""

    def __init__(
        self,
        login: SlackLogin,
        session: aiohttp.ClientSession,
        *,
        replica: str,
        door: CoordinatorPort,
        jobs: Jobs,
        outbox: Outbox,
        sessions: Sessions,
        feedbacks: Feedbacks,
        clock: Clock,
        painter: Rasterizer | None,
        approvals: Approvals | None,
        dossiers: PersonalData | None,
        pace: PacePolicy,
        turns: LanePolicy,
        timing: Timing,
    ) -> None:
        client = new_client(login, session)
        latest, background = LatestMessages(), BackgroundTasks()
        people = People(client, clock)
        ephemeral = EphemeralMessages(client, people)
        audience = Audience(people)
        pictures = Pictures(client, painter, session)
        poster = Poster(client, Pace(pace), latest, pictures)
        requests = RequestHandler(
            door, jobs, feedbacks, people, ephemeral, background, latest, poster, client, clock=clock
        )
        forms = FormHandler(door, requests, client, ephemeral, background, timing=timing)
        delivery = Delivery(outbox, sessions, poster, ephemeral, audience, pictures, clock=clock)
        self._pictures = pictures
        self._jobs = jobs
        self._clock = clock
        self._login = login
        self._session = session
        self._client = client
        self._background = background
        home = Home(door, client, background)
        self._intake = Intake(requests, forms, home, clock=clock)
        self._app = new_app(client, self._intake)
        self._sockets: list[AsyncSocketModeHandler] = []
        self._dispatcher = Dispatcher(outbox, delivery, clock=clock)
        lines = StatusLines(client, outbox, poster)
        self._presence = Presence(
            with_home_refresh(home, with_welcome(door, jobs, ephemeral, clock)),
            lines,
            sessions,
            outbox,
            background,
            clock=clock,
            timing=timing,
        )
        self._lanes: tuple[LaneWorkers, ...] = (
            build_turn_workers(
                jobs,
                sessions,
                self._presence.handle,
                owner=replica,
                clock=clock,
                after=self._dispatcher.wake,
                policy=turns,
            ),
            greeting_workers(jobs, door, poster, owner=replica, clock=clock),
            notification_workers(jobs, poster, owner=replica, clock=clock),
            stop_workers(jobs, door, ephemeral, owner=replica, clock=clock),
        )
        if approvals is not None:
            showing = ProposalCards(approvals, poster, people, audience)
            proposals = proposal_workers(jobs, approvals, showing, ephemeral, owner=replica, clock=clock)
            self._lanes = (*self._lanes, proposals)
        if dossiers is not None:
            about = PersonalDataHandler(dossiers, jobs, poster, people, home, client, session)
            self._lanes = (*self._lanes, personal_data_workers(jobs, about, owner=replica, clock=clock))
        self._sender = sending_worker(jobs, self._dispatcher.run, owner=replica, policy=turns, clock=clock)

    @property
    def uses_oauth(self) -> bool:
        """True if Bolt runs as an OAuth app, which is a misconfiguration."""
        return self._app.oauth_flow is not None

    async def connected(self) -> bool:
        """Check whether a socket is connected."""
        open_now = [await socket.client.is_connected() for socket in self._sockets]
        return any(open_now)

    def wake(self) -> None:
        """Wake the dispatcher. Call this after queueing a message outside a turn."""
        self._dispatcher.wake()

    async def connect(self) -> Workspace:
        """Check the tokens, resume unfinished work, and open the sockets. Raises like :func:`check_login`."""
        workspace = await check_login(self._login, self._client)
        self._pictures.apply_scopes(workspace.scopes)
        await self._jobs.enqueue(SENDING, now=self._clock.now())
        self._sender.start()
        await self._presence.sweep()
        for lane in self._lanes:
            lane.start()
        self._sockets = [new_socket(self._app, self._login) for _ in range(self._login.connections)]
        try:
            async with asyncio.timeout(self._login.open_seconds):
                await asyncio.gather(*(socket.connect_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here
        except TimeoutError:
            raise WorldError(
                f"Slack answers at {self._login.base_url}, but no socket to it can be opened. Please check whether a"
                " firewall or proxy stops WebSockets, and try again."
            ) from None
        return workspace

    async def close(self) -> None:
        """Stop accepting payloads, finish running work within seconds, and close the connections.

        Unfinished work resumes when the program starts again.
        """
        await self._intake.close()
        await asyncio.gather(*(socket.close_async() for socket in self._sockets))  # type: ignore[no-untyped-call]  # Bolt has no annotation here
        await asyncio.gather(*(lane.stop() for lane in self._lanes))
        self._dispatcher.halt()
        await self._sender.stop(grace_seconds=12.0)
        await self._background.wait(seconds=2.0)
        await self._session.close()


async def open_slack_app(
    login: SlackLogin,
    *,
    replica: str,
    door: CoordinatorPort,
    jobs: Jobs,
    outbox: Outbox,
    sessions: Sessions,
    feedbacks: Feedbacks,
    clock: Clock,
    painter: Rasterizer | None = None,
    approvals: Approvals | None = None,
    dossiers: PersonalData | None = None,
    pace: PacePolicy | None = None,
    turns: LanePolicy | None = None,
    timing: Timing | None = None,
) -> tuple[SlackApp, Workspace]:
    """Connect to a workspace; :meth:`SlackRoom.close` ends it.

    ``replica`` names this process among those on the same database, and is the same after a restart. ``clock`` has to
    tick, because retries and leases depend on it. ``painter`` renders pictures of days; without one there are none.
    ``approvals`` holds agents' proposals, ``dossiers`` everything that is held about people. ``pace`` defaults to
    Slack's limits for Slack itself, and to none for other servers.

    Raises ``BadInput`` for a token that Slack rejects, ``WorldError`` if Slack cannot be reached; then nothing is left
    open.
    """
    room = SlackApp(
        login,
        new_session(),
        replica=replica,
        door=door,
        jobs=jobs,
        outbox=outbox,
        sessions=sessions,
        feedbacks=feedbacks,
        clock=clock,
        painter=painter,
        approvals=approvals,
        dossiers=dossiers,
        pace=pace or (PacePolicy() if login.base_url == SLACK_URL else UNHURRIED),
        turns=turns or LanePolicy(),
        timing=timing or Timing(),
    )
    try:
        return room, await room.connect()
    except BaseException:
        await room.close()
        raise
