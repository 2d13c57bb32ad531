"""Replace words by pseudonyms of the same length and shape, consistently and irreversibly."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from itertools import count, groupby

CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


class Pseudonyms:
    """Replaces letters and digits word by word.

    Everything between words stays, so that a text is cut, quoted and laid out as before. The ``key`` is never stored;
    without it, a pseudonym cannot be confirmed by guessing words.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def text(self, text: str) -> str:
        """Replace the words of a text."""
        return "".join(
            self._word("".join(part)) if wordlike else "".join(part) for wordlike, part in groupby(text, _is_wordlike)
        )

    def _word(self, word: str) -> str:
        plain = word.lower()
        if len(plain) != len(word):  # The lower case of some letters has two characters; such a word keeps its case.
            plain = word
        if plain not in self._given:
            self._given[plain] = self._mint(plain)
            self._taken.add(self._given[plain])
        return "".join(c.upper() if old.isupper() else c for old, c in zip(word, self._given[plain], strict=True))

    def _mint(self, word: str) -> str:
        """Create a pseudonym. Two words share one only if there are more words of that length than pseudonyms."""
        tries = range(200) if len(word) < 3 else count()
        made = ""
        for attempt in tries:
            made = _spell(word, self._stream(word, attempt))
            if made not in self._taken:
                break
        return made

    def _stream(self, word: str, attempt: int) -> bytes:
        stream = b""
        while len(stream) < len(word):
            seed = f"{attempt}/{len(stream)}/{word}".encode("utf-8", "surrogatepass")
            stream += hmac.digest(self._key, seed, hashlib.sha256)
        return stream


def _is_wordlike(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _spell(word: str, stream: bytes) -> str:
    made = ""
    for place, (char, byte) in enumerate(zip(word, stream, strict=False)):
        letters = VOWELS if place % 2 else CONSONANTS
        made += str(byte % 10) if char.isdigit() else letters[byte % len(letters)]
    return made
