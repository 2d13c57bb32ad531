"""Embedders, which turn texts into vectors, and the places where the vectors are stored.

The index stores an embedder's name and dimensions with its vectors. The default one is
:class:`~fateforger.adapters.memory.universal_encoder.LocalMeaning`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from fateforger.adapters.answers import limit_answers
from fateforger.errors import MemoryUnavailable
from fateforger.limits import MAX_VECTORS_BYTES
from fateforger.masks import mask_address, strip_address
from fateforger.memory.search import NGRAM_DIMENSIONS, NGRAM_FLOOR, NGRAM_NAME, embed_ngrams
from fateforger.memory.vocabulary import Domain


@dataclass(frozen=True, slots=True)
class Embedded:
    """Qdrant inside this process, in a folder of its own. Good for some ten thousand memories."""

    folder: Path

    @property
    def words(self) -> str:
        return "embedded Qdrant"


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """A Qdrant server by its address; several programs may share it."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        return f"the Qdrant server at {_get_host(self.url)}"


@dataclass(frozen=True, slots=True)
class Pgvector:
    """A PostgreSQL database with the extension ``vector``; several programs may share it."""

    url: str = field(repr=False)

    @property
    def words(self) -> str:
        return f"PostgreSQL with pgvector at {_get_host(self.url)}"


Place = Embedded | QdrantServer | Pgvector


def _get_host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'this machine'}{f':{parts.port}' if parts.port else ''}"


_SECONDS = 10.0
_MOST_CHARACTERS = 8_000
"""Characters sent of one text: models take about two thousand tokens and refuse more."""


class Embedder(Protocol):
    """Turns texts into vectors. Called from one thread. Raises :class:`~fateforger.errors.MemoryUnavailable`."""

    @property
    def name(self) -> str:
        """Return the name; vectors of embedders with different names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of the vectors; this may call the server."""
        ...

    @property
    def floor(self) -> float:
        """Return the similarity, 0 to 1, below which two texts are unrelated."""
        ...

    @property
    def related(self) -> float:
        """Return the similarity from which two texts are probably related; in between is doubt."""
        ...

    def embed(self, text: str) -> list[float]:
        """Return the vector of something that a person says or asks."""
        ...

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:
        """Return the vectors of several constraints, in their order; this takes less time than one after another.

        ``domains`` says for each which part of life it is about.
        """
        ...

    def close(self) -> None:
        """Close connections; the embedder can be used again afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class LocalNgrams:
    """An embedder that compares spelling only, in any script; it needs no model and no memory."""

    name: str = NGRAM_NAME
    dimensions: int = NGRAM_DIMENSIONS
    floor: float = NGRAM_FLOOR
    related: float = NGRAM_FLOOR

    def embed(self, text: str) -> list[float]:
        return embed_ngrams(text)

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:  # noqa: ARG002  spelling says it all
        return [embed_ngrams(text) for text in texts]

    def close(self) -> None: ...


@dataclass(frozen=True)
class OpenAiEmbeddings:
    """Any server with OpenAI's embeddings API: OpenAI, Ollama, vLLM, LM Studio. ``url`` ends in ``/v1``."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    floor: float = 0.1
    related: float = 0.1

    @property
    def name(self) -> str:
        return f"{self.model} at {strip_address(self.url)}"

    @cached_property
    def dimensions(self) -> int:
        return len(self.embed("How long is a vector?"))

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        client = httpx.Client(timeout=_SECONDS, headers=headers)
        limit_answers(client, MAX_VECTORS_BYTES, seconds=_SECONDS)
        return client

    def embed(self, text: str) -> list[float]:
        return self._ask(text[:_MOST_CHARACTERS], 1)[0]

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:  # noqa: ARG002  a large model knows
        if len(texts) < 2:
            return [self.embed(text) for text in texts]
        return self._ask([text[:_MOST_CHARACTERS] for text in texts], len(texts))

    def _ask(self, texts: str | list[str], count: int) -> list[list[float]]:
        asked = {"model": self.model, "input": texts}
        try:
            answer = self._client.post(f"{self.url}/embeddings", json=asked)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise MemoryUnavailable(
                f"The embedding model at {mask_address(self.url)} does not answer: {reason}."
            ) from None
        if answer.status_code != httpx.codes.OK:
            raise MemoryUnavailable(
                f"The embedding model at {mask_address(self.url)} refuses: HTTP {answer.status_code}."
            )
        return self._read_vectors(answer, count)

    def close(self) -> None:
        client = self.__dict__.pop("_client", None)  # a cached property stores its value there
        if client is not None:
            client.close()

    def _read_vectors(self, answer: httpx.Response, count: int) -> list[list[float]]:
        try:
            rows = sorted(answer.json()["data"], key=lambda row: row.get("index", 0))
            vectors = [[float(value) for value in row["embedding"]] for row in rows]
        except (ValueError, KeyError, AttributeError, TypeError):
            vectors = []
        if len(vectors) != count or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            raise MemoryUnavailable(
                f"The embedding model at {mask_address(self.url)} answers with something that is no vector."
            )
        return vectors


@dataclass(frozen=True)
class FastEmbed:
    """A model that runs in this process, downloaded into ``cache`` on first use."""

    model: str
    cache: Path
    floor: float = 0.1
    related: float = 0.1

    @property
    def name(self) -> str:
        return f"fastembed {self.model}"

    @cached_property
    def dimensions(self) -> int:
        return len(self.embed("How long is a vector?"))

    @cached_property
    def _model(self) -> Any:
        try:
            fastembed = importlib.import_module("fastembed")
        except ImportError:
            raise MemoryUnavailable(
                "FATEFORGER_MEMORY_EMBEDDER=fastembed needs one more package: pip install 'fateforger[fastembed]'."
            ) from None
        try:
            return fastembed.TextEmbedding(model_name=self.model, cache_dir=str(self.cache))
        except (ValueError, OSError, RuntimeError) as error:
            raise MemoryUnavailable(f"The embedding model {self.model} cannot be had: {error}.") from None

    def embed(self, text: str) -> list[float]:
        return self._embed_all([text])[0]

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:  # noqa: ARG002  a large model knows
        return self._embed_all(texts)

    def _embed_all(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(value) for value in vector] for vector in self._model.embed(list(texts))]

    def close(self) -> None: ...
