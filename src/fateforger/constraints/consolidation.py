"""Find what can be tidied up: exact duplicates, expired constraints, unconfirmed assumptions. A must never fades.

Each finding causes at most an archive event, which can be undone; nothing is deleted and nothing is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import combinations

from fateforger.constraints.context import Context
from fateforger.constraints.exclusions import compute_last_day
from fateforger.constraints.findings import Finding, Kind, build_archiving
from fateforger.constraints.identity import compute_content_key, compute_rule_key
from fateforger.constraints.kinds import Necessity, Status
from fateforger.constraints.overlap import can_meet
from fateforger.constraints.versions import Version, select_newest
from fateforger.constraints.wording import format_day, quote_name

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
    sentence = f"{quote_name(version.record.name)} ended on {format_day(ended)}."
    return Finding(Kind.EXPIRED, (version.uid,), sentence, build_archiving(version, "expired"))


def _find_faded(version: Version, context: Context) -> Finding | None:
    if context.now is None or version.record.lifecycle.supersedes_uids:
        return None
    if compute_retention(version, context.now) > FORGOTTEN or _find_over(version, context) is not None:
        return None
    since = format_day(context.local_day(version.updated_at))
    sentence = f"{quote_name(version.record.name)} was an assumption of {since} that you never confirmed."
    return Finding(Kind.FADED, (version.uid,), sentence, build_archiving(version, "never confirmed"))


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
            sentence = f"{quote_name(other.record.name)} is written down twice; one is enough."
            follows = build_archiving(other, f"duplicate of {best.uid}")
            found.append(Finding(Kind.DUPLICATE, (other.uid, best.uid), sentence, follows))
    return found


def _rank_worth(version: Version) -> tuple[bool, bool, datetime, str]:
    record = version.record
    return (not record.lifecycle.supersedes_uids, record.status is not Status.LOCKED, version.created_at, version.uid)


def _find_near_duplicates(versions: Sequence[Version]) -> list[Finding]:
    """Find the same rule under two names, or in other words. The person is asked; nothing is merged."""
    alike: dict[str, list[Version]] = {}
    for version in versions:
        payload = version.record.payload
        if payload.rule_kind or payload.windows or payload.day_rule:
            alike.setdefault(compute_rule_key(version.record), []).append(version)
    return [
        Finding(Kind.NEAR_DUPLICATE, (other.uid, one.uid), _ask_to_keep(one, other))
        for group in alike.values()
        for one, other in combinations(group, 2)
        if can_meet(one, other) and compute_content_key(one.record) != compute_content_key(other.record)
    ]


def _ask_to_keep(one: Version, other: Version) -> str:
    return (
        f"{quote_name(one.record.name)} and {quote_name(other.record.name)} ask for the same. Do you want to keep both?"
    )


def _find_circles(versions: Sequence[Version]) -> list[Finding]:
    """Find pairs that replace each other: neither of them applies."""
    found = []
    for one, other in combinations([v for v in versions if v.record.lifecycle.supersedes_uids], 2):
        if one.uid in other.record.lifecycle.supersedes_uids and other.uid in one.record.lifecycle.supersedes_uids:
            sentence = (
                f"{quote_name(one.record.name)} and {quote_name(other.record.name)} replace"
                f" each other. Which one counts?"
            )
            found.append(Finding(Kind.CIRCLE, (one.uid, other.uid), sentence))
    return found
