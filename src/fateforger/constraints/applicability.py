"""Decide which constraints apply: one function of the person's versions and a context, with a reason per exclusion.

The same function serves retrieval, the memory card and the explanation. All filters are exact; similarity decides
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from fateforger.constraints.conditions import find_ruled_out, find_unmet
from fateforger.constraints.context import Context
from fateforger.constraints.exclusions import Excluded, Why, compute_last_day
from fateforger.constraints.flat import Flat
from fateforger.constraints.kinds import Action
from fateforger.constraints.ranking import cut_to_budget, rank_versions
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.recurrence import occurs
from fateforger.constraints.versions import Version, build_superseded_by, find_successors, select_newest, still_replaces

_ARCHIVING = frozenset({Action.ARCHIVE, Action.SUPERSEDE})


@dataclass(frozen=True, slots=True)
class Answer:
    """The constraints that apply, best first, and all others of the person with a reason, by uid."""

    context: Context
    applicable: tuple[Applicable, ...]
    excluded: tuple[Excluded, ...]

    @property
    def cut(self) -> tuple[Excluded, ...]:
        """The constraints that would apply if there were room."""
        return tuple(item for item in self.excluded if item.why is Why.CUT)


def decide_applicability(versions: Iterable[Version], context: Context) -> Answer:
    """Return the constraints of ``context.user_id`` that apply on the context's day, ranked and within its budget.

    ``versions`` may hold any rows in any order, including older versions and those of other people and sessions. The
    newest version of a uid is selected first and filtered afterwards.
    """
    mine = select_newest(versions, context.user_id, context.now)
    replaced = _find_replaced(mine, context)
    excluded: list[Excluded] = []
    candidates: list[Version] = []
    for version in mine.values():
        why = _find_exclusion(version, context, replaced)
        if why is None:
            candidates.append(version)
        else:
            excluded.append(Excluded(version, why, context, replaced.get(version.uid)))
    in_order = rank_versions(candidates, context)
    failed = find_unmet(in_order, context)
    excluded += [Excluded(version, Why.CONDITION, context) for version in failed.values()]
    in_order = [version for version in in_order if version.uid not in failed]
    out = find_ruled_out(in_order)
    excluded += [
        Excluded(version, Why.RULED_OUT, context, out[version.uid]) for version in in_order if version.uid in out
    ]
    kept, cut = cut_to_budget([version for version in in_order if version.uid not in out], context.k)
    excluded += [Excluded(version, Why.CUT, context) for version in cut]
    applicable = tuple(Applicable(version, context) for version in kept)
    return Answer(context, applicable, tuple(sorted(excluded, key=attrgetter("version.uid"))))


def _find_replaced(mine: Mapping[str, Version], context: Context) -> dict[str, Version]:
    """Return, by uid, the newest constraint that replaces it on the day.

    Only the dates of the replacement count: one for Tuesdays leaves nothing of the old one on other days. A constraint
    of a session replaces only within that session.
    """
    replaced: dict[str, Version] = {}
    named = find_successors(mine)
    for uid, ones in named.items():
        for version in ones:
            record = version.record
            if uid not in mine or not record.applicability.within_dates(context.day):
                continue
            if _is_other_session(version, context) or not still_replaces(version, named):
                continue
            before = replaced.get(uid)
            if before is None or (version.updated_at, version.uid) > (before.updated_at, before.uid):
                replaced[uid] = version
    return replaced


def _is_other_session(version: Version, context: Context) -> bool:
    if not version.flat.session_only:
        return False
    return version.session_id is None or version.session_id != context.session_id


def _find_exclusion(version: Version, context: Context, replaced: Mapping[str, Version]) -> Why | None:
    """Return the first reason a constraint does not apply, other constraints' effects aside."""
    flat = version.flat
    if (
        flat.declined
        and version.uid in replaced
        and version.event.reason == build_superseded_by(replaced[version.uid].uid)
    ):
        return Why.SUPERSEDED
    if flat.declined:
        return Why.ARCHIVED if version.event.action in _ARCHIVING else Why.DECLINED
    if version.uid in context.suppressed_uids:
        return Why.SET_ASIDE
    if flat.session_only and _is_other_session(version, context):
        return Why.OTHER_SESSION
    if version.uid in replaced:
        return Why.SUPERSEDED
    return _check_day(version, flat, context) or _check_routing(flat, context)


def _check_day(version: Version, flat: Flat, context: Context) -> Why | None:
    day = context.day
    if day < flat.start:
        return Why.NOT_YET
    if day > flat.end:
        return Why.OVER
    if flat.ttl_days is not None and _is_expired(version, flat.ttl_days, context):
        return Why.EXPIRED
    if day.weekday() not in flat.weekdays:
        return Why.OTHER_WEEKDAY
    if flat.recurrence is not None and not occurs(flat.recurrence, version.record.applicability.start_date, day):
        return Why.NO_OCCURRENCE
    return None


def _is_expired(version: Version, days: int, context: Context) -> bool:
    """Check whether a constraint has outlived its days.

    A local day differs from that of UTC by at most one, so the zone matters only when the end is that close.
    """
    left = version.updated_at.toordinal() + days - context.day.toordinal()
    if abs(left) > 1:
        return left < 0
    last = compute_last_day(version, context)
    return last is not None and context.day > last


def _check_routing(flat: Flat, context: Context) -> Why | None:
    if context.asked_stage is not None and flat.stages and context.asked_stage not in flat.stages:
        return Why.OTHER_STAGE
    if context.asked_types and flat.event_types and context.asked_types.isdisjoint(flat.event_types):
        return Why.OTHER_EVENT_TYPES
    if context.type_ids and flat.type_id not in context.type_ids:
        return Why.OTHER_TYPE
    return None
