"""Embedders, which turn texts into vectors, and the places where the vectors are stored.

The index stores an embedder's name and dimensions with its vectors. The default one needs no model.
"""

from __future__ import annotations

import importlib
import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from fateforger.errors import MemoryUnavailable


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


NGRAM_NAME = "local-ngrams-1"
"""Increment with any change below: vectors of different versions cannot be compared."""
NGRAM_DIMENSIONS = 512
NGRAM_FLOOR = 0.06
"""Below this similarity, two texts share only hash collisions."""
_SIZES = (3, 4, 5)
_WHOLE, _SHORT = 1.5, 0.4
_SHORT_LETTERS = 3
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that say much in one character, or put no spaces between words: single characters and pairs are used."""


def embed_ngrams(text: str) -> list[float]:
    """Return a vector of length one; all zeros for a text without any letter, digit or symbol."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for word in split_words(text):
        for piece, weight in _iter_pieces(word):
            counts[piece] += 1
            weights[piece] = max(weight, weights.get(piece, 0.0))
    vector = [0.0] * NGRAM_DIMENSIONS
    for piece, count in counts.items():
        weight = weights[piece] * (1.0 + math.log(count))
        number = zlib.crc32(piece.encode("utf-8", "surrogatepass"))
        # Each piece has two dimensions, so that two pieces hardly ever share both. The signs make collisions cancel out
        # as often as they add up.
        for bits in (number, number >> 16):
            vector[bits % NGRAM_DIMENSIONS] += weight if bits & 0x8000 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def split_words(text: str) -> list[str]:
    """Split a text into runs of letters and digits without case, accents or character variants; a symbol is a word."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(c for c in folded if not "\u0300" <= c <= "\u036f")
    found: list[str] = []
    run: list[str] = []
    for character in [*unicodedata.normalize("NFC", bare), " "]:
        kind = unicodedata.category(character)[0]
        if kind in "LNM":
            run.append(character)
            continue
        if run:
            found.append("".join(run))
            run = []
        if kind == "S":
            found.append(character)
    return found


def _iter_pieces(word: str) -> Iterator[tuple[str, float]]:
    if _is_dense(word):
        yield from ((character, 1.0) for character in word)
        yield from ((word[n : n + 2], _WHOLE) for n in range(len(word) - 1))
        return
    # Most short words are common ones.
    weight = _SHORT if len(word) <= _SHORT_LETTERS and word.isalpha() else 1.0
    yield f"={word}", _WHOLE * weight
    marked = f"<{word}>"
    for size in _SIZES:
        yield from ((marked[n : n + size], weight) for n in range(len(marked) - size + 1))


def _is_dense(word: str) -> bool:
    return any(unicodedata.name(character, "").startswith(_DENSE) for character in word)


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
    """The default embedder: see :mod:`~fateforger.adapters.memory.vectors`."""

    name: str = NGRAM_NAME
    dimensions: int = NGRAM_DIMENSIONS
    floor: float = NGRAM_FLOOR

    def embed(self, text: str) -> list[float]:
        return embed_ngrams(text)

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
