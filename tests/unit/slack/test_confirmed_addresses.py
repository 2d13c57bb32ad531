"""Trust in mail addresses: a trusted one opens a calendar that an administrator has given access to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.store import open_store
from fateforger.slack.access import People
from fateforger.workers.people import LanguageService

TEAM = "T1"
MEMBER = {"id": "U1", "team_id": TEAM, "is_email_confirmed": True, "profile": {"email": "anna@example.com"}}


class Slack:
    """Answers about one person, as Slack does for an app of the team."""

    def __init__(self, user: dict[str, Any]) -> None:
        self.user = user

    async def users_info(self, *, user: str) -> SimpleNamespace:
        assert user == "U1"
        return SimpleNamespace(data={"ok": True, "user": self.user})

    async def client_of(self, _where: str) -> Slack:
        return self

    async def auth_test(self) -> SimpleNamespace:
        return SimpleNamespace(data={"ok": True, "team_id": TEAM})


@pytest.mark.parametrize(
    ("changes", "address"),
    [
        ({}, "anna@example.com"),
        ({"team_id": "T2", "enterprise_user": {"teams": ["T2", TEAM]}}, "anna@example.com"),
        ({"team_id": "T2"}, ""),
        ({"is_stranger": True}, ""),
        ({"is_email_confirmed": False}, ""),
        ({"deleted": True}, ""),
        ({"is_bot": True}, ""),
        ({"profile": {}}, ""),
    ],
    ids=["member", "of the enterprise", "of another team", "stranger", "unconfirmed", "deleted", "bot", "no scope"],
)
async def test_only_confirmed_addresses_of_our_own_workspace_count(
    tmp_path: Path, changes: dict[str, Any], address: str
) -> None:
    """S305: the administrators of another workspace can call their people as they like."""
    store = open_store(tmp_path / "state.db")
    client: Any = Slack({**MEMBER, **changes})
    people = People(client, ManualClock(), LanguageService(store.languages, "en"), store.zones)
    assert await people.address("U1") == address
    await store.aclose()
