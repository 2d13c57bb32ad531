"""The embedding that needs no model."""

from __future__ import annotations

import math

import pytest

from fateforger.memory.retrieval import NGRAM_DIMENSIONS, NGRAM_FLOOR, embed_ngrams, split_words


def likeness(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(embed_ngrams(one), embed_ngrams(other), strict=True))


def test_words_are_folded() -> None:
    assert split_words("Ｆrühstück, ÉTÉ-2026 🙂!") == ["fruhstuck", "ete", "2026", "🙂"]
    assert split_words("Straße STRASSE ﬁt") == ["strasse", "strasse", "fit"]
    assert split_words("が ガ한국어 हिन्दी") == ["が", "ガ한국어", "हिन्दी"]
    assert split_words(" \n—…!") == []


def test_a_vector_has_length_one_and_is_always_the_same() -> None:
    """The numbers belong to this version of the algorithm. Others need another name, and a rebuild of every index."""
    vector = embed_ngrams("Keine Besprechungen vor zehn")
    assert (len(vector), math.isclose(sum(v * v for v in vector), 1.0)) == (NGRAM_DIMENSIONS, True)
    assert vector == embed_ngrams("keine  BESPRECHUNGEN vor zehn!")
    assert [(n, round(v, 6)) for n, v in enumerate(embed_ngrams("9")) if v] == NINE
    assert set(embed_ngrams("!?")) == {0.0}


NINE = [(52, -0.588348), (73, 0.588348), (469, -0.392232), (503, -0.392232)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("No meetings before ten", "meeting"),
        ("Teamsitzungen nur nachmittags", "Sitzung"),
        ("Réunions le matin", "reunion"),
        ("Спортзал по вторникам", "спортзала"),
        ("夜八時以降は家族と過ごす", "家族"),
        ("점심은 열두 시에 먹는다", "점심"),
        ("Deep work in the morning", "deep wrok"),
        ("ΚΑΦΕΣ στις εννέα", "καφές"),
    ],
)
def test_words_are_recognised(text: str, question: str) -> None:
    strangers = ["Invoices on Fridays", "Rechnungen am Freitag", "Счета по пятницам", "金曜日に請求書", "금요일 청구서"]
    assert likeness(text, question) > max(NGRAM_FLOOR, *(likeness(stranger, question) for stranger in strangers)) + 0.1


def test_what_it_cannot() -> None:
    """It does not find meaning without common letters, nor across languages."""
    assert likeness("The gym is closed on Mondays", "exercise") < NGRAM_FLOOR
    assert likeness("Mittagessen um zwölf", "lunch at noon") < 0.15
