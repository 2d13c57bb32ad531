"""An organization of Enterprise Grid installs the app once, and people of two of its workspaces plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import eventually
from tests.scenarios.providers import plan, run
from tests.scenarios.radicale import Radicale
from tests.scenarios.teams import ALEX, ORGANIZATION, ROBIN, TwoTeams, open_two_teams
from tests.scenarios.test_home_board import Board

from localslack import Organization

pytestmark = [pytest.mark.process, pytest.mark.extra]

EAST, WEST = "T0EAST", "T0WEST"


@pytest.fixture
def grid(tmp_path: Path) -> Iterator[TwoTeams]:
    organization = Organization(ORGANIZATION, f"Team {ORGANIZATION}", {ALEX: EAST, ROBIN: WEST})
    with open_two_teams(tmp_path, organization=organization) as opened:
        yield opened


def test_people_of_two_workspaces_of_an_organization_plan_by_one_install(grid: TwoTeams, radicale: Radicale) -> None:
    """S394: with cards, forms, App Home and a removal; a workspace with an install of its own notices nothing."""
    for user in (ALEX, ROBIN):
        where = ("--user", f"{ORGANIZATION}/{user}", "--address", radicale.calendar, "--account", "me")
        assert run(grid.program, "calendars", "connect", *where, password="any").returncode == 0
    alex, robin = grid.person(ORGANIZATION), grid.person(ORGANIZATION, ROBIN)
    plan(alex)
    assert "Write report" in CalDav(radicale.calendar).titles()
    Board(alex).reads("on your calendar, 5 blocks")
    board = Board(robin)
    board.use("Add a task")
    robin.submit(task="Water the plants")
    board.reads("Water the plants")
    assert "Water the plants" not in Board(alex).words()
    exported = json.loads(run(grid.program, "person", "export", f"{ORGANIZATION}/{ROBIN}", "--to", "-").stdout)
    assert [row["task"]["spec"]["title"] for row in exported["held"]["tasks"]] == ["Water the plants"]
    grid.slack.uninstall(ORGANIZATION)
    eventually(lambda: f"the app was removed from {ORGANIZATION}" in grid.log, "the removal is noted")
    grid.alex.slash("/tasks")
    eventually(lambda: "Your queue is empty" in str(grid.alex.roots()), "the other workspace is answered")
    assert grid.install(ORGANIZATION).status_code == 200
    alex.press("Undo")
    alex.reads("Taken back")
    assert CalDav(radicale.calendar).titles() == []
