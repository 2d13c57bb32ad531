"""TickTick's open tasks through a real MCP server over real HTTP: read only, bounded, and soft when it fails."""

from __future__ import annotations

import json
import logging
from datetime import date
from typing import Any

import pytest
from tests.fakes.task_server import TOKEN, TaskServer

from fateforger.adapters.tasklists import SENTENCE, TickTick
from fateforger.errors import TasksUnavailable
from fateforger.tasks.task import OutsideTask

ROWS: list[Any] = [
    {"id": "a1", "title": " Call\nAnn ", "content": "About <b>it</b>", "priority": 5, "status": 0},
    {"id": "a2", "title": "Taxes", "priority": 3, "dueDate": "2026-03-01T23:00:00.000+0000"},
    {"id": "a3", "title": "Done long ago", "status": 2},
    {"id": "a4", "title": "Never", "status": -1},
    {"id": 5, "title": "Done elsewhere", "completed": True},
    {"id": "a2", "title": "Taxes"},
    {"title": "No id", "priority": "high", "dueDate": "soon"},
    "no task",
]
READ = [
    ("Call Ann", "About <b>it</b>", 5, None),
    ("Taxes", "", 0, None),
    ("No id", "", 5, None),
]
SECONDS = 30.0
"""Enough for a slow machine; what waits for the end of it says so."""


async def look(server: TaskServer, **options: Any) -> tuple[OutsideTask, ...]:
    return await TickTick(server.url, tz="Europe/Amsterdam", **{"seconds": SECONDS, **options}).open_tasks()


async def reason(server: TaskServer, **options: Any) -> str:
    with pytest.raises(TasksUnavailable) as raised:
        await look(server, **options)
    assert raised.value.message == SENTENCE
    return raised.value.reason


def brief(tasks: tuple[OutsideTask, ...]) -> list[tuple[str, str, int, date | None]]:
    return [(task.title, task.notes, task.priority, task.due) for task in tasks]


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ({"result": ROWS}, ("ignored",)),
        ({"tasks": ROWS}, ()),
        ({"result": json.dumps({"data": {"items": ROWS}})}, ()),
        (None, (json.dumps(ROWS),)),
        (None, (json.dumps({"tasks": ROWS}),)),
        (None, tuple(json.dumps(row) for row in ROWS if isinstance(row, dict))),
    ],
    ids=["structured", "tasks", "text in structured", "text", "object as text", "a text each"],
)
async def test_the_ways_in_which_servers_answer(answer: object, texts: tuple[str, ...]) -> None:
    """The same open tasks, each once, cleaned; nothing else is ever called."""
    async with TaskServer(answer=answer, texts=texts, token=TOKEN).listening() as server:
        found = await look(server, token=TOKEN)
    assert brief(found) == READ
    assert len({task.id for task in found}) == 3
    assert server.called == [("get_all_tasks", {})]


async def test_a_due_instant_is_a_day_where_the_person_is() -> None:
    async with TaskServer(answer={"tasks": ROWS[1:2]}).listening() as server:
        assert brief(await look(server)) == [("Taxes", "", 3, date(2026, 3, 2))]


async def test_what_it_sends_is_bounded_and_cleaned() -> None:
    secret = "sk-proj-abcdefghijklmnop1234"
    hostile = [
        {"id": f"h{n}", "title": f"\u202e{n} {'x' * 400}", "content": f"{secret} {'y' * 900}"} for n in range(310)
    ]
    async with TaskServer(answer={"tasks": hostile}).listening() as server:
        found = await look(server)
    assert [len(found), *{len(t.title) for t in found}, *{len(t.notes) for t in found}] == [300, 300, 500]
    assert [t for t in found if "\u202e" in t.title or secret in t.notes] == []


async def test_which_tool_is_asked() -> None:
    """The first that is known, needs nothing and only reads; or the one that is set, if it is such a one."""
    tools = {"get_all_tasks": ("project",), "ticktick-list-tasks": (), "get_tasks": (), "mine": (), "write": ()}
    async with TaskServer(answer=[], tools=tools, writing=("get_tasks", "write")).listening() as server:
        assert await look(server) == ()
        assert await look(server, tool="mine") == ()
        assert await reason(server, tool="write") == "the tool that is set does more than read"
        assert await reason(server, tool="get_all_tasks") == "the tool that is set needs arguments"
        assert await reason(server, tool="other") == "the server has no tool of the name that is set"
    assert server.called == [("ticktick-list-tasks", {}), ("mine", {})]


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (TaskServer(texts=("Found 2 tasks:\nTitle: Taxes",)), "the answer holds no list of tasks"),
        (TaskServer(answer={"tasks": [{"name": "x"}, 3]}), "what it lists are no tasks"),
        (TaskServer(texts=("[" * 50_000,)), "the answer holds no list of tasks"),
        (TaskServer(texts=(f"Refused {TOKEN}",), failed=True), "its tool answered with an error"),
        (
            TaskServer(tools={"add": ()}),
            "the server has no tool that is known to list tasks; TICKTICK_MCP_TOOL can name one",
        ),
    ],
    ids=["prose", "no tasks", "deep", "an error", "no tool"],
)
async def test_what_cannot_be_read_has_a_reason(server: TaskServer, said: str) -> None:
    async with server.listening():
        assert await reason(server) == said


async def test_troubles_below_are_soft_and_tell_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    """A refused token, a server that does not answer, an answer without end, one that is gone; neither the reason nor
    the log holds the token or the address."""
    caplog.set_level(logging.INFO)
    server = TaskServer(answer={"tasks": ROWS}, token=TOKEN)
    async with server.listening():
        said = [await reason(server, token="other")]
        server.stalled = True
        said.append(await reason(server, token=TOKEN, seconds=0.5))
        server.stalled, server.answer = False, {"tasks": [{"title": "x" * 5_000_000}]}
        said.append(await reason(server, token=TOKEN))
    said.append(await reason(server, token=TOKEN))
    assert said == [
        "HTTP 401: the login was refused",
        "no answer within 0.5 s",
        "the answer is too long",
        "no connection (ConnectError)",
    ]
    told = [*said, *(record.getMessage() + str(record.exc_info) for record in caplog.records)]
    assert [line for line in told if TOKEN in line or "/mcp" in line] == []
