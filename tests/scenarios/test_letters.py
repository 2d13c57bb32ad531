"""Cards that belong to no session, brought to the local workspace: once, also after a crash, or in place of another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.scenarios.chat import Person, eventually, login, workspace_at

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.session.cards import Card, Prose
from fateforger.slack.client import new_client, new_session
from fateforger.slack.limits import Pace
from fateforger.slack.notices import build_notification_handler, deliver_notification
from fateforger.slack.poster import Poster
from fateforger.workers.lanes import NOTIFICATION, Notification
from fateforger.workers.supervisor import Supervisor
from fateforger.workers.turns import build_notification_job


@dataclass
class LetterHarness:
    person: Person
    poster: Poster
    store: Store
    workers: Supervisor


@pytest.fixture
async def post(tmp_path: Path) -> AsyncIterator[LetterHarness]:
    async with workspace_at(tmp_path) as workspace:
        http, store = new_session(), open_store(tmp_path / "state.sqlite")
        poster = Poster(new_client(login(workspace), http), Pace(per_second=1000.0, burst=1000), store.messages)
        handlers = [build_notification_handler(poster)]
        workers = Supervisor(store.jobs, handlers, owner="w", clock=SystemClock(), lanes=[NOTIFICATION])
        person = Person(workspace)
        yield LetterHarness(person, poster, store, workers)
        await workers.stop()
        await person.http.aclose()
        await store.aclose()
        await http.close()


def card(text: str) -> Card:
    return Card(text=text, parts=(Prose(text=text),))


def delivery(text: str, v: str, channel: str, *, ts: str | None = None) -> Notification:
    return Notification(v=v, channel=channel, ts=ts, card=card(text))


async def texts(person: Person) -> list[str]:
    return [message["text"] for message in await person.roots()]


async def test_a_card_is_brought_once_however_often_it_is_sent(post: LetterHarness) -> None:
    now = SystemClock().now()
    for _ in range(2):
        await post.store.jobs.enqueue(
            build_notification_job(card("Hello"), v="v1", channel=post.person.channel), now=now
        )
    post.workers.start()
    await eventually(lambda: texts(post.person), "the card")
    await post.workers.stop()
    assert await texts(post.person) == ["Hello"]


async def test_a_card_that_was_posted_before_the_program_died_is_not_posted_again(post: LetterHarness) -> None:
    await deliver_notification(delivery("Hello", "v1", post.person.channel), post.poster, again=False)
    await deliver_notification(delivery("Hello", "v1", post.person.channel), post.poster, again=True)
    assert await texts(post.person) == ["Hello"]


async def test_a_card_takes_the_place_of_the_one_that_was_pressed(post: LetterHarness) -> None:
    """If that message is gone, the card is posted again."""
    await deliver_notification(delivery("Waiting", "v1", post.person.channel), post.poster, again=False)
    (message,) = await post.person.roots()
    await deliver_notification(delivery("Done", "v2", post.person.channel, ts=message["ts"]), post.poster, again=False)
    assert await texts(post.person) == ["Done"]
    await deliver_notification(delivery("Again", "v3", post.person.channel, ts="1.000000"), post.poster, again=False)
    assert await texts(post.person) == ["Done", "Again"]
