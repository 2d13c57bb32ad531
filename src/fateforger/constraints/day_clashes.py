"""Find rules over the order of the day that contradict each other. The person decides which one counts."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.findings import Finding, Kind
from fateforger.constraints.overlap import can_meet
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Version
from fateforger.constraints.wording import join_words, quote_name
from fateforger.workflow.day_conflicts import find_day_conflicts
from fateforger.workflow.days import read_day_rule


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
    texts = [quote_name(version.record.payload.day_rule or "") for version in group]
    which = "cannot both be kept. Which one counts?" if len(group) == 2 else "wait for each other. Which one counts?"
    return Finding(Kind.CONTRADICTION, (group[-1].uid, group[-2].uid), f"{join_words(texts)} {which}")
