"""Indexes of constraints: Mem0 over Qdrant, embedded and as a server, and over PostgreSQL; and a dictionary."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.memory_contract import MemoryContract
from tests.fakes import qdrant_server
from tests.fakes.asgi_server import serve_app
from tests.fakes.memory_index import MemoryIndex
from tests.postgres import PostgresServer

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, LocalMeaning, LocalNgrams, Pgvector, QdrantServer
from fateforger.memory.ports import Memory


class TestDictionary(MemoryContract):
    @pytest.fixture
    def memory(self) -> Memory:
        return MemoryIndex()


class TestEmbeddedQdrant(MemoryContract):
    @pytest.fixture
    async def memory(self, tmp_path: Path) -> AsyncIterator[Memory]:
        memory = Mem0Memory(Embedded(tmp_path / "qdrant"), LocalNgrams(), home=tmp_path)
        yield memory
        await memory.aclose()


MEANING = LocalMeaning()
"""The model is read once for all tests of this process."""


class TestMeaning(MemoryContract):
    """The default: embedded Qdrant and the embedder that knows meaning."""

    @pytest.fixture
    async def memory(self, tmp_path: Path) -> AsyncIterator[Memory]:
        memory = Mem0Memory(Embedded(tmp_path / "qdrant"), MEANING, home=tmp_path)
        yield memory
        await memory.aclose()


class TestPgvector(MemoryContract):
    @pytest.fixture
    async def memory(self, tmp_path: Path, vector_server: PostgresServer) -> AsyncIterator[Memory]:
        with vector_server.bare_database() as url:
            memory = Mem0Memory(Pgvector(url), LocalNgrams(), home=tmp_path)
            yield memory
            await memory.aclose()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
class TestQdrantServer(MemoryContract):
    @pytest.fixture
    async def memory(self, tmp_path: Path) -> AsyncIterator[Memory]:
        server = qdrant_server.QdrantServer()
        async with serve_app(server.app) as url:
            memory = Mem0Memory(QdrantServer(url, qdrant_server.KEY), LocalNgrams(), home=tmp_path)
            yield memory
            await memory.aclose()
        server.close()
