"""Tokens of clients: ``ffa_KEY_SECRET``. Only a hash of one is kept; its secret has 256 bits of chance, so that one
round of SHA-256 is as good as many."""

from __future__ import annotations

import hashlib
import hmac
import re

_TOKEN = re.compile(r"ffa_([0-9a-f]{12})_([A-Za-z0-9_-]{40,64})")


def token_of(key: str, secret: str) -> str:
    """The token of a client; ``key`` is 12 hexadecimal digits, ``secret`` 43 characters of URL-safe base 64."""
    return f"ffa_{key}_{secret}"


def key_in(token: str) -> str | None:
    """The public part of a token; ``None`` for what is no token of ours."""
    found = _TOKEN.fullmatch(token)
    return None if found is None else found.group(1)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_same(token: str, kept: str) -> bool:
    """Whether a token is the one that a hash was made of, in a time that tells nothing of either."""
    return hmac.compare_digest(hash_of(token), kept)
