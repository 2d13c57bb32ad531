"""Keys, tokens and passwords in a text, by the fixed forms that they have: they are never remembered.

A password in plain words has no form; whether a message holds one is for whoever understands its language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from fateforger.constraints.record import ConstraintRecord

WITHHELD = "[withheld]"
"""What stands in the place of one."""
LEFT_OUT = "I left out what looks like a password or a key, and remember nothing of that message."
REFUSED = "That looks as if it held a password or a key, so I don't keep any of it."

_KNOWN = re.compile(
    r"""
      -----BEGIN[ A-Z]*PRIVATE\ KEY-----(?:.*?-----END[ A-Z]*PRIVATE\ KEY-----)?
    | \b(?:sk|rk|pk)[-_](?:proj-|ant-|or-|live_|test_)?[A-Za-z0-9_-]{16,}
    | \b(?:gh[oprsu]_|github_pat_|glpat-|hf_|npm_|pypi-|ntn_|lin_api_|figd_|whsec_|ffa_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}
    | \bsecret_[A-Za-z0-9]{32,}
    | \bxox[a-z]-[A-Za-z0-9-]{10,} | \bxapp-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b | \bAIza[A-Za-z0-9_-]{30,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,} | \bAGE-SECRET-KEY-1[A-Z0-9]{40,}
    | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    | \b\d{8,10}:[A-Za-z0-9_-]{35}\b
    """,
    re.VERBOSE | re.DOTALL,
)
_LOGIN = re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)")
"""A name and a password in an address."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_SWITCHES = 0.4
"""Random characters change between capitals, small letters and digits more often than any written word."""


def without_credentials(text: str) -> str:
    """The text with each key, token or password of a known form taken out."""
    text = _KNOWN.sub(WITHHELD, _LOGIN.sub(WITHHELD, text))
    addresses = [match.span() for match in _ADDRESS.finditer(text)]

    def unless_address(match: re.Match[str]) -> str:
        inside = any(begin <= match.start() < end for begin, end in addresses)
        return match.group() if inside or not _is_random(match.group()) else WITHHELD

    return _RUN.sub(unless_address, text)


def taken_out(text: str) -> tuple[str, bool]:
    """The text without them, and whether there were any."""
    harmless = without_credentials(text)
    return harmless, harmless != text


def holds_credentials(record: ConstraintRecord) -> bool:
    """Whether anything that a person can write in a record has such a form."""
    return any(taken_out(text)[1] for text in _texts(record.model_dump(mode="json")))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in {"uid", "supersedes_uids"}:
                yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_random(run: str) -> bool:
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    if not all(any(kind(letter) for letter in run) for kind in kinds):
        return False
    kind_of = [next((n for n, kind in enumerate(kinds) if kind(letter)), -1) for letter in run]
    return sum(one != other for one, other in pairwise(kind_of)) >= _SWITCHES * len(run)
