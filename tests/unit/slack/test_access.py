"""Messages for people who cannot plan."""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.scripted_coordinator import ScriptedCoordinator

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import open_store
from fateforger.calendar.connections import ConnectionView
from fateforger.ports.people import OwnerRecord
from fateforger.slack.access import People, calendar_refusal
from fateforger.slack.client import SlackLogin, new_client, new_session
from fateforger.text import SOURCE
from fateforger.workers.people import LanguageService

LINK = "https://plan.example.org/connect/abc"


class ConnectingCoordinator(ScriptedCoordinator):
    """A program without a calendar of its own, where people connect theirs."""

    link: str | None = LINK

    async def calendar_owner(self) -> OwnerRecord:
        return OwnerRecord()

    async def describe_connection(self, user_id: str, address: str = "") -> ConnectionView:
        return ConnectionView(link=self.link)


async def test_where_people_can_connect_they_are_not_asked_for_a_code(tmp_path: Path) -> None:
    """S316: with an unclaimed calendar, lost access was reported as a missing owner."""
    store, http = open_store(tmp_path / "state.db"), new_session()
    coordinator = ConnectingCoordinator(store.sessions)
    client = new_client(SlackLogin("xoxb-1", "xapp-1", "http://127.0.0.1:9/api/"), http)
    people = People(client, SystemClock(), LanguageService(store.languages, SOURCE), store.zones)
    said = await calendar_refusal(coordinator, people, "U1")
    assert said is not None
    assert LINK in said.model_dump_json()
    coordinator.link = None
    said = await calendar_refusal(coordinator, people, "U1")
    assert said is not None
    assert "claim" in said.text
    await http.close()
    await store.aclose()
