"""Read a plan from its wire form, with one clear sentence per mistake, and write it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from fateforger.errors import PlanInvalid
from fateforger.plan.mistakes import first_mistake
from fateforger.plan.model import TBPlan
from fateforger.plan.resolve import Resolved


def read_plan(document: object) -> TBPlan:
    """Read a plan from its parsed JSON ``{"date","tz","events":[{"n","d","t","p":{"a",..},"key"?}]}``.

    Raises :class:`PlanInvalid` with the first mistake and its place.
    """
    if not isinstance(document, dict):
        raise PlanInvalid("A plan is a JSON object with date, tz and events.")
    try:
        return TBPlan.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise PlanInvalid(mistake.sentence, events=mistake.events, where=mistake.where or None) from None
    except RecursionError:
        raise PlanInvalid("This plan is nested too deeply to be one.") from None


def write_plan(plan: TBPlan) -> dict[str, Any]:
    """Return the wire form, keys included, ready for ``json.dumps``."""
    return plan.model_dump(mode="json", by_alias=True)


def write_resolved(block: Resolved) -> dict[str, Any]:
    """Return one block of ``plan resolve``, with instants in RFC 3339 with offset."""
    return {
        "index": block.index,
        "key": block.key,
        "name": block.event.name,
        "type": block.event.type.value,
        "start": block.start.isoformat(),
        "end": block.end.isoformat(),
        "minutes": block.minutes,
    }
