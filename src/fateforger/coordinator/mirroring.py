"""Apply a calendar read to the session: the person's changes to our blocks become part of the plan (S202, S242).

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date

from fateforger.commit.result import SyncResult
from fateforger.coordinator.looking import Look
from fateforger.journal.model import OpState
from fateforger.plan import zone
from fateforger.session.commands import SessionCommand
from fateforger.session.model import Question, Session
from fateforger.session.questions import choices_of, subject_of, update_questions
from fateforger.session.wishes import find_contradictions
from fateforger.sync import adopt_all, build_desired_day, describe_changes, number_ops, plan_sync
from fateforger.sync.canonical import Canon, canonicalize, is_timed
from fateforger.sync.choices import FIELDS, TOPICS
from fateforger.sync.model import MANAGED, WRITES, DesiredDay, EventImage, Head, Ledger, Snapshot, SyncPlan
from fateforger.turn.model import DayReading
from fateforger.values import replace


def build_reading(session: Session, look: Look, command: SessionCommand | None = None) -> DayReading:
    """Return the read, the plan with the person's changes in the calendar, and the questions about conflicts.

    A conflict is a block that both the person and the plan changed, or that ``command`` is about to change. Changes
    that were shown before are not adopted again: the plan may have been changed on purpose since. If so many events are
    gone that a write would ask for confirmation, the plan is not changed.
    """
    if look.snapshot is None or look.ledger is None:
        return DayReading(error=look.error)
    snapshot = without_raw(look.snapshot)
    plan = session.plan
    if plan is None or not look.ledger.heads or (plan.date, plan.tz) != _day_key(snapshot):
        return DayReading(snapshot=snapshot)
    wanted = build_desired_day(plan, overlapping=True)
    ledger = update_ledger(look.ledger, wanted, session.snapshot)
    compared = plan_sync(wanted, look.snapshot, ledger, op_ids=number_ops("look"), choices=choices_of(session))
    news = _filter_news(compared, snapshot, session)
    contradicted = find_contradictions(news, session, command)
    news = _without_questions(news, contradicted)
    questions = (*update_questions(session.questions, compared, snapshot), *contradicted)
    mirrored = plan if compared.brakes else adopt_all(plan, news)
    if mirrored == plan:
        return DayReading(snapshot=snapshot, questions=questions)
    return DayReading(
        snapshot=snapshot, plan=mirrored, noticed=describe_changes(news, zone(session.tz)), questions=questions
    )


def update_ledger(ledger: Ledger, wanted: DesiredDay, shown: Snapshot | None) -> Ledger:
    """Return the ledger, updated with every field on which the plan and the last read agreed.

    If the person moves a block, and moves it back before the first move was recorded, the second move is theirs, too.
    """
    if shown is None or shown.day != wanted.day:
        return ledger
    known, blocks = _by_id(shown), {block.key: canonicalize(block.fields) for block in wanted.blocks}
    return replace(ledger, heads=tuple(_update_head(h, blocks.get(h.key), known.get(h.event_id)) for h in ledger.heads))


def _update_head(head: Head, ours: Canon | None, shown: EventImage | None) -> Head:
    if ours is None or shown is None or shown.gone or not is_timed(shown):
        return head
    seen = canonicalize(shown)
    both = {name: value for name, value in ours._asdict().items() if getattr(seen, name) == value}
    if ("start" in both) != ("end" in both):
        both = {name: value for name, value in both.items() if name not in FIELDS["time"]}
    base, asked = (fields.model_copy(update=both) for fields in (head.base, head.asked))
    return replace(head, base=base, wanted=asked)


def without_raw(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without raw responses, which only the journal keeps."""
    return replace(
        snapshot,
        events=tuple(_without_raw(event) for event in snapshot.events),
        fetched={i: None if e is None else _without_raw(e) for i, e in snapshot.fetched.items()},
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

    The plan's own changes are no news.
    """
    compared = replace(compared, merged=())
    before = session.snapshot
    if before is None or _day_key(before) != _day_key(now):
        return compared
    waited = {subject_of(question) for question in session.questions}
    ids = {op.key: op.event_id for op in compared.ops}
    known, shown = _by_id(before), _by_id(now)
    fresh = {
        key
        for key, event_id in ids.items()
        if _managed_values(known.get(event_id)) != _managed_values(shown.get(event_id))
    }
    adopted = tuple(a for a in compared.adopted if a.key in fresh or (a.key, TOPICS[a.field]) in waited)
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
    return replace(event, raw={})


def _day_key(snapshot: Snapshot) -> tuple[date, str]:
    return snapshot.day, snapshot.tz
