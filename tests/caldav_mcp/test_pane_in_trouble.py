"""The pane while the calendar server is away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
from tests.caldav_mcp.clients import OpenRadicale, open_tools


async def test_a_calendar_that_is_away_is_said_and_comes_back(tmp_path: Path) -> None:
    async with open_tools(tmp_path) as tools:
        await tools.create()
    radicale = OpenRadicale(tmp_path / "radicale")
    async with open_tools(tmp_path, caldav_url=radicale.calendar_url, username="me") as tools:
        transport = httpx.ASGITransport(app=tools.calendar.pane_app)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver/") as pane:

            async def wait_for_change(version: str) -> tuple[str, bool]:
                async with asyncio.timeout(60):
                    while True:
                        news = (await pane.get("changes", params={"since": version})).json()
                        if news["version"] != version:
                            return news["version"], news["reachable"]

            first = (await pane.get("changes")).json()["version"]
            radicale.stop()
            gone = await pane.get("events", params={"date": "2027-05-04"})
            assert (gone.status_code, gone.json()["error"][-20:]) == (503, "connect ECONNREFUSED")
            away, is_reachable = await wait_for_change(first)
            assert not is_reachable
            again = OpenRadicale(tmp_path / "radicale", radicale.port)
            _, is_reachable = await wait_for_change(away)
            assert is_reachable
            shown = (await pane.get("events", params={"date": "2027-05-04"})).json()
            assert [event["title"] for event in shown["events"]] == ["Plan work"]
            again.stop()
