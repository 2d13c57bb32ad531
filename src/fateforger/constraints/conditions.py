"""Constraints that depend on the rest of the day: only with X, only without X, and rules that exclude Y."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.context import Context
from fateforger.constraints.versions import Version


def find_unmet(in_order: Sequence[Version], context: Context) -> dict[str, Version]:
    """Return the constraints whose condition does not hold.

    The day contains what the context says, and the aspect of each unconditional constraint that applies. Anything else
    counts as absent.
    """
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


def find_ruled_out(in_order: Sequence[Version]) -> dict[str, Version]:
    """Return, by uid, the constraints that another one excludes, with that one.

    A constraint never excludes a more binding one. If two exclude each other, the first in order stays.
    """
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
