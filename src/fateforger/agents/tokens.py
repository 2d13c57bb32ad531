"""Tokens of clients: ``ffa_KEY_SECRET``.

Only a SHA-256 hash is stored. The secret has 256 random bits, so that one round of hashing is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import re

_TOKEN = re.compile(r"ffa_([0-9a-f]{12})_([A-Za-z0-9_-]{40,64})")


def format_token(key: str, secret: str) -> str:
    """Return a token. ``key`` is 12 hexadecimal digits, ``secret`` 43 characters of URL-safe base64."""
    return f"ffa_{key}_{secret}"


def parse_key(token: str) -> str | None:
    """Return the public part of a token; ``None`` if the text is not a valid token."""
    found = _TOKEN.fullmatch(token)
    return None if found is None else found.group(1)


def hash_token(token: str) -> str:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode()).hexdigest()


def matches_hash(token: str, kept: str) -> bool:
    """Check whether a token matches a stored hash, in constant time."""
    return hmac.compare_digest(hash_token(token), kept)
