"""Secrets have forms; rules, links, ids and names in any language do not look like them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

import pytest
from tests.factories.constraints import version_of

from fateforger.limits import MAX_MESSAGE_CHARS
from fateforger.memory import credentials
from fateforger.memory.credentials import WITHHELD, holds_credentials, redact_credentials, remove_credentials

SECRETS = [
    "sk-proj-abcDEF1234567890abcdef1234567890",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "xoxb-123456789012-1234567890123-AbCdEfGhIjKl",
    "xapp-1-A0123456789-1234567890123-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "glpat-abcdefghij1234567890",
    "hf_abcdefghijklmnopqrstuvwxyz012345",
    "sk_live_abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
    "123456789:AAF3xY9kLmNoPqRsTuVwXyZ0123456789ab",
    "q7Rk2Zp9Xw4Tn8Lm3Bv6Yc1Hd5",
]
HARMLESS = [
    "no calls before 10, please",
    "Nie vor neun Uhr; mittwochs Homeoffice bis 16:30",
    "午前10時前は電話しないでください",
    "review https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "550e8400-e29b-41d4-a716-446655440000",
    "MeetingWithCustomer2026AmsterdamOfficeFloor3",
    "task-risk-desk-assessment-for-quarter-3",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "call +31 6 12345678 at 10:30, room B2-104",
    "buy the secret_santa_party_planning gifts",
    "tb_6e42b6ea28551b59f78055aee89c4d58bca760ff",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_taken_out(secret: str) -> None:
    text = remove_credentials(f"use {secret} on Mondays")
    assert text == f"use {WITHHELD} on Mondays"
    assert holds_credentials(version_of("a", description=f"use {secret}").record)
    assert holds_credentials(version_of("a", topics=[secret[:150]]).record)


def test_a_password_in_an_address() -> None:
    assert remove_credentials("see https://me:s3cr3t@host/x") == f"see https://{WITHHELD}@host/x"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert remove_credentials(text) == text
    assert not holds_credentials(version_of("a", description=text).record)


HOSTILE = [
    "a",
    "a.",
    "eyJ",
    "eyJ-",
    "-eyJaaaaaaaa.",
    "SG.aaaaaaaaaaaaaaaa",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A",
    "-----BEGIN PRIVATE KEY-----\n-----END",
    "://a:b",
    "a://b aA1aA1aA1aA1aA1aA1aA1 ",
    "qZ7R",
    "12345678:",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_four_times_the_text_takes_about_four_times_as_long(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text stops the program. What grows with the square of the length would take 16 times as long."""
    monkeypatch.setattr(credentials, "MAX_MESSAGE_CHARS", 10**9)
    short, long = ((unit * length)[:length] for length in (10_000, 40_000))
    assert any(_seconds(long) < 9 * _seconds(short) + 0.02 for _ in range(5))


def _seconds(text: str) -> float:
    """Return the least time of some runs, in the time of this process: other work of the machine is not counted."""
    took = []
    for _ in range(3):
        begun = time.process_time()
        remove_credentials(text)
        took.append(time.process_time() - begun)
    return min(took)


def test_nothing_is_gone_through_twice() -> None:
    """No text stops the program: a repetition without an upper bound is the last of its alternative, or never given back."""
    patterns = [each for each in vars(credentials).values() if isinstance(each, re.Pattern)]
    assert len(patterns) == 10
    for pattern in patterns:
        _ends_with_what_is_endless(re._parser.parse(pattern.pattern, pattern.flags), last=True)  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        _ends_with_what_is_endless(re._parser.parse("a(?:b+|c)d"), last=True)  # type: ignore[attr-defined]


def _ends_with_what_is_endless(parts: Iterable[Any], *, last: bool) -> None:
    sequence = list(parts)
    for place, (kind, given) in enumerate(sequence):
        at_end = last and place == len(sequence) - 1
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT":
                assert given[1] is not re._constants.MAXREPEAT or at_end, sequence  # type: ignore[attr-defined]
                _ends_with_what_is_endless(given[2], last=at_end and given[1] == 1)
            case "POSSESSIVE_REPEAT":
                _ends_with_what_is_endless(given[2], last=False)
            case "SUBPATTERN":
                _ends_with_what_is_endless(given[3], last=at_end)
            case "BRANCH":
                for alternative in given[1]:
                    _ends_with_what_is_endless(alternative, last=at_end)
            case "ASSERT" | "ASSERT_NOT":
                _ends_with_what_is_endless(given[1], last=False)
            case simple:
                assert simple in {"LITERAL", "NOT_LITERAL", "IN", "AT", "ANY"}, simple


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_comes_through_where_a_text_is_cut(secret: str) -> None:
    """A secret is never kept: what is beyond the limit is dropped, with the word that the limit cuts in two."""
    for hidden in range(0, len(secret) + 1, 3):
        text = (
            f"{'word ' * (MAX_MESSAGE_CHARS // 5)}"[: MAX_MESSAGE_CHARS - len(secret) + hidden] + f" {secret} and more"
        )
        shown, found = redact_credentials(text)
        assert found
        assert len(shown) <= MAX_MESSAGE_CHARS + 2 * len(WITHHELD)
        body = shown.replace(WITHHELD, "").rsplit("word", 1)[-1]
        assert not set(body.split()) - {"w", "wo", "wor", *["-----BEGIN", "RSA", "PRIVATE"]}, body


def test_a_text_without_spaces_is_cut() -> None:
    """A text that cannot be searched is withheld as a whole."""
    assert redact_credentials("a" * 60_000) == (f" {WITHHELD}", True)
