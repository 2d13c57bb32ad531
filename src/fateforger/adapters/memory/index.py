"""The index itself. Called by one thread only: embedded Qdrant loses concurrent writes."""

from __future__ import annotations

from typing import Any

from fateforger.adapters.memory.embedders import Embedder
from fateforger.adapters.memory.engine import Engine
from fateforger.adapters.memory.places import Embedded, Place
from fateforger.adapters.memory.rows import (
    KEY,
    OWNER,
    build_metadata,
    build_text,
    clean,
    hash_key,
    hash_owner,
    read_memory,
)
from fateforger.constraints import Version
from fateforger.errors import MemoryUnavailable, RebuildNeeded
from fateforger.ports import MemoryReport, Recollection

FORMAT = 1
"""Increment with any change to the content of a memory."""
_MOST = 100_000
"""The most memories of one person that Mem0 lists; an answer of this size may be incomplete."""
_CANARY, _NOBODY = "canary", "nobody"
"""Owners in the store that cannot be people: those start with ``person-``."""
_CANARY_WORDS = "A canary sings so that we know the air is good"


class Index:
    def __init__(self, place: Place, embedder: Embedder) -> None:
        self._place = place
        self._embedder = embedder
        self._engine = Engine(place, embedder)
        # No other program writes to an embedded store, so the ids can be cached.
        self._known: dict[str, dict[str, list[str]]] | None = {} if isinstance(place, Embedded) else None

    def put(self, version: Version) -> None:
        owner, key = hash_owner(version.user_id), hash_key(version.uid)
        self._store_memory(owner, key, build_text(version.record), build_metadata(version))

    def drop(self, user_id: str, uid: str) -> None:
        ids = self._find_ids(hash_owner(user_id), hash_key(uid))
        while ids:
            self._engine.delete(ids[-1])
            ids.pop()

    def all(self, user_id: str) -> tuple[Version, ...]:
        found: dict[str, Version] = {}
        for memory in self._list_memories({OWNER: hash_owner(user_id)}):
            version = read_memory(memory, user_id)
            before = found.get(version.uid)
            if before is None or before.seq < version.seq:
                found[version.uid] = version
        return tuple(found[uid] for uid in sorted(found))

    def search(self, user_id: str, text: str, limit: int) -> tuple[Recollection, ...]:
        if not text.strip() or limit < 1:
            return ()
        found: dict[str, float] = {}
        for memory in self._search_near({OWNER: hash_owner(user_id)}, text, limit):
            uid = read_memory(memory, user_id).uid
            found[uid] = max(float(memory["score"]), found.get(uid, 0.0))
        return tuple(Recollection(uid, score) for uid, score in found.items())

    def look(self) -> MemoryReport:
        """Write, list and find a canary memory, and check that nothing else is returned.

        Raises :class:`RebuildNeeded` when the index was built with another embedder or format.
        """
        self._check_seal()
        seal = {KEY: _CANARY, "embedder": self._embedder.name, "dimensions": self._embedder.dimensions}
        self._store_memory(_CANARY, _CANARY, _CANARY_WORDS, {**seal, "format": FORMAT})
        mine = [self._list_memories({OWNER: _CANARY}), self._list_memories({OWNER: _CANARY, KEY: _CANARY})]
        mine.append(self._search_near({OWNER: _CANARY}, _CANARY_WORDS, 3))
        others = [self._list_memories({OWNER: _NOBODY}), self._list_memories({OWNER: _CANARY, KEY: _NOBODY})]
        if any([memory["memory"] for memory in found] != [_CANARY_WORDS] for found in mine) or any(others):
            raise MemoryUnavailable(
                f"The index of constraints ({self._place.words}) does not find what I just wrote, so I don't use it."
            )
        memories = self._engine.count() - 1
        return MemoryReport(self._place.words, self._embedder.name, self._embedder.dimensions, memories)

    def wipe(self) -> None:
        self._engine.clear()
        if self._known is not None:
            self._known = {}

    def close(self) -> None:
        self._engine.close_connections()

    def _check_seal(self) -> None:
        seals = self._list_memories({OWNER: _CANARY})
        now = (self._embedder.name, self._embedder.dimensions, FORMAT)
        for seal in seals:
            kept = seal.get("metadata") or {}
            then = (kept.get("embedder"), kept.get("dimensions"), kept.get("format"))
            if then != now:
                raise RebuildNeeded(
                    f"The index of constraints was made with {then[0]} ({then[1]} dimensions), and {now[0]} ({now[1]})"
                    " is set now; it has to be made anew."
                )
        if not seals and self._engine.count():
            raise RebuildNeeded("The index of constraints does not say what made it; it has to be made anew.")

    def _store_memory(self, owner: str, key: str, words: str, metadata: dict[str, Any]) -> None:
        ids = self._find_ids(owner, key)
        if not ids:
            added = self._engine.add(words, user_id=owner, metadata=metadata, infer=False)
            ids.append(added["results"][0]["id"])
            return
        self._engine.update(ids[0], text=words, metadata=metadata)
        while len(ids) > 1:
            self._engine.delete(ids[-1])
            ids.pop()

    def _find_ids(self, owner: str, key: str) -> list[str]:
        """Return the ids of one constraint's memories: one, unless a write failed.

        With a cache, the list is the cached one.
        """
        if self._known is None:
            return [memory["id"] for memory in self._list_memories({OWNER: owner, KEY: key})]
        if owner not in self._known:
            known: dict[str, list[str]] = {}
            for memory in self._list_memories({OWNER: owner}):
                known.setdefault((memory.get("metadata") or {}).get(KEY, ""), []).append(memory["id"])
            self._known[owner] = known
        return self._known[owner].setdefault(key, [])

    def _list_memories(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._engine.get_all(filters=filters, top_k=_MOST, show_expired=True)["results"]
        if len(found) >= _MOST:
            raise MemoryUnavailable("One person has more memories than the index of constraints can list.")
        return found

    def _search_near(self, filters: dict[str, str], text: str, limit: int) -> list[dict[str, Any]]:
        found = self._engine.search(
            clean(text), filters=filters, top_k=limit, threshold=self._embedder.floor, show_expired=True
        )
        memories: list[dict[str, Any]] = found["results"]
        return memories
