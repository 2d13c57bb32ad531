"""Days of several people while everything that the program depends on fails, in turn and together.

The programs are real: one on SQLite, or two on PostgreSQL. Slack, calendars and a language model are separate servers. A day has a
few rounds. In each round a spell of trouble begins, everyone does the next thing, and the spell ends. Then none of these breaches
may be seen from outside:

- **silent**: an action that Slack accepted changed nothing that its person sees, or failed without a word;
- **doubled**: a card is there twice, or a block is on a calendar twice;
- **leaked**: a word of one person is where another can read it;
- **lost**: at the end of a day, a calendar differs from its thread, or an event of the person's own has changed;
- **stuck**: somebody did not get as far as they wanted.

The same seed gives the same days, actions and spells. The timing of programs within a spell varies, so a history is logged with its
result.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx
from tests.postgres import PostgresServer, Shutdown
from tests.scenarios.caldav import CalDav
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN
from tests.scenarios.gate import pass_on
from tests.scenarios.person import Json, NotSeen, Person, eventually
from tests.scenarios.providers import ConnectedProgram, run, serve
from tests.scenarios.radicale import Radicale, free_port
from tests.scenarios.understanding_server import speaking
from tests.soak.network_faults import (
    REQUESTS,
    FaultPeriod,
    Listener,
    NetworkFaults,
    full_disk,
    hung_up,
    lock_database,
    stop_server,
)

from fateforger.slack.manifest import app_manifest
from localslack import DEFAULT_USERS, WorkspaceConfig, create_workspace
from localslack.people import WorkspaceUser

SAM = WorkspaceUser("U0000SAM", "sam", "Sam Lindqvist", "Europe/Amsterdam", "sam@example.com")
FIRST_DAY = datetime(2026, 3, 2, 6, tzinfo=UTC)
KEYS = "c29hay1zb2FrLXNvYWstc29hay1zb2FrLXNvYWstMTI="
"""The key of logins, the same for all programs of a history."""
ROUNDS = 24
"""The most rounds of a day."""
SPELLS = 18
"""Rounds of a day with trouble; the later ones have none."""
TROUBLES = ("slack", "calendar", "model", "database", "disk", "kill", "clock", "link")
PATIENCE = 150.0
"""Seconds from the end of a spell until every answer has to be there: a message may wait as long as ``LONGEST_RETRY``."""
WAY_ON = ("Try again", "Refine", "Commit to calendar", "Continue", "Plan this day")
UNDO = ("Undo", "Take all of it off the calendar")
"""Labels of the button that takes the plan off the calendar. The second one is on the card of a plan that is being refined."""
TO_BE_WRITTEN = "Your next change puts all of this on your calendar"
"""Text of the card after Undo has left only blocks on the calendar that the person had changed there."""
OUT_OF_DATE = "That card was out of date"
WORDS = "Please go on"


@dataclass
class SimulatedPerson:
    """A person in Slack with a calendar. ``mark`` is in all their texts of one day, and in no others."""

    person: Person
    calendar: CalDav
    rng: Random
    mark: str = ""
    undoes: bool = False
    spoken: int = 0
    edited: str = ""
    undone: bool = False
    filled: bool = False
    roots_before: int = 0
    own: dict[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.person.user.removeprefix("U0000").lower()

    def begin_day(self, day: int, morning: datetime) -> None:
        before, undone = self.own, self.undone
        self.mark, self.edited, self.spoken = f"{self.name}-{day}", "", 0
        self.undone = self.filled = False
        self.undoes = self.rng.random() < 0.5
        start = morning + timedelta(hours=2)
        self.calendar.put(f"own-{self.mark}", f"Meeting {self.mark}", start, start + timedelta(minutes=30))
        now = self.calendar.raw()
        # An undo of the day before may still be under way: what it has yet to remove does not have to stay.
        self.own = {name: raw for name, raw in now.items() if not undone or name in before or self.mark in name}
        self.roots_before, self.person.opened = len(self.person.roots()), ""

    # --- acting ---

    def act(self) -> PersonAction:
        """Do the next thing on the way to a committed day, and perhaps back."""
        begun = self._open_newest()
        before = self.view()
        if not begun:
            return self._make_deed("begin", before, self.person.slash("/timebox"))
        if self.person.modal() is not None:
            return self._make_deed("fill in tasks", before, self._fill())
        if self.arrived:
            return self._edit(before)
        if self._can_speak() and self.rng.random() < 0.3:
            self.spoken += 1
            return self._make_deed("say", before, self.person.post(
                "/ui/message", channel=self.person.channel, text=f"{WORDS}, {self.mark}", thread_ts=self.person.opened
            ))  # fmt: skip
        for wanted in self._ways_on():
            control = self._find(wanted)
            if control is not None:
                deed = self._make_deed(wanted, before, self.person.use(*control))
                self.undone = self.undone or (wanted in UNDO and deed.ok)
                return deed
        return PersonAction(self, "wait", before, ok=False)

    def _find(self, wanted: str) -> tuple[Json, str, Json] | None:
        """Return the control with that label, or ``None``: it may be gone a moment later."""
        try:
            return self.person.find(wanted)
        except NotSeen:
            return None

    def _ways_on(self) -> Iterator[str]:
        if self._wants_undo():
            yield from UNDO
        if self.titles[0] not in self.person.says() and (not self.filled or OUT_OF_DATE in self.person.says()):
            yield "Add tasks"
        yield from WAY_ON

    def _can_speak(self) -> bool:
        return self.person.has("Plan this day") or self.person.has("Refine") or self.person.has("Commit to calendar")

    def _wants_undo(self) -> bool:
        return self.undoes and not self.undone and self.committed

    def _open_newest(self) -> bool:
        roots = self.person.roots()[self.roots_before :]
        if not self.person.opened and roots:
            self.person.opened = roots[-1]["ts"]
        return bool(self.person.opened)

    def _fill(self) -> Json:
        """Send the form; close it if it is of another step, as it then says."""
        answer = self.person.submit(**{"deep_work,_one_task_a_line": "\n".join(self.titles)})
        if answer.get("errors"):
            self.person.post("/ui/view_close", view_id=self.person.form()["id"])
        self.filled = self.filled or bool(answer.get("ok") and not answer.get("errors"))
        return answer

    def _edit(self, before: str) -> PersonAction:
        """Edit an event on the calendar's own page, once a day. The edit has to stay."""
        if not self.edited and self.titles[0] in self.calendar.titles() and self.rng.random() < 0.5:
            self.edited = f"Mine {self.mark}"
            self.calendar.retitle(self.titles[0], self.edited)
            return PersonAction(self, "edit by hand", before, ok=False)
        return PersonAction(self, "rest", before, ok=False)

    def _make_deed(self, what: str, before: str, answer: Json) -> PersonAction:
        errors = answer.get("errors") or answer.get("error") or ""
        return PersonAction(self, f"{what} {errors}".strip(), before, ok=bool(answer.get("ok")) and not errors)

    # --- looking ---

    @property
    def titles(self) -> list[str]:
        return [f"{what} {self.mark}" for what in ("Report", "Mail", "Talk")]

    @property
    def arrived(self) -> bool:
        """Check whether the thread of this day, which may not have begun, is where the person wants it."""
        if self.undone:
            return self.person.has("Commit to calendar") or self.committed
        return bool(self.person.opened) and not self.undoes and self.committed

    @property
    def committed(self) -> bool:
        """Check whether the whole plan is on the calendar, by what the thread offers."""
        partly = self.person.has("Try again") or TO_BE_WRITTEN in self.person.says()
        return any(self.person.has(label) for label in UNDO) and not partly

    def view(self) -> str:
        """Return every message of the program in this day's conversation."""
        messages = [*self.person.roots(), *(self.person.thread() if self.person.opened else ())]
        return str([each for each in messages if each.get("user") != self.person.user])

    def everything(self) -> str:
        """Return all that the person can read in Slack and on their calendar, of any day."""
        seen = [self.person.get("/ui/home", user=self.person.user)]
        for channel in self.person.state()["channels"]:
            roots = self.person.get("/ui/messages", user=self.person.user, channel=channel["id"])["messages"]
            query = {"user": self.person.user, "channel": channel["id"]}
            seen += [self.person.get("/ui/messages", **query, thread_ts=root["ts"]) for root in roots]
        return f"{seen} {self.calendar.titles()}"


@dataclass
class PersonAction:
    """An action of a person, their view before it, and whether it was accepted."""

    by: SimulatedPerson
    what: str
    before: str
    ok: bool

    def __str__(self) -> str:
        return f"{self.by.name}: {self.what}{'' if self.ok else ' (not taken)'}"


@dataclass
class ChaosHistory:
    """One history. ``log`` describes it; ``breaches`` lists what must not happen."""

    seed: str
    programs: list[ConnectedProgram]
    humans: list[SimulatedPerson]
    ways: dict[str, NetworkFaults]
    listener: Listener
    databases: Mapping[str, Callable[[], Any]]
    """Ways in which the database fails, by name."""
    drop_links: Callable[[], None]
    spells: int = SPELLS
    rng: Random = field(init=False)
    log: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    breaches: list[tuple[str, str]] = field(default_factory=list)
    day: int = 0

    def __post_init__(self) -> None:
        self.rng = Random(f"chaos {self.seed}")

    def live(self, days: int) -> None:
        """Live that many days, or until the first breach."""
        for self.day in range(days):
            self._begin_day()
            for number in range(ROUNDS):
                self._play_round(number)
                if self.breaches or all(human.arrived for human in self.humans):
                    break
            self._judge_day()
            if self.breaches:
                return

    @property
    def morning(self) -> datetime:
        return FIRST_DAY + timedelta(days=self.day)

    def _begin_day(self) -> None:
        self.log.append(f"day {self.day}")
        for program in self.programs:
            if self.day and self.rng.random() < 0.5:
                program.stop()
            self._start(program, 0)
        for human in self.humans:
            human.person.wait_connected()
            human.begin_day(self.day, self.morning)

    def _start(self, program: ConnectedProgram, minutes: int) -> None:
        """Start a program whose clock is that many minutes off; kill it first if it still runs."""
        if program.process is not None:
            program.kill()
        program.environment["FATEFORGER_NOW"] = (self.morning + timedelta(minutes=minutes)).isoformat()
        program.start()

    def __str__(self) -> str:
        told = ", ".join(f"{name} {n}" for name, n in sorted(self.counts.items()))
        if not self.breaches:
            return f"seed {self.seed}: {told}"
        broken = "\n".join(f"{kind}: {what}" for kind, what in self.breaches)
        return "\n".join((f"seed {self.seed}: {told}", *self.log, broken))

    # --- one round ---

    def _play_round(self, number: int) -> None:
        spell = self._worsen() if number < self.spells else FaultPeriod()
        killed = self.rng.choice(self.programs) if {"kill", "clock"} & set(spell.names) else None
        minutes = self.rng.choice((-20, -5, 10, 45)) if "clock" in spell.names else 0
        pauses = [self.rng.uniform(0, 0.8), self.rng.uniform(0.1, 1.5)]
        with spell.stack, ThreadPoolExecutor(len(self.humans) + 1) as pool:
            dying = pool.submit(self._kill, killed, pauses[0])
            deeds = list(pool.map(SimulatedPerson.act, self.humans))
            dying.result()
            threading.Event().wait(pauses[1] if spell.names else 0)  # the spell lasts on, whatever happens in it
        if killed is not None:
            self._start(killed, minutes)
        self.counts.update((*spell.names, "rounds"))
        self.counts["deeds"] += len(deeds)
        self.log.append(f"  {number}: [{spell}] {'; '.join(map(str, deeds))}")
        self._look(deeds)

    def _worsen(self) -> FaultPeriod:
        spell = FaultPeriod()
        chosen = self.rng.sample(TROUBLES, self.rng.choice((1, 1, 2, 2, 3)))
        for name in chosen:
            match name:
                case "slack" | "calendar":
                    kind = self.rng.choice(REQUESTS)
                    self.ways[name].worsen(kind)
                    spell.stack.callback(self.ways[name].calm)
                    name = f"{name} {kind}"  # noqa: PLW2901  told with its kind
                case "model":
                    self.listener.worsen(self.rng.choice(("busy", "nonsense", "endless")))
                    spell.stack.callback(self.listener.calm)
                    name = f"model {self.listener.kind}"  # noqa: PLW2901  the same
                case "database":
                    how = self.rng.choice(sorted(self.databases))
                    spell.stack.enter_context(self.databases[how]())
                    name = f"database {how}"  # noqa: PLW2901  the same
                case "disk":
                    spell.stack.enter_context(full_disk(self.rng.choice(self.programs)))
                case "link":
                    self.drop_links()
            spell.names.append(name)
        return spell

    def _kill(self, program: ConnectedProgram | None, pause: float) -> None:
        if program is not None:
            threading.Event().wait(pause)
            program.kill()

    # --- what has to hold ---

    def _look(self, deeds: list[PersonAction]) -> None:
        for human in self.humans:
            human.person.wait_connected()
        for deed in deeds:
            if deed.ok:
                self._expect("silent", partial(_is_answered, deed), f"{deed}: nothing has changed\n{deed.before}")
        for human in self.humans:
            self._expect("doubled", partial(_has_no_doubles, human), partial(_tell_doubles, human))
        self._look_for_leaks()

    def _expect(self, kind: str, holds: Callable[[], bool], what: str | Callable[[], str]) -> None:
        try:
            eventually(holds, "", PATIENCE)
        except NotSeen:
            self.breaches.append((kind, what if isinstance(what, str) else what()))

    def _look_for_leaks(self) -> None:
        for human in self.humans:
            seen = human.everything()
            others = [other.name for other in self.humans if other is not human and f" {other.name}-" in seen]
            if others:
                self.breaches.append(("leaked", f"{human.name} can read words of {others}"))

    def _judge_day(self) -> None:
        for human in self.humans:
            if not self.breaches and not human.arrived:
                self.breaches.append(("stuck", f"{human.name} got no further than\n{human.person.says()}"))
            if not self.breaches:
                self._expect("lost", partial(_agrees, human), partial(_describe, human))
        self.counts["days"] += 1


def _is_answered(deed: PersonAction) -> bool:
    """Check the answer to a click: the form for a button that opens one, words for any other."""
    deed.by._open_newest()
    opened = deed.what == "Add tasks" and deed.by.person.modal() is not None
    return opened or deed.by.view() != deed.before


def _list_doubles(human: SimulatedPerson) -> list[str]:
    """Return the cards that are in the thread twice, and the blocks that are on the calendar twice."""
    messages = [*human.person.roots(), *human.person.thread()[1:]] if human.person.opened else human.person.roots()
    ids = Counter(str(each["metadata"]["event_payload"]["id"]) for each in messages if each.get("metadata"))
    found = [f"card {name}" for name, n in ids.items() if n > 1]
    found += [
        f"block {title}" for title, n in Counter(human.calendar.titles()).items() if n > 1 and human.mark in title
    ]
    return found


def _has_no_doubles(human: SimulatedPerson) -> bool:
    return not _list_doubles(human)


def _tell_doubles(human: SimulatedPerson) -> str:
    return f"{human.name}: {_list_doubles(human)}"


def _agrees(human: SimulatedPerson) -> bool:
    """Check that the calendar shows the day as in the thread, with the person's own changes."""
    now = human.calendar.raw()
    if {name: now.get(name) for name in human.own} != human.own:
        return False
    wanted = set(human.titles) if human.committed else set()
    if human.edited:
        wanted = (wanted - {human.titles[0]}) | {human.edited}
    shown = {title for title in human.calendar.titles() if human.mark in title and not title.startswith("Meeting")}
    return shown == wanted


def _describe(human: SimulatedPerson) -> str:
    return f"{human.name}: {human.calendar.events()}, edited {human.edited!r}\n{human.person.says()}"


def _end(programs: list[ConnectedProgram]) -> None:
    for program in programs:
        if program.process is not None:
            program.kill()


@contextmanager
def open_chaos(folder: Path, seed: str, server: PostgresServer | None, spells: int = SPELLS) -> Iterator[ChaosHistory]:
    """Open the world of a history: one program on SQLite, or two on a database of the server."""
    rng, users = Random(f"ways {seed}"), (*DEFAULT_USERS, SAM)
    with ExitStack() as stack:
        radicale = Radicale(folder / "dav", free_port())
        radicale.start()
        stack.callback(radicale.kill)
        calendars = NetworkFaults(pass_on(f"http://127.0.0.1:{radicale.port}"), rng)
        at_calendars = stack.enter_context(serve(calendars))
        url = f"http://127.0.0.1:{(port := free_port())}"
        config = WorkspaceConfig(
            database=folder / "workspace.sqlite", public_url=url, bot_token=BOT_TOKEN, app_token=APP_TOKEN,
            manifest=app_manifest(), users=users,
        )  # fmt: skip
        workspace = create_workspace(config, now=lambda: datetime.now(UTC))
        stack.callback(workspace.close)
        stack.enter_context(serve(workspace.app, port=port, websockets=True))
        slack = NetworkFaults(pass_on(url), rng)
        at_slack = stack.enter_context(serve(slack))
        listener = Listener(rng)
        settings = stack.enter_context(speaking(listener)) | {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE_URL": f"{at_slack}/api/",
            "FATEFORGER_PICTURE": "off",
            "FATEFORGER_CALDAV_PRIVATE": "true",
            "FATEFORGER_SECRET_KEYS": KEYS,
        }
        databases: dict[str, Callable[[], Any]] = {"locked": partial(lock_database, folder / "one" / "fateforger.db")}
        if server is not None:
            where = stack.enter_context(server.bare_database())
            settings |= {"FATEFORGER_DATABASE_URL": where, "FATEFORGER_MEMORY_STORE": "pgvector"}
            databases = {how: partial(stop_server, server, how) for how in get_args(Shutdown)}
            databases["hung up"] = partial(hung_up, server, urlsplit(where).path[1:])
        programs = []
        for name in ("one",) if server is None else ("one", "two"):
            port = free_port()
            public = {"FATEFORGER_PUBLIC_URL": f"http://127.0.0.1:{port}"}
            programs.append(ConnectedProgram(folder / name, environment=settings | public, port=port))
        stack.callback(_end, programs)
        chaos = ChaosHistory(
            seed, programs, [], {"slack": slack, "calendar": calendars}, listener, databases, workspace.hub.drop, spells
        )
        for program in programs:
            chaos._start(program, 0)
        for user in users:
            path = f"/{user.id.lower()}/calendar/"
            calendar = f"http://127.0.0.1:{radicale.port}{path}"
            as_person = (user.id.lower(), "")
            httpx.request("MKCALENDAR", calendar, trust_env=False, auth=as_person).raise_for_status()
            options = ("--user", user.id, "--address", f"{at_calendars}{path}", "--account", user.id.lower())
            done = run(
                programs[0], "calendars", "connect", *options, password="any", environment=programs[0].environment
            )
            assert done.returncode == 0, done.stderr
            at = CalDav(calendar)
            at.http.auth = httpx.BasicAuth(*as_person)
            chaos.humans.append(SimulatedPerson(Person(url, user.id), at, Random(f"{user.id} {seed}")))
        yield chaos
