"""The text by which a constraint is found, and a search by its spelling, which needs no model and no index.

The index finds constraints by meaning. While it is away, and for words that are misspelled, spelling has to do.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Domain

_DOMAINS = frozenset(Domain) - {Domain.OTHER}


def build_text(record: ConstraintRecord) -> str:
    """Return the text by which a constraint is found: the person's words, and on a second line what it is about."""
    aspect = record.aspect
    about = () if aspect is None else (aspect.aspect_label, aspect.category)
    label = [record.name, *record.topics, *(word for word in about if word and word != Domain.OTHER)]
    return "\n".join(filter(None, (_fold(record.words), _fold(", ".join(label))))) or "?"


def read_domain(record: ConstraintRecord) -> Domain | None:
    """Return the part of life that a constraint is about; ``None`` if that is another one, or not known."""
    category = None if record.aspect is None else record.aspect.category
    return Domain(category) if category in _DOMAINS else None


def _fold(text: str) -> str:
    return " ".join(text.split())


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


def find_by_spelling(text: str, versions: Iterable[Version], user_id: str, *, limit: int) -> tuple[str, ...]:
    """Return the uids of a person's constraints in force that are spelled like ``text``, the most similar first."""
    asked = {place: value for place, value in enumerate(embed_ngrams(text)) if value}
    current = (version for version in select_newest(versions, user_id).values() if not version.retired)
    scores = {version.uid: _compare(asked, embed_ngrams(build_text(version.record))) for version in current}
    similar = (uid for uid, score in scores.items() if score >= NGRAM_FLOOR)
    return tuple(sorted(similar, key=lambda uid: (-scores[uid], uid))[:limit])


def _compare(asked: dict[int, float], vector: list[float]) -> float:
    return sum(value * vector[place] for place, value in asked.items())
