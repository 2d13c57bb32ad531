"""Private data have exact forms, with check digits where there are any; times, dates and titles do not look like them."""

from __future__ import annotations

import time

import pytest
from tests.factories.constraints import version_of

from fateforger.memory.credentials import (
    ACCOUNT,
    EMAIL,
    PHONE,
    remove_account_numbers,
    remove_private_data,
    without_private_data,
)

ACCOUNTS = [
    "DE89 3704 0044 0532 0130 00",
    "NL91ABNA0417164300",
    "GB29 NWBK 6016 1331 9268 19",
    "FR14 2004 1010 0505 0001 3M02 606",
    "4111 1111 1111 1111",
    "5555-5555-5555-4444",
    "378282246310005",
]
CONTACTS = {
    "anna.smith+work@mail.example.com": EMAIL,
    "jürgen@müller.de": EMAIL,
    "+31 6 12345678": PHONE,
    "+49 (0)30 / 1234-567": PHONE,
    "0031612345678": PHONE,
    "0171 2345678": PHONE,
    "030/1234567": PHONE,
    "06-12345678": PHONE,
    "(415) 555-2671": PHONE,
    "415-555-2671": PHONE,
}
HARMLESS = [
    "no calls before 10, please",
    "09:00-16:30 on 02.03.2026, or 2026-03-02",
    "between 0800-1000 and 1400-1600",
    "DE89 3704 1144 2532 3130 01",
    "4111 1111 1111 1112",
    "ticket 1234567890123",
    "room B2-104, line 3, 12 345 678 units",
    "ask @anna about PR 4892",
    "ICS-20260302T093000Z and RFC 5545",
    "1700000000.123456",
    "tb_6e42b6ea28551b59f78055aee89c4d58bca760ff",
    "550e8400-e29b-41d4-a716-446655440000",
    "https://example.com/0171/2345678/items",
]


@pytest.mark.parametrize("number", ACCOUNTS)
def test_account_numbers_are_taken_out_by_their_check_digits(number: str) -> None:
    for text, left in ((f"pay {number} on Monday", f"pay {ACCOUNT} on Monday"), (number, ACCOUNT), (f"({number})", f"({ACCOUNT})")):  # fmt: skip
        assert remove_account_numbers(text) == remove_private_data(text) == left


def test_words_in_capitals_after_an_account_number_stay() -> None:
    assert remove_account_numbers("pay NL91 ABNA 0417 1643 00 TODAY") == f"pay {ACCOUNT} TODAY"


@pytest.mark.parametrize("contact", CONTACTS)
def test_contact_details_are_taken_out_of_what_is_remembered(contact: str) -> None:
    text = f"Call Anna, {contact}, each Monday at 9:30"
    assert remove_private_data(text) == f"Call Anna, {CONTACTS[contact]}, each Monday at 9:30"
    assert remove_account_numbers(text) == text, "a plan keeps what the task is about"


@pytest.mark.parametrize("text", HARMLESS)
def test_anything_else_stays(text: str) -> None:
    assert remove_private_data(text) == text


def test_a_record_loses_them_everywhere_and_nothing_else() -> None:
    version = version_of(
        "tb_4111111111111111", name="Call +31 6 12345678", description="a@b.example", topics=["a@b.example"]
    )
    record = without_private_data(version.record)
    assert (record.name, record.description, record.topics) == (f"Call {PHONE}", EMAIL, (EMAIL,))
    assert record.uid == version.uid
    plain = version_of("c", windows=[{"kind": "avoid", "start": "09:00", "end": "10:00"}], ttl_days=3).record
    assert without_private_data(plain) is plain


@pytest.mark.parametrize("piece", ["1 ", "0 ", "+1 ", "a.", "a@a.", "DE89 ", "0171-", "(0"])
def test_no_text_takes_long(piece: str) -> None:
    started = time.process_time()
    remove_private_data(piece * (40_000 // len(piece)))
    assert time.process_time() - started < 2
