"""What a day could take up besides, from wherever it comes."""

from __future__ import annotations

from fateforger.ports import Sessions
from fateforger.session.model import OfferedInput, Session
from fateforger.session.offering import carried_over
from fateforger.stages import TimeboxingStage

LATEST = 20
"""Sessions of a person that are asked for what they left open."""


async def offered(sessions: Sessions, session: Session) -> tuple[OfferedInput, ...] | None:
    """What else could be done on a day that is not drafted yet; ``None`` for any other. Raises ``StoreError``."""
    if session.stage.number > TimeboxingStage.CAPTURE_INPUTS.number:
        return None
    return carried_over(session, await sessions.of_user(session.user_id, limit=LATEST))
