"""Two people never share: every table, every cache and every command that is about one person.

Two people exist everywhere, each with unique words. A read for one of them returns none of the other's words, and a
command for one of them changes nothing of the other's. A new table, cache or command fails here until it is listed.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import click
import pytest
from tests.contracts.stores import new_file
from tests.factories.agents import NOW
from tests.factories.inside import run_inside
from tests.factories.people import OF_NOBODY, SamplePerson, about, dump, tell
from tests.sources import modules

from fateforger.adapters.store import installations as _installations  # noqa: F401  its table has to be known
from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store, metadata, open_store
from fateforger.agents.clients import ProposalState
from fateforger.app.resources import open_vault
from fateforger.calendar.connections import Connection, Provider
from fateforger.cli.command_line import _COMMANDS
from fateforger.cli.options import UNNOTED
from fateforger.config import read_settings
from fateforger.ui.logs import DID
from fateforger.values import replace

ANNA, BORIS = SamplePerson("quokka"), SamplePerson("wombat")
SOURCE = Path(__file__).parents[2] / "src" / "fateforger"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(tmp_path / "state.db")
    for who in (BORIS, ANNA):
        await tell(opened, who)
    yield opened
    await opened.aclose()


# --- tables -----------------------------------------------------------------------------------------------------

Read = Callable[[Store, SamplePerson], Awaitable[object]]

READS: Mapping[str, Read] = {
    "agent_call": lambda store, who: store.calls.latest(user_id=who.id),
    "agent_proposal": lambda store, who: store.proposals.of(who.id, tuple(ProposalState)),
    "calendar_connection": lambda store, who: SqlConnections(store.database, Vault(new_key())).of(who.id),
    "constraint_version": lambda store, who: store.constraints.of(who.id),
    "event_generation": lambda store, who: store.journal.ledger(who.calendar_key, who.day),
    "event_head": lambda store, who: store.journal.ledger(who.calendar_key, who.day),
    "operator_action": lambda store, who: store.operator_log.latest(who.id, limit=9),
    "outbox": lambda store, who: store.outbox.latest(who.session),
    "person_language": lambda store, who: store.people.export(who.id),
    "home": lambda store, who: store.homes.open(who.id),
    "person_talk": lambda store, who: store.talks.of(who.id),
    "planning_session": lambda store, who: store.sessions.of_user(who.id),
    "push_channel": lambda store, who: store.channels.of(who.id),
    "rule_reply": lambda store, who: store.replies.of(f"rule-{who.word}"),
    "slack_standing": lambda store, who: store.people.export(who.id),
    "slack_zone": lambda store, who: store.people.export(who.id),
    "ritual": lambda store, who: store.rituals.of(who.id),
    "sync_op": lambda store, who: store.journal.history(who.calendar_key),
    "sync_tx": lambda store, who: store.journal.history(who.calendar_key),
    "task": lambda store, who: store.tasks.of(who.id, ended=True),
    "task_blocker": lambda store, who: store.tasks.of(who.id, ended=True),
    "task_duration": lambda store, who: store.durations.of(who.id),
}
"""A read of one person's part of each table."""

OF_ALL = {
    "agent_client": "all programs of all people: the operator's list, and each program is found by its own key",
    "calendar_lease": "who writes to which calendar now",
    "calendar_owner": "the one owner of the configured calendar",
    "constraint_unindexed": "what the search index has yet to take in, by person",
    "feedback": "the operator's list of ratings",
    "job": "work, which names its person and is carried out for them",
    "procrastinate_jobs": "the same on PostgreSQL",
    "job_receipt": "names of work that was taken in",
    "thread_message": "when something was said in which thread",
    "ritual_mark": "days on which messages were sent, by person",
}
"""Tables that are not read for one person at a time, and what they hold."""


def test_every_table_is_listed() -> None:
    assert READS.keys() | OF_ALL.keys() | OF_NOBODY == {table.name for table in metadata.sorted_tables}


@pytest.mark.parametrize("table", sorted(READS))
async def test_what_is_read_of_a_table_for_one_person_has_nothing_of_the_other(store: Store, table: str) -> None:
    """S324"""
    for who, other in ((ANNA, BORIS), (BORIS, ANNA)):
        found = repr(await READS[table](store, who))
        assert any(name in found for name in who.names), "the read finds something"
        assert not any(name in found for name in other.names)


async def test_what_is_exported_of_one_person_has_nothing_of_the_other(store: Store) -> None:
    """S324: this reads every table that has something of theirs."""
    for who, other in ((ANNA, BORIS), (BORIS, ANNA)):
        found = repr(await store.people.export(who.id))
        assert not any(name in found for name in other.names)


async def test_what_is_erased_of_one_person_leaves_the_other_as_they_were(store: Store) -> None:
    before = about(await dump(store), *BORIS.names)
    await store.people.erase(ANNA.id, now=NOW)
    assert about(await dump(store), *BORIS.names) == before


# --- people of the same id in two workspaces ---------------------------------------------------------------------

HERE, THERE = SamplePerson("bilby", number="TWIN"), SamplePerson("numbat", number="TWIN", tenant="T2")
"""Slack calls both by the same id, in the first workspace and in another one."""


@pytest.fixture
async def twins(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(tmp_path / "state.db")
    for who in (HERE, THERE):
        await tell(opened, who)
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("table", sorted(READS))
async def test_what_is_read_for_one_of_two_people_with_the_same_id_has_nothing_of_the_other(
    twins: Store, table: str
) -> None:
    """S342"""
    for who, other in ((HERE, THERE), (THERE, HERE)):
        found = repr(await READS[table](twins, who))
        assert any(name in found for name in who.names), "the read finds something"
        assert other.word not in found


async def test_what_is_exported_and_erased_of_one_leaves_another_of_the_same_id(twins: Store) -> None:
    """S342: jobs and receipts, too, in whose keys the ids are words among others."""
    for who, other in ((HERE, THERE), (THERE, HERE)):
        assert other.word not in repr(await twins.people.export(who.id))
    before = about(await dump(twins), THERE.word, THERE.id, THERE.channel)
    await twins.people.erase(HERE.id, now=NOW)
    after = await dump(twins)
    assert about(after, THERE.word, THERE.id, THERE.channel) == before
    left = about(after, HERE.word)
    left.pop("constraint_unindexed", None)  # work that waits for the index
    assert left == {}


async def test_a_thread_belongs_to_a_channel_of_its_workspace(twins: Store) -> None:
    """S342: messages of two workspaces may have the same timestamp, and channels the same id."""
    for who in (HERE, THERE):
        session = await twins.sessions.in_thread(who.channel, "1700.1")
        assert session is not None
        assert session.id == who.session


# --- commands ---------------------------------------------------------------------------------------------------

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "calendars disconnect": (),
    "calendars show": (),
    "constraints archive": ("c0quokka",),
    "constraints export": (),
    "constraints list": (),
    "constraints query": (),
    "constraints reindex": (),
    "constraints restore": (),
    "mcp client add": ("third", "--scopes", "tasks:read"),
    "mcp log": (),
    "person erase": ("--apply",),
    "person export": ("--to", "-"),
    "sync history": (),
    "sync undo": (),
    "tasks add": ("Feed the quokka",),
    "tasks durations": (),
    "tasks list": (),
    "tasks pull": (),
}
"""The arguments with which each command is run for one person."""

OF_ONE_TASK = {
    f"tasks {name}"
    for name in ("done", "move", "note", "pause", "priority", "rename", "resume", "retry", "show", "stop")
}
"""Commands about one task of a person: they refuse another person's task."""

ELSEWHERE = {
    "calendars connect": "tests/scenarios/test_own_calendars.py",
    "constraints add": "tests/unit/cli/test_constraint_store_commands.py",
    "constraints migrate": "tests/unit/cli/test_migrate_command.py",
    "constraints supersede": "tests/unit/cli/test_constraint_store_commands.py",
    "sync apply": "tests/scenarios/test_own_calendars.py",
    "sync diff": "tests/scenarios/test_own_calendars.py",
}
"""Commands that need a file or a server, and where they are run for one of two people."""


def find_commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is about one person."""
    for name, (module, _) in _COMMANDS.items():
        yield from _walk(getattr(importlib.import_module(module), f"{name}_command"), name)


def _walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, below in sorted(command.commands.items()):
            yield from _walk(below, f"{path} {name}")
    elif {param.name for param in command.params} & {"user", "user_id"}:
        yield path, command


def test_every_command_about_one_person_is_listed() -> None:
    listed = COMMANDS.keys() | OF_ONE_TASK | ELSEWHERE.keys()
    assert listed == {path for path, _ in find_commands()}
    assert all((SOURCE.parents[1] / proof).exists() for proof in ELSEWHERE.values())


def test_every_command_about_one_person_is_noted_in_plain_words() -> None:
    """S400: all except two, for which there is a reason."""
    assert {path for path, _ in find_commands()} <= DID.keys() | UNNOTED


NO_SERVER = {"sync undo"}
"""Commands that need the calendar itself, which is not there."""


def make_connected(word: str) -> SamplePerson:
    """Return a person whose history is that of the calendar that they connected."""
    return SamplePerson(word, calendar=f"caldav:https://dav.example.org/{word}#work")


class Data:
    """A data directory in which two people are everywhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "fateforger.db"

    def plant(self) -> Data:
        self.folder.mkdir()
        new_file(self.folder).rename(self.database)
        self._with_store(self._plant)
        return self

    def copy(self, folder: Path) -> Data:
        shutil.copytree(self.folder, folder)
        return Data(folder)

    def run(self, command: str, who: SamplePerson, *arguments: str) -> tuple[int, str]:
        """Return the status of a command, and its output."""
        words = command.split()
        by_option = "--user" in {
            option for path, found in find_commands() if path == command for p in found.params for option in p.opts
        }
        user = ("--user", who.id) if by_option else (who.id,)
        now = ("--now", "2026-03-03T10:00:00+00:00")
        status, out, err = run_inside(*words, *arguments, *user, "--data-dir", str(self.folder), *now)
        return status, out + err

    def rows_of(self, who: SamplePerson) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}

        async def read(store: Store) -> None:
            found.update(about(await dump(store), *who.names))

        self._with_store(read)
        found.pop("constraint_unindexed", None)  # work that waits, which each command does for everybody
        return found

    def task_of(self, who: SamplePerson) -> str:
        found: list[str] = []

        async def read(store: Store) -> None:
            found.extend(task.id for task in await store.tasks.of(who.id))

        self._with_store(read)
        return found[0]

    async def _plant(self, store: Store) -> None:
        vault = open_vault(read_settings(data_dir=self.folder))
        for who in (make_connected(BORIS.word), make_connected(ANNA.word)):
            await tell(store, who)
            own = Connection(who.id, Provider.CALDAV, who.word, "work", NOW, f"https://dav.example.org/{who.word}/")
            await SqlConnections(store.database, vault).keep(replace(own, secret=who.word))

    def _with_store(self, work: Callable[[Store], Awaitable[None]]) -> None:
        async def run() -> None:
            store = open_store(self.database)
            try:
                await work(store)
            finally:
                await store.aclose()

        asyncio.run(run())


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("isolation") / "data").plant()


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_for_one_person_shows_and_changes_nothing_of_the_other(
    tmp_path: Path, planted: Data, command: str
) -> None:
    """S324"""
    data = planted.copy(tmp_path / "data")
    before = data.rows_of(BORIS)
    status, said = data.run(command, ANNA, *COMMANDS[command])
    assert (status == 0) is (command not in NO_SERVER), said
    assert not any(name in said for name in BORIS.names), said
    assert data.rows_of(BORIS) == before


@pytest.mark.parametrize("command", sorted(OF_ONE_TASK))
def test_a_command_about_a_task_refuses_one_of_somebody_else(tmp_path: Path, planted: Data, command: str) -> None:
    """S324"""
    data = planted.copy(tmp_path / "data")
    before = data.rows_of(BORIS)
    more = {"move": ("first",), "priority": ("1",), "rename": ("Mine now",), "note": ("--text", "mine")}
    _, said = data.run(command, ANNA, data.task_of(BORIS), *more.get(command.split()[1], ()))
    assert BORIS.word not in said
    assert "Usage:" not in said
    assert data.rows_of(BORIS) == before


# --- caches -----------------------------------------------------------------------------------------------------

SESSION, THREAD, MACHINERY = "by session or message", "by thread or channel", "holds nothing of anybody"

CACHES = {
    "agents/server.py Rate._times": MACHINERY,
    "agents/server.py TokenMiddleware._asked": "tests/security/test_mcp.py::test_requests_of_a_client_are_limited_whatever_they_ask",
    "agents/server.py TokenMiddleware._let_in": "tests/security/test_mcp.py::test_guesses_are_limited_and_clients_go_on",
    "app/calendars.py CalDavGateway._apps": "by a name that cannot be guessed",
    "app/calendars.py PersonCalendars._entries": "tests/unit/app/test_person_calendars.py"
    "::test_two_people_with_one_calendar_have_a_record_and_a_lease_each",
    "app/logins.py ChangeNotices._listeners": MACHINERY,
    "app/slack.py SlackApp._sockets": MACHINERY,
    "adapters/store/constraints.py ConstraintCache._known": "constraint_version above",
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._claimed": MACHINERY,
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._claiming": MACHINERY,
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._workers": MACHINERY,
    "adapters/store/held_locks.py HeldLocks._locks": MACHINERY,
    "conversation/calendar_watch.py Watcher._told": "tests/unit/conversation/test_own_calendars.py",
    "adapters/store/jobs.py Wakeups._idle_at": MACHINERY,
    "adapters/store/jobs.py Wakeups._news": MACHINERY,
    "adapters/store/jobs.py Wakeups._waiting": MACHINERY,
    "conversation/background_updates.py BackgroundUpdates._improving": SESSION,
    "conversation/calendar_reads.py Looker._looks": "tests/unit/conversation/test_own_calendars.py"
    "::test_each_sees_only_their_own_meetings",
    "conversation/calendar_watch.py Watcher._judged": SESSION,
    "conversation/calendar_watch.py Watcher._visits": "tests/unit/conversation/test_own_calendars.py"
    "::test_each_sees_only_their_own_meetings",
    "conversation/background_updates.py Drafts._making": SESSION,
    "conversation/language/plan_ops.py _Editor._added": SESSION,
    "conversation/language/plan_ops.py _Editor._edits": SESSION,
    "conversation/memory_service.py ConstraintRetriever._last": "tests/unit/conversation/test_own_calendars.py"
    "::test_each_reads_only_their_own_rules_and_tasks",
    "conversation/memory_service.py ConstraintRetriever._reads": "tests/unit/conversation/test_own_calendars.py"
    "::test_each_reads_only_their_own_rules_and_tasks",
    "conversation/queue/service.py QueueService._task_forms": MACHINERY,
    "conversation/redaction.py Pseudonyms._given": SESSION,
    "conversation/redaction.py Pseudonyms._taken": SESSION,
    "conversation/running_turns.py RunningTurn._thinking": SESSION,
    "conversation/running_turns.py RunningTurns._courses": SESSION,
    "slack/access.py People._channels": "tests/unit/slack/test_intake.py",
    "slack/access.py People._own": "by workspace",
    "slack/agent_threads.py AgentThreads._narrations": SESSION,
    "slack/agent_threads.py AgentThreads._refused": MACHINERY,
    "slack/agent_threads.py AgentThreads._statuses": THREAD,
    "slack/agent_threads.py AgentThreads._streamed": SESSION,
    "slack/agent_threads.py AgentThreads._titles": THREAD,
    "slack/delivery.py Delivery._adding": SESSION,
    "slack/delivery.py Delivery._changing": "by workspace",
    "slack/delivery.py Delivery._doubtful": SESSION,
    "slack/delivery.py Delivery._owed": "by the place of a message",
    "slack/delivery.py Delivery._placed": SESSION,
    "slack/delivery.py Delivery._threads": SESSION,
    "slack/dispatcher.py Dispatcher._failures": SESSION,
    "slack/dispatcher.py Dispatcher._sending": SESSION,
    "slack/home.py Home._links": "by the place of a message",
    "slack/limits.py MethodLimit._made": MACHINERY,
    "slack/limits.py MethodLimit._waiting": MACHINERY,
    "slack/limits.py Pace._buckets": THREAD,
    "slack/limits.py SlackLimits._methods": MACHINERY,
    "slack/poster.py Pictures._off": "by workspace",
    "slack/workspaces.py Workspaces._clients": "by workspace",
    "slack/workspaces.py Workspaces._known": "by workspace",
    "slack/workspaces.py Workspaces._limits": "by workspace",
    "slack/poster.py Pictures._files": "by a digest of all that is drawn",
    "slack/poster.py Pictures._refused": "by a digest of all that is drawn",
    "slack/progress.py Presence._cleared": SESSION,
    "slack/progress.py Presence._places": THREAD,
    "workers/memory.py TidyScheduler._done": "zones and days, by person",
    "workers/people.py Ownership._hashes": MACHINERY,
    "workers/people.py Ownership._wait_until": "instants, by person",
    "workers/supervisor.py BackgroundTasks._tasks": MACHINERY,
    "workers/supervisor.py LaneWorkers._running": MACHINERY,
    "workers/supervisor.py Supervisor._work": MACHINERY,
}
"""State that outlives a call in memory, and how it separates people: its key, or the test that shows it."""

_PACKAGES = ("app", "conversation", "slack", "workers", "agents", "adapters/store")
_KINDS = frozenset({"dict", "OrderedDict", "defaultdict", "set", "Counter", "list", "deque"})


def find_caches() -> Iterator[str]:
    """Yield every private attribute that is a collection, of every class that may see several people."""
    for package in _PACKAGES:
        for path, found in _list_classes(package):
            for name in _list_collections(found):
                yield f"{path} {found.name}.{name}"


def _list_classes(package: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for path, module in modules().items():
        if path.startswith(f"{package}/"):
            yield from ((path, found) for found in module.find(ast.ClassDef))


def _list_collections(of: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(of):
        if isinstance(node, ast.AnnAssign) and _get_kind(node.annotation) in _KINDS:
            target = node.target
            is_field = isinstance(target, ast.Name) and node in of.body
            name = target.attr if isinstance(target, ast.Attribute) else target.id if is_field else ""  # type: ignore[union-attr]  # it is a name then
            if name.startswith("_"):
                yield name


def _get_kind(annotation: ast.expr) -> str:
    inner = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return inner.id if isinstance(inner, ast.Name) else ""


OWN = "connections, tasks, limits and rounds of this program itself"
ITS_TURN = "part of a turn or a call that this program alone carries out"
ONE_SENDS = "about messages, which one program at a time sends; the next one looks in Slack"
SAME = "cannot change, or its key names all that it depends on"
AGAIN = "another program finds it out or makes it again"

SEVERAL_PROGRAMS: Mapping[str, str] = {
    "adapters/answers.py _Unpacker._left": ITS_TURN,
    "adapters/calendar/budget.py Allowance._spent": ITS_TURN,
    "adapters/calendar/budget.py Allowance._unanswered": ITS_TURN,
    "adapters/calendar/budget.py LoginBudget._ended": OWN,
    "adapters/calendar/connection.py Connection._retired": OWN,
    "adapters/calendar/connection.py Connection._under_way": OWN,
    "adapters/calendar/connection.py McpSession._connection": OWN,
    "adapters/calendar/connection.py McpSession._opening": OWN,
    "adapters/calendar/connection.py McpSession._retired": OWN,
    "adapters/calendar/connection.py McpSession.welcome": OWN,
    "adapters/calendar/tools.py CalendarTools._only_account": SAME,
    "adapters/google/calendars.py ChangeFeed._token": "each read asks for changes since, so it is as good as a full one",
    "adapters/memory/adapter.py Mem0Memory._index": OWN,
    "adapters/memory/index.py Index._known": "none where several programs share an index",
    "adapters/memory/index.py _Vectors._ahead": ITS_TURN,
    "adapters/model/client.py CompletionsServer._clients": OWN,
    "adapters/notion/source.py NotionConstraints._left_out": ITS_TURN,
    "adapters/oauth.py RenewedTokens._refused": "the stored tokens are read before a renewal",
    "adapters/oauth.py RenewedTokens._renewal": "the stored tokens are read before a renewal",
    "adapters/oauth.py RenewedTokens._tokens": "the stored tokens are read before a renewal",
    "adapters/optimizer/translation.py Model._offset": ITS_TURN,
    "adapters/store/constraints.py ConstraintCache._known": "checked against the number of the latest version",
    "adapters/store/constraints.py SqlConstraints._after": OWN,
    "adapters/store/database.py Database._closed": OWN,
    "adapters/store/held_locks.py HeldLocks._connection": OWN,
    "adapters/store/held_locks.py HeldLocks._locks": OWN,
    "adapters/store/people.py SqlPeople._after": OWN,
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._claimed": "jobs of this program; the database says which are",
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._claiming": OWN,
    "adapters/store/procrastinate_jobs.py ProcrastinateJobs._workers": OWN,
    "adapters/store/jobs.py Wakeups._idle_at": OWN,
    "adapters/store/jobs.py Wakeups._news": OWN,
    "adapters/store/jobs.py Wakeups._waiting": OWN,
    "agents/server.py Rate._times": "each program has the limit for itself",
    "agents/server.py TokenMiddleware._asked": "each program has the limit for itself",
    "agents/server.py TokenMiddleware._let_in": "each program has the limit for itself",
    "app/calendars.py CalDavGateway._apps": OWN,
    "app/calendars.py LocalServer._local": OWN,
    "app/calendars.py PersonCalendars._entries": "checked against the connection; writes take turns by its lease",
    "app/logins.py ChangeNotices._listeners": OWN,
    "app/oauth_login.py KeptTokens._secret": SAME,
    "app/slack.py SlackApp._answers_http": OWN,
    "app/slack.py SlackApp._programs": OWN,
    "app/slack.py SlackApp._sockets": OWN,
    "app/slack_install.py InstallPages._workspaces": OWN,
    "app/web.py WebServer._server": OWN,
    "app/web.py WebServer._serving": OWN,
    "conversation/background_updates.py BackgroundUpdates._improving": "tests/scenarios/test_two_programs.py::test_a_program_goes_on_with_what_another_one_was_doing_that_has_ended",
    "calendar/access.py Hold._lease": "a lease that the database gave to this program alone",
    "calendar/access.py WaitingReads.seen_at": ITS_TURN,
    "calendar/execution.py Attempts._waited": ITS_TURN,
    "calendar/execution.py Attempts._waiting_until": ITS_TURN,
    "calendar/execution.py Attempts.transaction": ITS_TURN,
    "calendar/group.py ReadChoice._known": "the list of calendars, ten minutes old at most",
    "calendar/connections.py LazyCalendar._calendar": OWN,
    "calendar/connections.py LazyCalendar._reads": OWN,
    "calendar/lineage.py Lineage.ids": ITS_TURN,
    "calendar/lineage.py Lineage.keeps_color": ITS_TURN,
    "calendar/lineage.py Lineage.known": ITS_TURN,
    "calendar/lineage.py Lineage.now": ITS_TURN,
    "calendar/lineage.py Lineage.released": ITS_TURN,
    "calendar/lineage.py Lineage.told": ITS_TURN,
    "conversation/background_updates.py BackgroundUpdates._owing": OWN,
    "conversation/calendar_reads.py Looker._looks": "half a minute old at most; a write reads again",
    "conversation/calendar_watch.py Watcher._judged": AGAIN,
    "conversation/calendar_watch.py Watcher._told": AGAIN,
    "conversation/calendar_watch.py Watcher._visits": AGAIN,
    "conversation/background_updates.py Drafts._making": AGAIN,
    "conversation/language/model_calls.py CountingModel._complained": OWN,
    "conversation/language/plan_ops.py _Editor._added": ITS_TURN,
    "conversation/language/plan_ops.py _Editor._edits": ITS_TURN,
    "conversation/language/plan_ops.py _Editor._now": ITS_TURN,
    "conversation/memory_service.py ConstraintRetriever._last": "ten minutes old at most, and only while the store is slow",
    "conversation/memory_service.py ConstraintRetriever._reads": "reads that have just begun",
    "conversation/memory_service.py MemoryService.trouble": OWN,
    "conversation/queue/execution.py CompletionRounds._after": AGAIN,
    "conversation/queue/execution.py CompletionRounds._since": AGAIN,
    "conversation/queue/service.py QueueService._answer_ritual": OWN,
    "conversation/queue/service.py QueueService._task_forms": OWN,
    "conversation/queue/service.py QueueService._weeks": OWN,
    "conversation/redaction.py Pseudonyms._given": ITS_TURN,
    "conversation/redaction.py Pseudonyms._taken": ITS_TURN,
    "conversation/running_turns.py RunningTurn._acting": ITS_TURN,
    "conversation/running_turns.py RunningTurn._progress": ITS_TURN,
    "conversation/running_turns.py RunningTurn._thinking": ITS_TURN,
    "conversation/running_turns.py RunningTurn.stop_asked": "tests/scenarios/test_two_programs.py::test_stop_ends_a_turn_of_the_other_program",
    "conversation/running_turns.py RunningTurns._courses": "tests/scenarios/test_two_programs.py::test_stop_ends_a_turn_of_the_other_program",
    "conversation/running_turns.py TurnModel.prompts": ITS_TURN,
    "conversation/task_offers.py ExternalTaskList._known": "a minute old at most",
    "conversation/task_offers.py ExternalTaskList._look": "a minute old at most",
    "conversation/task_offers.py ExternalTaskList._read_at": "a minute old at most",
    "conversation/turn_runs.py TurnLog._complained": OWN,
    "slack/access.py People._channels": SAME,
    "slack/access.py People._own": SAME,
    "slack/agent_threads.py AgentThreads._narrations": ITS_TURN,
    "slack/agent_threads.py AgentThreads._refused": AGAIN,
    "slack/agent_threads.py AgentThreads._statuses": "what is shown until the next turn of the thread",
    "slack/agent_threads.py AgentThreads._streamed": "tests/scenarios/test_two_programs.py::test_a_program_that_starts_leaves_the_turns_of_others_alone",
    "slack/agent_threads.py AgentThreads._titles": ONE_SENDS,
    "slack/delivery.py Delivery._adding": ONE_SENDS,
    "slack/delivery.py Delivery._changing": "tests/scenarios/test_two_programs.py::test_a_card_of_the_other_program_is_not_replaced_by_an_older_one",
    "slack/delivery.py Delivery._doubtful": ONE_SENDS,
    "slack/delivery.py Delivery._owed": "tests/scenarios/test_two_programs.py::test_a_card_of_the_other_program_is_not_replaced_by_an_older_one",
    "slack/delivery.py Delivery._placed": ONE_SENDS,
    "slack/delivery.py Delivery._threads": ONE_SENDS,
    "slack/dispatcher.py Dispatcher._failures": ONE_SENDS,
    "slack/dispatcher.py Dispatcher._remembered": ONE_SENDS,
    "slack/dispatcher.py Dispatcher._sending": ONE_SENDS,
    "slack/home.py Home._links": SAME,
    "slack/limits.py MethodLimit._calls": OWN,
    "slack/limits.py MethodLimit._cosmetic_calls": OWN,
    "slack/limits.py MethodLimit._made": OWN,
    "slack/limits.py MethodLimit._next": OWN,
    "slack/limits.py MethodLimit._numbers": OWN,
    "slack/limits.py MethodLimit._parked_until": OWN,
    "slack/limits.py MethodLimit._waiting": OWN,
    "slack/limits.py Pace._buckets": "each program has the limit for itself; one sends",
    "slack/limits.py SlackLimits._methods": OWN,
    "slack/limits.py SlackLimits._programs": OWN,
    "slack/listeners.py Listeners._open": OWN,
    "slack/listeners.py Listeners._running": OWN,
    "slack/poster.py Pictures._files": SAME,
    "slack/poster.py Pictures._off": AGAIN,
    "slack/poster.py Pictures._refused": AGAIN,
    "slack/poster.py Poster._thumbs": AGAIN,
    "slack/progress.py Presence._cleared": ITS_TURN,
    "slack/progress.py Presence._places": "a status may end with the turn before it, which ran elsewhere",
    "slack/progress.py Turn.progress": ITS_TURN,
    "slack/workspaces.py Workspaces._clients": OWN,
    "slack/workspaces.py Workspaces._configured": "tests/contracts/test_installations.py::test_any_program_learns_from_the_database_that_an_app_was_removed",
    "slack/workspaces.py Workspaces._first": SAME,
    "slack/workspaces.py Workspaces._known": "tests/contracts/test_installations.py::test_any_program_learns_from_the_database_that_an_app_was_removed",
    "slack/workspaces.py Workspaces._limits": OWN,
    "slack/workspaces.py Workspaces._on_install": OWN,
    "slack/workspaces.py Workspaces._programs": OWN,
    "workers/memory.py Indexer._compared_at": AGAIN,
    "workers/memory.py Indexer._is_complete": AGAIN,
    "workers/memory.py Indexer._looked_at": AGAIN,
    "workers/memory.py Indexer._report": AGAIN,
    "workers/memory.py Indexer.loss": AGAIN,
    "workers/memory.py Indexer.trouble": AGAIN,
    "workers/memory.py TidyScheduler._done": AGAIN,
    "workers/people.py Ownership._hashes": SAME,
    "workers/people.py Ownership._wait_until": "each program has the pause for itself; the number of tries is in the database",
    "workers/supervisor.py BackgroundTasks._tasks": OWN,
    "workers/supervisor.py LaneWorkers._claiming": OWN,
    "workers/supervisor.py LaneWorkers._running": OWN,
    "workers/supervisor.py LaneWorkers._stopping": OWN,
    "workers/supervisor.py Repeated._halted": OWN,
    "workers/supervisor.py Rounds._trouble": OWN,
    "workers/supervisor.py Supervisor._work": OWN,
    "app/web.py _Connection._machine": OWN,
    "slack/client.py _LimitedAnswer._body": ITS_TURN,
}
"""State that outlives a call in memory, and why it does no harm with several programs on one database: the reason, or
the test that shows it."""

_ALL_PACKAGES = (*_PACKAGES[:-1], "adapters", "calendar")


def find_state() -> Iterator[str]:
    """Yield every cache, and every attribute that a method assigns again."""
    yield from CACHES
    for package in _ALL_PACKAGES:
        for path, found in _list_classes(package):
            for name in _list_reassigned(found):
                yield f"{path} {found.name}.{name}"


def _list_reassigned(of: ast.ClassDef) -> Iterator[str]:
    for method in of.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name not in {
            "__init__",
            "__post_init__",
        }:
            for node in ast.walk(method):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Store)
                    and ast.unparse(node.value) == "self"
                ):
                    yield node.attr


def test_all_state_has_a_verdict_for_several_programs() -> None:
    """S392: no state of a conversation is in the memory of one program alone."""
    assert sorted(SEVERAL_PROGRAMS) == sorted(set(find_state()))
    for proof in SEVERAL_PROGRAMS.values():
        path, _, test = proof.partition("::")
        if path.startswith("tests/"):
            assert test in (SOURCE.parents[1] / path).read_text(), proof


def test_every_cache_is_listed() -> None:
    """S324: with the key by which it tells people apart, or the test that shows that it does."""
    assert sorted(CACHES) == sorted(set(find_caches()))
    for proof in CACHES.values():
        path, _, test = proof.partition("::")
        if path.startswith("tests/"):
            assert test in (SOURCE.parents[1] / path).read_text(), proof
