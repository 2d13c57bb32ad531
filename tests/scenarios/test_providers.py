"""Requests of the running program to Google and Microsoft, and the fate of people's writes there."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.scenarios.day import STEPS, confirm_date, start
from tests.scenarios.person import eventually
from tests.scenarios.program import Program
from tests.scenarios.providers import Providers, ThreePeople, fill, open_providers, open_three_people, run, second
from tests.scenarios.radicale import Radicale, free_port

from fateforger.adapters.google.client import build_account_bucket
from fateforger.adapters.store.store import open_store
from fateforger.calendar.calls import Purpose, TokenBucket

pytestmark = [pytest.mark.process, pytest.mark.extra]

TEN = datetime(2026, 3, 2, 9, tzinfo=UTC)


ROUNDS = 5
"""Reads of the watch in a row, once a new connection and the plan have been read."""


def see_watch(providers: Providers, provider: str) -> None:
    eventually(lambda: providers.lists(provider)[-ROUNDS:] == ["changes"] * ROUNDS, f"{provider} is asked for changes")


def test_the_watch_asks_only_for_what_changed(tmp_path: Path) -> None:
    """S304, S315"""
    with open_providers(tmp_path, FATEFORGER_WATCH_SECONDS="1") as providers:
        alex = providers.program.person()
        robin = second(alex)
        providers.sign_in(robin, "google")
        providers.sign_in(alex, "microsoft")
        for person in (robin, alex):
            start(person)
            confirm_date(person)
        for provider in ("google", "microsoft"):
            see_watch(providers, provider)
        providers.google.calendars["primary"].user_create("Dentist", start=TEN, end=TEN + timedelta(hours=1))
        robin.reads("New on your calendar: “Dentist”")


BLOCKS = 5
"""Events that the steps of a day make."""


@pytest.fixture
def three(tmp_path: Path, radicale: Radicale) -> Iterator[ThreePeople]:
    with open_three_people(tmp_path, radicale) as opened:
        yield opened


def test_three_people_are_whole_after_a_kill_in_the_middle_of_all_their_writes(three: ThreePeople) -> None:
    """S329: at Google answers were lost, at Microsoft requests, and those of CalDAV arrive after the kill."""
    three.google.calendars["primary"].user_create("Dentist", start=TEN, end=TEN + timedelta(hours=1))
    three.caldav.put("therapy", "Therapy", TEN, TEN + timedelta(hours=1))
    before = three.titles()
    for person in three.people:
        for _, step in STEPS[:-1]:
            step(person)
    assert three.titles() == before
    for gate in three.gates.values():
        gate.shut = True
    for person in three.people:
        person.press("Commit to calendar")
    for name, gate in three.gates.items():
        eventually(gate.held.is_set, f"a write to {name} is on its way")
    three.program.kill()
    assert len(three.titles()["microsoft"]) == 1, "it was in the middle"
    for gate in three.gates.values():
        gate.open()
    three.program.start()
    for person in three.people:
        person.reads("is on your calendar")
    for name, titles in three.titles().items():
        added = list((Counter(titles) - Counter(before[name])).elements())
        assert (len(added), len(set(added))) == (BLOCKS, BLOCKS), name
    three.google.accounts.withdraw(three.google.accounts.people[0])
    three.google.accounts.expire_access()
    for person in (three.alex, three.sam):
        person.press("Undo")
        person.reads("Taken back")
    three.robin.press("Undo")
    three.robin.reads("Google has ended my access to your account.")  # before or after the watch has seen it
    after = three.titles()
    assert (after["microsoft"], after["caldav"]) == (before["microsoft"], before["caldav"])
    assert len(after["google"]) == BLOCKS + 1
    three.sign_in(three.robin, "google")
    three.robin.press("Undo")
    three.robin.reads("Taken back")
    assert three.titles() == before


def test_people_wait_for_a_write_only_if_it_is_to_their_calendar(three: ThreePeople) -> None:
    """S329: a person's writes take turns, whichever program makes them; those of two people do not."""
    three.connect_caldav(three.alex)
    for person in three.people:
        for _, step in STEPS[:-1]:
            step(person)
    three.gates["caldav"].shut = True
    three.sam.press("Commit to calendar")
    eventually(three.gates["caldav"].held.is_set, "a write is on its way")
    three.alex.press("Commit to calendar")
    three.robin.press("Commit to calendar")
    three.robin.reads("5 created")
    assert len(three.titles()["google"]) == BLOCKS
    refused = run(three.program, "sync", "undo", "--user", three.sam.user)
    assert "Another change to this calendar is being written right now." in refused.stderr
    three.gates["caldav"].open()
    for person in (three.sam, three.alex):
        person.reads("5 created")
    assert len(three.titles()["caldav"]) == 2 * BLOCKS
    assert three.titles()["microsoft"] == []


async def use_up(program: Program, bucket: TokenBucket) -> None:
    """Make all requests that an account may make at once, as another program on the database would."""
    async with aclosing(open_store(program.data / "fateforger.db")) as store:
        while not await store.buckets.take((bucket,), Purpose.WRITE):
            pass


def test_a_commit_waits_for_the_requests_of_its_account_and_says_so(tmp_path: Path) -> None:
    """S330: the budget is in the database, so another program's requests count."""
    with open_providers(tmp_path) as providers:
        robin = second(providers.program.person())
        providers.sign_in(robin, "google")
        for _, step in STEPS[:-1]:
            step(robin)
        asyncio.run(use_up(providers.program, build_account_bucket(providers.google.accounts.people[0])))
        providers.google.calm()
        robin.press("Commit to calendar")
        robin.reads("s for your calendar")
        assert providers.google.requests == 0, "nothing is sent without budget"
        robin.reads("5 created")


def test_a_change_is_told_to_the_program_so_that_it_need_not_ask(tmp_path: Path) -> None:
    """S331: it would ask in ten minutes. Channels outlive the program, and end when a person disconnects."""
    port = free_port()
    settings = {"FATEFORGER_PUBLIC_URL": f"http://127.0.0.1:{port}", "FATEFORGER_WATCH_SECONDS": "600"}
    with open_providers(tmp_path, port=port, **settings) as providers:
        google, microsoft = providers.google, providers.microsoft
        alex = providers.program.person()
        robin = second(alex)
        page = providers.sign_in(robin, "google")
        providers.sign_in(alex, "microsoft")
        for person in (robin, alex):
            start(person)
            confirm_date(person)
        providers.program.restart()  # which looks at the days of open sessions once
        channels = eventually(lambda: [*google.api.channels.open], "a channel at Google")
        subscriptions = eventually(lambda: [*microsoft.subscriptions.open], "a subscription at Microsoft")
        google.calendars["primary"].user_create("Dentist", start=TEN, end=TEN + timedelta(hours=1))
        microsoft.mailbox.user_create("Haircut", TEN, TEN + timedelta(hours=1))
        providers.deliver()
        robin.reads("New on your calendar: “Dentist”")
        alex.reads("New on your calendar: “Haircut”")
        providers.program.restart()
        google.calendars["primary"].user_create("Lunch", start=TEN + timedelta(hours=2), end=TEN + timedelta(hours=3))
        providers.deliver()
        robin.reads("New on your calendar: “Lunch”")
        assert [*google.api.channels.open] == channels
        assert [*microsoft.subscriptions.open] == subscriptions
        form = re.findall(r'<form method="post" action="([^"]+)"', page)[0]
        assert "I have forgotten your login" in fill(form, do="disconnect-now").text
        assert google.api.channels.open == {}
