"""Numbers of examples for properties that need more or fewer than usual."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def examples(of_usual: int) -> settings:
    """Return settings for this many examples in the profile ``suite``, scaled by what other profiles set."""
    return settings(max_examples=max(1, of_usual * settings().max_examples // USUAL))
