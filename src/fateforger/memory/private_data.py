"""Private data in a text, recognized by exact forms: bank and card numbers, e-mail addresses and phone numbers (S322).

Bank and card numbers have check digits and no place in a plan: they are removed before anything is queued. An address
or a phone number is often what a task is about, so plans keep it; what is remembered for other days does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fateforger.memory.record import ConstraintRecord
from fateforger.text import mark_message

ACCOUNT, EMAIL, PHONE = "[account number]", "[e-mail address]", "[phone number]"
"""The replacement texts."""
LEFT_OUT = mark_message("I left out contact or account details: rules do not keep them.")

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
