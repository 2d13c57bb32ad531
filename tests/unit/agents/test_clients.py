"""Clients: names, scopes, tokens, and the record of their calls."""

from __future__ import annotations

import secrets
from datetime import timedelta

import pytest
from pydantic import ValidationError
from tests.factories.agents import NOW, client

from fateforger.agents.clients import ProposalState as S
from fateforger.agents.clients import (
    Scope,
    can_become,
    format_executor,
    format_token,
    hash_token,
    matches_hash,
    name_arguments,
    parse_key,
    read_scopes,
)
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


def test_the_log_names_what_was_asked_and_repeats_no_words() -> None:
    """S215, S221: a day and an id say which plan, which task and which proposal; no title, no reason, no secret."""
    token = format_token(secrets.token_hex(6), secrets.token_urlsafe(32))
    given = {"date": "2026-03-05", "title": "See the doctor", "patch": {"ops": ["x"]}, "reason": token, "my words": 1}
    known = ("date", "title", "patch", "reason", "version")
    assert name_arguments(given, known) == "date=2026-03-05, patch, reason, title, 1 unknown"
    assert name_arguments({"id": "0123456789abcdef"}, ("id",)) == "id=0123456789abcdef"
    assert name_arguments({"task_id": "ff-4k7w9c"}, ("task_id",)) == "task_id=ff-4k7w9c"
    assert name_arguments({}, known) == ""


def test_what_was_decided_stays_decided() -> None:
    legal = {(state, to) for state in S for to in S if can_become(state, to)}
    assert {to for state, to in legal if state is S.PENDING} == {
        S.APPROVED, S.DENIED, S.EXPIRED, S.OUTDATED, S.SUPERSEDED,
    }  # fmt: skip
    assert {state for state, to in legal if to is S.APPLIED} == {S.APPROVED, S.HELD, S.UNDONE}
    assert {to for state, to in legal if state is S.APPLIED} == {S.UNDONE}
    assert {state for state in S if not any(each == state for each, _ in legal)} == {
        S.DENIED, S.EXPIRED, S.OUTDATED, S.SUPERSEDED,
    }  # fmt: skip
