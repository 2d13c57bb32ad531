"""Two programs on one database: whichever of them hears a person, answers as if there were only one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.scenarios.chat import Person, chat_at, workspace_at
from tests.scenarios.test_presence import BRISK, begun_by_words, reads, streaming

from fateforger.session.cards import Activity, Progress
from fateforger.slack.phrases import STOP_TOO_LATE
from fateforger.workers.lanes import STOP_TURN, TURN
from localslack import Workspace


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    async with workspace_at(tmp_path) as served:
        yield served


@pytest.fixture
async def alex(workspace: Workspace) -> AsyncIterator[Person]:
    person = Person(workspace)
    yield person
    await person.http.aclose()


async def test_stop_ends_a_turn_of_the_other_program(workspace: Workspace, alex: Person, tmp_path: Path) -> None:
    """S392: the program that hears Stop runs no turn, and the one that runs it hears no Stop."""
    async with (
        chat_at(workspace, tmp_path, timing=BRISK, but=(STOP_TURN,)) as one,
        chat_at(workspace, tmp_path, timing=BRISK, replica="two", but=(TURN,)),
    ):
        ts, held = await begun_by_words(alex, one)
        one.door.stoppable, one.door.when_stopped = True, held.go_on.set
        one.door.tell(Progress(doing=Activity.READING))
        await streaming(alex, ts, ("Reading your message…", "in_progress"))
        assert await alex.post("/ui/stop", channel=alex.channel, thread_ts=ts) == {"ok": True}
        await alex.sees(ts, "2 steps")
        await reads(alex, ts, status="active")
        assert len(one.door.stops) == 1
        assert STOP_TOO_LATE not in str(await alex.thread(ts))


async def test_a_program_that_starts_leaves_the_turns_of_others_alone(
    workspace: Workspace, alex: Person, tmp_path: Path
) -> None:
    """S392: their status and their steps stay, and the answer takes the place of the steps."""
    async with chat_at(workspace, tmp_path, timing=BRISK) as one:
        ts, held = await begun_by_words(alex, one)
        one.door.tell(Progress(doing=Activity.READING))
        steps = await streaming(alex, ts, ("Reading your message…", "in_progress"))
        async with chat_at(workspace, tmp_path, timing=BRISK, replica="two"):
            assert (await alex.thread(ts))[-1]["ts"] == steps["ts"]
            await reads(alex, ts, status="processing")
            held.go_on.set()
            await alex.sees(ts, "2 steps")
            await reads(alex, ts, status="active")
