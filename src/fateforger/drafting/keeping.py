"""Check a plan against constraints, without the instance it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from fateforger.drafting.check import Violation, find_violations
from fateforger.drafting.ground import DraftContext, build_context
from fateforger.drafting.instance import Instance, read_instance
from fateforger.drafting.model import Block
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, TBPlan, resolve


def check_constraints(plan: TBPlan, resolved: Sequence[Resolved], said: Any) -> tuple[Violation, ...]:
    """Return the violations of a plan.

    ``said`` is a list of records, or ``{"constraints": [..]}`` as ``constraints query`` prints it. Background blocks
    are ignored. Raises :class:`BadInput`.
    """
    midnight = datetime.combine(plan.date, time())
    ends = [block.end.replace(tzinfo=None) for block in resolved]
    until = max([midnight + timedelta(days=1), *ends])
    document = {
        "date": plan.date.isoformat(),
        "tz": plan.tz,
        "frame": {"start": midnight.isoformat(), "end": min(until, midnight + timedelta(hours=36)).isoformat()},
        "constraints": records_of(said),
    }
    ground = build_context(read_instance(document))
    return check_blocks(ground, resolved)


def records_of(said: Any) -> list[Any]:
    """Return the constraints in a document.

    Raises :class:`BadInput` for a document without any.
    """
    if isinstance(said, Mapping):
        said = said.get("constraints", [said])
    if not isinstance(said, list):
        raise BadInput("Constraints are a list of constraint records.", where="constraints")
    return said


def check_plan(plan: TBPlan, instance: Instance) -> tuple[Violation, ...]:
    """Return the violations of the instance's constraints by a plan for its day."""
    return check_blocks(build_context(instance), resolve(plan))


def check_blocks(ground: DraftContext, resolved: Sequence[Resolved]) -> tuple[Violation, ...]:
    """Return the violations of a day's constraints by blocks on the time line."""
    return find_violations(ground, [_block(block) for block in resolved if block.event.type is not ET.BACKGROUND])


def _block(block: Resolved) -> Block:
    stem, _, number = block.key.rpartition("-")
    task = stem if stem and number.isdigit() else block.key
    return Block(task, block.key, block.event.name, block.event.type, block.start.astimezone(UTC), block.minutes)
