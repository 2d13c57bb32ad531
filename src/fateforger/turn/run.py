"""The door of this room. AutoGen is imported with the first turn, so that a program that runs none starts quickly."""

from __future__ import annotations

import asyncio

from fateforger.ports import Model
from fateforger.turn.constants import TURN_LIMIT
from fateforger.turn.model import TurnInput, TurnOutcome


async def run_turn(turn: TurnInput, model: Model | None = None) -> TurnOutcome:
    """Run one turn; ``model`` reads what is said in words. Raises ``TimeoutError`` when it takes longer than any turn
    should."""
    from fateforger.turn.graph import run  # noqa: PLC0415  heavy

    async with asyncio.timeout(TURN_LIMIT):
        return await run(turn, model)


def warm_up() -> None:
    """Import what the first turn needs, so that the first person does not wait for it. Blocks for about a second."""
    import fateforger.turn.graph  # noqa: F401, PLC0415  heavy
