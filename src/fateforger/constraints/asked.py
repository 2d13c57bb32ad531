"""What is known about something: what an index of words found, as it stands in the store (S95). The index only says
where to look, so nothing that it still shows and that is over, or another's, gets to anybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.versions import Version, newest

MOST_QUERIES = 8
NEAREST = 8
"""Constraints that one query finds at most."""
NO_INDEX = "I cannot search by words just now, so this is everything."


def as_they_stand(uids: Iterable[str], versions: Sequence[Version], user_id: str) -> tuple[Version, ...]:
    """The constraints of one person in force that were found, each once, in its newest version and in that order."""
    mine = newest(versions, user_id)
    found = (mine[uid] for uid in dict.fromkeys(uids) if uid in mine)
    return tuple(version for version in found if not version.retired)
