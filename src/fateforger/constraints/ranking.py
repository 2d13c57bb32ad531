"""Rank the constraints that apply, and cut them to a budget.

Relevance is ranked, applicability is computed: nothing here decides whether a constraint applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.context import Context
from fateforger.constraints.kinds import Necessity
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Version


def rank_versions(versions: Iterable[Version], context: Context) -> list[Version]:
    """Sort constraints, best first.

    The criteria are necessity, a match with the event types and then the topics asked about, confirmed before proposed,
    and confidence. Ties are broken by recency, then by uid, so the order of the rows never matters.
    """
    topics = frozenset(context.topics)

    def precedence(version: Version) -> tuple[int, bool, bool, bool, float, float, str]:
        flat = version.flat
        weakness, assumed, doubt = flat.merit
        off_topic = bool(topics) and _is_off_topic(version.record, topics)
        misfit = flat.event_types.isdisjoint(context.asked_types)
        return weakness, misfit, off_topic, assumed, doubt, -version.updated_at.timestamp(), version.uid

    return sorted(versions, key=precedence)


def _is_off_topic(record: ConstraintRecord, topics: frozenset[str]) -> bool:
    domain = None if record.aspect is None else record.aspect.category
    return domain not in topics and topics.isdisjoint(record.topics)


def cut_to_budget(in_order: Sequence[Version], k: int | None) -> tuple[list[Version], list[Version]]:
    """Return the constraints there is room for, and the others. A must is never cut."""
    if k is None:
        return list(in_order), []
    musts = sum(version.record.necessity is Necessity.MUST for version in in_order)
    room = max(k, musts)
    return list(in_order[:room]), list(in_order[room:])
