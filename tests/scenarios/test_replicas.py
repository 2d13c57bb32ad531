"""Two programs on one database, one of them killed while people press buttons and write."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.chat import Person, eventually, steps, workspace_at
from tests.scenarios.replica import replica

from localslack.people import WorkspaceUser

pytestmark = [pytest.mark.process, pytest.mark.timeout(300), pytest.mark.extra]
PEOPLE, WORDS = 6, 4


@pytest.mark.parametrize("victim", ["one", "two"])
async def test_killing_either_of_two_loses_and_doubles_nothing(tmp_path: Path, postgres: str, victim: str) -> None:
    """S351: also the one that sends; each answer is below its question all the same."""
    users = tuple(
        WorkspaceUser(f"U{n:04d}", f"p{n}", f"Person {n}", "Etc/UTC", f"p{n}@example.com") for n in range(PEOPLE)
    )
    async with workspace_at(tmp_path, users=users) as workspace, AsyncExitStack() as stack:
        url = workspace.config.public_url
        started = {name: await stack.enter_async_context(replica(url, postgres, name)) for name in ("one", "two")}
        people = [Person(workspace, user.id) for user in users]
        roots = await asyncio.gather(*(person.start() for person in people))
        talks = [asyncio.create_task(talk(person, root)) for person, root in zip(people, roots, strict=True)]
        await people[0].sees(roots[0], "• word 0")
        started[victim].kill()
        await asyncio.gather(*talks)
        for person, root in zip(people, roots, strict=True):
            thread = await person.thread(root)
            assert steps(thread[-1]) == [f"word {n}" for n in range(WORDS)]
            ids = Counter(str(each["metadata"]["event_payload"]["id"]) for each in thread if each.get("metadata"))
            assert ids.total() == len(ids), "no card is there twice"
            assert [each for each in await person.roots() if each["ts"] != root] == []
            await person.http.aclose()


async def talk(person: Person, root: str) -> None:
    """Write words, each after the answer to the one before. Words that Slack could not deliver are written again."""
    for n in range(WORDS):

        async def say(n: int = n) -> Any:
            return (await person.say(f"word {n}", root)).get("ok")

        await eventually(say, f"word {n} is taken")
        await eventually(lambda n=n: is_newest(person, root, f"• word {n}"), f"the answer to word {n}")  # type: ignore[misc]  # mypy cannot infer a lambda with a default


async def is_newest(person: Person, root: str, words: str) -> bool:
    return words in str((await person.thread(root))[-1])
