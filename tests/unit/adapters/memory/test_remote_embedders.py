"""Embedders outside of the program: a server with OpenAI's embeddings, and a package that is not installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.factories.constraints import version_of
from tests.fakes.asgi_server import serve_app

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, FastEmbed, OpenAiEmbeddings
from fateforger.errors import MemoryUnavailable
from fateforger.memory.retrieval import embed_ngrams


class EmbeddingServer:
    """Answers as OpenAI does, in vectors of sixteen; ``says`` replaces the answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, dict[str, Any]]] = []
        self.says: Callable[[], Response] | None = None
        self.app = Starlette(routes=[Route("/v1/embeddings", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append((request.headers.get("authorization"), body))
        if self.says is not None:
            return self.says()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        whole = [embed_ngrams(text) for text in texts]
        vectors = [[sum(vector[n::16]) for n in range(16)] for vector in whole]
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        return JSONResponse({"object": "list", "data": rows[::-1]})  # the index says which text it is of


async def test_a_server_with_openais_embeddings(tmp_path: Path) -> None:
    server = EmbeddingServer()
    async with serve_app(server.app) as url:
        embedder = OpenAiEmbeddings(f"{url}/v1", "tiny", "sk-secret")
        memory = Mem0Memory(Embedded(tmp_path / "qdrant"), embedder, home=tmp_path)
        before = len(server.asked)
        await memory.put(
            version_of("a", description=("swimming " * 900)[:8_000]), version_of("b", description="invoices")
        )
        batches = [body["input"] for _, body in server.asked[before:] if isinstance(body["input"], list)]
        assert [item.uid for item in await memory.search("U1", "invoices", limit=1)] == ["b"]
        report = await memory.report()
        assert (report.embedder, report.dimensions, report.memories) == (f"tiny at {url}/v1", 16, 2)
        await memory.aclose()
    assert {key for key, _ in server.asked} == {"Bearer sk-secret"}
    assert {body["model"] for _, body in server.asked} == {"tiny"}
    assert [[len(text) for text in batch] for batch in batches] == [[8_000, len("invoices\nRule b")]]
    assert "sk-secret" not in repr(embedder)


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        (lambda: Response(status_code=401), "refuses: HTTP 401."),
        (lambda: JSONResponse({"error": "overloaded"}, status_code=503), "refuses: HTTP 503."),
        (lambda: Response("<html>"), "answers with something that is no vector."),
        (lambda: JSONResponse({"data": []}), "answers with something that is no vector."),
        (lambda: JSONResponse({"data": [{"embedding": []}]}), "answers with something that is no vector."),
        (lambda: Response('{"data": [{"embedding": [NaN]}]}'), "answers with something that is no vector."),
    ],
)
async def test_what_a_server_cannot_do_is_one_sentence(says: Callable[[], Response], sentence: str) -> None:
    server = EmbeddingServer()
    server.says = says
    async with serve_app(server.app) as url:
        embedder = OpenAiEmbeddings(f"{url}/v1", "tiny")
        with pytest.raises(MemoryUnavailable) as refused:
            await asyncio.to_thread(embedder.embed, "x")
        embedder.close()
    assert str(refused.value) == f"The embedding model at {url}/v1 {sentence}"


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(MemoryUnavailable, match=r"^The embedding model at http://127\.0\.0\.1:9/v1 does not answer: "):
        OpenAiEmbeddings("http://127.0.0.1:9/v1", "tiny").embed("x")


def test_a_package_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnavailable, match=r"pip install 'fateforger\[fastembed\]'"):
        FastEmbed("any", tmp_path).embed("x")
