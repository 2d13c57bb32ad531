"""Entry point of this package. Imports AutoGen with the first turn, so that programs that run none start quickly."""

from __future__ import annotations

import asyncio

from fateforger.ports import Model
from fateforger.turn.constants import TURN_LIMIT
from fateforger.turn.model import TurnInput, TurnOutcome


async def run_turn(turn: TurnInput, model: Model | None = None) -> TurnOutcome:
    """Run one turn; ``model`` reads words. Raises ``TimeoutError`` after ``TURN_LIMIT`` seconds."""
    from fateforger.turn.graph import run  # noqa: PLC0415  heavy

    async with asyncio.timeout(TURN_LIMIT):
        return await run(turn, model)


def warm_up() -> None:
    """Import what the first turn needs, so that the first person does not wait for it. Blocks for about a second."""
    import fateforger.turn.graph  # noqa: F401, PLC0415  heavy
