"""Buttons that ask which of two rules counts, and the payload they carry."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from fateforger.errors import BadInput
from fateforger.session.cards import Controls
from fateforger.session.pending import PendingQuestion, RuleChoice, settle_options


def choice(uids: tuple[str, str], names: tuple[str, str], *, both: str | None) -> Controls:
    """Return a button for each of two rules, and one for both if ``both`` is its label."""
    return Controls(items=tuple(option.button() for option in settle_options(uids, names, both=both)))


def choices(question: PendingQuestion) -> Controls:
    """Return a button for each answer to a question that needs a choice."""
    return Controls(items=tuple(option.button() for option in question.which))


def parse_settled(target: str) -> dict[str, Any]:
    """Parse the payload of a button about two rules. Raises :class:`BadInput` if it is not valid."""
    try:
        return RuleChoice.model_validate_json(target).model_dump()
    except ValidationError:
        raise BadInput("I can't tell any more which rules that was about; please open your rules again.") from None
