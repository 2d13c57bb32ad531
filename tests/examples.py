"""How many examples a property looks at that does not look at the usual number."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def examples(of_usual: int) -> settings:
    """As many where the profile ``suite`` looks at :data:`USUAL`, and as many times more or fewer in other profiles."""
    return settings(max_examples=max(1, of_usual * settings().max_examples // USUAL))
