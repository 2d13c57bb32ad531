"""Mem0 as this package uses it: verbatim texts, one embedder, one store. Importing this module imports Mem0."""

from __future__ import annotations

import importlib.util
from typing import Any, assert_never

import mem0.memory.main as mem0  # type: ignore[import-untyped]  # it ships no types
from mem0.configs.base import MemoryConfig  # type: ignore[import-untyped]  # it ships no types
from mem0.utils import spacy_models  # type: ignore[import-untyped]  # it ships no types
from mem0.utils.factory import VectorStoreFactory  # type: ignore[import-untyped]  # it ships no types
from qdrant_client import QdrantClient

from fateforger.adapters.memory.embedders import Embedder
from fateforger.adapters.memory.places import Embedded, Pgvector, Place, QdrantServer
from fateforger.adapters.memory.rows import KEY
from fateforger.errors import InternalError, MemoryUnavailable

COLLECTION = "fateforger_constraints"
_SECONDS = 5

# Mem0 downloads an English model as soon as spaCy is installed; these flags say that this has failed already.
spacy_models._load_failed_full = True  # noqa: SLF001  there is no setting for it
spacy_models._load_failed_lemma = True  # noqa: SLF001  there is no setting for it


class Engine(mem0.Memory):  # type: ignore[misc]  # it ships no types
    """Mem0's ``Memory`` without a language model.

    Its own constructor requires a model and an embedder from its list, each with a key, and takes another second to
    import them. No call here uses a model (``infer=False``).
    """

    def __init__(self, place: Place, embedder: Embedder) -> None:
        if mem0.MEM0_TELEMETRY:
            raise InternalError("Mem0 was imported before its telemetry was switched off.")
        self.config = MemoryConfig()
        self.embedding_model = _Embeddings(embedder)
        self.vector_store = _open_vector_store(place, embedder.dimensions)
        self.llm = None
        self.db = _NoHistory()
        self.collection_name = COLLECTION
        self.api_version = self.config.version
        self.custom_instructions = None
        self.reranker = None
        self._entity_store = None
        self._place = place
        self._index_keys()

    def _remove_memory_from_entity_store(self, memory_id: str, filters: dict[str, Any]) -> None:
        """Do nothing: entities need spaCy, are English only, and would add a second collection."""

    def _link_entities_for_memory(self, memory_id: str, text: str, filters: dict[str, Any]) -> None:
        """Do nothing: there are no entities."""

    def count(self) -> int:
        """Return the number of memories of all owners."""
        match self._place:
            case Embedded() | QdrantServer():
                return int(self.vector_store.client.count(COLLECTION, exact=True).count)
            case Pgvector():
                return int(self.vector_store.col_info()["count"])
            case _:
                assert_never(self._place)

    def clear(self) -> None:
        """Remove all memories and recreate the collection for vectors of the current length."""
        self.vector_store.reset()
        self._index_keys()

    def _index_keys(self) -> None:
        """Index the key field on a Qdrant server.

        Mem0 indexes only its own fields, and in strict mode a server filters by indexed fields only.
        """
        if isinstance(self._place, QdrantServer):
            self.vector_store.client.create_payload_index(COLLECTION, KEY, field_schema="keyword")

    def close_connections(self) -> None:
        """Close files and connections; Mem0's own ``close`` leaves those of the store open."""
        match self._place:
            case Embedded() | QdrantServer():
                self.vector_store.client.close()
            case Pgvector():
                self.vector_store.connection_pool.close()
            case _:
                assert_never(self._place)


def _open_vector_store(place: Place, dimensions: int) -> Any:
    common = {"collection_name": COLLECTION, "embedding_model_dims": dimensions}
    match place:
        case Embedded():
            return _create_without_keywords("qdrant", {**common, "path": str(place.folder)})
        case QdrantServer():
            client = QdrantClient(url=place.url, api_key=place.key or None, timeout=_SECONDS, check_compatibility=False)
            try:
                return _create_without_keywords("qdrant", {**common, "client": client})
            except BaseException:
                client.close()
                raise
        case Pgvector():
            # An approximate index returns the nearest vectors of all owners, among which this person's may be missing.
            address = dict.fromkeys(("dbname", "user", "password", "host", "port"))
            config = {**common, **address, "connection_pool": _open_pool(place), "hnsw": False, "diskann": False}
            return VectorStoreFactory.create("pgvector", config)
        case _:
            assert_never(place)


def _create_without_keywords(provider: str, config: dict[str, Any]) -> Any:
    """Create a store without Mem0's English keyword model, which it would download if fastembed is installed."""
    store = VectorStoreFactory.create(provider, config)
    store._bm25_encoder = False  # noqa: SLF001  there is no setting for it
    return store


def _open_pool(place: Pgvector) -> Any:
    if importlib.util.find_spec("psycopg_pool") is None:
        raise MemoryUnavailable(
            "FATEFORGER_MEMORY_STORE=pgvector needs one more package: pip install 'fateforger[pgvector]'."
        )
    from psycopg_pool import ConnectionPool  # noqa: PLC0415  an extra

    return ConnectionPool(place.url, min_size=1, max_size=2, timeout=_SECONDS, open=True)


class _Embeddings:
    """An embedder behind the interface that Mem0 calls."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002  Mem0's signature
        return self._embedder.embed(text)


class _NoHistory:
    """Replaces Mem0's history, which keeps changed and deleted texts; the database has its own."""

    def add_history(self, *_: object, **__: object) -> None: ...

    def close(self) -> None: ...
