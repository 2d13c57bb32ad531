"""Interface of what carries payloads to the app."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Acknowledgement = Callable[[str, Any], None]
"""Told of each acknowledgement: the envelope id and the payload, which is None when there is none."""


@dataclass(frozen=True)
class Failure:
    """Failed try: the app refused it, or could not be reached.

    `retry` counts the tries before it, `reason` is Slack's word for it; `final` if the app wants no other try.
    """

    envelope_id: str
    retry: int
    reason: str
    final: bool = False


class Transport(Protocol):
    """Sends frames to the app, and reports each acknowledgement and failure. A late answer is neither."""

    on_acknowledged: list[Acknowledgement]
    on_failed: list[Callable[[Failure], None]]
    on_connections_changed: list[Callable[[], None]]
    timeout_reason: str

    @property
    def connected(self) -> bool: ...

    def send(self, frame: dict[str, Any]) -> bool:
        """Send a frame; False when there is nowhere to send it."""
        ...
