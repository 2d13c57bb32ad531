"""A person in every table and file of the program, with unique words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select
from tests.contracts import session_examples as sessions
from tests.contracts.journal_examples import CALENDAR, create, head, make_applied, transaction
from tests.factories.agents import NOW, client, proposal
from tests.factories.constraints import version_of
from tests.factories.tasks import new_task

from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.tables import list_tables
from fateforger.agents.clients import Call
from fateforger.calendar.channels import Channel
from fateforger.calendar.connections import Connection, Provider
from fateforger.calendar.transactions import TxState
from fateforger.conversation.rituals.schedule import Due, RitualSettings
from fateforger.planning.plan import TBPlan
from fateforger.ports.jobs import NewJob
from fateforger.ports.people import OperatorAction, PersonLanguage
from fateforger.session.cards import Card
from fateforger.session.messages import Exchange, RecentTalk
from fateforger.session.store import Rating, Sent
from fateforger.slack.admission import Standing
from fateforger.slack.ids import qualify
from fateforger.slack.payloads import command_id
from fateforger.tasks.durations import Observation
from fateforger.workers.memory import build_tidy_job, build_write_job
from fateforger.workers.turns import build_notification_job

OF_NOBODY = frozenset({"model_usage", "erasure", "quota_use", "request_bucket", "slack_install", "slack_workspace"})
"""Tables in which no row is about a person."""
_DIGEST = re.compile(r"^\('\w+', '(click|message)-[0-9a-f]{32}',")


@dataclass(frozen=True)
class SamplePerson:
    """``word`` is in everything that they say. Slack calls them by ``number``, or else by the word.

    ``tenant`` is the workspace that they are of; without one, it is the first.
    """

    word: str
    calendar: str = ""
    day: date = date(2026, 3, 2)
    number: str = ""
    tenant: str = ""

    @property
    def id(self) -> str:
        return qualify(self.tenant, f"U0{self.number or self.word}")

    @property
    def session(self) -> str:
        return f"s{self.word}"

    @property
    def channel(self) -> str:
        return qualify(self.tenant, f"D0{self.number or self.word}")

    @property
    def calendar_key(self) -> str:
        return self.calendar or f"{CALENDAR}-{self.word}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the words to search for when looking for their data."""
        return (self.word, self.id, self.session, self.channel)


async def tell(store: Store, who: SamplePerson, folder: Path | None = None) -> None:
    """Put them into every table, and into the recordings in ``folder``."""
    await _save_words(store, who)
    await _save_plan(store, who)
    await _save_history(store, who)
    await _agents(store, who)
    if folder is not None:
        text = f'{{"runs": [{{"session": {{"user_id": "{who.id}", "notes": "{who.word}"}}}}]}}'
        await RecordingFiles(folder).keep(f"20260302T070000-{who.word[:2]}.json", text)


async def _save_words(store: Store, who: SamplePerson) -> None:
    for n in range(3):
        said = version_of(f"c{n}{who.word}", user=who.id, description=f"{who.word} {n}. {'so it is. ' * 60}")
        await store.constraints.write([said], cause=f"c{n} {who.word}")
    first, _ = await store.tasks.add(
        who.id, [new_task(f"{who.word} first", key="a"), new_task(who.word, after=("a",))], cause=who.word, now=NOW
    )
    took = Observation(
        id=f"{who.session}/t1", title=who.word, deep=True, planned=60, actual=90, day=who.day, source="done"
    )
    await store.durations.keep(who.id, [took])
    await store.languages.keep(who.id, PersonLanguage("en"))
    await store.homes.open(who.id)
    await store.replies.keep(who.id, f"rule-{who.word}", [who.word], at=NOW)
    await store.zones.keep(who.id, "Europe/Amsterdam", until=NOW)
    await store.operator_log.note(OperatorAction(who.id, NOW, "person export", f"robin {who.word}"))
    await store.standings.keep(who.id, Standing.GUEST)
    connection = Connection(who.id, Provider.CALDAV, who.word, "work", NOW, "https://dav.example.org/", secret=who.word)
    await SqlConnections(store.database, Vault(new_key())).keep(connection)
    await store.channels.add(
        Channel(f"channel {who.word}", who.id, who.word, NOW + timedelta(days=1)), who.word, now=NOW
    )
    chosen = RitualSettings(user_id=who.id, channel=who.channel, tz="Europe/Amsterdam", since=NOW, morning=time(9))
    chosen = await store.rituals.change(who.id, lambda _before: chosen)
    card = Card(text=f"Good morning, {who.word}", parts=())
    morning = build_notification_job(card, v=f"ritual/{who.id}", channel=who.channel)
    await store.rituals.mark(chosen, Due("morning", who.day, NOW, NOW), "sent", now=NOW, job=morning)
    await store.talks.keep(who.id, RecentTalk(at=NOW, exchanges=(Exchange.of(who.word, "Hello!"),)))
    await store.tasks.claim(who.id, f"mcp:{who.word}", now=NOW, lease_seconds=1, task_id=first.id)


async def _save_plan(store: Store, who: SamplePerson) -> None:
    plan = TBPlan(date=who.day, tz="Europe/Berlin", events=(sessions.BLOCK.model_copy(update={"name": who.word}),))
    session = sessions.session(who.session, user_id=who.id, channel=who.channel, plan=plan)
    outgoing = [sessions.message(f"{n}-{who.word}", f"slot{n}", who.session) for n in range(3)]
    await store.sessions.save(session, expected=0, outgoing=outgoing)
    await store.sessions.attach_thread(who.session, who.channel, "1700.1")
    await store.messages.observe(who.channel, "1700.1", "1700.1")
    await store.outbox.mark_sent(outgoing[0].id, Sent(who.channel, "1700.2"), now=NOW)
    await store.outbox.mark_failed(outgoing[1].id, f"{who.word} was refused", retry_at=None)
    rating = Rating(session_id=who.session, turn=f"t{who.word}", user_id=who.id, helpful=True, at=NOW)
    await store.feedbacks.rate(rating)
    for job in _jobs(who):
        await store.jobs.enqueue(job, now=NOW)
    dead = await store.jobs.claim("extract", "w", now=NOW, lease_seconds=1)
    assert dead is not None
    await store.jobs.bury(dead, f"{who.word} could not be read")


def _jobs(who: SamplePerson) -> tuple[NewJob, ...]:
    """Return a job of the person in each form that jobs have."""
    words: Mapping[str, Any] = {"kind": "queue", "user_id": who.id, "text": who.word}
    return (
        NewJob("turn", f"queue {who.id}", command_id("click", who.word), words),
        NewJob("extract", who.session, command_id("message", who.word), {"session_id": who.session}),
        NewJob("turn", who.session, f"look:{who.session}:1:x", {"session_id": who.session}),
        build_write_job([version_of("late", user=who.id, description=who.word)], who.session, f"late-{who.id}"),
        build_tidy_job(who.id, who.day, "Europe/Berlin"),
        build_notification_job(sessions.card(who.word), v=f"v-{who.id}", channel=who.channel),
        NewJob("greeting", f"{who.channel} {who.id}", f"first-{who.id}", {"channel": who.channel, "thread_ts": None}),
    )


async def _save_history(store: Store, who: SamplePerson) -> None:
    """Write two days to their calendar, undo the second one, and write one from the command line."""
    for number, context in enumerate([{"session": who.session}, {}]):
        tx = f"{who.word}{number}"
        await _write(store, who, tx, who.day + timedelta(days=number), {**context, "said": who.word})
    await _write(store, who, f"{who.word}9", who.day, {}, kind="undo", undoes=f"{who.word}0")
    lease = await store.journal.acquire(who.calendar_key, "w", now=NOW, seconds=1)
    assert lease is not None
    await store.journal.release(lease)


async def _write(store: Store, who: SamplePerson, tx: str, day: date, context: Mapping[str, Any], **more: Any) -> None:
    seed = f"{day.isoformat()}|{who.word}|09:00:00|{tx}"
    op = create(0, tx=tx, day=day).model_copy(update={"summary": who.word, "seed": seed})
    values = {"calendar": who.calendar_key, "day": day, "cause": f"door-{tx}", "group": who.session}
    begun = transaction(tx, [op], context=context, **values, **more)
    await store.journal.begin(begun)
    note = head(0).model_copy(update={"key": who.word, "day": day})
    await store.journal.settle(tx, make_applied(op), head=note)
    await store.journal.close(tx, TxState.COMMITTED, NOW)


async def _agents(store: Store, who: SamplePerson) -> None:
    name, number = f"bot-{who.word}", f"p{who.word}"
    await store.clients.add(client(name, key=f"k{who.word}", user_id=who.id), f"hash {who.word}")
    asked = Call(client=name, user_id=who.id, tool="pull", asked=f'{{"said":"{who.word}"}}', at=NOW)
    await store.calls.begin(asked, since=NOW - timedelta(minutes=1), most=10)
    await store.proposals.stage(proposal(number, name, user_id=who.id, reason=who.word))
    await store.proposals.record_place(number, who.channel, "1700.3")


async def dump(store: Store) -> dict[str, list[str]]:
    """Return every row of every table as text, except digests of what Slack sent, which identify no one."""

    def read(connection: Any) -> dict[str, list[str]]:
        return {
            table.name: sorted(row for row in map(_text, connection.execute(select(table))) if not _DIGEST.search(row))
            for table in list_tables(store.database.engine.dialect.name)
        }

    return await store.database.read(read)


def _text(row: Any) -> str:
    return repr(tuple(row))


def about(tables: Mapping[str, list[str]], *names: str) -> dict[str, list[str]]:
    """Return the rows that contain one of these names, by table."""
    found = {table: [row for row in rows if any(name in row for name in names)] for table, rows in tables.items()}
    return {table: rows for table, rows in found.items() if rows}
