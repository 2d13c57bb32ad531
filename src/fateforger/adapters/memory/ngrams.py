"""An embedding that needs no model: a text as the pieces of its words, counted into a fixed number of places.

The same text gives the same vector on every machine, offline, in any script. It knows how words are written, not what
they mean: it finds *gym* in "the gym is closed", *Sitzung* in *Teamsitzungen*, *reunion* for *réunion*, and a word with
a typing mistake; it does not find *exercise* in "gym", nor a rule in another language than the question's. A long text
ranks behind a short one that holds the same words.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator

NAME = "local-ngrams-1"
"""To be counted up with any change of what follows: vectors of two ways of counting cannot be compared."""
DIMENSIONS = 512
FLOOR = 0.06
"""Below this likeness, what two texts share is chance: pieces that fell into the same place."""
_SIZES = (3, 4, 5)
_WHOLE, _SHORT = 1.5, 0.4
_SHORT_LETTERS = 3
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that say much in one character, or put no space between words: characters and pairs of them are pieces."""


def embed(text: str) -> list[float]:
    """A vector of length one; all zeros for a text without any letter, digit or symbol."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for word in words(text):
        for piece, weight in _pieces(word):
            counts[piece] += 1
            weights[piece] = max(weight, weights.get(piece, 0.0))
    vector = [0.0] * DIMENSIONS
    for piece, count in counts.items():
        weight = weights[piece] * (1.0 + math.log(count))
        number = zlib.crc32(piece.encode("utf-8", "surrogatepass"))
        # Two places for each piece, so that two pieces hardly ever share both; the signs make those that share one
        # cancel out as often as they add up.
        for bits in (number, number >> 16):
            vector[bits % DIMENSIONS] += weight if bits & 0x8000 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def words(text: str) -> list[str]:
    """Runs of letters and digits, folded: no case, no accents, one form of each character; a symbol is a word."""
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


def _pieces(word: str) -> Iterator[tuple[str, float]]:
    if _dense(word):
        yield from ((character, 1.0) for character in word)
        yield from ((word[n : n + 2], _WHOLE) for n in range(len(word) - 1))
        return
    # Short words are mostly those that any text holds.
    weight = _SHORT if len(word) <= _SHORT_LETTERS and word.isalpha() else 1.0
    yield f"={word}", _WHOLE * weight
    marked = f"<{word}>"
    for size in _SIZES:
        yield from ((marked[n : n + size], weight) for n in range(len(marked) - size + 1))


def _dense(word: str) -> bool:
    return any(unicodedata.name(character, "").startswith(_DENSE) for character in word)
