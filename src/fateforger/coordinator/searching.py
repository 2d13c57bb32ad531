"""Search a person's constraints by words: the index finds them, and the store supplies their text (S95)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from fateforger.constraints import Version
from fateforger.constraints.asked import NEAREST, NO_INDEX, select_current
from fateforger.constraints.wording import join_words, quote_name
from fateforger.errors import MemoryUnavailable
from fateforger.ports import Recollection
from fateforger.session.memory import MemoryView, known_versions
from fateforger.session.memory_rows import refresh_view
from fateforger.session.model import Session
from fateforger.turn.model import SearchMemory
from fateforger.values import replace

log = logging.getLogger(__name__)


class Finder(Protocol):
    """The search of the index. Raises ``MemoryUnavailable``."""

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]: ...


async def search_memory(
    effect: SearchMemory, session: Session, versions: Sequence[Version], finder: Finder | None, *, seconds: float
) -> Session:
    """Return the session with the search results on its memory card; ``versions`` are all constraints of the person.

    If nothing is found, or the search fails, the card shows everything (or the named rows) and says so.
    """
    view = session.memory
    if view is None:
        return session
    try:
        async with asyncio.timeout(seconds):
            uids = await _search(effect.queries, session.user_id, finder)
    except (TimeoutError, MemoryUnavailable) as error:
        log.warning("the index of constraints cannot be asked: %s", error)
        return _show_rows(session, view, versions, view.only, NO_INDEX)
    found = tuple(version.uid for version in select_current(uids, versions, session.user_id))
    only = tuple(dict.fromkeys((*view.only, *found)))
    about = join_words([quote_name(query) for query in effect.queries])
    return _show_rows(session, view, versions, only, *(() if only else (f"I found no rule of yours about {about}.",)))


async def _search(queries: Sequence[str], user_id: str, finder: Finder | None) -> list[str]:
    if finder is None:
        raise MemoryUnavailable("There is no index of constraints.")
    scores: dict[str, float] = {}
    for query in queries:
        for each in await finder.search(user_id, query, limit=NEAREST):
            scores[each.uid] = max(each.score, scores.get(each.uid, each.score))
    return sorted(scores, key=lambda uid: (-scores[uid], uid))


def _show_rows(
    session: Session, view: MemoryView, versions: Sequence[Version], only: tuple[str, ...], *lines: str
) -> Session:
    view = replace(view, only=only, lines=lines)
    return replace(session, memory=refresh_view(session, (*versions, *known_versions(session)), view))
