"""Whether a plan keeps constraints, without knowing the day it was made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from fateforger.drafting.check import Breach, breaches
from fateforger.drafting.ground import Ground, ground_of
from fateforger.drafting.instance import Instance, read_instance
from fateforger.drafting.model import Block
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, TBPlan, resolve


def unkept(plan: TBPlan, resolved: Sequence[Resolved], said: Any) -> tuple[Breach, ...]:
    """What a plan breaks of ``said``: records, or ``{"constraints": [..]}`` as ``constraints query`` prints them.
    Background blocks are not looked at. Raises :class:`BadInput`."""
    midnight = datetime.combine(plan.date, time())
    ends = [block.end.replace(tzinfo=None) for block in resolved]
    until = max([midnight + timedelta(days=1), *ends])
    document = {
        "date": plan.date.isoformat(),
        "tz": plan.tz,
        "frame": {"start": midnight.isoformat(), "end": min(until, midnight + timedelta(hours=36)).isoformat()},
        "constraints": records_of(said),
    }
    ground = ground_of(read_instance(document))
    return broken_on(ground, resolved)


def records_of(said: Any) -> list[Any]:
    """The constraints in a document that holds some. Raises :class:`BadInput` for one that does not."""
    if isinstance(said, Mapping):
        said = said.get("constraints", [said])
    if not isinstance(said, list):
        raise BadInput("Constraints are a list of constraint records.", where="constraints")
    return said


def broken_by(plan: TBPlan, instance: Instance) -> tuple[Breach, ...]:
    """What a plan for the instance's day breaks of its constraints."""
    return broken_on(ground_of(instance), resolve(plan))


def broken_on(ground: Ground, resolved: Sequence[Resolved]) -> tuple[Breach, ...]:
    """What blocks on the time line break of the constraints of a day."""
    return breaches(ground, [_block(block) for block in resolved if block.event.type is not ET.BACKGROUND])


def _block(block: Resolved) -> Block:
    stem, _, number = block.key.rpartition("-")
    task = stem if stem and number.isdigit() else block.key
    return Block(task, block.key, block.event.name, block.event.type, block.start.astimezone(UTC), block.minutes)
