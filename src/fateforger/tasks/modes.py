"""Whether work waits its turn, was pulled, or went around the queue (S146)."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """In which mode something was begun."""

    DISPOSITOR = "dispositor"
    """It was understood and put into the queue; nothing was carried out."""
    EXECUTOR = "executor"
    """It was pulled from the queue and is carried out under its rules."""
    DIRECT = "direct"
    """It went around the queue: a command, a question, or because the person wanted it so."""
