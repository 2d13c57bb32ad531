"""Answer questions with the constraints that a word index finds, as the store has them (S95).

The index only supplies uids, so entries of it that are over, or another person's, are never returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.versions import Version, select_newest

MOST_QUERIES = 8
NEAREST = 8
"""The most constraints that one query finds."""
NO_INDEX = "I cannot search by words just now, so this is everything."


def select_current(uids: Iterable[str], versions: Sequence[Version], user_id: str) -> tuple[Version, ...]:
    """Return a person's constraints in force among ``uids``, each once, newest version, in that order."""
    mine = select_newest(versions, user_id)
    found = (mine[uid] for uid in dict.fromkeys(uids) if uid in mine)
    return tuple(version for version in found if not version.retired)
