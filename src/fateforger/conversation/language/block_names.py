"""Names of blocks in prompts and answers: they stay the same whatever other ops do."""

from __future__ import annotations

import re

from fateforger.planning.plan import TBPlan

_NAME = re.compile(r"b([0-9]{1,3})")


def name_block(position: int) -> str:
    """Return the name by which a model knows the block at a position of the plan, counted from 0."""
    return f"b{position + 1}"


def is_block_name(text: str) -> bool:
    """Check whether a text names a block, whether or not there is one."""
    return _NAME.fullmatch(text) is not None


def find_block(plan: TBPlan | None, name: str) -> str | None:
    """Return the key of a block by that name, if the plan has one."""
    found = _NAME.fullmatch(name)
    place = -1 if found is None else int(found[1]) - 1
    events = () if plan is None else plan.events
    return events[place].block_key if 0 <= place < len(events) else None
