"""Constraints that a point of planning needs (S14-S21), and their history in one conversation (S220).

The contents of the day determine the queries, and these the constraints that a session keeps. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, get_args

from fateforger.memory.applicability import (
    Answer,
    Applicable,
    Context,
    Why,
    decide_applicability,
    rank_versions,
)
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.retrieval import (
    ConstraintQuery,
    DayFacts,
    build_queries,
    query_types,
    retrieve,
    select_event_types,
)
from fateforger.memory.settings import read_routine
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Necessity, RuleKind, Scope, WindowKind
from fateforger.planning.plan import ET, TBPlan, resolve
from fateforger.session.day import busy_meetings, frame_mistake, frame_of
from fateforger.session.memory import RecalledConstraints
from fateforger.session.model import Session
from fateforger.session.rulebook import (
    known_versions,
    rules_in_force,
    situation_of,
    topics_about,
    topics_of,
    unsaved_versions,
)
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

SHORTEST_GAP = timedelta(minutes=10)
STANDING_BY = 50
"""Number of constraints that a session keeps although they do not apply at the moment."""
NEAREST_SHOWN = 24
"""Number of constraints that a prompt shows for a message because of what they mean (`docs/search.md`)."""
MOST_NAMED = 60
"""Number of constraints that a message in words can refer to."""
_DEPENDS = frozenset({Why.CONDITION, Why.RULED_OUT})
"""Exclusions that may end once the day holds other things."""


def recall(
    session: Session, versions: Iterable[Version], at: datetime, near: Sequence[str] = ()
) -> RecalledConstraints:
    """Return the stored constraints that the session needs.

    First come those that apply at its stage, then those that may apply on the same day at another stage or with
    another plan; in each group, those about the topics of the day come first, and where there are many, those about the
    topics of what is ``near`` to the message of the turn. A must is never left out, nor is a constraint that is near.
    """
    rows = tuple(versions)
    asked = topics_about(rows, near) if len({version.uid for version in rows}) > MOST_NAMED else ()
    context = Context(
        user_id=session.user_id,
        as_of=session.date,
        timezone=session.tz,
        session_id=session.id,
        situation=situation_of(session, rows),
        topics=tuple(dict.fromkeys((*topics_of(session, rows), *asked))),
    )
    today = _versions_of_day(rows, context)
    chosen = [item.version for item in retrieve(today, context, query_constraints(session, today, context)).applicable]
    shown = {version.uid for version in chosen}
    later = [version for version in rank_versions(today, context) if version.uid not in shown]
    kept = [v for place, v in enumerate(later) if place < STANDING_BY or _is_must(v) or v.uid in near]
    return RecalledConstraints(
        day=session.date,
        stage=session.stage,
        at=at,
        versions=(*chosen, *kept),
        topics=asked,
        left_out=len(later) - len(kept),
        near=tuple(near),
    )


def nameable_constraints(session: Session, versions: Iterable[Version]) -> tuple[Version, ...]:
    """Return the constraints that a message in words may refer to, in their newest version.

    First come those that apply, then the rest in force, and the archived ones, the latest first. If there are more than
    can be shown, those near to the message come before all. Constraints of other sessions are left out.
    """
    mine = select_newest((*versions, *known_versions(session)), session.user_id)
    there = [v for v in mine.values() if not v.flat.session_only or v.session_id == session.id]
    near = _near(session) if len(there) > MOST_NAMED else ()
    leading = dict.fromkeys((*near, *(item.uid for item in followed_constraints(session).applicable)))
    first = {uid: place for place, uid in enumerate(leading)}
    there.sort(key=lambda v: (first.get(v.uid, len(first)), v.retired, -v.updated_at.timestamp(), v.uid))
    return tuple(there[:MOST_NAMED])


def query_constraints(session: Session, rows: Sequence[Version], context: Context) -> tuple[ConstraintQuery, ...]:
    """Return the queries of the session's stage.

    In Stage 1 the queries do not name event types, because all are of interest.
    """
    stage = session.stage.value
    if session.stage is TimeboxingStage.COLLECT_CONSTRAINTS:
        return build_queries(stage, session.date)
    kinds = select_event_types(stage, day_facts(session, rows))
    asking = replace(context, stage=stage, event_types=kinds)
    return build_queries(stage, session.date, kinds, query_types(rows, asking))


def followed_constraints(session: Session, plan: TBPlan | None = None) -> Answer:
    """Return the constraints that the session follows now.

    These are every must in force, and those of the others that concern the contents of its day. A ``plan`` takes the
    place of the session's own. In Stage 1 these are the ones that the start asks for, and those stated in the
    session.
    """
    if plan is not None:
        session = session.with_planning(plan=plan)
    rows, whole = known_versions(session), rules_in_force(session)
    if session.stage is not TimeboxingStage.COLLECT_CONSTRAINTS:
        kinds = select_event_types(session.stage.value, day_facts(session, rows))
        return _with_musts(rules_in_force(session, event_types=kinds), whole)
    stored = retrieve(rows, whole.context, build_queries(session.stage.value, session.date))
    asked = {item.uid for item in stored.applicable}
    mine = tuple(item for item in whole.applicable if item.uid in asked or item.record.scope is Scope.SESSION)
    return _with_musts(Answer(whole.context, mine, whole.excluded), whole)


def constraints_for_message(session: Session) -> Answer:
    """Return the constraints that a prompt about the message of this turn shows (S172, S175, S176).

    These are the ones that the session follows, and the ``NEAREST_SHOWN`` others of its day that are closest to the
    message in meaning, whatever the plan holds. The musts, which are all there anyway, come first and take no place
    from the others; within both, the closest come first.
    """
    answer, whole = followed_constraints(session), rules_in_force(session)
    in_force = {item.uid: item for item in whole.applicable}
    near = {uid: place for place, uid in enumerate(_near(session))}
    close = [in_force[uid] for uid in near if uid in in_force and not _is_must(in_force[uid].version)][:NEAREST_SHOWN]
    chosen = {item.uid for item in answer.applicable}
    items = [*answer.applicable, *(item for item in close if item.uid not in chosen)]
    items.sort(key=lambda item: (not _is_must(item.version), near.get(item.uid, len(near))))
    there = {item.uid for item in items}
    return Answer(answer.context, tuple(items), tuple(e for e in answer.excluded if e.uid not in there))


def _near(session: Session) -> tuple[str, ...]:
    return () if session.rules.recalled is None else session.rules.recalled.near


def musts(session: Session) -> tuple[Applicable, ...]:
    """Return every must in force on the session's day, as the card lists them, regardless of the plan (K9)."""
    return tuple(item for item in rules_in_force(session).applicable if item.record.necessity is Necessity.MUST)


def _with_musts(routed: Answer, whole: Answer) -> Answer:
    """Return the routed answer with the musts in force that it left out, in order of precedence."""
    chosen = {item.uid for item in routed.applicable}
    added = [i for i in whole.applicable if i.uid not in chosen and i.record.necessity is Necessity.MUST]
    if not added:
        return routed
    place = {item.uid: n for n, item in enumerate(whole.applicable)}
    items = sorted((*routed.applicable, *added), key=lambda item: place.get(item.uid, len(place)))
    there = {item.uid for item in items}
    return Answer(routed.context, tuple(items), tuple(e for e in routed.excluded if e.version.uid not in there))


def constraints_for_draft(session: Session) -> Answer:
    """Return the constraints that a draft of the day follows, regardless of the stage and the plan."""
    return followed_constraints(replace(session, stage=TimeboxingStage.SKELETON).with_planning(plan=None))


def count_left_out(session: Session) -> int:
    """Return the number of constraints that the session was not given for lack of room."""
    return 0 if session.rules.recalled is None else session.rules.recalled.left_out


def day_facts(session: Session, versions: Iterable[Version]) -> DayFacts:
    """Return the contents of the day (S15).

    These are its immovables, its tasks, its blocks, its frame, and entries that the rules in force add to each such
    day, such as a commute or an hour of sport. The frame determines the start of the night.
    """
    found = rules_in_force(session, versions, at_any_stage=True).applicable
    brought = {kind for item in found for kind in _wanted_types(item.record)}
    brought |= {task.details.kind.type for task in session.day.inputs.tasks}
    return DayFacts(
        meetings=bool(busy_meetings(session)) or ET.MEETING in brought,
        commutes=ET.COMMUTE in brought,
        sleep=True,
        habits=ET.HABIT in brought,
        gaps=_has_gaps(session),
        blocks=()
        if session.planning.plan is None
        else tuple(dict.fromkeys(event.type for event in session.planning.plan.events)),
    )


def _versions_of_day(versions: Iterable[Version], context: Context) -> tuple[Version, ...]:
    """Return the constraints that may apply on the day, regardless of stage and contents.

    Each is in its newest version (S20). The others need not be checked again.
    """
    whole = decide_applicability(versions, context)
    waiting = (excluded.version for excluded in whole.excluded if excluded.why in _DEPENDS)
    return (*(item.version for item in whole.applicable), *waiting)


def _wanted_types(record: ConstraintRecord) -> Iterable[ET]:
    """Return the kinds of blocks that a constraint adds to the day, or wants at a certain time."""
    if read_routine(record) is not None:
        return record.applies_event_types
    wanted = any(window.kind is WindowKind.PREFER for window in record.payload.windows)
    fixed = record.aspect is not None and record.aspect.schedule_start is not None
    if record.payload.rule_kind is RuleKind.FIXED_BEDTIME or not (wanted or fixed):
        return ()
    return record.applies_event_types


def _is_must(version: Version) -> bool:
    return version.record.necessity is Necessity.MUST


def _has_gaps(session: Session) -> bool:
    """Check whether some of the day's frame is neither meeting nor block."""
    if session.planning.plan is None or frame_mistake(session) is not None:
        return True
    free, end = (moment.astimezone(UTC) for moment in frame_of(session))
    taken = [(m.start, m.end) for m in busy_meetings(session)]
    taken += [(b.start, b.end) for b in resolve(session.planning.plan) if b.event.type is not ET.BACKGROUND]
    for start, stop in sorted((s.astimezone(UTC), e.astimezone(UTC)) for s, e in taken):
        if start - free >= SHORTEST_GAP:
            return True
        free = max(free, stop)
    return end - free >= SHORTEST_GAP


ConstraintEvent = Literal["extracted", "stored", "waiting", "selected", "set_aside", "applied"]
"""Kind of event.

The constraint was stated here; is in the store; waits to be stored; was read from the store for this day; does not
count here; or is followed by the plan.
"""
CONSTRAINT_EVENTS: tuple[ConstraintEvent, ...] = get_args(ConstraintEvent)


class ConstraintHistory(NamedTuple):
    """One constraint with its events, in the order of :data:`EVENTS`."""

    uid: str
    name: str
    events: tuple[ConstraintEvent, ...]


def uids_of(session: Session) -> dict[ConstraintEvent, frozenset[str]]:
    """Return the constraints of each event, as far as the session itself knows."""
    written = {version.uid for write in session.rules.memory_writes for version in write.versions}
    said = {version.uid for version in session.rules.said} | written
    waits = frozenset(version.uid for version in unsaved_versions(session))
    return {
        "extracted": frozenset(said),
        "stored": frozenset(written) - waits,
        "waiting": waits,
        "selected": frozenset()
        if session.rules.recalled is None
        else frozenset(v.uid for v in session.rules.recalled.versions),
        "set_aside": frozenset(session.rules.set_aside),
        "applied": frozenset(item.uid for item in followed_constraints(session).applicable),
    }


def constraint_histories(session: Session, stored: Iterable[Version]) -> tuple[ConstraintHistory, ...]:
    """Return the events of each constraint that had a part in the conversation, by name.

    ``stored`` are the person's versions in the store, which outlast the session's own.
    """
    rows = [version for version in stored if version.user_id == session.user_id]
    here = frozenset(version.uid for version in rows if version.session_id == session.id)
    happened = uids_of(session)
    happened["extracted"] |= here
    happened["stored"] |= here
    names = {version.uid: version.record.name for version in (*rows, *known_versions(session))}
    told = [
        ConstraintHistory(
            uid, names.get(uid, ""), tuple(event for event in CONSTRAINT_EVENTS if uid in happened[event])
        )
        for uid in frozenset().union(*happened.values())
    ]
    return tuple(sorted(told, key=lambda each: (each.name, each.uid)))
