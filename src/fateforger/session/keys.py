"""Ids derived from the command that made an object, so a repeated command makes the same one."""

from __future__ import annotations

import hashlib


def mint_key(prefix: str, *parts: object) -> str:
    """Return a short id for these parts: ``prefix`` and twelve hexadecimal digits."""
    text = "|".join(str(p) for p in parts)
    return f"{prefix}{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]}"
