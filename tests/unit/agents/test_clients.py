"""Who may ask: names, scopes, tokens; and what is kept of what was asked."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta

import pytest
from pydantic import ValidationError
from tests.factories.agents import NOW, client

from fateforger.agents.clients import (
    Scope,
    format_executor,
    format_token,
    hash_token,
    matches_hash,
    parse_key,
    read_scopes,
    shorten_arguments,
)
from fateforger.agents.proposals import ProposalState as S
from fateforger.agents.proposals import can_become
from fateforger.errors import BadInput


def test_a_token_is_known_by_its_hash_alone() -> None:
    key, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    token = format_token(key, secret)
    assert parse_key(token) == key
    assert matches_hash(token, hash_token(token))
    assert not matches_hash(token[:-1] + ("a" if token[-1] != "a" else "b"), hash_token(token))
    assert secret not in hash_token(token)


@pytest.mark.parametrize("text", ["", "ffa_", "ffa_123_abc", "Bearer x", f"ffa_{'0' * 12}_{'a' * 200}", "ffa_ä_x"])
def test_what_is_no_token_has_no_key(text: str) -> None:
    assert parse_key(text) is None


def test_scopes_are_read_as_they_are_typed() -> None:
    assert read_scopes("tasks:read, plan:propose,tasks:read") == (Scope.TASKS_READ, Scope.PLAN_PROPOSE)
    for text, sentence in (("tasks:all", "There is no scope “tasks:all”"), (" ,", "A client needs at least one scope")):
        with pytest.raises(BadInput, match=sentence):
            read_scopes(text)


@pytest.mark.parametrize("name", ["", "a b", "<@U1>", "*bold*", "-x", "a" * 41, "ünicode", "a\nb"])
def test_a_name_holds_nothing_that_a_card_could_take_for_markup(name: str) -> None:
    with pytest.raises(ValidationError, match="letters, digits"):
        client(name)


def test_a_client_is_barred_when_it_is_revoked_or_its_time_is_up() -> None:
    assert client().explain_refusal(NOW) is None
    assert client(expires_at=NOW + timedelta(seconds=1)).explain_refusal(NOW) is None
    assert "expired" in str(client(expires_at=NOW).explain_refusal(NOW))
    assert "revoked" in str(client(revoked_at=NOW).explain_refusal(NOW))
    assert format_executor(client()) == "mcp:robot"


def test_what_was_asked_is_kept_short_and_without_secrets() -> None:
    token = format_token(secrets.token_hex(6), secrets.token_urlsafe(32))
    asked = shorten_arguments({"long": "x" * 5_000, "key": f"it is sk-{'Ab1' * 10}", "n": 3, "list": list(range(900))})
    assert json.loads(asked) == {
        "long": "x" * 199 + "…",
        "key": "it is [withheld]",
        "n": 3,
        "list": list(range(50)),
    }
    assert token not in shorten_arguments({"token": token})
    assert len(shorten_arguments({str(n): "y" * 150 for n in range(50)})) == 2_000
    shorten_arguments({"half": "\ud800"}).encode()


def test_what_was_decided_stays_decided() -> None:
    legal = {(state, to) for state in S for to in S if can_become(state, to)}
    from_pending = {(S.PENDING, to) for to in (S.APPROVED, S.DENIED, S.EXPIRED, S.SUPERSEDED)}
    assert legal == from_pending | {(S.APPROVED, S.UNDONE)}
