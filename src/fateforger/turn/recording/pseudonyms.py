"""Words in place of words: the same for the same, of the same length and shape, and not to be turned back."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from itertools import count, groupby

CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


class Pseudonyms:
    """Letters and digits are replaced word by word; what stands between them stays, so that a text is cut, quoted and
    laid out like the one it stands for. Without the ``key``, which is never kept, words cannot be guessed and tried."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def text(self, text: str) -> str:
        """The text in pseudonyms."""
        return "".join(
            self._word("".join(part)) if wordlike else "".join(part) for wordlike, part in groupby(text, _is_wordlike)
        )

    def _word(self, word: str) -> str:
        plain = word.lower()
        if len(plain) != len(word):  # a letter whose lower case is two; then the case is left alone
            plain = word
        if plain not in self._given:
            self._given[plain] = self._minted(plain)
            self._taken.add(self._given[plain])
        return "".join(c.upper() if old.isupper() else c for old, c in zip(word, self._given[plain], strict=True))

    def _minted(self, word: str) -> str:
        """Two words never share a pseudonym, unless there are more of that length than pseudonyms."""
        tries = range(200) if len(word) < 3 else count()
        made = ""
        for attempt in tries:
            made = _spelled(word, self._stream(word, attempt))
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


def _spelled(word: str, stream: bytes) -> str:
    made = ""
    for place, (char, byte) in enumerate(zip(word, stream, strict=False)):
        letters = VOWELS if place % 2 else CONSONANTS
        made += str(byte % 10) if char.isdigit() else letters[byte % len(letters)]
    return made
