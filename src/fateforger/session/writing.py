"""When a change of Stage 4 goes to the calendar by itself (K1, S210). Pure."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.model import Session

OKAY = 2
"""The level of quality from which a plan is good enough to stand on a calendar."""


def is_okay(session: Session) -> bool:
    """Whether the plan, as it was graded last, is Okay or better."""
    return session.quality is not None and session.quality.level >= OKAY


def at_once(session: Session) -> bool:
    """Whether the plan goes to the calendar as it is now, without a commit."""
    match session.calendar_write:
        case "refine":
            return True
        case "okay":
            return is_okay(session)
        case "commit":
            return False
        case _:
            assert_never(session.calendar_write)
