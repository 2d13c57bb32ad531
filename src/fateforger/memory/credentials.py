"""Credentials and private data in a text, recognized by their fixed forms (S322).

Keys, tokens and passwords are never remembered. A password in plain words has no form; recognizing it takes a reader
who understands the language. Bank and card numbers have check digits and no place in a plan: they are removed before
anything is queued. An e-mail address or a phone number is often what a task is about, so plans keep it; what is
remembered for other days does not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from operator import ne
from string import ascii_letters, digits
from typing import Any

from fateforger.limits import MAX_MESSAGE_CHARS
from fateforger.memory.record import ConstraintRecord
from fateforger.text import mark_message

WITHHELD = "[withheld]"
"""The replacement text."""
SECRET_LEFT_OUT = mark_message("I left out what looks like a password or a key, and remember nothing of that message.")
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


ACCOUNT, EMAIL, PHONE = "[account number]", "[e-mail address]", "[phone number]"
"""The replacement texts."""
CONTACTS_LEFT_OUT = mark_message("I left out contact or account details: rules do not keep them.")

# Each repetition is bounded, so that time grows linearly with length, whatever the text contains.
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![\w+.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_EMAIL = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_PHONE = re.compile(
    r"""
      (?<![\w+])(?:\+|00)[1-9](?:[ ()/.-]{0,3}\d){7,14}(?![\w-])      # international
    | (?<![\w+.:/-])\(?0\d{1,5}\)?(?:[ /-]{0,3}\d){6,11}(?![\w.:/-])  # national, with the leading zero
    | (?<![\w+.:/-])\(?[2-9]\d{2}\)?[ -]\d{3}-\d{4}(?![\w-])          # North American
    """,
    re.VERBOSE,
)
_FEWEST_DIGITS = 9
"""Digits of a national number; a date has eight."""


def remove_account_numbers(text: str) -> str:
    """Return the text without bank and card numbers whose check digits are right."""
    text = _IBAN.sub(lambda match: ACCOUNT if is_iban(match.group()) else _remove_shorter(match.group()), text)
    return _CARD.sub(lambda match: ACCOUNT if is_card(match.group()) else match.group(), text)


def remove_private_data(text: str) -> str:
    """Return the text without account numbers, e-mail addresses and phone numbers."""
    text = _EMAIL.sub(EMAIL, remove_account_numbers(text))
    return _PHONE.sub(lambda match: PHONE if _is_phone(match.group()) else match.group(), text)


def is_iban(text: str) -> bool:
    """Check the digits of an International Bank Account Number (ISO 13616, modulo 97)."""
    bare = text.replace(" ", "")
    if not 15 <= len(bare) <= 34:
        return False
    return int("".join(str(int(character, 36)) for character in bare[4:] + bare[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Check the digits of a payment card (ISO 7812, Luhn)."""
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _remove_shorter(text: str) -> str:
    """Remove an account number that words in capitals follow."""
    parts = text.split(" ")
    for count in range(len(parts) - 1, 0, -1):
        if is_iban("".join(parts[:count])):
            return " ".join([ACCOUNT, *parts[count:]])
    return text


def _is_phone(text: str) -> bool:
    return sum(character.isdigit() for character in text) >= _FEWEST_DIGITS


def without_private_data(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record without private data in any of its texts; links to other constraints stay."""
    document = record.model_dump(mode="json", by_alias=True, exclude_unset=True)
    cleaned = {name: value if name == "lifecycle" else _clean(value) for name, value in document.items()}
    return record if cleaned == document else ConstraintRecord.model_validate(cleaned)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return remove_private_data(value)
    if isinstance(value, Mapping):
        return {name: _clean(each) for name, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
