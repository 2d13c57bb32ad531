"""An embedding that needs no model: the character n-grams of a text, hashed into a fixed number of dimensions.

The same text gives the same vector on every machine, offline, in any script. It compares spelling, not meaning: it
finds *gym* in "the gym is closed", *Sitzung* in *Teamsitzungen*, *reunion* for *réunion*, and words with a typo. It
does not find *exercise* in "gym", nor a rule in a language other than the question's. A long text ranks below a short
one that contains the same words.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator

NAME = "local-ngrams-1"
"""Increment with any change below: vectors of different versions cannot be compared."""
DIMENSIONS = 512
FLOOR = 0.06
"""Below this similarity, two texts share only hash collisions."""
_SIZES = (3, 4, 5)
_WHOLE, _SHORT = 1.5, 0.4
_SHORT_LETTERS = 3
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that say much in one character, or put no spaces between words: single characters and pairs are used."""


def embed(text: str) -> list[float]:
    """Return a vector of length one; all zeros for a text without any letter, digit or symbol."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for word in split_words(text):
        for piece, weight in _iter_pieces(word):
            counts[piece] += 1
            weights[piece] = max(weight, weights.get(piece, 0.0))
    vector = [0.0] * DIMENSIONS
    for piece, count in counts.items():
        weight = weights[piece] * (1.0 + math.log(count))
        number = zlib.crc32(piece.encode("utf-8", "surrogatepass"))
        # Each piece has two dimensions, so that two pieces hardly ever share both. The signs make collisions cancel out
        # as often as they add up.
        for bits in (number, number >> 16):
            vector[bits % DIMENSIONS] += weight if bits & 0x8000 else -weight
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
