"""Slack's limits, by what they limit: characters, items, or bytes where the name says so."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping

MAX_TYPED = 12_000
"""Characters of one message that a person types."""

MAX_VIEW_BYTES = 250_000
MAX_TEXT = 40_000
"""Characters of a message of the app; Slack cuts a longer one."""
MAX_UPDATE_TEXT = 4_000
"""Characters of a message that is edited."""
MAX_MARKDOWN = 12_000
"""Characters of a `markdown_text`."""
MAX_CHUNK_FIELD = 256
"""Characters of a field of a task in a stream."""
MAX_ATTACHMENTS = 100
MAX_SESSION_TITLE = 200
"""Characters of the title of an agent's thread."""
MAX_PROMPTS = 4
"""Prompts that an agent suggests."""
MAX_LOADING_MESSAGES = 10
MAX_PAGE = 999
"""Conversations in one answer."""
MAX_UPLOAD_BYTES = 50_000_000
"""Bytes of a file. Slack takes a gigabyte; this server holds files in memory."""
MAX_SECONDS_AHEAD = 120 * 24 * 60 * 60
"""Seconds until a scheduled message."""
SCHEDULE_WINDOW_SECONDS = 5 * 60
MAX_SCHEDULED = 30
"""Messages that are scheduled within one such window."""

LIMITS: Mapping[str, int] = {
    "message.blocks": 50,
    "view.blocks": 100,
    "block_id": 255,
    "action_id": 255,
    "callback_id": 255,
    "external_id": 255,
    "private_metadata": 3_000,
    "view.title": 24,
    "view.submit": 24,
    "view.close": 24,
    "section.text": 3_000,
    "section.fields": 10,
    "section.field": 2_000,
    "header.text": 150,
    "actions.elements": 25,
    "context.elements": 10,
    "context.text": 3_000,
    "context_actions.elements": 5,
    "input.label": 2_000,
    "input.hint": 2_000,
    "image.alt_text": 2_000,
    "image.title": 2_000,
    "image.image_url": 3_000,
    "video.title": 199,
    "video.description": 199,
    "video.author_name": 49,
    "markdown.total": 12_000,
    "alert.text": 3_000,
    "table.rows": 100,
    "table.cells": 20,
    "table.total": 10_000,
    "data_table.rows": 101,
    "data_visualization.per_message": 2,
    "card.title": 150,
    "card.subtitle": 150,
    "card.body": 200,
    "card.actions": 2,
    "carousel.cards": 10,
    "container.title": 150,
    "container.children": 10,
    "button.text": 75,
    "button.value": 2_000,
    "button.url": 3_000,
    "button.accessibility_label": 75,
    "button.agent_prompt": 4_000,
    "placeholder": 150,
    "confirm.title": 100,
    "confirm.text": 300,
    "confirm.button": 30,
    "option.text": 75,
    "option.value": 150,
    "option.description": 75,
    "select.options": 100,
    "select.groups": 100,
    "group.label": 75,
    "overflow.options": 5,
    "choice.options": 10,
    "plain_text_input.length": 3_000,
    "file_input.files": 10,
}


# --- Slack's documented limits: calls of one method in a minute, by tier, and posts in one channel ---


WINDOW = 60.0
_TIERS: Mapping[int, tuple[str, ...]] = {
    20: ("chat.startStream", "chat.stopStream", "users.list", "conversations.list", "reactions.remove"),
    50: (
        "chat.update",
        "chat.delete",
        "chat.scheduleMessage",
        "conversations.open",
        "conversations.info",
        "conversations.history",
        "conversations.replies",
        "reactions.add",
        "agents.sessions.setStatus",
        "agents.sessions.rename",
    ),
    100: (
        "views.open",
        "views.push",
        "views.update",
        "views.publish",
        "chat.appendStream",
        "chat.postEphemeral",
        "users.info",
        "files.getUploadURLExternal",
        "files.completeUploadExternal",
        "assistant.threads.setTitle",
        "assistant.threads.setSuggestedPrompts",
    ),
}
_CALLS = {method: calls for calls, methods in _TIERS.items() for method in methods}
_POSTS_OF_A_CHANNEL = 60
"""One a second; short bursts are tolerated."""


class Limits:
    """Counts the calls of one app. `timer` returns seconds."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)

    def take(self, method: str, channel: str) -> int | None:
        """Count a call; if it is one too many, count nothing and return the seconds for `Retry-After`."""
        is_post = method == "chat.postMessage"
        most = _POSTS_OF_A_CHANNEL if is_post else _CALLS.get(method)
        if most is None:
            return None
        made, now = self._made[f"{method} {channel}" if is_post else method], self._timer()
        while made and made[0] <= now - WINDOW:
            made.popleft()
        if len(made) >= most:
            return math.ceil(made[0] + WINDOW - now)
        made.append(now)
        return None
