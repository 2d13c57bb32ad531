"""Consolidation: superseded, duplicate and expired constraints, and unconfirmed assumptions.

A replacement has one form, which the commands and the thread share (S29, A4). The new one holds the link, which says on
which days it counts instead. If that leaves the old one no day, an event retires it. Retiring the new one restores the
old one.

A must never fades. Each finding causes at most an archive event, which can be undone; nothing is deleted and nothing is
merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date as Date  # noqa: N812  as elsewhere
from datetime import datetime
from itertools import combinations

from fateforger.memory.applicability import DUPLICATE, EXPIRED, NEVER_CONFIRMED, Context, compute_last_day
from fateforger.memory.contradiction import Change, Finding, Kind, build_archiving, can_meet
from fateforger.memory.record import ConstraintRecord, compute_content_key, compute_rule_key, has_rule
from fateforger.memory.versions import (
    Event,
    Version,
    build_superseded_by,
    find_successors,
    select_newest,
    still_replaces,
)
from fateforger.memory.vocabulary import Action, Necessity, Scope, Status
from fateforger.text import format_date, join_words, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace


def mark_replacing(record: ConstraintRecord, old: Version) -> ConstraintRecord:
    """Return the record as a replacement of ``old`` on the days of its dates."""
    life = record.lifecycle
    uids = tuple(dict.fromkeys((*life.supersedes_uids, old.uid)))
    return replace(record, lifecycle=replace(life, supersedes_uids=uids))


def bound_replacement(record: ConstraintRecord, today: Date) -> ConstraintRecord:
    """Give a replacement that is kept for some days an end date; return any other record unchanged.

    The end date of a replacement decides when the old record counts again (A4).
    """
    last = record.find_last_day(today)
    if last is None or record.lifecycle.ttl_days is None or not record.lifecycle.supersedes_uids:
        return record
    return replace(
        record,
        scope=Scope.DATESPAN if record.scope is Scope.PROFILE else record.scope,
        applicability=replace(record.applicability, end_date=last),
        lifecycle=replace(record.lifecycle, ttl_days=None),
    )


def retire_replaced(old: Version, new: Version, today: Date) -> Change | None:
    """Return the event that retires the old one if the new one leaves it no day from ``today`` on.

    Otherwise return ``None``: it stays in force before the new one begins, after it ends, and outside its session. If
    the two replace each other, the person decides.
    """
    if old.retired or old.uid == new.uid or new.uid in old.flat.supersedes:
        return None
    begins, ends = new.flat.start, new.flat.end
    elsewhere = new.record.scope is Scope.SESSION and not (
        old.record.scope is Scope.SESSION and old.session_id == new.session_id
    )
    passing = new.flat.ttl_days is not None
    if begins > max(today, old.flat.start) or ends < old.flat.end or elsewhere or passing:
        return None
    record = replace(old.record, status=Status.DECLINED)
    return Change(old, record, Event(action=Action.SUPERSEDE, reason=build_superseded_by(new.uid)))


def retire_all_replaced(versions: Iterable[Version], new: Version, today: Date) -> tuple[Change, ...]:
    """Return the changes to the constraints that ``new`` replaces. See :func:`retire_replaced`."""
    mine = select_newest(versions, new.user_id)
    changes = (retire_replaced(mine[uid], new, today) for uid in new.flat.supersedes if uid in mine)
    return tuple(change for change in changes if change is not None)


def restore_replaced(versions: Iterable[Version], user_id: str, uid: str) -> Iterator[Change]:
    """Yield the changes that restore constraints retired because of ``uid``, which is out of force now.

    Constraints that yet another one replaces stay retired.
    """
    known = tuple(version for version in versions if version.user_id == user_id)
    mine = select_newest(known, user_id)
    named = find_successors(mine)
    for old in mine.values():
        others = [other for other in named.get(old.uid, ()) if other.uid != uid]
        if not old.retired or old.event.reason != build_superseded_by(uid):
            continue
        before = select_newest((v for v in known if v.uid == old.uid and not v.retired), user_id).get(old.uid)
        if before is not None and not any(still_replaces(other, named) for other in others):
            yield Change(
                old, before.record, Event(action=Action.UPDATE, reason=f"no longer {build_superseded_by(uid)}")
            )


HALF_LIFE_DAYS = 90
FORGOTTEN = 0.2
"""The retention at which an assumption is put away."""


def find_consolidations(versions: Iterable[Version], context: Context) -> tuple[Finding, ...]:
    """Return what can be tidied up for ``context.user_id`` on its day, each constraint at most once."""
    mine = select_newest(versions, context.user_id, context.now)
    live = sorted((version for version in mine.values() if not version.retired), key=lambda version: version.uid)
    found = [finding for version in live if (finding := _find_over(version, context)) is not None]
    found += [finding for version in live if (finding := _find_faded(version, context)) is not None]
    gone = {finding.uids[0] for finding in found}
    rest = [version for version in live if version.uid not in gone]
    found += _find_duplicates(rest)
    gone |= {finding.uids[0] for finding in found}
    rest = [version for version in rest if version.uid not in gone]
    return (*found, *_find_near_duplicates(rest), *_find_circles(rest))


def compute_retention(version: Version, now: datetime) -> float:
    """Return the retention of a constraint, 0 to 1.

    It is 1 for a confirmed one or a must. For an assumption it is the confidence, halved for each 90 days without
    confirmation.
    """
    record = version.record
    if record.status is Status.LOCKED or record.necessity is Necessity.MUST:
        return 1.0
    days = max((now - version.updated_at).total_seconds() / 86_400, 0.0)
    confidence = 0.5 if record.confidence is None else record.confidence
    return float(confidence * 0.5 ** (days / HALF_LIFE_DAYS))


def _find_over(version: Version, context: Context) -> Finding | None:
    """Find a constraint past its dates or its time to live.

    One that replaces another stays beyond its time to live, because archiving it would revive the other one.
    """
    end, last = version.record.applicability.end_date, compute_last_day(version, context)
    if end is not None and end < context.day:
        ended = end
    elif last is not None and last < context.day and not version.record.lifecycle.supersedes_uids:
        ended = last
    else:
        return None
    sentence = _("{rule} ended on {day}.", rule=quote_title(version.record.name), day=format_date(ended))
    return Finding(Kind.EXPIRED, (version.uid,), sentence, build_archiving(version, EXPIRED))


def _find_faded(version: Version, context: Context) -> Finding | None:
    if context.now is None or version.record.lifecycle.supersedes_uids:
        return None
    if compute_retention(version, context.now) > FORGOTTEN or _find_over(version, context) is not None:
        return None
    since = format_date(context.local_day(version.updated_at))
    sentence = _(
        "{rule} was an assumption of {day} that you never confirmed.", rule=quote_title(version.record.name), day=since
    )
    return Finding(Kind.FADED, (version.uid,), sentence, build_archiving(version, NEVER_CONFIRMED))


def _find_duplicates(versions: Sequence[Version]) -> list[Finding]:
    """Find constraints with the same content: the confirmed one stays, otherwise the oldest."""
    alike: dict[tuple[str, str | None], list[Version]] = {}
    for version in versions:
        place = version.session_id if version.flat.session_only else None
        alike.setdefault((compute_content_key(version.record), place), []).append(version)
    found = []
    for group in alike.values():
        best, *others = sorted(group, key=_rank_worth)
        for other in others:
            if other.record.lifecycle.supersedes_uids:
                continue
            sentence = _("{rule} is written down twice; one is enough.", rule=quote_title(other.record.name))
            follows = build_archiving(other, f"{DUPLICATE} {best.uid}")
            found.append(Finding(Kind.DUPLICATE, (other.uid, best.uid), sentence, follows))
    return found


def _rank_worth(version: Version) -> tuple[bool, bool, datetime, str]:
    record = version.record
    return (not record.lifecycle.supersedes_uids, record.status is not Status.LOCKED, version.created_at, version.uid)


def _find_near_duplicates(versions: Sequence[Version]) -> list[Finding]:
    """Find the same rule under two names, or in other words. The person is asked; nothing is merged."""
    alike: dict[str, list[Version]] = {}
    for version in versions:
        if has_rule(version.record):
            alike.setdefault(compute_rule_key(version.record), []).append(version)
    return [
        Finding(Kind.NEAR_DUPLICATE, (other.uid, one.uid), _ask_to_keep(one, other))
        for group in alike.values()
        for one, other in combinations(group, 2)
        if can_meet(one, other) and compute_content_key(one.record) != compute_content_key(other.record)
    ]


def _ask_to_keep(one: Version, other: Version) -> str:
    both = join_words(quote_title(each.record.name) for each in (one, other))
    return _("{rules} ask for the same. Do you want to keep both?", rules=both)


def _find_circles(versions: Sequence[Version]) -> list[Finding]:
    """Find pairs that replace each other: neither of them applies."""
    found = []
    for one, other in combinations([v for v in versions if v.record.lifecycle.supersedes_uids], 2):
        if one.uid in other.record.lifecycle.supersedes_uids and other.uid in one.record.lifecycle.supersedes_uids:
            both = join_words(quote_title(each.record.name) for each in (one, other))
            sentence = _("{rules} replace each other. Which one counts?", rules=both)
            found.append(Finding(Kind.CIRCLE, (one.uid, other.uid), sentence))
    return found
