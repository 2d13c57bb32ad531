"""Slack's documented limits: calls of one method in a minute, by tier, and posts in one channel."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping

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
