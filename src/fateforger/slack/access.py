"""Calendar access: check whether a person may plan. Every command, form and page uses these functions."""

from __future__ import annotations

from fateforger.background.ownership import ClaimOutcome, is_code
from fateforger.coordinator.door import CoordinatorPort
from fateforger.slack import phrases
from fateforger.slack.addresses import COMMAND_NAME

CLAIM = "claim"
"""Word that precedes a code."""


async def calendar_refusal(door: CoordinatorPort, user_id: str, *, in_card: bool = False) -> str | None:
    """Return the reason why a person cannot plan here, with a remedy; ``None`` if they can.

    With ``in_card`` the text mentions no one.
    """
    owner = await door.calendar_owner()
    if owner.person == user_id:
        return None
    if owner.person is not None:
        return phrases.not_your_calendar(None if in_card else owner.person)
    return phrases.CALENDAR_CLOSED if owner.closed else phrases.NOBODYS_CALENDAR


async def claim_answer(door: CoordinatorPort, user_id: str, code: str) -> str:
    """Try to claim the calendar with a code, and return the answer for the person."""
    match await door.claim_calendar(user_id, code):
        case ClaimOutcome.DONE:
            return phrases.CLAIMED
        case ClaimOutcome.ALREADY_YOURS:
            return phrases.ALREADY_YOURS
        case ClaimOutcome.WRONG:
            return phrases.WRONG_CODE
        case ClaimOutcome.TOO_SOON:
            return phrases.CODE_TOO_SOON
        case ClaimOutcome.NO_CODE:
            return phrases.NO_CODE
        case ClaimOutcome.TAKEN:
            return await calendar_refusal(door, user_id) or phrases.ALREADY_YOURS


def parse_typed_code(typed: str) -> str | None:
    """Parse the typed text ``claim CODE``, and return the code; ``None`` for anything else."""
    word, *code = typed.split() or [""]
    return "".join(code) if word == CLAIM and code else None


def parse_sent_code(message: str) -> str | None:
    """Return the code of a claim sent as a message, with or without the command; ``None`` for any other message.

    The code must have its dash, because ordinary messages may begin with the same word.
    """
    words = message.removeprefix(COMMAND_NAME).strip()
    code = parse_typed_code(words)
    return code if code is not None and is_code(code) else None
