"""What people who cannot plan are told."""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.scripted_door import ScriptedDoor

from fateforger.adapters.store.store import open_store
from fateforger.ports.people import OwnerRecord
from fateforger.slack.access import calendar_refusal

ENDED = "Google has ended my access to your account. Please connect it again."
LINK = "https://plan.example.org/connect/abc"


class NobodysDoor(ScriptedDoor):
    """A program without a calendar of its own, where people connect theirs."""

    link: str | None = LINK

    async def calendar_owner(self) -> OwnerRecord:
        return OwnerRecord()

    async def find_calendar_problem(self, user_id: str) -> str:
        return ENDED

    def connect_link(self, user_id: str) -> str | None:
        return self.link


async def test_where_people_can_connect_they_are_not_asked_for_a_code(tmp_path: Path) -> None:
    """S316: in a program whose own calendar nobody claimed, access that ended was said to be a missing owner."""
    store = open_store(tmp_path / "state.db")
    door = NobodysDoor(store.sessions)
    said = await calendar_refusal(door, "U1") or ""
    assert ENDED in said
    assert LINK in said
    door.link = None
    assert "claim" in (await calendar_refusal(door, "U1") or "")
    await store.aclose()
