"""The base of all commands to a session, and the stages that accept them."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import ClassVar

from fateforger.session.model import Session
from fateforger.session.stages import TimeboxingStage
from fateforger.values import Value


def mint_key(prefix: str, *parts: object) -> str:
    """Return a short id for these parts: ``prefix`` and twelve hexadecimal digits."""
    text = "|".join(str(p) for p in parts)
    return f"{prefix}{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]}"


ALL_STAGES = frozenset(TimeboxingStage)
PLANNED = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


class SessionCommandBase(Value):
    """A command to a running session.

    A class declares where it is accepted, and the actions of the controls that give it
    (:mod:`fateforger.session.forms`).

    ``command_id`` is unique to the click, submission, or message and the same for its repetitions. ``at`` is the
    aware instant at which the person acted.
    """

    home: ClassVar[TimeboxingStage | None] = None
    """Stage that the command belongs to; ``None`` if it fits any."""
    accepted: ClassVar[frozenset[TimeboxingStage]] = ALL_STAGES
    """Stages that accept the command."""
    rereads: ClassVar[frozenset[TimeboxingStage]] = frozenset()
    """Stages in which the calendar is read again before it is carried out (S84, S202)."""
    forms: ClassVar[tuple[str, ...]] = ()
    """Names of the forms that give the command."""
    anywhere: ClassVar[bool] = False
    """True if its forms open at each stage that accepts it, not only at its home."""
    is_view: ClassVar[bool] = False
    """True for a command that only opens or closes something on the card."""
    command_id: str
    user_id: str
    at: datetime
    session_id: str

    def needs_calendar(self, stage: TimeboxingStage) -> bool:
        """Check whether the calendar is read again before this is carried out."""
        return stage in self.rereads

    def apply_to(self, session: Session) -> Session | None:
        """Return the session with the day's facts that the command changes; ``None`` if it changes none by itself.

        Raises ``UserError``.
        """
        del session
        return None
