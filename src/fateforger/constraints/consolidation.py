"""Keeping what is active small: exact duplicates, what is over, what nobody ever confirmed. A must never fades.

Each finding is at most an archive event, which can be taken back; nothing is deleted and nothing is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import combinations

from fateforger.constraints.context import Context
from fateforger.constraints.exclusions import last_day
from fateforger.constraints.findings import Finding, Kind, archived
from fateforger.constraints.identity import content_key, rule_key
from fateforger.constraints.kinds import Necessity, Status
from fateforger.constraints.overlap import can_meet
from fateforger.constraints.versions import Version, newest
from fateforger.constraints.wording import day_words, quoted

HALF_LIFE_DAYS = 90
FORGOTTEN = 0.2
"""An assumption is put away when this little is left of it."""


def consolidation(versions: Iterable[Version], context: Context) -> tuple[Finding, ...]:
    """What can be tidied up among the constraints of ``context.user_id`` on its day, each constraint at most once."""
    mine = newest(versions, context.user_id, context.now)
    live = sorted((version for version in mine.values() if not version.retired), key=lambda version: version.uid)
    found = [finding for version in live if (finding := _over(version, context)) is not None]
    found += [finding for version in live if (finding := _faded(version, context)) is not None]
    gone = {finding.uids[0] for finding in found}
    rest = [version for version in live if version.uid not in gone]
    found += _duplicates(rest)
    gone |= {finding.uids[0] for finding in found}
    rest = [version for version in rest if version.uid not in gone]
    return (*found, *_near_duplicates(rest), *_circles(rest))


def retention(version: Version, now: datetime) -> float:
    """How much is left of a constraint: all of it when it is confirmed or a must; of an assumption its confidence,
    halved each 90 days that nobody confirms it."""
    record = version.record
    if record.status is Status.LOCKED or record.necessity is Necessity.MUST:
        return 1.0
    days = max((now - version.updated_at).total_seconds() / 86_400, 0.0)
    confidence = 0.5 if record.confidence is None else record.confidence
    return float(confidence * 0.5 ** (days / HALF_LIFE_DAYS))


def _over(version: Version, context: Context) -> Finding | None:
    """Past its dates or its time to live. What still takes the place of another one stays, or that would rise again."""
    end, last = version.record.applicability.end_date, last_day(version, context)
    if end is not None and end < context.day:
        ended = end
    elif last is not None and last < context.day and not version.record.lifecycle.supersedes_uids:
        ended = last
    else:
        return None
    sentence = f"{quoted(version.record.name)} ended on {day_words(ended)}."
    return Finding(Kind.EXPIRED, (version.uid,), sentence, archived(version, "expired"))


def _faded(version: Version, context: Context) -> Finding | None:
    if context.now is None or version.record.lifecycle.supersedes_uids:
        return None
    if retention(version, context.now) > FORGOTTEN or _over(version, context) is not None:
        return None
    since = day_words(context.local_day(version.updated_at))
    sentence = f"{quoted(version.record.name)} was an assumption of {since} that you never confirmed."
    return Finding(Kind.FADED, (version.uid,), sentence, archived(version, "never confirmed"))


def _duplicates(versions: Sequence[Version]) -> list[Finding]:
    """The same in the same words: the confirmed one stays, then the one that was there first."""
    alike: dict[tuple[str, str | None], list[Version]] = {}
    for version in versions:
        place = version.session_id if version.flat.session_only else None
        alike.setdefault((content_key(version.record), place), []).append(version)
    found = []
    for group in alike.values():
        best, *others = sorted(group, key=_worth)
        for other in others:
            if other.record.lifecycle.supersedes_uids:
                continue
            sentence = f"{quoted(other.record.name)} is written down twice; one is enough."
            follows = archived(other, f"duplicate of {best.uid}")
            found.append(Finding(Kind.DUPLICATE, (other.uid, best.uid), sentence, follows))
    return found


def _worth(version: Version) -> tuple[bool, bool, datetime, str]:
    record = version.record
    return (not record.lifecycle.supersedes_uids, record.status is not Status.LOCKED, version.created_at, version.uid)


def _near_duplicates(versions: Sequence[Version]) -> list[Finding]:
    """The same rule under two names, or in other words. Offered to the person, never merged."""
    alike: dict[str, list[Version]] = {}
    for version in versions:
        payload = version.record.payload
        if payload.rule_kind or payload.windows or payload.day_rule:
            alike.setdefault(rule_key(version.record), []).append(version)
    return [
        Finding(Kind.NEAR_DUPLICATE, (other.uid, one.uid), _asked(one, other))
        for group in alike.values()
        for one, other in combinations(group, 2)
        if can_meet(one, other) and content_key(one.record) != content_key(other.record)
    ]


def _asked(one: Version, other: Version) -> str:
    return f"{quoted(one.record.name)} and {quoted(other.record.name)} ask for the same. Do you want to keep both?"


def _circles(versions: Sequence[Version]) -> list[Finding]:
    """Two that replace each other: then neither applies."""
    found = []
    for one, other in combinations([v for v in versions if v.record.lifecycle.supersedes_uids], 2):
        if one.uid in other.record.lifecycle.supersedes_uids and other.uid in one.record.lifecycle.supersedes_uids:
            sentence = (
                f"{quoted(one.record.name)} and {quoted(other.record.name)} replace each other. Which one counts?"
            )
            found.append(Finding(Kind.CIRCLE, (one.uid, other.uid), sentence))
    return found
