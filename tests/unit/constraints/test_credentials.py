"""Secrets have forms; rules, links, ids and names in any language do not look like them."""

from __future__ import annotations

import pytest
from tests.factories.constraints import version_of

from fateforger.constraints.credentials import WITHHELD, holds_credentials, without_credentials

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
    text = without_credentials(f"use {secret} on Mondays")
    assert text == f"use {WITHHELD} on Mondays"
    assert holds_credentials(version_of("a", description=f"use {secret}").record)
    assert holds_credentials(version_of("a", topics=[secret[:150]]).record)


def test_a_password_in_an_address() -> None:
    assert without_credentials("see https://me:s3cr3t@host/x") == f"see https://{WITHHELD}@host/x"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_credentials(text) == text
    assert not holds_credentials(version_of("a", description=text).record)
