"""Thumbs up and down under a card: Slack's own, or two plain buttons where they are not supported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fateforger.session.cards import Feedback
from fateforger.slack.addresses import ACTION_MARK, FEEDBACK, Address, Vote
from fateforger.slack.controls import plain_text
from fateforger.values import replace

UP, DOWN = "This helped", "This did not help"


def feedback_block(part: Feedback, address: Address, numbers: Iterator[int], *, thumbs: bool) -> dict[str, Any]:
    """Return the block with both thumbs. The vote comes back in the value."""
    block_id = replace(address, n=next(numbers)).pack()
    values = {
        helpful: Vote(session=address.session, turn=part.turn, helpful=helpful, prompts=part.prompts).pack()
        for helpful in (True, False)
    }
    if thumbs:
        element = {
            "type": "feedback_buttons",
            "action_id": f"{FEEDBACK}{ACTION_MARK}{next(numbers)}",
            "positive_button": _thumb(UP, values[True]),
            "negative_button": _thumb(DOWN, values[False]),
        }
        return {"type": "context_actions", "block_id": block_id, "elements": [element]}
    buttons = [
        {
            "type": "button",
            "action_id": f"{FEEDBACK}{ACTION_MARK}{next(numbers)}",
            "text": plain_text(label),
            "accessibility_label": words,
            "value": values[helpful],
        }
        for label, words, helpful in (("👍", UP, True), ("👎", DOWN, False))
    ]
    return {"type": "actions", "block_id": block_id, "elements": buttons}


def _thumb(words: str, value: str) -> dict[str, Any]:
    return {"text": plain_text(words), "accessibility_label": words, "value": value}
