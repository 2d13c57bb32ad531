"""Decide when a change of Stage 4 is written to the calendar automatically (K1, S210).

Pure functions.
"""

from __future__ import annotations

from typing import assert_never

from fateforger.session.model import Session

OKAY = 2
"""Level of quality from which a plan is good enough for the calendar."""


def is_okay(session: Session) -> bool:
    """Check whether the plan, as last graded, is Okay or better."""
    return session.quality is not None and session.quality.level >= OKAY


def writes_at_once(session: Session) -> bool:
    """Check whether the current plan is written without a commit."""
    match session.calendar_write:
        case "refine":
            return True
        case "okay":
            return is_okay(session)
        case "commit":
            return False
        case _:
            assert_never(session.calendar_write)
