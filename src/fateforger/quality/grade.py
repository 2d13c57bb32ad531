"""Turn findings into a level with its label and next step (S50)."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.drafting.instance import Instance
from fateforger.drafting.model import UnplacedItem
from fateforger.plan import TBPlan
from fateforger.quality.model import LABELS, Quality
from fateforger.quality.rubric import collect_findings
from fateforger.quality.view import View, build_view

BEST = 4
NOTHING_MISSING = "Nothing is missing; commit it when you are happy with it."


def grade_plan(instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = ()) -> Quality:
    """Grade ``plan`` for the instance's day: its frame, events, tasks, constraints, and policy.

    ``left`` lists the tasks that found no place.

    Raises ``BadInput`` for an instance that makes no day, and ``PlanInvalid`` for a plan whose blocks cannot be
    resolved to instants.
    """
    return grade_view(build_view(instance, plan, left))


def grade_view(seen: View) -> Quality:
    """Grade a view of a plan."""
    found = collect_findings(seen)
    level = min((finding.level - 1 for finding in found), default=BEST)
    next_step = found[0].text if found else NOTHING_MISSING
    return Quality(level=level, label=LABELS[level], next_step=next_step, findings=found)
