"""Precedence among constraints that apply, and what there is room for.

Relevance is ranked, applicability is computed: nothing here decides whether a constraint applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.context import Context
from fateforger.constraints.kinds import Necessity, Status
from fateforger.constraints.versions import Version


def ranked(versions: Iterable[Version], context: Context) -> list[Version]:
    """Best first: necessity, whether it names one of the event types (then of the topics) asked about, confirmed before
    proposed, confidence. Recency only breaks ties, and the uid what is left, so the order of the rows never matters."""
    stable = sorted(versions, key=lambda version: version.uid)
    stable.sort(key=lambda version: version.updated_at, reverse=True)
    types, topics = frozenset(context.event_types), frozenset(context.topics)
    stable.sort(key=lambda version: _precedence(version, types, topics))
    return stable


def _precedence(version: Version, types: frozenset[str], topics: frozenset[str]) -> tuple[int, bool, bool, bool, float]:
    """Smaller comes first. An unknown confidence comes after any that is known."""
    record = version.record
    return (
        record.necessity.weakness,
        types.isdisjoint(record.applies_event_types),
        topics.isdisjoint(record.topics) and (record.aspect is None or record.aspect.category not in topics),
        record.status is not Status.LOCKED,
        1.0 if record.confidence is None else -record.confidence,
    )


def within_budget(in_order: Sequence[Version], k: int | None) -> tuple[list[Version], list[Version]]:
    """What there is room for, and what is cut. A must is never cut, however little room there is."""
    if k is None:
        return list(in_order), []
    musts = sum(version.record.necessity is Necessity.MUST for version in in_order)
    room = max(k, musts)
    return list(in_order[:room]), list(in_order[room:])
