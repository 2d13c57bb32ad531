"""Mode of work: enqueued, pulled, or direct (S146)."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """Mode in which work was started."""

    DISPOSITOR = "dispositor"
    """Understood and put into the queue; nothing was carried out."""
    EXECUTOR = "executor"
    """Pulled from the queue and carried out under its rules."""
    DIRECT = "direct"
    """Bypassed the queue: a command, a question, or at the person's request."""
