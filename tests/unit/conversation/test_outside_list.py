"""Stage 2 offers what is open in TickTick, through a real MCP server, and plans on without it when it cannot be read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.fakes.task_server import TOKEN, TaskServer
from tests.unit.conversation.person import AMSTERDAM, Harness, Person

from fateforger.adapters.tasklists import TickTick
from fateforger.conversation import task_offers
from fateforger.conversation.task_offers import ExternalTaskList

SENTENCE = "I could not read your TickTick list just now."
ROWS = [
    {"id": "1", "title": "Read a book"},
    {"id": "2", "title": "Call Ann", "priority": 5, "dueDate": "2026-03-09"},
    {"id": "3", "title": "Taxes", "content": "The blue folder", "dueDate": "2026-03-02"},
    {"id": "4", "title": "Paid", "status": 2},
    *({"id": f"m{n}", "title": f"Maybe {n}"} for n in range(70)),
]


@pytest.fixture
async def server() -> AsyncIterator[TaskServer]:
    async with TaskServer(answer={"tasks": ROWS}, token=TOKEN).listening() as opened:
        yield opened


def attach_list(harness: Harness, url: str) -> ExternalTaskList:
    """Restart the program with that list, and return the list."""
    harness.elsewhere = TickTick(url, tz=AMSTERDAM, token=TOKEN, seconds=30).open_tasks
    harness.restart()
    assert harness.outside is not None
    return harness.outside


async def list_offered(person: Person) -> list[str]:
    return [each.task.title for each in (await person.session()).open_work.offered]


async def test_it_is_offered_and_brought_along(harness: Harness, anna: Person, server: TaskServer) -> None:
    """The most urgent first, bounded; a task of the day says where it is from. Another program offers the same before
    it has read the list itself, and nothing is ever written there."""
    listed = attach_list(harness, server.url)
    listed.begin()
    await listed.wait()
    await anna.to_tasks()
    assert (await list_offered(anna))[:4] == ["Taxes", "Call Ann", "Read a book", "Maybe 0"]
    rows = [line for line in anna.words.splitlines() if line.startswith("In TickTick: ")]
    assert rows == [f"In TickTick: {title}" for title in ("Taxes", "Call Ann", "Read a book", "Maybe 0", "Maybe 1")]
    assert "Choose from TickTick (55 more)…" in anna.labels()
    server.stalled = True
    listed = attach_list(harness, server.url)
    await anna.fill("bring", tasks=((await anna.session()).open_work.offered[0].task.id,))
    assert listed.state.tasks is None
    (task,) = (await anna.session()).day.inputs.tasks
    assert (task.title, task.notes) == ("Taxes", "From TickTick, due on Monday 2 March.\n\nThe blue folder")
    assert (await list_offered(anna))[0] == "Call Ann"
    assert {name for name, _ in server.called} == {"get_all_tasks"}
    await harness.coordinator.aclose()


async def test_it_is_offered_to_its_owner_alone(harness: Harness, anna: Person, server: TaskServer) -> None:
    """S324: the list is configured for the owner; another person who plans in the same program never sees it."""
    listed = attach_list(harness, server.url)
    listed.begin()
    await listed.wait()
    ben = Person(harness, user="U_BEN")
    await ben.to_tasks()
    assert (await list_offered(ben), "TickTick" in f"{ben.words} {ben.labels()}") == ([], False)
    await anna.to_tasks()
    assert (await list_offered(anna))[0] == "Taxes"
    await harness.coordinator.aclose()


async def test_no_reply_waits_for_it(harness: Harness, anna: Person, server: TaskServer) -> None:
    """S224: while it does not answer there is nothing to offer, and nothing to say."""
    server.stalled = True
    listed = attach_list(harness, server.url)
    await anna.to_tasks()
    assert (listed.state.tasks, await list_offered(anna), SENTENCE in anna.words) == (None, [], False)
    await harness.coordinator.aclose()


async def test_a_list_that_is_gone_is_one_sentence(
    harness: Harness, anna: Person, caplog: pytest.LogCaptureFixture
) -> None:
    """Planning goes on, what was known stays on offer, and the log says why without a secret."""
    server = TaskServer(answer={"tasks": ROWS[:2]}, token=TOKEN)
    async with server.listening():
        listed = attach_list(harness, server.url)
        listed.begin()
        await listed.wait()
    harness.clock.at += timedelta(minutes=2)
    listed.begin()
    await listed.wait()
    await anna.to_tasks()
    assert (await list_offered(anna), anna.words.count(SENTENCE)) == (["Call Ann", "Read a book"], 1)
    told = [record.getMessage() for record in caplog.records if record.name == task_offers.__name__]
    assert set(told) == {"a list of tasks could not be read: no connection (ConnectError)"}
    harness.elsewhere = None
    harness.restart()
    await anna.fill("tasks", title_1="Write", minutes_1=60, proceed=False)
    assert (await list_offered(anna), SENTENCE in anna.words) == ([], False)
