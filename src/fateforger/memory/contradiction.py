"""Contradictions: constraints of one person that cannot both be followed, and the consequences.

Detection is a matter of judgment, so it uses typed fields only. The consequences are deterministic and reversible: the
newer constraint replaces the older one if it is at least as binding; otherwise the person is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from itertools import combinations
from typing import Any

from fateforger.limits import MAX_COMPARED_RULES
from fateforger.memory.record import ConstraintRecord, Window, has_rule, have_comparable_clocks, is_typed
from fateforger.memory.versions import Event, Instant, Version, select_newest
from fateforger.memory.vocabulary import (
    WEEK,
    Action,
    Domain,
    RuleKind,
    Scope,
    Source,
    Status,
    WindowKind,
    list_weekdays,
)
from fateforger.planning.plan import ET
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title
from fateforger.values import replace
from fateforger.workflow.day_rules import find_day_conflicts, read_day_rule
from fateforger.workflow.day_words import describe_day_rule


class Kind(StrEnum):
    """The kind of a finding. ``CONTRADICTION``, ``NEAR_DUPLICATE`` and ``CIRCLE`` have no event: the person decides."""

    REPLACED = "replaced"
    NARROWED = "narrowed"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    CIRCLE = "circle"
    EXPIRED = "expired"
    FADED = "faded"


@dataclass(frozen=True, slots=True)
class Change:
    """A version to write: the constraint, its new record, and the event."""

    version: Version
    record: ConstraintRecord
    event: Event

    def at(self, instant: Instant, seq: int = 0) -> Version:
        """Return the new version, written at ``instant``."""
        new = {"record": self.record, "event": self.event, "updated_at": instant, "seq": seq}
        kept = {"user_id", "created_at", "session_id"}
        return Version.model_validate({**{name: getattr(self.version, name) for name in kept}, **new})


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about one constraint (``uids[0]``) or two; ``sentence`` is for the person."""

    kind: Kind
    uids: tuple[str, ...]
    sentence: str
    follows: Change | None = None


def build_archiving(version: Version, reason: str) -> Change:
    """Return the change that archives a constraint; its row is kept."""
    record = replace(version.record, status=Status.DECLINED)
    return Change(version, record, Event(action=Action.ARCHIVE, reason=reason))


def build_superseding(version: Version, old: Version) -> Change:
    """Return the change by which ``version`` replaces ``old`` on the days of its dates.

    Undoing it restores the old one.
    """
    life = version.record.lifecycle
    uids = (*life.supersedes_uids, old.uid)
    record = replace(version.record, lifecycle=replace(life, supersedes_uids=uids))
    return Change(version, record, Event(action=Action.UPDATE, reason=f"supersedes {old.uid}"))


_DAY = 24 * 60
Span = tuple[int, int]


def can_meet(one: Version, other: Version) -> bool:
    """Check whether a day, a session and an event type can exist that both are about."""
    first, second = one.flat, other.flat
    same_place = one.record.scope is other.record.scope is Scope.SESSION and one.session_id == other.session_id
    lasting = not first.session_only and not second.session_only
    dates = first.start <= second.end and second.start <= first.end
    types = not first.event_types or not second.event_types or not first.event_types.isdisjoint(second.event_types)
    return (same_place or lasting) and dates and types and bool(possible_weekdays(one) & possible_weekdays(other))


def possible_weekdays(version: Version) -> frozenset[int]:
    """Return the weekdays on which a constraint can hold, as in ``date.weekday()``."""
    rule = version.flat.recurrence
    if rule is None:
        return version.flat.weekdays
    return version.flat.weekdays & {WEEK.index(day) for day in WEEK if day.value in list_weekdays(rule)}


def list_spans(record: ConstraintRecord, kind: WindowKind) -> list[Span]:
    """Return the windows of one kind as minutes of the day; one over midnight becomes two."""
    return [span for window in record.payload.windows if window.kind is kind for span in _split_window(window)]


def is_covered(wanted: Iterable[Span], by: Iterable[Span]) -> bool:
    """Check whether ``by`` covers all of ``wanted``."""
    minutes = {minute for begin, end in by for minute in range(begin, end)}
    return all(minute in minutes for begin, end in wanted for minute in range(begin, end))


def _split_window(window: Window) -> list[Span]:
    begin, end = _to_minute(window.start), _to_minute(window.end)
    if end > begin:
        return [(begin, end)]
    return [span for span in ((begin, _DAY), (0, end)) if span[0] < span[1]]


def _to_minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def find_day_clashes(in_order: Sequence[Version], about: str | None = None) -> tuple[Finding, ...]:
    """Return the contradictions among constraints in force, the oldest first.

    With ``about``, only those that involve that constraint. For a cycle of more than two, all are named and the newest
    two are the ones to choose from.
    """
    return tuple(map(_build_finding, find_clashing(in_order, about)))


def find_clashing(in_order: Sequence[Version], about: str | None = None) -> tuple[tuple[Version, ...], ...]:
    """Return the constraints of each contradiction, in order. See :func:`find_day_clashes`."""
    ruled = [version for version in in_order if _has_order_rule(version.record)]
    if about is not None and about not in {version.uid for version in ruled}:
        return ()
    rules = [read_day_rule(version.record.payload.day_rule or "") for version in ruled]
    groups = (tuple(ruled[at] for at in sorted(set(group))) for group in find_day_conflicts(rules))
    return tuple(group for group in groups if _can_all_meet(group) and about in {None, *(v.uid for v in group)})


def _has_order_rule(record: ConstraintRecord) -> bool:
    """Check whether a record has an unconditional order rule. Conditional ones may never meet."""
    return record.payload.day_rule is not None and not (record.aspect and record.aspect.depends)


def _can_all_meet(group: Sequence[Version]) -> bool:
    return all(_can_both_hold(one, other) for at, one in enumerate(group) for other in group[:at])


def _can_both_hold(one: Version, other: Version) -> bool:
    known = one.uid in other.record.lifecycle.supersedes_uids or other.uid in one.record.lifecycle.supersedes_uids
    return not known and can_meet(one, other)


def _build_finding(group: Sequence[Version]) -> Finding:
    rules_of_group = (read_day_rule(version.record.payload.day_rule or "") for version in group)
    texts = [quote_title(describe_day_rule(rule).rstrip(".")) for rule in rules_of_group]
    rules = join_words(texts)
    if len(group) == 2:
        sentence = _("{rules} cannot both be kept. Which one counts?", rules=rules)
    else:
        sentence = _("{rules} wait for each other. Which one counts?", rules=rules)
    return Finding(Kind.CONTRADICTION, (group[-1].uid, group[-2].uid), sentence)


_NARROWED = "narrowed by"
_LONGEST_WORDS = 200
_SINGLE = {RuleKind.FIXED_BEDTIME: "bedtime", RuleKind.MIN_SLEEP: "sleep"}


def find_contradictions(
    versions: Iterable[Version], user_id: str, *, about: str | None = None, repeated: bool = False
) -> tuple[Finding, ...]:
    """Return the contradictions among a person's constraints in force, where neither replaces the other yet.

    With ``about``, only those that involve that constraint. With ``repeated``, also two that say the same of something
    unique, of which one is enough.
    """
    mine = [version for version in select_newest(versions, user_id).values() if not version.retired]
    in_order = sorted(mine, key=lambda version: (version.updated_at, version.seq, version.uid))
    pairs = combinations(in_order, 2) if about is None else _iter_pairs_with(about, in_order)
    found = (_compare_pair(older, newer, repeated=repeated) for older, newer in pairs)
    return (*(finding for finding in found if finding is not None), *find_day_clashes(in_order, about))


def _iter_pairs_with(uid: str, in_order: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    place = next((n for n, version in enumerate(in_order) if version.uid == uid), None)
    if place is None:
        return
    one = in_order[place]
    yield from ((older, one) for older in in_order[:place])
    yield from ((one, newer) for newer in in_order[place + 1 :])


_UNRELATED = 2


def find_candidates(
    versions: Iterable[Version], user_id: str, uid: str, near: Sequence[str] = ()
) -> tuple[Version, ...]:
    """Return the older constraints in force whose meaning a constraint may contradict.

    These are the ones ``near`` to its words, the nearest first, then the ones about the same topic, then those that say
    the same kind of thing about the same part of life (S188). Where typed fields say all of both, they decide
    (:func:`find_contradictions`).
    """
    mine = select_newest(versions, user_id)
    newer, place = mine[uid], {other: number for number, other in enumerate(near)}
    older = [
        version
        for version in mine.values()
        if version.created_at < newer.updated_at and version.uid != uid and not version.retired
    ]
    subject = {version.uid: _rank_subject(version.record, newer.record) for version in older}
    about = [version for version in older if version.uid in place or subject[version.uid] < _UNRELATED]
    about.sort(key=lambda version: (place.get(version.uid, len(place)), subject[version.uid], version.uid))
    return tuple(version for version in about if _may_contradict(version, newer))[:MAX_COMPARED_RULES]


def _rank_subject(one: ConstraintRecord, other: ConstraintRecord) -> int:
    """Return how close two constraints are in subject: 0 for a common topic, 1 for one part of life, or unrelated."""
    if not set(one.topics).isdisjoint(other.topics):
        return 0
    parts = {None if each.aspect is None else each.aspect.category for each in (one, other)}
    same_part = len(parts) == 1 and parts.isdisjoint({None, Domain.OTHER.value})
    return 1 if same_part and one.dimension is other.dimension else _UNRELATED


def is_same_subject(one: Version, other: Version) -> bool:
    """Check whether two constraints, whose meaning is in their words alone, share a topic and the kind of statement."""
    first, second = one.record, other.record
    in_words = not (has_rule(first) or has_rule(second))
    return in_words and first.dimension is second.dimension and not set(first.topics).isdisjoint(second.topics)


def _may_contradict(older: Version, newer: Version) -> bool:
    """Check whether two constraints can both hold on a day, and their typed fields leave their meaning open."""
    if is_typed(older.record) and is_typed(newer.record):
        return False
    depends = any(each.record.aspect and each.record.aspect.depends for each in (older, newer))
    decided = _compare_pair(older, newer, repeated=False) is not None
    return not (depends or decided or _is_linked(older, newer)) and can_meet(older, newer)


def ask_to_replace(older: Version, newer: Version) -> str:
    """Return the question whether a constraint takes the place of an older one."""
    old, new = (quote_title(each.record.words, _LONGEST_WORDS) for each in (older, newer))
    if older.record.source in {Source.USER, Source.FEEDBACK}:
        return _("You said earlier: {old}. Does {new} take its place?", old=old, new=new)
    return _("A rule of yours says: {old}. Does {new} take its place?", old=old, new=new)


def can_merge(one: Version, other: Version) -> bool:
    """Check whether two constraints are about the same days, blocks and steps, so that one can stand for both."""
    first, second = one.record, other.record
    same_life = first.scope is second.scope and first.lifecycle.ttl_days == second.lifecycle.ttl_days
    same_types = set(first.applies_event_types) == set(second.applies_event_types)
    same_stages = one.flat.stages == other.flat.stages
    return same_life and same_types and same_stages and first.applicability == second.applicability


def ask_to_merge(older: Version, newer: Version) -> str:
    """Return the question whether one of two constraints that say the same is enough."""
    old, new = (quote_title(each.record.words, _LONGEST_WORDS) for each in (older, newer))
    if older.record.source in {Source.USER, Source.FEEDBACK}:
        return _("You said earlier: {old}. {new} seems to say the same. Is one of them enough?", old=old, new=new)
    return _("A rule of yours says: {old}. {new} seems to say the same. Is one of them enough?", old=old, new=new)


def get_slot(record: ConstraintRecord) -> str | None:
    """Return the thing a person has one of at a time, like a bedtime, an end of work, a lunch; ``None`` otherwise."""
    if record.payload.rule_kind in _SINGLE:
        return _SINGLE[record.payload.rule_kind]
    return None if record.aspect is None else record.aspect.frame_slot


def _compare_pair(older: Version, newer: Version, *, repeated: bool) -> Finding | None:
    if not _is_comparable(older.record, newer.record):
        return None
    slot = get_slot(older.record)
    single = slot is not None and slot == get_slot(newer.record)
    alike = single and _get_value(older.record) == _get_value(newer.record)
    apart = (
        (single and (repeated or not alike))
        or _windows_clash(older.record, newer.record)
        or _bounds_clash(older.record, newer.record)
    )
    if not apart or _is_linked(older, newer) or not can_meet(older, newer):
        return None
    finding = _resolve_pair(older, newer, single=single)
    return None if alike and finding.follows is None else finding


def _is_comparable(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check cheaply whether a pair can contradict, which rules out most pairs. Conditional ones may never meet."""
    if (one.aspect and one.aspect.depends) or (other.aspect and other.aspect.depends):
        return False
    slot = get_slot(one)
    windows = bool(one.payload.windows and other.payload.windows)
    return windows or (slot is not None and slot == get_slot(other)) or one.payload.rule_kind is other.payload.rule_kind


def _is_linked(one: Version, other: Version) -> bool:
    return one.uid in other.record.lifecycle.supersedes_uids or other.uid in one.record.lifecycle.supersedes_uids


def _get_value(record: ConstraintRecord) -> tuple[Any, ...]:
    aspect = record.aspect
    times = None if aspect is None else (aspect.schedule_start, aspect.schedule_end, aspect.duration_min)
    scalars = record.payload.scalar_params.model_dump(exclude_none=True)
    return record.payload.windows, sorted(scalars.items()), times


def _windows_clash(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether one avoids all the time that the other wants."""
    if not have_comparable_clocks(one, other):
        return False
    for wants, avoids in ((one, other), (other, one)):
        wanted = list_spans(wants, WindowKind.PREFER)
        if wanted and is_covered(wanted, list_spans(avoids, WindowKind.AVOID)):
            return True
    return False


def _bounds_clash(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether one's minimum exceeds the other's maximum."""
    if one.payload.rule_kind is None or one.payload.rule_kind is not other.payload.rule_kind:
        return False
    for low, high in ((one, other), (other, one)):
        least, most = low.payload.scalar_params.duration_min, high.payload.scalar_params.duration_max
        if least is not None and most is not None and least > most:
            return True
    return False


def _resolve_pair(older: Version, newer: Version, *, single: bool) -> Finding:
    names = join_words(quote_title(each.record.name) for each in (newer, older))
    uids = (newer.uid, older.uid)
    if newer.record.necessity.weakness > older.record.necessity.weakness:
        sentence = _(
            "{rules} cannot both be followed, and the older one is more binding. Which one counts?", rules=names
        )
        return Finding(Kind.CONTRADICTION, uids, sentence)
    days = possible_weekdays(older) - possible_weekdays(newer)
    types = () if single else _find_types_left(older, newer)
    if not days and not types:
        sentence = _(
            "{rule} takes the place of {other}.",
            rule=quote_title(newer.record.name),
            other=quote_title(older.record.name),
        )
        return Finding(Kind.REPLACED, uids, sentence, build_superseding(newer, older))
    if (days and types) or not _outlasts(newer, older):
        return Finding(
            Kind.CONTRADICTION, uids, _("{rules} cannot always both be followed. Which one counts?", rules=names)
        )
    return _narrow(older, newer, days, types)


def build_narrowed_by(uid: str) -> str:
    """Return the reason of the event that narrows a constraint to what the one with that uid is not about."""
    return f"{_NARROWED} {uid}"


def is_narrowing(reason: str | None) -> bool:
    """Check whether this is the reason of a narrowing."""
    return (reason or "").startswith(f"{_NARROWED} ")


def _narrow(older: Version, newer: Version, days: AbstractSet[int], types: tuple[ET, ...]) -> Finding:
    """Narrow the older constraint to what the newer one is not about."""
    name = quote_title(older.record.name)
    if days:
        left = tuple(day for place, day in enumerate(WEEK) if place in days)
        when = replace(older.record.applicability, days_of_week=left)
        record = replace(older.record, applicability=when)
        sentence = _("{rule} is for {days} only from now on.", rule=name, days=join_words([day.words for day in left]))
    else:
        record = replace(older.record, applies_event_types=types)
        gone = [kind.words for kind in newer.record.applies_event_types]
        sentence = _("{rule} is no longer about {types}.", rule=name, types=join_words(gone))
    follows = Change(older, record, Event(action=Action.UPDATE, reason=build_narrowed_by(newer.uid)))
    return Finding(Kind.NARROWED, (newer.uid, older.uid), sentence, follows)


def _find_types_left(older: Version, newer: Version) -> tuple[ET, ...]:
    """Return the event types that only the older one is about."""
    taken = newer.record.applies_event_types
    mine = older.record.applies_event_types or tuple(ET)
    return tuple(kind for kind in mine if kind not in taken) if taken else ()


def _outlasts(newer: Version, older: Version) -> bool:
    """Check whether the newer one covers the older one from now on to its end."""
    first, second = newer.flat, older.flat
    begun = first.start <= max(second.start, newer.updated_at.date())
    return begun and first.end >= second.end and first.ttl_days is None and first.recurrence is None
