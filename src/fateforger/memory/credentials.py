"""Keys, tokens and passwords in a text, recognized by their fixed forms: they are never remembered.

A password in plain words has no form; recognizing it takes a reader who understands the language.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import ne
from string import ascii_letters, digits

from fateforger.limits import MAX_MESSAGE_CHARS
from fateforger.memory.record import ConstraintRecord
from fateforger.text import mark_message

WITHHELD = "[withheld]"
"""The replacement text."""
LEFT_OUT = mark_message("I left out what looks like a password or a key, and remember nothing of that message.")
TOO_LONG = mark_message("That is longer than I can read. Please send it in parts of at most 40,000 characters.")
REFUSED = mark_message("That looks as if it held a password or a key, so I don't keep any of it.")


_KEY_BEGINS = re.compile(r"-----BEGIN[ A-Z]{0,40}PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END[ A-Z]{0,40}PRIVATE KEY-----")
# Every unbounded repetition ends its alternative, so that no text is scanned twice: time grows linearly with length,
# whatever the text contains.
_KNOWN = re.compile(
    r"""
      \b(?:sk|rk|pk)[-_](?:proj-|ant-|or-|live_|test_)?[A-Za-z0-9_-]{16,}
    | \b(?:gh[oprsu]_|github_pat_|glpat-|hf_|npm_|pypi-|ntn_|lin_api_|figd_|whsec_|ffa_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}
    | \bsecret_[A-Za-z0-9]{32,}
    | \bxox[a-z]-[A-Za-z0-9-]{10,} | \bxapp-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b | \bAIza[A-Za-z0-9_-]{30,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bSG\.[A-Za-z0-9_-]{16,128}\.[A-Za-z0-9_-]{16,} | \bAGE-SECRET-KEY-1[A-Z0-9]{40,}
    | \beyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*)?
    | \b\d{8,10}:[A-Za-z0-9_-]{35}\b
    """,
    re.VERBOSE,
)
_LOGIN = re.compile(r"(?<=://)[^\s/:@]{1,256}:[^\s/@]{1,1024}(?=@)")
"""A name and a password in a URL."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+")
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_SWITCHES = 0.4
"""Random characters change between capitals, small letters and digits more often than words do."""
_KINDS = str.maketrans(ascii_letters + digits, "a" * 26 + "A" * 26 + "0" * 10)


def remove_credentials(text: str) -> str:
    """Return the text without keys, tokens and passwords of known form, and without anything beyond the limit."""
    is_cut = len(text) > MAX_MESSAGE_CHARS
    shown = _remove_keys(text[:MAX_MESSAGE_CHARS], is_cut=is_cut)
    shown = _KNOWN.sub(WITHHELD, _LOGIN.sub(WITHHELD, shown))
    addresses = [match.span() for match in _ADDRESS.finditer(shown)]
    begins = [begin for begin, _ in addresses]

    def unless_address(match: re.Match[str]) -> str:
        before = bisect_right(begins, match.start()) - 1
        inside = before >= 0 and match.start() < addresses[before][1]
        return match.group() if inside or not _is_random(match.group()) else WITHHELD

    shown = _RUN.sub(unless_address, shown)
    return f"{_drop_last_word(shown)} {WITHHELD}" if is_cut else shown


def redact_credentials(text: str) -> tuple[str, bool]:
    """Return the text without credentials, and whether there were any."""
    harmless = remove_credentials(text)
    return harmless, harmless != text


def _remove_keys(text: str, *, is_cut: bool) -> str:
    """Return the text without private keys.

    Of a key without an end marker only the first line is removed here, since the other lines look random enough. If the
    text was cut, everything after the first line is removed as well.
    """
    kept, at = [], 0
    ends = [match.span() for match in _KEY_ENDS.finditer(text)]
    upcoming = 0
    for begins in _KEY_BEGINS.finditer(text):
        if begins.start() < at:
            continue
        while upcoming < len(ends) and ends[upcoming][0] < begins.end():
            upcoming += 1
        kept += [text[at : begins.start()], WITHHELD]
        unended = len(text) if is_cut else begins.end()
        at = ends[upcoming][1] if upcoming < len(ends) else unended
    return "".join([*kept, text[at:]])


def _drop_last_word(text: str) -> str:
    """Return the text without its last word: a secret that was cut in two may have lost its form."""
    return "".join(text.rsplit(maxsplit=1)[:-1])


def holds_credentials(record: ConstraintRecord) -> bool:
    """Check whether any text field of a record contains credentials."""
    return any(redact_credentials(text)[1] for text in _iter_texts(record.model_dump(mode="json")))


def _iter_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in {"uid", "supersedes_uids"}:
                yield from _iter_texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_texts(each)


def _is_random(run: str) -> bool:
    kinds = run.translate(_KINDS)
    if not all(kind in kinds for kind in "aA0"):
        return False
    switches: int = sum(map(ne, kinds, kinds[1:]))
    return switches >= _SWITCHES * len(run)
