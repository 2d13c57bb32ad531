"""Names that follow from the command that made the thing, so that a repeated command makes the same thing."""

from __future__ import annotations

import hashlib


def minted(prefix: str, *parts: object) -> str:
    """A short name, the same for the same parts: ``prefix`` and twelve hexadecimal digits."""
    text = "|".join(str(p) for p in parts)
    return f"{prefix}{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]}"
