"""A person in a thread: presses buttons on the card, fills in forms, and reads."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import text
from tests.factories.forms import fill_in
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.manual_clock import ManualClock
from tests.fakes.one_calendar import OneCalendar

from fateforger.adapters.store.store import Store, open_store
from fateforger.calendar.access import CommitContext
from fateforger.calendar.ports import Calendar
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.conversation.agent_proposals import ProposalService
from fateforger.conversation.background_updates import Improver
from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.coordinator import PlanningCoordinator
from fateforger.conversation.language.rule_extraction import build_interpreter, build_judge
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.ports import Calendars, CoordinatorPort, Submitter
from fateforger.conversation.queue.execution import CompletionRounds
from fateforger.conversation.queue.leftovers import return_leftovers
from fateforger.conversation.queue.planned_tasks import PlannedTasks
from fateforger.conversation.queue.reminders import build_reminder_handler
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.queue.work import DurationService, Tools
from fateforger.conversation.rituals.service import RitualService
from fateforger.conversation.task_offers import ExternalTaskList
from fateforger.conversation.turn_runs import RecordingSink, TurnLog
from fateforger.memory.ports import Constraints, Finder
from fateforger.ports.model import Model
from fateforger.ports.people import OwnerRecord
from fateforger.session.cards import Button, Card, Control, Controls, Menu, Prose
from fateforger.session.commands import Command
from fateforger.session.commands.thread import StartTimeboxing, TimeboxingUserReply
from fateforger.session.forms import Click, Form, FormErrors, FormRequest
from fateforger.session.messages import Outgoing
from fateforger.session.model import CalendarWrite, Session
from fateforger.session.store import Sent, Sessions
from fateforger.tasks.ports import OpenTasks, Tasks
from fateforger.tasks.workflows import Workflows
from fateforger.text import SOURCE, gettext
from fateforger.values import replace
from fateforger.workers.contradictions import Comparer, build_compare_handler
from fateforger.workers.lanes import COMPARE, EXTRACT, MEMORY, TURN, Backoff, LanePolicy, Row
from fateforger.workers.memory import build_extract_handler, build_memory_handler
from fateforger.workers.people import LanguageService, Ownership
from fateforger.workers.supervisor import Handler, Supervisor
from fateforger.workers.turns import build_turn_handler
from fateforger.workflow.trace import Facts, NothingAllowed

MORNING = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
"""Monday, eight in the morning in Amsterdam."""
AMSTERDAM = "Europe/Amsterdam"
CHANNEL = "C1"
MONDAY = MORNING.date()
ANNA = "U_ANNA"
SHUT_DOWN = "Shut down"
EXECUTOR = "program"
PATIENT = 20.0
"""Seconds for a calendar read of a test that is not about slow calendars; the machine may be busy."""
"""The name of the program in its claims, the same after a restart."""


async def find_owner() -> OwnerRecord:
    """Return the owner of settings for one person, such as a task list."""
    return OwnerRecord(ANNA)


@dataclass
class Harness:
    """The coordinator over real parts: the SQL store, the engine, a calendar with Google's semantics."""

    store: Store
    calendar: GoogleCalendarFake
    clock: ManualClock
    calendar_write: CalendarWrite = "refine"
    model: Model | None = None
    kept: RecordingSink | None = None
    sessions: Sessions | None = None
    """Replaces the store's own sessions in the coordinator."""
    constraints: Constraints | None = None
    """Replaces the store's own constraints."""
    tasks: Tasks | None = None
    """Replaces the store's own queue."""
    workflows: Workflows = field(default_factory=Workflows)
    facts: Facts = field(default_factory=NothingAllowed)
    """Facts that the rules of tasks may check."""
    elsewhere: OpenTasks | None = None
    """Their list of tasks elsewhere."""
    index: Finder | None = None
    """The index of their words."""
    extractor: Model | None = None
    """Reads replies for rules, in the background."""
    judge: Model | None = None
    """Judges whether statements contradict each other, in the background."""
    patience: float = 20.0
    """Seconds that the store of constraints and the extractor are given."""
    extract_seconds: float = 0.0
    """Seconds that a draft or a commit waits for the extractor, which works only while lanes do."""
    improver: Improver | None = None
    """Looks for better drafts; without it the first one is the final one."""
    coordinator: PlanningCoordinator = field(init=False)
    submitter: CalendarSubmitter = field(init=False)
    queue_service: QueueService = field(init=False)
    memory: MemoryService = field(init=False)
    check_waiting_tasks: Callable[[], Awaitable[None]] = field(init=False)
    outside: ExternalTaskList | None = field(init=False)
    rituals: RitualService = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start a new process over the same database and calendar."""
        ids = itertools.count()
        prefix = f"tx{next(_RUNS)}"
        outside = CommitContext(self.port, self.store.journal, self.clock, sleep=self.sleep, jitter=lambda: 0.5)
        self.submitter = CalendarSubmitter(outside, owner=prefix, new_id=lambda: f"{prefix}-{next(ids)}")
        memory = MemoryService(
            self.remembered,
            self.store.jobs,
            self.clock,
            index=self.index,
            reads_words=self.extractor is not None,
            seconds=self.patience,
            extract_seconds=self.extract_seconds,
        )
        self.languages = LanguageService(self.store.languages, SOURCE)
        tools = Tools(
            tasks=self.tasks or self.store.tasks,
            sessions=self.store.sessions,
            jobs=self.store.jobs,
            clock=self.clock,
            tz=AMSTERDAM,
            durations=DurationService(self.store.durations),
            languages=self.languages,
            talks=self.store.talks,
            homes=self.store.homes,
            zones=self.store.zones,
            rules=memory,
            model=self.model,
            workflows=self.workflows,
            facts=self.facts,
        )
        self.queue_service = QueueService(tools, EXECUTOR)
        self.check_waiting_tasks = CompletionRounds(tools).run_once
        self.return_leftovers = partial(return_leftovers, tools)
        self.reminders = build_reminder_handler(tools)
        self.outside = None if self.elsewhere is None else ExternalTaskList(self.elsewhere, self.clock, find_owner)
        self.memory = memory
        looker = Looker(OneCalendar(self.submitter), self.clock)
        self.rituals = RitualService(
            tools, self.store.rituals, looker, PlannedTasks(tools, EXECUTOR), self.calendar_write
        )
        self.coordinator = self.build_coordinator(submitter=self.submitter)

    def build_coordinator(
        self, *, submitter: Submitter, calendar_wait: float = PATIENT, calendars: Calendars | None = None
    ) -> PlanningCoordinator:
        return PlanningCoordinator(
            sessions=self.sessions or self.store.sessions,
            calendars=calendars or OneCalendar(submitter),
            clock=self.clock,
            ownership=Ownership(self.store.owners, self.clock, named=None, page=(), real_slack=False),
            memory=self.memory,
            replies=self.store.replies,
            tasks=self.queue_service,
            rituals=self.rituals,
            proposals=ProposalService(self.store.proposals, self.store.calls, self.store.jobs, self.clock),
            languages=self.languages,
            operator_log=self.store.operator_log,
            logbook=TurnLog(self.clock, self.kept),
            model=self.model,
            outside=self.outside,
            calendar_write=self.calendar_write,
            calendar_wait=calendar_wait,
            improver=self.improver,
        )

    @property
    def remembered(self) -> Constraints:
        return self.constraints or self.store.constraints

    def supervisor(self) -> Supervisor:
        """Return the background work of the program that concerns sessions, not started yet."""
        jobs, sessions, clock = self.store.jobs, self.store.sessions, self.clock
        policy = LanePolicy(workers=4, tries=3, poll_seconds=0.02, backoff=Backoff(first=0.01))
        handlers: list[Handler] = [
            build_turn_handler(self.coordinator.handle, jobs, sessions, self.languages, clock),
            build_memory_handler(self.remembered, jobs, sessions, clock),
        ]
        judge = None if self.judge is None else build_judge(self.judge)
        handlers.append(build_compare_handler(Comparer(self.remembered, self.index, judge), jobs, clock))
        lanes: list[Row] = [replace(lane, policy=policy) for lane in (TURN, MEMORY, COMPARE)]
        if self.extractor is not None:
            understand = build_interpreter(self.extractor, seconds=self.patience)
            handlers.append(build_extract_handler(understand, jobs, sessions, clock))
            lanes.append(replace(EXTRACT, policy=replace(policy, grace_seconds=0.01)))
        return Supervisor(jobs, handlers, owner="w", clock=clock, lanes=lanes)

    async def work(self) -> None:
        """Run all jobs that wait on a lane and are due; a stopped clock is moved on."""
        async with self.working() as supervisor:
            await self.until(lambda: self.is_idle(supervisor))

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Supervisor]:
        """Run the lanes for as long as the block runs."""
        supervisor = self.supervisor()
        supervisor.start()
        try:
            yield supervisor
        finally:
            await supervisor.stop()

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait for a condition while the clock goes on, so that what is tried again becomes due."""
        async with asyncio.timeout(60):
            while not await holds():
                await asyncio.sleep(0.01)
                self.clock.at += timedelta(milliseconds=10)

    async def is_idle(self, supervisor: Supervisor) -> bool:
        return not await self.waiting() and not supervisor.busy

    async def waiting(self) -> int:
        """Return the number of open jobs."""
        count = text("SELECT count(*) FROM job WHERE state = 'open'")
        return await self.store.database.read(lambda connection: connection.execute(count).scalar_one())

    async def sleep(self, seconds: float) -> None:
        """Return at once: waiting takes no time."""
        del seconds

    @property
    def port(self) -> Calendar:
        """The calendar as the engine sees it."""
        return self.calendar

    def on_calendar(self, *, whole: bool = False) -> dict[str, str]:
        """Return the local times on the calendar by title; the end of the day only when ``whole``."""
        return {
            e.summary: f"{local(e.start)}-{local(e.end)}"
            for e in self.calendar.store.get_live_events().values()
            if isinstance(e.start, datetime) and (whole or e.summary != SHUT_DOWN)
        }

    async def close(self) -> None:
        await self.coordinator.aclose()
        await self.store.aclose()


_RUNS = itertools.count()


def local(moment: datetime | date) -> str:
    from fateforger.planning.timing import zone

    assert isinstance(moment, datetime)
    return f"{moment.astimezone(zone(AMSTERDAM)):%H:%M}"


async def open_harness_at(
    path: Path,
    *,
    calendar_write: CalendarWrite = "refine",
    model: Model | None = None,
    kept: RecordingSink | None = None,
) -> Harness:
    """Open a program on a fresh database. Tables are made once and copied, which takes a tenth of the time."""
    if not _EMPTY:
        await open_store(path / "empty.db").aclose()
        _EMPTY.append((path / "empty.db").read_bytes())
    (path / "state.db").write_bytes(_EMPTY[0])
    return Harness(open_store(path / "state.db"), GoogleCalendarFake(), ManualClock(), calendar_write, model, kept)


_EMPTY: list[bytes] = []


def translate_label(label: str) -> tuple[str, str]:
    """Return a label in English, and in the language of the test."""
    return label, gettext(label)


@dataclass
class Person:
    """``messages`` are those that arrived, by slot; ``deeds`` counts commands, clicks and submits."""

    harness: Harness
    user: str = ANNA
    messages: dict[str, Outgoing] = field(default_factory=dict)
    arrived: list[Outgoing] = field(default_factory=list)
    asides: list[Card] = field(default_factory=list)
    deeds: int = 0
    session_id: str = ""

    @property
    def coordinator(self) -> CoordinatorPort:
        return self.harness.coordinator

    # --- acting ---

    async def start(self, day: date | None = None, *, tz: str = AMSTERDAM, thread: str | None = None) -> None:
        command = StartTimeboxing(
            command_id=self._id(),
            user_id=self.user,
            at=self.harness.clock.now(),
            channel=CHANNEL,
            thread_ts=thread,
            tz=tz,
            date=day,
        )
        await self.send(command)

    async def says(self, text: str) -> None:
        command = TimeboxingUserReply(
            command_id=self._id(), user_id=self.user, at=self.harness.clock.now(), session_id=self.session_id, text=text
        )
        await self.send(command)

    async def press_beside(self, slot: str, label: str, *, row: str = "") -> None:
        """Press the button with that label on the message next to the plan, in the row with the text."""
        found = [
            button
            for text, button in self.buttons_beside(slot)
            if button.label in translate_label(label) and row in text
        ]
        assert len(found) == 1, f"{label!r} in {row!r} not among {self.buttons_beside(slot)}"
        await self.click(found[0].action, found[0].target)

    def buttons_beside(self, slot: str) -> list[tuple[str, Button]]:
        """Return the buttons of a message next to the plan, each with the text of its row."""
        found: list[tuple[str, Button]] = []
        for part in self.messages[slot].card.parts:
            if isinstance(part, Controls):
                found += [("", c) for c in part.items if isinstance(c, Button)]
            elif isinstance(part, Prose) and isinstance(part.control, Button):
                found.append((part.text, part.control))
        return found

    def beside(self, slot: str) -> str:
        """Return the text of a message next to the plan."""
        return "\n".join(getattr(part, "text", "") for part in self.messages[slot].card.parts)

    async def press(self, label: str) -> None:
        """Press the button with that label on the card."""
        found = [c for c in self.controls() if isinstance(c, Button) and c.label in translate_label(label)]
        assert len(found) == 1, f"{label!r} not among {self.labels()}"
        await self.click(found[0].action, found[0].target)

    async def pick(self, action: str, value: str | date | time) -> None:
        """Use the picker or select with that action."""
        assert [c for c in self.controls() if getattr(c, "action", None) == action], action
        await self.click(action, value=value)

    async def choose(self, row: str, label: str) -> None:
        """Choose from the menu of the row that shows the text."""
        menu = self.menu(row)
        choice = next(c for c in menu.choices if c.label in translate_label(label))
        await self.click(choice.value, menu.target)

    async def click(self, action: str, target: str = "", value: str | date | time | None = None) -> str:
        """Click a button and return the id of the command."""
        click = Click(
            command_id=self._id(),
            user_id=self.user,
            at=self.harness.clock.now(),
            session_id=self.session_id,
            action=action,
            target=target,
            value=value,
        )
        await self.send(self.coordinator.read_click(click))
        return click.command_id

    async def fill(self, form: str, /, *, target: str = "", size: int = 0, **values: Any) -> FormErrors | None:
        """Open a form, change the given fields of it, and send it."""
        request = FormRequest(form=form, session_id=self.session_id, user_id=self.user, target=target, size=size)
        shown = await self.coordinator.open_form(request)
        turned = {f.name: values[f.name] for f in shown.inputs if getattr(f, "turns", False) and f.name in values}
        if turned:
            request = request.model_copy(update={"target": shown.target, "chosen": turned})
            shown = await self.coordinator.open_form(request)
        if shown.more and not values.keys() <= {f.name for f in shown.inputs}:
            shown = await self.coordinator.open_form(request.model_copy(update={"size": size + 1}))
        return await self.submit(shown, **values)

    async def submit(self, shown: Form, **values: Any) -> FormErrors | None:
        """Change the given fields of an open form, and send it."""
        read = await self.coordinator.read_form(
            fill_in(shown, self.user, self.harness.clock.now(), command_id=self._id(), **values)
        )
        if isinstance(read, FormErrors):
            return read
        assert not isinstance(read, Form), "it shows another form"
        await self.send(read)
        return None

    async def look(self, form: str, *, target: str = "", done: str | None = None, **chosen: str) -> Form:
        """Open a form, or show it again with the chosen values."""
        request = FormRequest(
            form=form, session_id=self.session_id, user_id=self.user, target=target, chosen=chosen, done=done
        )
        return await self.coordinator.open_form(request)

    async def press_in(self, shown: Form, label: str) -> Form:
        """Press a button of an open form, and see it as it is then."""
        button = next(b for b in buttons_in(shown) if b.label in translate_label(label))
        command = await self.click(button.action, button.target)
        return await self.look(shown.form, target=shown.target, done=command)

    async def fill_row(self, row: str, form: str, **values: Any) -> FormErrors | None:
        return await self.fill(form, target=self.menu(row).target, **values)

    async def send(self, command: Command) -> None:
        self.deeds += 1
        await self.coordinator.handle(command)
        await self.read()

    # --- reading ---

    async def read(self) -> None:
        """Let everything arrive that is owed."""
        outbox, now = self.harness.store.outbox, self.harness.clock.now()
        while due := await outbox.pending(now=now):
            for message in due:
                self._receive(message)
                await outbox.mark_sent(message.id, Sent(CHANNEL, f"{len(self.arrived)}.0"), now=now)
        if not self.session_id and self.arrived:
            self.session_id = self.arrived[-1].session_id
            session = await self.session()
            if session.thread_ts is None:
                await self.harness.store.sessions.attach_thread(self.session_id, CHANNEL, "1.0")

    def _receive(self, message: Outgoing) -> None:
        self.arrived.append(message)
        if message.ephemeral_to is not None:
            self.asides.append(message.card)
            return
        self.messages[message.slot] = message
        for slot in message.retire:
            if slot != message.slot:
                self.messages.pop(slot, None)

    @property
    def card(self) -> Card:
        """The latest card of the thread."""
        return next(m.card for m in reversed(self.arrived) if m.slot.startswith("stage:"))

    @property
    def root(self) -> str:
        return self.messages["root"].card.text

    @property
    def words(self) -> str:
        """Everything that the card says."""
        return "\n".join(getattr(part, "text", "") for part in self.card.parts)

    def controls(self) -> list[Control]:
        found: list[Control] = []
        for part in self.card.parts:
            if isinstance(part, Controls):
                found += part.items
            elif isinstance(part, Prose) and part.control is not None:
                found.append(part.control)
        return found

    def labels(self) -> list[str]:
        return [c.label for c in self.controls() if isinstance(c, Button)]

    def menu(self, row: str) -> Menu:
        rows = [p for p in self.card.parts if isinstance(p, Prose) and row in p.text and isinstance(p.control, Menu)]
        assert len(rows) == 1, f"{row!r} in {self.words}"
        assert isinstance(rows[0].control, Menu)
        return rows[0].control

    def rows(self) -> list[str]:
        return [p.text for p in self.card.parts if isinstance(p, Prose) and isinstance(p.control, Menu)]

    async def session(self) -> Session:
        session = await self.harness.store.sessions.load(self.session_id)
        assert session is not None
        return session

    def _id(self) -> str:
        return f"cmd-{self.user}-{next(_COMMANDS)}"

    # --- ways ---

    async def to_frame(self) -> None:
        await self.start()
        await self.press("Plan this day")

    async def to_tasks(self) -> None:
        await self.to_frame()
        await self.press("Continue")

    async def to_skeleton(self, *titles: str) -> None:
        await self.to_tasks()
        names = titles or ("Write report", "Review plans", "Mail")
        values: dict[str, Any] = {}
        for row, title in enumerate(names, start=1):
            values |= {f"title_{row}": title, f"minutes_{row}": 60}
        await self.fill("tasks", size=max(3, len(names)), one_thing="1", **values)

    async def to_refine(self, *titles: str) -> None:
        await self.to_skeleton(*titles)
        await self.press("Refine")

    async def to_committed(self, *titles: str) -> None:
        await self.to_refine(*titles)
        await self.press("Commit to calendar")


_COMMANDS = itertools.count()


def buttons_in(shown: Form) -> list[Button]:
    """Return the buttons between the fields of a form."""
    found: list[Control] = []
    for part in shown.fields:
        found += part.items if isinstance(part, Controls) else []
        found += [part.control] if isinstance(part, Prose) and part.control is not None else []
    return [control for control in found if isinstance(control, Button)]


def words_in(shown: Form) -> str:
    """Return all text between the fields of a form."""
    return "\n".join(words for part in shown.fields if (words := getattr(part, "text", "")))


def meeting(harness: Harness, title: str, start: str, end: str, day: date = MONDAY, **extras: Any) -> str:
    """Add an event of the person's own, by local times; an end before the start is on the next day."""
    from fateforger.planning.timing import instant_of, zone

    begin = instant_of(datetime.combine(day, time.fromisoformat(start)), zone(AMSTERDAM))
    finish = instant_of(datetime.combine(day, time.fromisoformat(end)), zone(AMSTERDAM))
    if finish < begin:
        finish += timedelta(days=1)
    return harness.calendar.store.user_create(title, start=begin, end=finish, **extras).id
