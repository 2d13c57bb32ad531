"""Calendar reads that a reply waits for only a limited time, and their effect on the session (S39, S40, S202, S242)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from fateforger.calendar.adoption import adopt_changes, describe_changes
from fateforger.calendar.conflicts import FIELDS, TOPICS
from fateforger.calendar.engine import build_desired_day, number_ops, plan_sync
from fateforger.calendar.event import (
    MANAGED,
    Canon,
    EventImage,
)
from fateforger.calendar.model import WRITES, DesiredDay, Head, Ledger, Snapshot, Standing, SyncPlan, Verb
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import OpState
from fateforger.conversation.ports import Calendars
from fateforger.conversation.turn_values import DayReading
from fateforger.errors import WorldError
from fateforger.planning.timing import zone
from fateforger.ports.clock import Clock
from fateforger.session.commands import SessionCommand
from fateforger.session.conflicts import choices_of, find_contradictions, subject_of, update_questions
from fateforger.session.model import Question, Session
from fateforger.values import replace, replace_named
from fateforger.workers.supervisor import BackgroundTasks

KEPT_FOR = timedelta(seconds=30)
"""Age from which a result is read again."""


@dataclass(frozen=True, slots=True)
class Look:
    """The events of a day and our own writes on it; or the reason why neither is known."""

    snapshot: Snapshot | None = None
    ledger: Ledger | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _PendingRead:
    at: datetime
    task: asyncio.Task[Look]


_LookKey = tuple[str, date, str]
"""Person, day, zone."""


class Looker:
    """Reads each day of a person, in a zone, once at a time; concurrent callers for the same person share the read."""

    def __init__(self, calendars: Calendars, clock: Clock) -> None:
        self._calendars = calendars
        self._clock = clock
        self._looks: dict[_LookKey, _PendingRead] = {}
        self._tasks = BackgroundTasks()

    def begin(self, user_id: str, day: date, tz: str, *, fresh: bool = False) -> asyncio.Task[Look]:
        """Return the read in progress or a recent one, otherwise start a new one. ``fresh`` excludes finished reads."""
        known = self._looks.get((user_id, day, tz))
        if known is not None and not self._stale(known, fresh=fresh):
            return known.task
        self._looks = {key: look for key, look in self._looks.items() if not self._stale(look, fresh=False)}
        task = self._tasks.start(self._look(user_id, day, tz), name=f"look at {day}", awaited=True)
        self._looks[user_id, day, tz] = _PendingRead(self._clock.now(), task)
        return task

    async def wait(self, user_id: str, day: date, tz: str, *, seconds: float, fresh: bool = False) -> Look | None:
        """Return the result of a read, or ``None`` if it takes too long; the read continues."""
        task = self.begin(user_id, day, tz, fresh=fresh)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done else None

    def forget(self, user_id: str, day: date, tz: str) -> None:
        """Discard the read of a day that was written to, because it is out of date, even if its answer comes later."""
        self._looks.pop((user_id, day, tz), None)

    async def aclose(self) -> None:
        await self._tasks.close()
        self._looks.clear()

    def _stale(self, look: _PendingRead, *, fresh: bool) -> bool:
        if not look.task.done():
            return False
        failed = look.task.cancelled() or look.task.exception() is not None or look.task.result().error is not None
        return fresh or failed or self._clock.now() - look.at > KEPT_FOR

    async def _look(self, user_id: str, day: date, tz: str) -> Look:
        try:
            calendar = await self._calendars.of(user_id)
            snapshot, ledger = await calendar.read(day, tz)
        except WorldError as error:
            return Look(error=error.message)
        return Look(snapshot, ledger)


def build_reading(session: Session, look: Look, command: SessionCommand | None = None) -> DayReading:
    """Return the read, the plan with the person's changes in the calendar, and the questions about conflicts.

    A conflict is a block that both the person and the plan changed, or that ``command`` is about to change. Changes
    that were shown before are not adopted again: the plan may have been changed on purpose since. If so many events are
    gone that a write would ask for confirmation, the plan is not changed.
    """
    if look.snapshot is None or look.ledger is None:
        return DayReading(error=look.error)
    snapshot = without_raw(look.snapshot)
    plan = session.planning.plan
    if plan is None or not look.ledger.heads or (plan.date, plan.tz) != _day_key(snapshot):
        return DayReading(snapshot=snapshot, released=_list_released(look.ledger))
    wanted = build_desired_day(plan, overlapping=True)
    ledger = update_ledger(look.ledger, wanted, session.day.snapshot)
    compared = plan_sync(wanted, look.snapshot, ledger, op_ids=number_ops("look"), choices=choices_of(session))
    news = _filter_news(compared, snapshot, session)
    contradicted = find_contradictions(news, session, command)
    news = _without_questions(news, contradicted)
    questions = (*update_questions(session.sync.questions, compared, snapshot), *contradicted)
    mirrored = plan if compared.brakes else adopt_changes(plan, news.adopted)
    released = _list_released(look.ledger, compared)
    if mirrored == plan:
        return DayReading(snapshot=snapshot, released=released, questions=questions)
    return DayReading(
        snapshot=snapshot,
        released=released,
        plan=mirrored,
        adopted=news.adopted,
        noticed=describe_changes(news, zone(session.tz)),
        questions=questions,
    )


def _list_released(ledger: Ledger, compared: SyncPlan | None = None) -> tuple[str, ...]:
    """Return the ids of our events that were left to the person, or that a write would leave to them now."""
    ids = [head.event_id for head in ledger.heads if head.standing is Standing.RELEASED]
    ids += ledger.brought_back
    if compared is not None:
        taken_out = {change.key for change in compared.adopted if change.field == "released"}
        ids += [op.event_id for op in compared.ops if op.verb is Verb.RELEASE or op.key in taken_out]
    return tuple(dict.fromkeys(ids))


def update_ledger(ledger: Ledger, wanted: DesiredDay, shown: Snapshot | None) -> Ledger:
    """Return the ledger, updated with every field on which the plan and the last read agreed.

    If the person moves a block, and moves it back before the first move was recorded, the second move is theirs, too.
    """
    if shown is None or shown.day != wanted.day:
        return ledger
    known, blocks = _by_id(shown), {block.key: block.fields.canon for block in wanted.blocks}
    return replace(ledger, heads=tuple(_update_head(h, blocks.get(h.key), known.get(h.event_id)) for h in ledger.heads))


def _update_head(head: Head, ours: Canon | None, shown: EventImage | None) -> Head:
    if ours is None or shown is None or shown.gone or not shown.is_timed:
        return head
    seen = shown.canon
    both = {name: value for name, value in ours._asdict().items() if getattr(seen, name) == value}
    if ("start" in both) != ("end" in both):
        both = {name: value for name, value in both.items() if name not in FIELDS["time"]}
    base, asked = (replace_named(fields, both) for fields in (head.base, head.asked))
    return replace(head, base=base, wanted=asked)


def without_raw(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without raw responses, which only the journal keeps, but with the zones of journeys."""
    return replace(
        snapshot,
        events=tuple(_without_raw(event) for event in snapshot.events),
        fetched={i: None if e is None else _without_raw(e) for i, e in snapshot.fetched.items()},
    )


def predict_day(session: Session, result: SyncResult) -> Session:
    """Return the session with the expected state of its calendar after a write."""
    let_go = (
        op.event_id for transaction in result.transactions for op in transaction.plan.ops if op.verb is Verb.RELEASE
    )
    return session.with_day(
        snapshot=predict_snapshot(session.day.snapshot, result),
        released=tuple(dict.fromkeys((*session.day.released, *let_go))),
    )


def predict_snapshot(snapshot: Snapshot | None, result: SyncResult) -> Snapshot | None:
    """Return the expected snapshot after a write. Events without a known image are left out: they will be news."""
    if snapshot is None:
        return None
    events = {event.id: event for event in snapshot.events}
    fetched = dict(snapshot.fetched)
    for record in (r for t in result.transactions for r in t.records):
        if record.op.verb in WRITES and record.state is OpState.APPLIED:
            events.pop(record.op.event_id, None)
            fetched.pop(record.op.event_id, None)
            if record.observed is not None and not record.observed.gone:
                events[record.op.event_id] = _without_raw(record.observed)
    return replace(snapshot, events=tuple(events.values()), fetched=fetched)


def _filter_news(compared: SyncPlan, now: Snapshot, session: Session) -> SyncPlan:
    """Return the comparison with only those changes that the last read did not show, or that were a question until now.

    The plan's own changes are no news. A block that was released is always news: no plan can have it.
    """
    compared = replace(compared, merged=())
    before = session.day.snapshot
    if before is None or _day_key(before) != _day_key(now):
        return compared
    waited = {subject_of(question) for question in session.sync.questions}
    ids = {op.key: op.event_id for op in compared.ops}
    known, shown = _by_id(before), _by_id(now)
    fresh = {
        key
        for key, event_id in ids.items()
        if _managed_values(known.get(event_id)) != _managed_values(shown.get(event_id))
    }
    adopted = tuple(
        a for a in compared.adopted if a.field == "released" or a.key in fresh or (a.key, TOPICS[a.field]) in waited
    )
    return replace(compared, adopted=adopted)


def _without_questions(news: SyncPlan, questions: Collection[Question]) -> SyncPlan:
    """Return the news without the changes that the person will be asked about."""
    matters = {subject_of(question) for question in questions}
    adopted = tuple(a for a in news.adopted if (a.key, TOPICS[a.field]) not in matters)
    return replace(news, adopted=adopted)


def _by_id(snapshot: Snapshot) -> Mapping[str, EventImage | None]:
    return {**snapshot.fetched, **{event.id: event for event in snapshot.events}}


def _managed_values(event: EventImage | None) -> tuple[object, ...] | None:
    return None if event is None or event.gone else tuple(getattr(event, name) for name in MANAGED)


def _without_raw(event: EventImage) -> EventImage:
    return replace(event, raw=event.raw_zones)


def _day_key(snapshot: Snapshot) -> tuple[date, str]:
    return snapshot.day, snapshot.tz
