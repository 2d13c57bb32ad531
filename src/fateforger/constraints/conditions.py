"""Constraints that depend on what else is part of the day: only with X, only without X, and what rules out Y."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.context import Context
from fateforger.constraints.versions import Version


def unmet(in_order: Sequence[Version], context: Context) -> dict[str, Version]:
    """Those whose condition does not hold. Part of the day is what the context says, and the aspect of each constraint
    that applies without a condition; of anything else it is not known that it is there, so it counts as absent."""
    conditional = [version for version in in_order if version.record.aspect and version.record.aspect.depends]
    if not conditional:
        return {}
    present = context.present | {
        version.record.aspect.aspect_id
        for version in in_order
        if version.record.aspect and version.record.aspect.aspect_id and not version.record.aspect.depends
    }
    return {version.uid: version for version in conditional if not _holds(version, present)}


def _holds(version: Version, present: frozenset[str]) -> bool:
    aspect = version.record.aspect
    if aspect is None:
        return True
    return present.issuperset(aspect.conditional_on_present) and present.isdisjoint(aspect.conditional_on_absent)


def ruled_out(in_order: Sequence[Version]) -> dict[str, Version]:
    """By uid, those that another one rules out, with that one. Nothing rules out what is more binding than itself.
    Of two that rule out each other, the one that comes first in the order stays."""
    excluding = [version for version in in_order if version.record.aspect and version.record.aspect.excludes_aspect_ids]
    out: dict[str, Version] = {}
    for strong in excluding:
        aspect = strong.record.aspect
        if aspect is None or strong.uid in out:
            continue
        for version in in_order:
            theirs = version.record.aspect
            if theirs is None or theirs.aspect_id not in aspect.excludes_aspect_ids or version.uid == strong.uid:
                continue
            if version.record.necessity.weakness >= strong.record.necessity.weakness:
                out.setdefault(version.uid, strong)
    return out
