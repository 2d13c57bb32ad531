"""Embedders turn texts into vectors. The index stores an embedder's name and dimensions with its vectors."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import httpx

from fateforger.adapters.memory import ngrams
from fateforger.errors import MemoryUnavailable

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

    def embed(self, text: str) -> list[float]:
        """Return the vector of a text."""
        ...

    def close(self) -> None:
        """Close connections; the embedder can be used again afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class LocalNgrams:
    """The default embedder: see :mod:`~fateforger.adapters.memory.ngrams`."""

    name: str = ngrams.NAME
    dimensions: int = ngrams.DIMENSIONS
    floor: float = ngrams.FLOOR

    def embed(self, text: str) -> list[float]:
        return ngrams.embed(text)

    def close(self) -> None: ...


@dataclass(frozen=True)
class OpenAiEmbeddings:
    """Any server with OpenAI's embeddings API: OpenAI, Ollama, vLLM, LM Studio. ``url`` ends in ``/v1``."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    floor: float = 0.1

    @property
    def name(self) -> str:
        return f"{self.model} at {self.url}"

    @cached_property
    def dimensions(self) -> int:
        return len(self.embed("How long is a vector?"))

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return httpx.Client(timeout=_SECONDS, headers=headers)

    def embed(self, text: str) -> list[float]:
        asked = {"model": self.model, "input": text[:_MOST_CHARACTERS]}
        try:
            answer = self._client.post(f"{self.url}/embeddings", json=asked)
        except httpx.HTTPError as error:
            raise MemoryUnavailable(
                f"The embedding model at {self.url} does not answer: {str(error) or type(error).__name__}."
            ) from None
        if answer.status_code != httpx.codes.OK:
            raise MemoryUnavailable(f"The embedding model at {self.url} refuses: HTTP {answer.status_code}.")
        return self._read_vector(answer)

    def close(self) -> None:
        client = self.__dict__.pop("_client", None)  # a cached property stores its value there
        if client is not None:
            client.close()

    def _read_vector(self, answer: httpx.Response) -> list[float]:
        try:
            vector = [float(value) for value in answer.json()["data"][0]["embedding"]]
        except (ValueError, KeyError, IndexError, TypeError):
            vector = []
        if not vector or not all(map(math.isfinite, vector)):
            raise MemoryUnavailable(f"The embedding model at {self.url} answers with something that is no vector.")
        return vector


@dataclass(frozen=True)
class FastEmbed:
    """A model that runs in this process, downloaded into ``cache`` on first use."""

    model: str
    cache: Path
    floor: float = 0.1

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
        return [float(value) for value in next(iter(self._model.embed([text])))]

    def close(self) -> None: ...
