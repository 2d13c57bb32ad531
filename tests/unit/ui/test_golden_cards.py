"""Every card in a file of its own: ``CARDS_WRITE=1 pytest tests/unit/ui/test_golden_cards.py`` writes them again.

The cards come from a person's day with the real coordinator, from App Home and the queue, and, where a state is rare,
from a session that is in it. A changed word or button changes one file, which is read before it is kept.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.factories.agents import proposal
from tests.factories.card_text import print_card
from tests.unit.conversation.person import ANNA, Harness, Person, meeting, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson
from tests.unit.conversation.sessions import plan_session, session
from tests.unit.conversation.test_cards import CASES

from fateforger.calendar.connections import Connection, ConnectionView, Provider
from fateforger.session.cards import Card
from fateforger.session.model import SessionStatus
from fateforger.session.queue_commands import PlanWeek
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.task import Do
from fateforger.ui.connection_cards import broken_card, build_connection_parts, connect_card, joined_card, proposal_card
from fateforger.ui.home_card import refused_home_card
from fateforger.ui.session_cards import (
    ended_reply,
    left_card,
    not_yours_card,
    stage_card,
    welcome_card,
)
from fateforger.values import replace

GOLDEN = Path(__file__).parents[2] / "golden" / "cards"


async def walk(anna: Person, harness: Harness) -> AsyncIterator[tuple[str, Card]]:
    """Go through a day, and give the cards that are new to the person, with names."""
    meeting(harness, "Stand-up", "09:30", "10:00")
    await anna.start()
    yield "day-1-date", anna.card
    await anna.press("Plan this day")
    yield "day-2-frame", anna.card
    await anna.press("Continue")
    yield "day-3-tasks-none", anna.card
    titles: dict[str, Any] = {
        "title_1": "Write report",
        "minutes_1": 90,
        "title_2": "Call Bo",
        "minutes_2": 30,
        "kind_2": "shallow",
    }
    await anna.fill("tasks", **titles, title_3="Move house", minutes_3=600, one_thing="1")
    yield "day-4-draft", anna.card
    await anna.press("Refine")
    yield "day-5-refine", anna.card
    yield "root-1-planning", anna.messages["root"].card
    await anna.press("Preview")
    yield "preview", anna.messages["preview"].card
    await anna.choose("Call Bo", "15 min later")
    yield "preview-old", anna.messages["preview"].card
    await anna.press("History")
    yield "history", anna.messages["history"].card
    await anna.press_beside("history", "Close history")
    yield "history-closed", anna.messages["history"].card
    await anna.fill("rule_new", words="No guests", reach="day")
    await anna.press("Your rules")
    yield "memory", anna.messages["memory"].card
    await anna.press_beside("memory", "Close")
    yield "memory-closed", anna.messages["memory"].card
    await anna.press("Commit to calendar")
    yield "day-6-committed", anna.card
    yield "root-2-committed", anna.messages["root"].card
    yield "home-2-after-a-day", await harness.coordinator.home(ANNA)
    await anna.press("Undo")
    yield "day-7-undone", anna.card


async def queue(queue_person: QueuePerson, harness: Harness) -> AsyncIterator[tuple[str, Card]]:
    yield "home-1-new", await harness.coordinator.home(ANNA)
    yield "queue-1-empty", await queue_person.lists()
    await queue_person.adds("Ask Ann", priority=1)
    yield "queue-2-task-added", queue_person.card
    await queue_person.adds("Buy milk")
    yield "queue-3-list", await queue_person.lists()
    yield "queue-4-pulled", await queue_person.pulls()


async def week(queue_person: QueuePerson) -> AsyncIterator[tuple[str, Card]]:
    for title, minutes in (
        ("Write the grant", 180),
        ("Review papers", 120),
        ("Answer Ann", 30),
        ("Sort the attic", 600),
    ):
        await queue_person.adds(title, work=Do(minutes=minutes))
    yield (
        "week-1-proposed",
        await queue_person.send(PlanWeek.model_validate({**queue_person.about(), "span": "coming"})),
    )
    await queue_person.press("Open all 5 days")
    yield "week-2-open", queue_person.card


def from_state() -> dict[str, Card]:
    """Return the cards of states that a person reaches seldom."""
    stages = {f"state-{name.replace(' ', '-')}": stage_card(case) for name, case in CASES.items()}
    refine = plan_session(TimeboxingStage.REFINE)
    ended = plan_session(TimeboxingStage.REFINE, status=SessionStatus.CANCELLED)
    lefts = {f"left-{stage.value.replace('_', '-')}": left_card(refine, stage) for stage in TimeboxingStage}
    return {
        **stages,
        **lefts,
        **connections(),
        "ended-reply": ended_reply(ended),
        "not-yours": not_yours_card(),
        "proposal": proposal_card(proposal()),
        "welcome": welcome_card(),
        "home-0-refused": refused_home_card(connect_card(ConnectionView(), "U1")),
        "date-again": stage_card(session()),
    }


def connections() -> dict[str, Card]:
    """Return the cards about the connection of a calendar."""
    own = Connection(
        "U1",
        Provider.GOOGLE,
        "anna@example.com",
        "work",
        datetime(2026, 3, 2, tzinfo=UTC),
        reads=("family",),
        names={"work": "Work", "family": "Family"},
        secret="any",
    )
    link = "https://plan.example.org/connect/token"
    new, connected = ConnectionView(link=link), ConnectionView(own, link)
    broken = replace(connected, connection=replace(own, problem="Google has ended my access to your account."))
    shown = refused_home_card(connect_card(connected, "U1"), build_connection_parts(connected))
    return {
        "connect-1-new": connect_card(new, "U1"),
        "connect-2-offer": connect_card(replace(new, offer="Google"), "U1"),
        "connect-3-joined": joined_card(connected, "I plan on your calendar from now on."),
        "connect-4-broken": broken_card(broken),
        "connect-5-refused": connect_card(broken, "U1"),
        "connect-6-home": shown,
        "connect-7-home-broken": refused_home_card(connect_card(broken, "U1"), build_connection_parts(broken)),
    }


async def collect(tmp_path: Path) -> dict[str, Card]:
    harness = await open_harness_at(tmp_path)
    found = {name: card async for name, card in queue(QueuePerson(harness), harness)}
    await harness.close()
    (third := tmp_path / "third").mkdir()
    harness = await open_harness_at(third)
    found |= {name: card async for name, card in week(QueuePerson(harness))}
    await harness.close()
    (other := tmp_path / "other").mkdir()
    harness = await open_harness_at(other)
    found |= {name: card async for name, card in walk(Person(harness), harness)}
    await harness.close()
    return found | from_state()


async def test_each_card_reads_as_its_file_says(tmp_path: Path) -> None:
    found = {name: hide_ids(print_card(card)) for name, card in (await collect(tmp_path)).items()}
    if os.environ.get("CARDS_WRITE"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        GOLDEN.mkdir(parents=True)
        for name, text in found.items():
            (GOLDEN / f"{name}.txt").write_text(text)
    kept = {path.stem: path.read_text() for path in GOLDEN.glob("*.txt")}
    assert sorted(found) == sorted(kept)
    for name, text in found.items():
        assert text == kept[name], name


def hide_ids(text: str) -> str:
    """Return a card without the random parts of its ids."""
    return re.sub(r"\b(?:[0-9a-f]{8,}|(?:ff|q)-\w+|cmd-\S+)\b", "<id>", text)
