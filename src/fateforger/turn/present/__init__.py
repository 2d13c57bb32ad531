"""Cards, one module per stage: pure functions from a session to a card (S48, S54, S61, S213)."""

from fateforger.turn.present.card import stage_card
from fateforger.turn.present.ended import ended_card, ended_reply, not_yours_card
from fateforger.turn.present.home import home_card, welcome_card
from fateforger.turn.present.left import left_card
from fateforger.turn.present.root import root_card, root_line

__all__ = [
    "ended_card",
    "ended_reply",
    "home_card",
    "left_card",
    "not_yours_card",
    "root_card",
    "root_line",
    "stage_card",
    "welcome_card",
]
