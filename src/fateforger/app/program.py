"""The whole program: every configured service, and a stand-in for every other one."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount

from fateforger.adapters.optimizer.process import is_installed, optimize
from fateforger.adapters.painter import render_in_thread
from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.connections import SqlConnections, Vault
from fateforger.adapters.store.database import translate_errors
from fateforger.adapters.store.installations import SqlInstallations
from fateforger.adapters.store.store import Store
from fateforger.app.agents import build_facts, build_workflows
from fateforger.app.caldav_login import CalDavServers, open_servers
from fateforger.app.calendars import (
    GATEWAY,
    Access,
    CalDavGateway,
    FollowUps,
    LocalServer,
    OpenCalendar,
    PersonCalendars,
)
from fateforger.app.connect_page import ConnectPage
from fateforger.app.data_dir import (
    build_address,
    describe_caldav,
    describe_exposure,
    lock_data_dir,
    note_addresses,
    read_caldav_password,
    read_page_token,
)
from fateforger.app.health import build_external_list
from fateforger.app.logins import (
    ChangeNotices,
    Delegations,
    Organization,
    build_delegations,
    build_logins,
    build_openers,
)
from fateforger.app.memory import build_memory
from fateforger.app.oauth_login import PATH as CONNECT_PATH
from fateforger.app.oauth_login import ConnectLinks
from fateforger.app.ops import Operations, export_traces
from fateforger.app.people import build_personal_data
from fateforger.app.resources import (
    build_calendar,
    build_clock,
    build_ownership,
    check_settings,
    describe_claim,
    describe_owner,
    find_calendar_key,
    get_replica_name,
    open_state,
    open_vault,
    submitter,
    take_place,
)
from fateforger.app.slack import EventsEndpoint, Services, SlackApp, run_slack_app
from fateforger.app.slack_install import InstallPages, build_login, describe_mode
from fateforger.app.upkeep import prune
from fateforger.app.web import WebServer
from fateforger.calendar.connections import Connections, LazyCalendar
from fateforger.calendar.ports import Calendar, Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.config import Settings
from fateforger.conversation.agent_proposals import Approvals, ProposalService
from fateforger.conversation.background_updates import Improver
from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.calendar_watch import Watcher
from fateforger.conversation.coordinator import PlanningCoordinator
from fateforger.conversation.language.model_calls import CountingModel
from fateforger.conversation.language.rule_extraction import build_interpreter, build_judge
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.ports import Calendars
from fateforger.conversation.queue.execution import CompletionRounds
from fateforger.conversation.queue.leftovers import return_leftovers
from fateforger.conversation.queue.planned_tasks import PlannedTasks
from fateforger.conversation.queue.reminders import build_reminder_handler
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.queue.work import DurationService, Tools
from fateforger.conversation.redaction import Redaction
from fateforger.conversation.rituals.service import RitualService
from fateforger.conversation.session_messages import SessionCloser
from fateforger.conversation.turn_runs import RecordingSink, TurnLog, warm_up
from fateforger.errors import CalendarError, CalendarUnreachable, WorldError
from fateforger.masks import mask_address
from fateforger.memory.ports import Finder
from fateforger.ports.clock import Clock
from fateforger.ports.model import Model
from fateforger.slack.admission import Admission
from fateforger.slack.client import SlackLogin
from fateforger.slack.installations import Installations
from fateforger.slack.manifest import app_manifest
from fateforger.text import use_command_names, use_language
from fateforger.values import replace
from fateforger.workers.contradictions import Comparer, build_compare_handler
from fateforger.workers.lanes import (
    CLOSING,
    CONNECTIONS,
    EXTRACT,
    INDEXING,
    LANES,
    MISSED_DAYS,
    PLACE,
    RECOVERY,
    RITUALS,
    SENDING,
    TIDYING,
    WAITING_TASKS,
    WATCHING,
    Row,
)
from fateforger.workers.memory import Indexer, TidyScheduler, build_extract_handler, build_memory_handler
from fateforger.workers.people import LanguageService, Ownership
from fateforger.workers.supervisor import Handler, Repeated, Supervisor
from fateforger.workers.turns import connection_job
from localslack import DEFAULT_USERS, Workspace, WorkspaceConfig, create_workspace


def build_model(settings: Settings) -> Model | None:
    """Return the model; ``None`` if none is configured. It does not connect yet. Raises ``BadInput``."""
    if settings.model is None:
        return None
    from fateforger.adapters.model.client import open_model  # noqa: PLC0415  heavy
    from fateforger.app.models import build_endpoint  # noqa: PLC0415  heavy

    return open_model(build_endpoint(settings, settings.model))


def describe_model(settings: Settings) -> str:
    """Return a sentence about the configured language model."""
    if settings.model is None:
        return "Language model: none; buttons and forms do the whole job."
    others = ", ".join(f"{name} for {role}" for role, name in settings.model_roles.items())
    where = mask_address(settings.model_url or settings.model_provider or "")
    return f"Language model: {settings.model} at {where}{f'; {others}' if others else ''}."


def build_turn_log(settings: Settings, clock: Clock) -> TurnLog:
    """Return the logbook. The key for pseudonyms is new for each process and stored nowhere."""
    if settings.record is None:
        return TurnLog(clock)
    key = secrets.token_bytes(32) if settings.record_titles == "redact" else None
    cleaning = Redaction(secrets=settings.secrets, key=key)
    return TurnLog(clock, RecordingSink(RecordingFiles(settings.record), cleaning))


async def _open_calendar(resources: _Resources, web: WebServer, token: str) -> tuple[Calendar, LocalServer | None]:
    """Return the calendar, and the local server behind it if there is one; ``token`` opens that server.

    Raises ``UserError`` and ``WorldError``. A CalDAV server that does not answer now is no error.
    """
    settings = resources.settings
    if settings.calendar_url:
        return build_calendar(settings, settings.calendar_url, resources.store.quota), None
    local = LocalServer(settings, resources.clock, settings.caldav_port if settings.port else 0)
    resources.stack.push_async_callback(local.aclose)
    try:
        await local.start()
    except CalendarUnreachable as problem:
        if settings.caldav_url is None:
            raise
        log.warning("plans are made without the calendar until it answers: %s", problem.message)
    url = f"{web.url}/calendar/mcp"
    return LazyCalendar(find_calendar_key(settings), partial(local.open, url, token), _ignore_failure), local


async def _ignore_failure(_problem: CalendarError) -> None:
    """Ignore a failure of the configured calendar, which is not a person's own connection."""


def describe_calendar(settings: Settings, local: LocalServer | None) -> str:
    """Return a sentence about the configured calendar."""
    if settings.calendar_url:
        return f"Calendar: {settings.calendar_id}, through your calendar server."
    if settings.caldav_url is None:
        return "Calendar: the embedded one."
    waits = local is not None and local.caldav_url is None
    return "Calendar: your CalDAV server" + (
        ", which is not answering now; I try again whenever I need it." if waits else "."
    )


async def _serve_pages(
    resources: _Resources, web: WebServer, login: SlackLogin, local: LocalServer | None, own: Sequence[BaseRoute]
) -> None:
    """Serve the local stand-ins and the program's ``own`` routes."""
    stack, settings = resources.stack, resources.settings
    routes: list[BaseRoute] = [*own]
    if local is not None:
        routes += [Mount("/calendar", local.tools), Mount("/day", local.pane)]
    if not settings.real_slack:
        workspace = _build_workspace(settings, resources.clock, web, login, pane=local is not None)
        stack.callback(workspace.close)
        routes.append(Mount("/", workspace.app))
    # On shutdown the web server stops before the parts it serves, and after their clients.
    stack.push_async_callback(web.stop)
    await web.start(Starlette(routes=routes))
    if local is not None:
        stack.callback(local.release_pages)


def _build_links(settings: Settings, vault: Vault, web: WebServer, clock: Clock) -> ConnectLinks | None:
    """Return links to the page on which people connect calendars; ``None`` if it cannot be reached, or keep a login."""
    if not vault.has_keys or (settings.real_slack and settings.public_url is None):
        return None
    return ConnectLinks(vault, (settings.public_url or web.url).rstrip("/"), clock)


def _build_connect_page(
    resources: _Resources,
    access: Access,
    links: ConnectLinks | None,
    servers: CalDavServers,
    delegations: Delegations,
) -> Iterator[BaseRoute]:
    async def send_link(user_id: str) -> None:
        now = resources.clock.now()
        # One new link a minute, however often the button is pressed.
        await resources.store.jobs.enqueue(
            connection_job(user_id, "link", f"link-{user_id}-{now:%Y%m%dT%H%M}"), now=now
        )

    if links is not None:
        page = ConnectPage(
            links=links,
            is_reachable=resources.store.standings.is_reachable,
            access=access,
            servers=servers,
            delegations=delegations,
            languages=resources.languages,
            send_link=send_link,
            local=not resources.settings.real_slack,
        )
        yield from page.routes


def _build_slack_pages(
    resources: _Resources, login: SlackLogin, connections: SqlConnections
) -> tuple[EventsEndpoint, InstallPages]:
    installations = SqlInstallations(resources.store.database, connections.vault)
    return EventsEndpoint(), InstallPages(login, installations, resources.clock, resources.settings)


def _build_workspace(settings: Settings, clock: Clock, web: WebServer, login: SlackLogin, *, pane: bool) -> Workspace:
    first, *others = DEFAULT_USERS
    config = WorkspaceConfig(
        database=settings.data_dir / "workspace.db",
        public_url=web.url,
        bot_token=str(login.bot_token),
        app_token=login.app_token or "",
        manifest=app_manifest(),
        pane_url="/day/" if pane else None,
        team_name="FateForger",
        users=(replace(first, tz=settings.time_zone), *others),
    )
    with translate_errors(f"“{config.database}”"):
        return create_workspace(config, now=clock.now)


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """A running program.

    ``page_url`` is ``None`` with real Slack; ``day_url`` shows the days of a local calendar, and ``caldav`` says how
    calendar apps open it. All three contain a secret. ``lines`` describe each part. ``warning`` says that
    other machines may reach the page. ``claim`` tells a person how to claim a calendar without an owner; it holds the
    code, which appears nowhere else.
    """

    page_url: str | None = field(repr=False)
    day_url: str | None = field(repr=False)
    caldav: str | None = field(repr=False)
    lines: tuple[str, ...]
    warning: str | None
    claim: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Resources:
    """Resources that all parts share. When ``stack`` is closed, they are closed in reverse order."""

    stack: AsyncExitStack
    settings: Settings
    clock: Clock
    store: Store
    ownership: Ownership
    languages: LanguageService
    replica: str


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """Start everything; leaving the block stops it. Raises ``UserError`` or ``WorldError``."""
    async with export_traces(), AsyncExitStack() as stack:
        resources = await _open_resources(stack, settings)
        store, clock = resources.store, resources.clock
        operations = Operations(store, clock)
        ops_url = await operations.serve(stack, settings)
        token = read_page_token(settings)
        web = WebServer(settings.host, settings.port, token=token, public_url=settings.public_url)
        stack.callback(web.close)
        calendar, local = await _open_calendar(resources, web, token)
        login = build_login(settings, web.url)
        servers = open_servers(settings)
        gateway = CalDavGateway(settings.data_dir / "calendars", f"{web.url}{GATEWAY}", token, servers, clock.now)
        connections = SqlConnections(store.database, open_vault(settings))
        logins = build_logins(settings, connections, clock, f"{settings.public_url or web.url}{CONNECT_PATH}", store)
        delegations = build_delegations(settings, connections, clock, store)
        links = _build_links(settings, connections.vault, web, clock)
        pages = _build_connect_page(resources, Access(connections, logins), links, servers, delegations)
        notices = ChangeNotices(store.channels)
        events, installs = _build_slack_pages(resources, login, connections)
        own = (
            operations.route,
            Mount(GATEWAY, gateway),
            *pages,
            *notices.routes,
            *events.routes(login),
            *installs.routes,
        )
        await _serve_pages(resources, web, login, local, own)
        stack.push_async_callback(calendar.aclose)
        engine = submitter(settings, calendar, store.database, clock, role="house")
        configured = OpenCalendar(engine, engine.in_background(), store.journal)
        calendars = PersonCalendars(
            configured=configured,
            ownership=resources.ownership,
            connections=connections,
            openers=build_openers(gateway.open, logins, delegations),
            build_engine=lambda of, whose: submitter(settings, of, store.database, clock, role="house", user_id=whose),
            access=Access(connections, logins),
            organization=Organization(delegations, connections, clock),
            clock=clock,
            links=links,
        )
        stack.push_async_callback(calendars.aclose)
        model = _open_model(resources)
        index = build_memory(settings)
        stack.push_async_callback(index.aclose)
        operations.indexing = Indexer(store.constraints, index)
        operations.memory = memory = MemoryService(
            store.constraints, store.jobs, clock, index=operations.indexing, reads_words=model is not None
        )
        tools = _build_tools(resources, memory, model)
        rituals = _build_rituals(resources, calendars, tools)
        coordinator = _build_coordinator(resources, calendars, memory, tools, rituals)
        await _take_over_claims(resources, connections, installs.installations)
        await asyncio.to_thread(warm_up)
        services = _build_slack_services(resources, coordinator, memory, engine, installs.installations)
        operations.slack = events.slack = slack = SlackApp(login, services)
        installs.open(slack.workspaces)
        handlers = (
            *slack.handlers,
            *_build_handlers(resources, calendars, notices, operations.indexing),
            Repeated(INDEXING, operations.indexing.run_once),
            Repeated(WAITING_TASKS, CompletionRounds(tools).run_once),
            Repeated(MISSED_DAYS, partial(return_leftovers, tools)),
            Repeated(RITUALS, rituals.send_due),
            Repeated(
                CONNECTIONS, FollowUps(connections, calendars.recover, store.sessions, store.jobs, clock).run_once
            ),
            Repeated(PLACE, store.database.keep_held),
            Repeated(RECOVERY, partial(_recover_transactions, store.journal, calendars)),
            build_reminder_handler(tools),
        )
        supervisor = Supervisor(
            store.jobs,
            handlers,
            owner=resources.replica,
            clock=clock,
            lanes=_select_lanes(settings),
            check=slack.check_job,
        )
        coordinator.on_message_due(partial(supervisor.wake, SENDING))
        notices.on_change(lambda _user_id: supervisor.wake(WATCHING))
        store.constraints.on_write(partial(supervisor.wake, INDEXING))
        store.people.on_erase(partial(supervisor.wake, INDEXING))
        team = await stack.enter_async_context(run_slack_app(slack, supervisor))
        await coordinator.resume()
        stack.enter_context(note_addresses(settings.data_dir, web.url, _find_embedded(settings, local)))
        yield App(
            page_url=None if settings.real_slack else build_address(web.url, token),
            day_url=None if local is None else build_address(web.url, token, "/day/"),
            caldav=_describe_embedded(settings, local),
            lines=await _describe_parts(resources, team, ops_url, local),
            warning=describe_exposure(settings),
            claim=await _offer_claim(resources),
        )


async def _offer_claim(resources: _Resources) -> str | None:
    """Return instructions for becoming the owner of the calendar; ``None`` if it has one."""
    code = await resources.ownership.offer_code()
    return None if code is None else describe_claim(code)


def _find_embedded(settings: Settings, local: LocalServer | None) -> str | None:
    """Return the address of the embedded calendar, if that is the configured one."""
    return None if local is None or settings.caldav_url else local.caldav_url


def _describe_embedded(settings: Settings, local: LocalServer | None) -> str | None:
    """Return where calendar apps find the calendar; for the embedded one also its name and password."""
    if local is None or local.caldav_url is None or settings.caldav_url:
        return None if local is None else local.caldav_url
    return describe_caldav(local.caldav_url, read_caldav_password(settings))


async def _describe_parts(
    resources: _Resources, team: str, ops_url: str | None, local: LocalServer | None
) -> tuple[str, ...]:
    settings = resources.settings
    return (
        f"Slack: {team}, {describe_mode(settings)}." if settings.real_slack else "Slack: the local page.",
        describe_calendar(settings, local),
        f"Owner of the calendar: {describe_owner(settings, await resources.ownership.owner())}",
        describe_model(settings),
        f"State: {'your database' if settings.database_url else settings.data_dir}.",
        *(() if ops_url is None else (f"Operations: {ops_url}/livez, /readyz and /metrics.",)),
    )


async def _open_resources(stack: AsyncExitStack, settings: Settings) -> _Resources:
    use_language(settings.language)
    check_settings(settings)
    use_command_names(settings.commands)
    stack.enter_context(lock_data_dir(settings.data_dir))
    clock = build_clock(settings)
    store = await open_state(settings)
    stack.push_async_callback(store.aclose)
    replica = get_replica_name(settings)
    await take_place(settings, store.database)
    await store.database.hold_name(replica)
    ownership = build_ownership(settings, store.owners, clock)
    languages = LanguageService(store.languages, settings.language)
    return _Resources(stack, settings, clock, store, ownership, languages, replica)


def _open_model(resources: _Resources) -> Model | None:
    """Return a model client of its own, whose costs are added up in the store."""
    model = build_model(resources.settings)
    if model is None:
        return None
    resources.stack.push_async_callback(model.aclose)
    return CountingModel(model, resources.store.usage, resources.clock, tz=resources.settings.time_zone)


def _build_tools(resources: _Resources, memory: MemoryService, model: Model | None) -> Tools:
    store = resources.store
    return Tools(
        tasks=store.tasks,
        sessions=store.sessions,
        jobs=store.jobs,
        clock=resources.clock,
        tz=resources.settings.time_zone,
        durations=DurationService(store.durations),
        languages=resources.languages,
        talks=store.talks,
        homes=store.homes,
        zones=store.zones,
        rules=memory,
        model=model,
        workflows=build_workflows(resources.settings),
        facts=build_facts(resources.settings),
    )


def _build_rituals(resources: _Resources, calendars: Calendars, tools: Tools) -> RitualService:
    looker = Looker(calendars, resources.clock)
    resources.stack.push_async_callback(looker.aclose)
    planned = PlannedTasks(tools, resources.replica)
    return RitualService(tools, resources.store.rituals, looker, planned, resources.settings.calendar_write)


def _build_coordinator(
    resources: _Resources, calendars: Calendars, memory: MemoryService, tools: Tools, rituals: RitualService
) -> PlanningCoordinator:
    settings, clock, store = resources.settings, resources.clock, resources.store
    coordinator = PlanningCoordinator(
        sessions=store.sessions,
        calendars=calendars,
        clock=clock,
        calendar_write=settings.calendar_write,
        ownership=resources.ownership,
        model=tools.model,
        memory=memory,
        replies=store.replies,
        tasks=QueueService(tools, resources.replica),
        rituals=rituals,
        outside=build_external_list(settings, clock, resources.ownership.owner),
        proposals=ProposalService(store.proposals, store.calls, store.jobs, clock),
        languages=resources.languages,
        operator_log=store.operator_log,
        logbook=build_turn_log(settings, clock),
        improver=Improver(optimize if is_installed() else None),
    )
    resources.stack.push_async_callback(coordinator.aclose)
    return coordinator


async def _take_over_claims(resources: _Resources, connections: Connections, installations: Installations) -> None:
    """Take over the claims of the previous program, and renew what was encrypted with older keys.

    This process holds the lock on the data directory, so the previous program is dead. The scrub completes the erasure
    of a person that was interrupted by its death.
    """
    await resources.store.take_back(resources.replica)
    await resources.store.tasks.take_back(resources.replica, now=resources.clock.now())
    await resources.store.people.scrub()
    renewed = await connections.renew_encryption() + await installations.renew_encryption()
    if renewed:
        log.info("%d logins are encrypted with the newest key now", renewed)


async def _recover_transactions(journal: Journal, calendars: PersonCalendars) -> None:
    """Finish what the death of a program left open.

    While a calendar does not answer, or the lease of the dead program has not ended, this is left to the next round.
    """
    unsettled = {transaction.calendar for transaction in await journal.list_unsettled()}
    for engine in await calendars.list_engines() if unsettled else ():
        if engine.calendar_key not in unsettled:
            continue
        try:
            for result in await engine.recover():
                log.info("settled an interrupted transaction: %s", " ".join(result.sentences))
        except WorldError as error:
            log.info("an interrupted transaction stays open for now: %s", error.message)


def _build_slack_services(
    resources: _Resources,
    coordinator: PlanningCoordinator,
    memory: MemoryService,
    engine: CalendarSubmitter,
    installations: Installations,
) -> Services:
    settings, clock, store = resources.settings, resources.clock, resources.store
    approvals = Approvals(
        proposals=store.proposals,
        sessions=store.sessions,
        memory=memory,
        jobs=store.jobs,
        clock=clock,
        carry_out=coordinator.handle,
        said=coordinator.get_rule_reply,
        tz=settings.time_zone,
    )
    return Services(
        coordinator=coordinator,
        jobs=store.jobs,
        outbox=store.outbox,
        messages=store.messages,
        sessions=store.sessions,
        feedbacks=store.feedbacks,
        homes=store.homes,
        approvals=approvals,
        personal_data=build_personal_data(settings, store, clock, calendar=engine.calendar_key),
        languages=resources.languages,
        zones=store.zones,
        clock=clock,
        render=render_in_thread if settings.picture == "on" else None,
        installations=installations if settings.real_slack else None,
        admission=Admission(store.standings, settings.guests) if settings.real_slack else None,
    )


def _select_lanes(settings: Settings) -> tuple[Row, ...]:
    """Return the table of background work without what the settings switch off. Jobs of that stay for a later start."""
    off = {EXTRACT.name: settings.model is None, WATCHING.name: not settings.watch_seconds}
    return tuple(row for row in LANES if not off.get(row.name))


def _build_handlers(
    resources: _Resources, calendars: Calendars, notices: ChangeNotices, index: Finder
) -> Iterator[Handler]:
    """Yield the handlers of the background work that needs neither Slack nor the services of a turn."""
    settings, store, clock = resources.settings, resources.store, resources.clock
    sessions, jobs, constraints = store.sessions, store.jobs, store.constraints
    yield build_memory_handler(constraints, jobs, sessions, clock)
    yield Repeated(CLOSING, SessionCloser(sessions, jobs, clock).run_once)
    tidying = TidyScheduler(constraints, sessions, jobs, clock, tz=settings.time_zone)

    async def tidy_up() -> bool:
        left_over = await tidying.run_once()
        if not left_over:
            await prune(settings, store, now=clock.now())
        return left_over

    yield Repeated(TIDYING, tidy_up)
    # A model client of its own, so that no turn waits for it.
    model = _open_model(resources)
    if model is not None:
        yield build_extract_handler(build_interpreter(model), jobs, sessions, clock)
    comparer = Comparer(constraints, index, None if model is None else build_judge(model))
    yield build_compare_handler(comparer, jobs, clock)
    if seconds := settings.watch_seconds:
        watcher = Watcher(
            sessions=sessions, jobs=jobs, calendars=calendars, clock=clock, seconds=seconds, replica=resources.replica
        )
        notices.on_change(watcher.expect_change)
        yield Repeated(WATCHING, watcher.run_once, seconds=seconds)
