"""Card of a session's stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fateforger.session.cards import Card
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import TimeboxingStage
from fateforger.turn.present import capture_inputs, collect_constraints, date, refine, review_commit, skeleton
from fateforger.turn.present.ended import ended_card

CARDS: Mapping[TimeboxingStage, Callable[[Session], Card]] = {
    TimeboxingStage.DATE: date.card,
    TimeboxingStage.COLLECT_CONSTRAINTS: collect_constraints.card,
    TimeboxingStage.CAPTURE_INPUTS: capture_inputs.card,
    TimeboxingStage.SKELETON: skeleton.card,
    TimeboxingStage.REFINE: refine.card,
    TimeboxingStage.REVIEW_COMMIT: review_commit.card,
}


def stage_card(session: Session) -> Card:
    """Return the card that the thread shows for a session."""
    if session.status is SessionStatus.CANCELLED:
        return ended_card(session)
    return CARDS[session.stage](session)
