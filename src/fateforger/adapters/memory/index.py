"""The index itself, in Mem0. Importing this module imports Mem0.

Called by one thread only: embedded Qdrant loses concurrent writes. Stores read ``*`` in a filter as "any" and trim
values, so people and constraints are named by a digest, which no text can alter.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, assert_never

import mem0.memory.main as mem0  # type: ignore[import-untyped]  # it ships no types
from mem0.utils import spacy_models  # type: ignore[import-untyped]  # it ships no types
from qdrant_client import QdrantClient

from fateforger.adapters.memory.rows import (
    KEY,
    OWNER,
    build_metadata,
    clean,
    hash_key,
    hash_owner,
    read_memory,
)
from fateforger.adapters.memory.vectors import Embedded, Embedder, Pgvector, Place, QdrantServer
from fateforger.errors import InternalError, MemoryUnavailable, RebuildNeeded
from fateforger.memory.ports import Contents, MemoryReport, Recollection
from fateforger.memory.retrieval import build_text, read_domain
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Domain

log = logging.getLogger(__name__)

COLLECTION = "fateforger_constraints"
_SECONDS = 5

# Mem0 downloads an English model as soon as spaCy is installed; these flags say that this has failed already.
spacy_models._load_failed_full = True  # noqa: SLF001  there is no setting for it
spacy_models._load_failed_lemma = True  # noqa: SLF001  there is no setting for it


class _Vectors:
    """Mem0's embedding model. It embeds one text at a time, so the vectors of a batch are made ahead."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._ahead: dict[str, list[float]] = {}

    def embed(self, text: str, memory_action: str = "") -> list[float]:  # noqa: ARG002  Mem0 names it
        return self._ahead.get(text) or self._embedder.embed(text)

    @contextmanager
    def prepare(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> Iterator[None]:
        """Embed constraints together; in the block their texts have these vectors."""
        self._ahead = dict(zip(texts, self._embedder.embed_rules(texts, domains), strict=True))
        try:
            yield
        finally:
            self._ahead = {}


class _NoHistory:
    """Mem0's history of texts, which keeps changed and deleted words; the database has a better one."""

    def add_history(self, *_: Any, **__: Any) -> None: ...

    def close(self) -> None: ...


def _open_mem0(place: Place, embedder: Embedder) -> Any:
    """Open Mem0 by its own configuration, then put our embedder in.

    Mem0 builds an embedder and a language model from its list, each with a key. Neither is ever called: the embedder is
    replaced, and every write says ``infer=False``.
    """
    if mem0.MEM0_TELEMETRY:
        raise InternalError("Mem0 was imported before its telemetry was switched off.")
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    stored = _configure_vector_store(place, embedder.dimensions)
    try:
        memory = mem0.Memory.from_config(
            {"vector_store": stored, "embedder": unused, "llm": unused, "history_db_path": ":memory:"}
        )
    except BaseException:  # whatever it is, no connection stays open
        for opened in (stored["config"].get("client"), stored["config"].get("connection_pool")):
            if opened is not None:
                opened.close()
        raise
    memory.embedding_model = _Vectors(embedder)
    memory.db.close()
    memory.db = _NoHistory()
    if not isinstance(place, Pgvector):
        # Mem0 downloads an English keyword model if fastembed is installed; this says that it is not, and there is no
        # setting for it.
        memory.vector_store._bm25_encoder = False  # noqa: SLF001  see above
    if isinstance(place, QdrantServer):
        _index_keys(memory)
    return memory


def _configure_vector_store(place: Place, dimensions: int) -> dict[str, Any]:
    common = {"collection_name": COLLECTION, "embedding_model_dims": dimensions}
    match place:
        case Embedded():
            return {"provider": "qdrant", "config": {**common, "path": str(place.folder)}}
        case QdrantServer():
            client = QdrantClient(url=place.url, api_key=place.key or None, timeout=_SECONDS, check_compatibility=False)
            return {"provider": "qdrant", "config": {**common, "client": client}}
        case Pgvector():
            # An approximate index returns the nearest vectors of all owners, among which this person's may be missing.
            pool = {"connection_pool": _open_pool(place), "hnsw": False, "diskann": False}
            return {"provider": "pgvector", "config": {**common, **pool}}
        case _:
            assert_never(place)


def _index_keys(memory: Any) -> None:
    """Index the key field on a Qdrant server.

    Mem0 indexes only its own fields, and in strict mode a server filters by indexed fields only.
    """
    memory.vector_store.client.create_payload_index(COLLECTION, KEY, field_schema="keyword")


def _open_pool(place: Pgvector) -> Any:
    if importlib.util.find_spec("psycopg_pool") is None:
        raise MemoryUnavailable(
            "FATEFORGER_MEMORY_STORE=pgvector needs one more package: pip install 'fateforger[pgvector]'."
        )
    from psycopg_pool import ConnectionPool  # noqa: PLC0415  an extra

    return ConnectionPool(place.url, min_size=1, max_size=2, timeout=_SECONDS, open=True)


FORMAT = 2
"""Increment with any change to the content of a memory."""
_MOST = 100_000
"""The most memories of one person that Mem0 lists; an answer of this size may be incomplete."""
_CANARY, _NOBODY = "canary", "nobody"
"""Owners in the store that cannot be people: those start with ``person-``."""
_CANARY_WORDS = "A canary sings so that we know the air is good"


def _keep_newest(versions: Iterable[Version]) -> tuple[Version, ...]:
    """Return one version of each constraint, in order; there is one, unless a write failed."""
    found: dict[tuple[str, str], Version] = {}
    for version in versions:
        before = found.get((version.user_id, version.uid))
        if before is None or before.seq < version.seq:
            found[version.user_id, version.uid] = version
    return tuple(found[key] for key in sorted(found))


class Index:
    def __init__(self, place: Place, embedder: Embedder) -> None:
        self._place = place
        self._embedder = embedder
        self._mem0 = _open_mem0(place, embedder)
        # No other program writes to an embedded store, so the ids can be cached.
        self._known: dict[str, dict[str, list[str]]] | None = {} if isinstance(place, Embedded) else None

    def put(self, versions: Sequence[Version]) -> None:
        texts = [clean(build_text(version.record)) for version in versions]
        domains = [read_domain(version.record) for version in versions]
        with self._mem0.embedding_model.prepare(texts, domains):
            for version, text in zip(versions, texts, strict=True):
                self._put_one(version, text)

    def _put_one(self, version: Version, text: str) -> None:
        """Write a memory and read it back. One that does not hold what was written is made again, once."""
        owner, key = hash_owner(version.user_id), hash_key(version.uid)
        metadata = build_metadata(version)
        memory_id = self._store_memory(owner, key, text, metadata)
        if self._holds(memory_id, version, text):
            return
        log.warning("a memory did not hold what was written and is made again: constraint %s", key[:12])
        self.drop(version.user_id, version.uid)
        if not self._holds(self._store_memory(owner, key, text, metadata), version, text):
            raise MemoryUnavailable(f"Mem0 ({self._place.words}) does not keep what I write, so I don't rely on it.")

    def _holds(self, memory_id: str, version: Version, text: str) -> bool:
        """Check whether a memory, as Mem0 returns it, is this version and nothing else."""
        memory = self._mem0.get(memory_id)
        try:
            return memory is not None and memory["memory"] == text and read_memory(memory, version.user_id) == version
        except RebuildNeeded:
            return False

    def drop(self, user_id: str, uid: str) -> None:
        ids = self._find_ids(hash_owner(user_id), hash_key(uid))
        while ids:
            self._mem0.delete(ids[-1])
            ids.pop()

    def all(self, user_id: str) -> tuple[Version, ...]:
        memories = self._list_memories({OWNER: hash_owner(user_id)})
        return _keep_newest(read_memory(memory, user_id) for memory in memories)

    def list_everything(self) -> Contents:
        """Return the memories of everybody. ``*`` is Mem0's filter for any owner."""
        found, unreadable = [], 0
        for memory in self._list_memories({OWNER: "*"}):
            try:
                if memory.get(OWNER) != _CANARY:
                    found.append(read_memory(memory))
            except RebuildNeeded:
                unreadable += 1
        return Contents(_keep_newest(found), unreadable)

    def search(self, user_id: str, text: str, limit: int) -> tuple[Recollection, ...]:
        if not text.strip() or limit < 1:
            return ()
        found: dict[str, float] = {}
        for memory in self._search_near({OWNER: hash_owner(user_id)}, text, limit):
            uid = read_memory(memory, user_id).uid
            found[uid] = max(float(memory["score"]), found.get(uid, 0.0))
        return tuple(Recollection(uid, score, score >= self._embedder.related) for uid, score in found.items())

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
        memories = self._count() - 1
        return MemoryReport(self._place.words, self._embedder.name, self._embedder.dimensions, memories)

    def wipe(self) -> None:
        # Mem0's own ``reset`` also brings its history back.
        self._mem0.vector_store.reset()
        if isinstance(self._place, QdrantServer):
            _index_keys(self._mem0)
        if self._known is not None:
            self._known = {}

    def close(self) -> None:
        """Close files and connections; Mem0's own ``close`` leaves those of the store open."""
        if isinstance(self._place, Pgvector):
            self._mem0.vector_store.connection_pool.close()
        else:
            self._mem0.vector_store.client.close()

    def _check_seal(self) -> None:
        seals = self._list_memories({OWNER: _CANARY})
        now = (self._embedder.name, self._embedder.dimensions, FORMAT)
        for seal in seals:
            kept = seal.get("metadata") or {}
            then = (kept.get("embedder"), kept.get("dimensions"), kept.get("format"))
            if then != now:
                raise RebuildNeeded(
                    f"The index of constraints was made with {then[0]} ({then[1]} dimensions), and {now[0]} ({now[1]})"
                    " is set now; it has to be rebuilt."
                )
        if not seals and self._count():
            raise RebuildNeeded("The index of constraints does not say what made it; it has to be rebuilt.")

    def _store_memory(self, owner: str, key: str, words: str, metadata: dict[str, Any]) -> str:
        """Write the one memory of a constraint, and return its id."""
        ids = self._find_ids(owner, key)
        if not ids:
            added = self._mem0.add(words, user_id=owner, metadata=metadata, infer=False)
            ids.append(added["results"][0]["id"])
            return ids[0]
        self._mem0.update(ids[0], text=words, metadata=metadata)
        while len(ids) > 1:
            self._mem0.delete(ids[-1])
            ids.pop()
        return ids[0]

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
        found: list[dict[str, Any]] = self._mem0.get_all(filters=filters, top_k=_MOST, show_expired=True)["results"]
        if len(found) >= _MOST:
            raise MemoryUnavailable("One person has more memories than the index of constraints can list.")
        return found

    def _find_near(self, text: str, filters: dict[str, str], limit: int) -> list[dict[str, Any]]:
        """Return the memories whose vectors are nearest to that of a text.

        Mem0's own search reads four times as many, and on PostgreSQL mixes in English keywords.
        """
        vector = self._mem0.embedding_model.embed(text, "search")
        points = self._mem0.vector_store.search(query=text, vectors=vector, top_k=limit, filters=filters)
        return [{"memory": point.payload["data"], "score": point.score, "metadata": point.payload} for point in points]

    def _count(self) -> int:
        """Return the number of memories of all owners; Mem0 itself can only list them."""
        if isinstance(self._place, Pgvector):
            return int(self._mem0.vector_store.col_info()["count"])
        return int(self._mem0.vector_store.client.count(COLLECTION, exact=True).count)

    def _search_near(self, filters: dict[str, str], text: str, limit: int) -> list[dict[str, Any]]:
        found = self._find_near(clean(text), filters, limit)
        return [memory for memory in found if memory["score"] >= self._embedder.floor]
