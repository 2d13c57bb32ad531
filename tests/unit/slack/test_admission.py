"""People who may plan: Slack's data about a person, and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fateforger.adapters.store.store import open_store
from fateforger.slack.admission import Admission, Guests, Standing, read_standing
from fateforger.slack.payloads import find_stranger

OWN = frozenset({"T1", "E1"})


@pytest.mark.parametrize(
    ("user", "standing"),
    [
        ({"team_id": "T1"}, Standing.MEMBER),
        ({"team_id": "T9", "enterprise_user": {"teams": ["T9", "T1"]}}, Standing.MEMBER),
        ({"team_id": "T9", "enterprise_user": {"enterprise_id": "E1", "teams": ["T9"]}}, Standing.MEMBER),
        ({"team_id": "T1", "is_restricted": True}, Standing.GUEST),
        ({"team_id": "T1", "is_restricted": True, "is_ultra_restricted": True}, Standing.CHANNEL_GUEST),
        ({"team_id": "T9"}, Standing.STRANGER),
        ({"team_id": "T1", "is_stranger": True}, Standing.STRANGER),
        ({"team_id": "T9", "is_restricted": True}, Standing.STRANGER),
        ({"team_id": "T1", "is_bot": True}, Standing.BOT),
        ({"team_id": "T1", "deleted": True}, Standing.DEACTIVATED),
    ],
)
def test_what_slack_says_of_a_person(user: dict[str, Any], standing: Standing) -> None:
    assert read_standing(user, OWN) is standing


@pytest.mark.parametrize(
    ("guests", "admitted"),
    [
        ("none", {Standing.MEMBER}),
        ("multi-channel", {Standing.MEMBER, Standing.GUEST}),
        ("all", {Standing.MEMBER, Standing.GUEST, Standing.CHANNEL_GUEST}),
    ],
)
async def test_the_setting_says_which_guests_may_plan(tmp_path: Path, guests: Guests, admitted: set[Standing]) -> None:
    """S344"""
    store = open_store(tmp_path / "state.db")
    admission = Admission(store.standings, guests)
    assert await admission.find_refusal("U1") is None, "Slack was not asked yet"
    found = set()
    for standing in Standing:
        await store.standings.keep("U1", standing)
        if await admission.find_refusal("U1") is None:
            found.add(standing)
    assert found == admitted
    await store.aclose()


@pytest.mark.parametrize(
    ("team", "enterprise", "shared", "stranger"),
    [
        ("T9", None, True, "U1"),
        ("T1", None, True, None),
        ("T9", "E1", True, None),
        ("T9", None, False, "U1"),
    ],
    ids=[
        "of another organization",
        "of our own",
        "perhaps of our organization",
        "of another organization, in a channel of our own",
    ],
)
def test_a_payload_of_a_shared_channel_says_who_is_a_stranger(
    team: str,
    enterprise: str | None,
    shared: bool,  # noqa: FBT001  a case
    stranger: str | None,
) -> None:
    body = {
        "team_id": "T9",
        "is_ext_shared_channel": shared,
        "authorizations": [{"team_id": "T1", "enterprise_id": enterprise}],
        "event": {"user": "U1", "user_team": team},
    }
    assert find_stranger(body) == stranger
