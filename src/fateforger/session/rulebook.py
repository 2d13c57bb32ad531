"""All rules of a person, with or without a session: which apply to its situation, and the rows of the memory card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from operator import attrgetter

from fateforger.calendar.event import EventImage
from fateforger.errors import BadInput
from fateforger.memory.applicability import (
    Answer,
    Applicable,
    Context,
    Excluded,
    compute_last_day,
    decide_applicability,
)
from fateforger.memory.consolidation import find_consolidations
from fateforger.memory.contradiction import Kind
from fateforger.memory.record import ConstraintRecord, fold_label
from fateforger.memory.settings import read_frame
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.violations import build_reminder, describe_limits
from fateforger.memory.vocabulary import Slot
from fateforger.planning.plan import ET
from fateforger.planning.timing import zone
from fateforger.session.memory import MemoryConstraintItem, MemoryOffer, MemoryToolResult
from fateforger.session.messages import FIRST_LISTED
from fateforger.session.model import FrameFacts, Session
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

LONGEST_LABEL = 3
"""Most words of a part of a title that counts as a label."""
MOST_NEAR = 3
"""Most constraints near to a message whose topics are those of the message."""
_SHORTEST_WORD = 3
"""Fewest letters of a single word of a title that counts; shorter ones name nothing."""


def situation_of(session: Session, versions: Iterable[Version]) -> tuple[str, ...]:
    """Return the labels of the day, kinds and titles; empty if no constraint depends on any.

    A title counts whole, and each run of up to three of its words. Blocks of an earlier plan of the day do not count.
    """
    if not any(version.record.aspect is not None and version.record.aspect.depends for version in versions):
        return ()
    events = list(_events(session))
    kinds = [ET.MEETING.value] if any(event.is_timed and event.busy for event in events) else []
    kinds += [task.details.kind.type.value for task in session.day.inputs.tasks]
    titles = [*(event.summary for event in events), *(task.title for task in session.day.inputs.tasks)]
    for block in () if session.planning.plan is None else session.planning.plan.events:
        kinds.append(block.type.value)
        titles.append(block.name)
    return tuple(dict.fromkeys((*kinds, *(label for title in titles for label in _labels(title)))))


def topics_of(session: Session, versions: Iterable[Version]) -> tuple[str, ...]:
    """Return the topics and parts of life of constraints that the day is about (S176).

    These are those that a title of the day names, and those that the last message was about.
    """
    known = {topic for version in versions for topic in _topics(version.record)}
    if not known:
        return ()
    titles = [*(event.summary for event in _events(session)), *(task.title for task in session.day.inputs.tasks)]
    named = {label for title in titles for label in _labels(title)}
    asked = () if session.rules.recalled is None else session.rules.recalled.topics
    return tuple(sorted(topic for topic in known if fold_label(topic) in named or topic in asked))


def topics_about(versions: Iterable[Version], near: Sequence[str]) -> tuple[str, ...]:
    """Return the topics of the constraints that the index finds nearest to a message, whatever its language."""
    nearest = near[:MOST_NEAR]
    return tuple(sorted({topic for version in versions if version.uid in nearest for topic in version.record.topics}))


def _topics(record: ConstraintRecord) -> tuple[str, ...]:
    category = None if record.aspect is None else record.aspect.category
    return record.topics if category is None else (*record.topics, category)


def _labels(title: str) -> Iterator[str]:
    words = fold_label(title.casefold()).split()
    yield " ".join(words)
    for length in range(1, LONGEST_LABEL + 1):
        for at in range(len(words) - length + 1):
            if length > 1 or len(words[at]) >= _SHORTEST_WORD:
                yield " ".join(words[at : at + length])


def _events(session: Session) -> Iterator[EventImage]:
    """Yield the person's own events of the day."""
    snapshot = session.day.snapshot
    for event in () if snapshot is None or snapshot.day != session.date else snapshot.events:
        marker = event.own_marker
        if not event.gone and (marker is None or marker.day != session.date) and _is_on_day(event, session):
            yield event


def _is_on_day(event: EventImage, session: Session) -> bool:
    start, end = _local_day(event.start, session.tz), _local_day(event.end, session.tz)
    if start is None or end is None:
        return False
    return start <= session.date < end or (event.is_timed and start <= session.date <= end)


def _local_day(moment: object, tz: str) -> date | None:
    if isinstance(moment, datetime):
        return moment.astimezone(zone(tz)).date()
    return moment if isinstance(moment, date) else None


OFFERED = frozenset({Kind.NEAR_DUPLICATE, Kind.CIRCLE})


def rules_in_force(
    session: Session,
    versions: Iterable[Version] | None = None,
    *,
    event_types: tuple[ET, ...] = (),
    at_any_stage: bool = False,
) -> Answer:
    """Return the constraints that apply in a session, ranked, and the others with a reason (S2, S21, S22).

    ``versions`` default to those that the session knows, including those stated in it. Without ``event_types`` these do
    not matter. Prompts, cards, reasons, and the draft's fingerprint all use this.
    """
    rows = known_versions(session) if versions is None else tuple(versions)
    context = replace(context_of(session), situation=situation_of(session, rows), topics=topics_of(session, rows))
    if not at_any_stage:
        context = replace(context, stage=session.stage.value, event_types=event_types)
    return decide_applicability(rows, context)


def known_versions(session: Session) -> tuple[Version, ...]:
    """Return every version that the session knows of, applicable or not."""
    stored = () if session.rules.recalled is None else session.rules.recalled.versions
    return (*stored, *session.rules.said)


def unsaved_versions(session: Session) -> tuple[Version, ...]:
    """Return the lasting versions that are in no store yet."""
    return tuple(version for version in session.rules.said if not version.flat.session_only and not version.seq)


def refresh_view(session: Session, versions: Iterable[Version], view: MemoryToolResult) -> MemoryToolResult:
    """Return the card with fresh rows and offers.

    ``versions`` are all that store and session know. The card keeps its number of rows. Rows that were asked for come
    in the order of the answer, the closest first.
    """
    known = tuple(versions)
    rows = rows_of(session, known, retired=bool(view.only))
    if view.only:
        place = {uid: number for number, uid in enumerate(view.only)}
        rows = tuple(sorted((row for row in rows if row.uid in place), key=lambda row: place[row.uid]))
    listed = view.listed or FIRST_LISTED
    return replace(
        view,
        rows=rows[:listed],
        total=len(rows),
        used=sum(row.used for row in rows),
        unsure=sum(row.unsure for row in rows),
        listed=listed,
        offers=offers_of(session, known),
    )


def rows_of(
    session: Session, versions: Iterable[Version], *, retired: bool = False
) -> tuple[MemoryConstraintItem, ...]:
    """Return a row for each constraint.

    First come those that apply on the session's day, the best first, then those set aside, then the others by name.
    Constraints out of force are included only if ``retired``.
    """
    answer = rules_in_force(session, versions, at_any_stage=True)
    used = [_row(item) for item in answer.applicable]
    others = [_unused_row(item) for item in answer.excluded if _is_ours(session, item.version)]
    kept = [row for row in others if retired or not row.retired]
    kept.sort(key=lambda row: (row.retired, not row.set_aside, row.name, row.uid))
    return (*used, *kept)


def offers_of(session: Session, versions: Iterable[Version]) -> tuple[MemoryOffer, ...]:
    """Return pairs with the same content, or that replace each other, for the person to decide."""
    known = tuple(versions)
    names = {uid: version.record.name for uid, version in select_newest(known, session.user_id).items()}
    return tuple(
        MemoryOffer(
            kind=finding.kind,
            uids=(finding.uids[0], finding.uids[1]),
            names=(names[finding.uids[0]], names[finding.uids[1]]),
            sentence=finding.sentence,
        )
        for finding in find_consolidations(known, context_of(session))
        if finding.kind in OFFERED
    )


def with_seqs(view: MemoryToolResult, written: Iterable[Version]) -> MemoryToolResult:
    """Return the card after a store has written these versions."""
    seqs = {version.uid: version.seq for version in sorted(written, key=attrgetter("updated_at", "seq"))}
    rows = (replace(row, seq=seqs[row.uid], saved=True) if row.uid in seqs else row for row in view.rows)
    return replace(view, rows=tuple(rows))


def context_of(session: Session) -> Context:
    """Return the query for the constraints of the session's day, at any stage."""
    return Context(
        user_id=session.user_id,
        as_of=session.date,
        timezone=session.tz,
        session_id=session.id,
        suppressed_uids=(*session.rules.set_aside, *_overridden(session)),
    )


def given_slots(frame: FrameFacts) -> frozenset[Slot]:
    """Return the parts of the frame that the person gave for this day, so that no rule sets them."""
    start = frame.start_given or frame.usual_start is not None
    given = {Slot.WORK_START: start, Slot.WORK_END: frame.end_given, Slot.LUNCH: frame.lunch_given}
    return frozenset(slot for slot, is_given in given.items() if is_given)


def _overridden(session: Session) -> tuple[str, ...]:
    """Return the rules in whose place the person gave something else for this day."""
    given = given_slots(session.day.frame)
    if not given:
        return ()
    return tuple({v.uid: None for v in known_versions(session) if given & read_frame(v.record).keys()})


def _is_ours(session: Session, version: Version) -> bool:
    return not version.flat.session_only or version.session_id == session.id


def _unused_row(item: Excluded) -> MemoryConstraintItem:
    row = _row(Applicable(item.version, item.context))
    return replace(row, used=False, why_not=item.reason)


def _row(item: Applicable) -> MemoryConstraintItem:
    reminder, record, version = build_reminder(item), item.record, item.version
    return MemoryConstraintItem(
        uid=version.uid,
        seq=version.seq,
        name=record.name,
        words=reminder.words,
        said_on=reminder.said_on,
        necessity=record.necessity,
        status=record.status,
        scope=record.scope,
        source=record.source,
        when=reminder.when,
        times=reminder.times,
        limits=describe_limits(record, compute_last_day(version, item.context)),
        topics=record.topics,
        confidence=record.confidence,
        used=True,
        unsure=reminder.unsure,
        set_aside=version.uid in item.context.suppressed_uids,
        retired=version.retired,
        saved=bool(version.seq) or version.flat.session_only,
    )


GONE = mark_message("I can't find that rule any more; please look at the list again.")
NOT_ALL = mark_message("I cannot look up all of your rules just now; these are the ones I know from this plan.")


@dataclass(frozen=True)
class RuleBook:
    """Rules of a person.

    ``versions`` are those of the store and of the session. ``done`` is the result of the last command, if it was
    requested. ``person`` is the session in which the rules are viewed, or :func:`unsaved_session`.
    """

    person: Session
    versions: tuple[Version, ...]
    done: tuple[str, ...] = ()

    @property
    def session(self) -> Session | None:
        """Session in which the rules are viewed, if any."""
        return self.person if self.person.id else None

    @cached_property
    def rows(self) -> tuple[MemoryConstraintItem, ...]:
        """Every rule: those used on the day first, those out of force last."""
        return rows_of(self.person, self.versions, retired=True)

    @cached_property
    def newest(self) -> Mapping[str, Version]:
        """Newest version of each rule, by uid."""
        return select_newest(self.versions, self.person.user_id)

    def rule(self, uid: str) -> tuple[MemoryConstraintItem, Version]:
        """Return one rule.

        Raises :class:`BadInput` when there is none.
        """
        row = next((row for row in self.rows if row.uid == uid), None)
        if row is None:
            raise BadInput(_(GONE))
        return row, self.newest[uid]


def unsaved_session(user_id: str, tz: str, at: datetime) -> Session:
    """Return an unsaved session for a person outside any session, today.

    It has no id and is never stored.
    """
    today = at.astimezone(zone(tz)).date()
    return Session(id="", user_id=user_id, channel="", created_at=at, touched_at=at, tz=tz, date=today)


def lines_of_command(session: Session, command_id: str | None) -> tuple[str, ...]:
    """Return the messages of a command, if it was the session's last one."""
    if command_id is None or session.thread.handled[-1:] != (command_id,):
        return ()
    for write in session.rules.memory_writes[-1:]:
        if write.cause == command_id:
            return write.lines
    return session.notice_lines
