"""Constraints of one person that cannot both be followed, and the consequences.

Detection is a matter of judgment, so it uses typed fields only. The consequences are deterministic and reversible: the
newer constraint replaces the older one if it is at least as binding; otherwise the person is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Any

from fateforger.constraints.day_clashes import find_day_clashes
from fateforger.constraints.findings import Change, Finding, Kind, build_superseding
from fateforger.constraints.kinds import WEEK, Action, RuleKind, WindowKind
from fateforger.constraints.overlap import can_meet, have_comparable_clocks, is_covered, list_spans, possible_weekdays
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Event, Version, select_newest
from fateforger.constraints.wording import join_words, quote_name
from fateforger.plan import ET
from fateforger.values import replace

_NARROWED = "narrowed by"
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
    names = f"{quote_name(newer.record.name)} and {quote_name(older.record.name)}"
    uids = (newer.uid, older.uid)
    if newer.record.necessity.weakness > older.record.necessity.weakness:
        sentence = f"{names} cannot both be followed, and the older one is more binding. Which one counts?"
        return Finding(Kind.CONTRADICTION, uids, sentence)
    days = possible_weekdays(older) - possible_weekdays(newer)
    types = () if single else _find_types_left(older, newer)
    if not days and not types:
        sentence = f"{quote_name(newer.record.name)} takes the place of {quote_name(older.record.name)}."
        return Finding(Kind.REPLACED, uids, sentence, build_superseding(newer, older))
    if (days and types) or not _outlasts(newer, older):
        return Finding(Kind.CONTRADICTION, uids, f"{names} cannot always both be followed. Which one counts?")
    return _narrow(older, newer, days, types)


def build_narrowed_by(uid: str) -> str:
    """Return the reason of the event that narrows a constraint to what the one with that uid is not about."""
    return f"{_NARROWED} {uid}"


def is_narrowing(reason: str | None) -> bool:
    """Check whether this is the reason of a narrowing."""
    return (reason or "").startswith(f"{_NARROWED} ")


def _narrow(older: Version, newer: Version, days: AbstractSet[int], types: tuple[ET, ...]) -> Finding:
    """Narrow the older constraint to what the newer one is not about."""
    name = quote_name(older.record.name)
    if days:
        left = tuple(day for place, day in enumerate(WEEK) if place in days)
        when = replace(older.record.applicability, days_of_week=left)
        record = replace(older.record, applicability=when)
        sentence = f"{name} is for {join_words([day.words for day in left])} only from now on."
    else:
        record = replace(older.record, applies_event_types=types)
        gone = [kind.words for kind in newer.record.applies_event_types]
        sentence = f"{name} is no longer about {join_words(gone)}."
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
