"""Commands before they are carried out: no command reaches from one workspace into another."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.fakes.manual_clock import ManualClock
from tests.fakes.memory_languages import languages
from tests.fakes.memory_zones import MemoryZones

from fateforger.errors import InternalError
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.thread import Opening, StartTimeboxing
from fateforger.session.queue_commands import EnqueueTask
from fateforger.slack.access import People, Places
from fateforger.slack.limits import LimitedClient, SlackLimits
from fateforger.tasks.task import Origin, TaskSpec

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
OURS: dict[str, Any] = {"command_id": "c1", "user_id": "T2/U1", "at": AT, "tz": "Europe/Paris"}


def open_places() -> Places:
    client = LimitedClient(SlackLimits(), base_url="http://127.0.0.1:9/")
    return Places(People(client, ManualClock(), languages(), MemoryZones()), client)


@pytest.mark.parametrize("channel", ["T3/D1", "D1", "T22/D1"])
async def test_a_command_about_a_place_in_another_workspace_is_refused(channel: str) -> None:
    """S342, S394: the command may name it anywhere. The first workspace, whose ids are bare, is another one as well."""
    opening: dict[str, Any] = {"text": "plan", "thread_ts": "1.0"}
    task = {"spec": TaskSpec(title="Report"), "origin": Origin(door="slack")}
    commands: list[InboxCommand] = [
        StartTimeboxing(**OURS, channel=channel),
        Opening(**OURS, channel="T2/D1", heard_channel=channel, **opening),
        EnqueueTask(**OURS, channel="T2/D1", message_channel=channel, message_ts="1.0", **task),
    ]
    for command in commands:
        with pytest.raises(InternalError, match="another workspace"):
            await open_places().complete(command)


async def test_a_command_about_a_place_in_the_same_workspace_is_completed() -> None:
    start = StartTimeboxing(**OURS, channel="T2/D1")
    assert await open_places().complete(start) == start
