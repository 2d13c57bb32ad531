"""Rules for a while: they end, and what they took the place of counts again; a lasting rule stays one (S410, S235, A4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Harness, Person, words_in
from tests.unit.conversation.sessions import make_command, session, turn
from tests.unit.conversation.test_memory import counting, envelope, remember, rule_of

from fateforger.conversation.turn_runs import run_turn
from fateforger.session.commands.rules import RememberConstraint, SettleConstraints
from fateforger.session.model import Session

TWO_WEEKS: dict[str, Any] = {"lifecycle": {"ttl_days": 14}}
"""A lifetime for rules of the second of March; their last day is the sixteenth."""


async def later(harness: Harness, days: int) -> Person:
    """Return the person in a new thread, some days later."""
    harness.clock.at += timedelta(days=days)
    person = Person(harness)
    await person.to_frame()
    return person


async def replace_by_name(anna: Person, uid: str) -> None:
    record = rule_of("Bed at eleven", "23:00", **TWO_WEEKS)
    await anna.send(RememberConstraint(**envelope(anna), record=record, supersedes=uid))


async def say_another(anna: Person, _uid: str) -> None:
    await remember(anna, "Bed at eleven", "23:00", **TWO_WEEKS)


async def choose_between(anna: Person, uid: str) -> None:
    """Let the person choose between two rules that the program takes for unrelated."""
    fields: dict[str, Any] = {"payload": {"rule_kind": None}, **TWO_WEEKS}
    await remember(anna, "Bed at eleven", "23:00", **fields)
    newer = next(v.uid for v in await anna.harness.remembered.of(anna.user) if v.record.name == "Bed at eleven")
    await anna.send(SettleConstraints(**envelope(anna), uids=(newer, uid), keep=newer))


@pytest.mark.parametrize("tell", [replace_by_name, say_another, choose_between])
async def test_what_it_took_the_place_of_counts_again(anna: Person, harness: Harness, tell: Any) -> None:
    """S410: this holds if the new rule names it, contradicts it, or is chosen."""
    await anna.to_frame()
    await remember(anna, "Bed at ten", "22:00")
    await tell(anna, (await harness.remembered.of(anna.user))[-1].uid)
    assert "“Bed at eleven” takes the place of “Bed at ten” until 16 March 2026." in anna.words
    assert counting(await anna.session()) == ["Bed at eleven"]
    last = await later(harness, 14)
    assert counting(await last.session()) == ["Bed at eleven"]
    after = await later(harness, 1)
    assert counting(await after.session()) == ["Bed at ten"]
    assert "“Bed at ten”" in after.words
    assert "It ended on 16 March 2026" in words_in(await after.look("rules"))


@pytest.mark.parametrize("words", ["Bed at ten", "In bed by ten"])
@pytest.mark.parametrize(
    ("first", "again", "lasts"),
    [(3, 14, 14), (14, 3, 3), (3, None, 100), (None, 3, 100)],
    ids=["longer", "shorter", "for good now", "for good before"],
)
async def test_what_is_said_again_is_kept_as_long_as_was_said(
    anna: Person, harness: Harness, words: str, first: int | None, again: int | None, lasts: int
) -> None:
    """S410: the exception is a lasting rule, which saying it again for a while does not end."""
    await anna.to_frame()
    for days, name in ((first, "Bed at ten"), (again, words)):
        await remember(anna, name, "22:00", lifecycle={"ttl_days": days})
    assert counting(await (await later(harness, lasts)).session()) == ["Bed at ten"]
    if lasts < 100:
        assert counting(await (await later(harness, 1)).session()) == []


async def test_its_last_day_is_said(anna: Person) -> None:
    """S410"""
    await anna.to_frame()
    await remember(anna, "Bed at ten", "22:00", **TWO_WEEKS)
    assert "I'll remember “Bed at ten”, until 16 March 2026." in anna.words


async def hear(now: Session, command_id: str, answer: dict[str, Any]) -> Session:
    reply = make_command("user_reply", text="…").model_copy(update={"command_id": command_id})
    return (await run_turn(turn(now, reply), ScriptedModel(wants("memory"), answer))).session


START = {"slot": "work_start"}
BREATH = {"slot": "slack"}
REST = "Tuesday, Wednesday, Thursday, Friday, Saturday"


@pytest.mark.parametrize("meant", ["memory_update_constraint", "memory_supersede_constraint"])
@pytest.mark.parametrize(
    ("known", "change", "lines"),
    [
        (
            wished(description="I start at 8", **START, limits={"at": "08:00"}),
            wished(**START, limits={"at": "10:00", "kept_days": 14}),
            (
                "Work starts at 10:00, until 15 March 2026.",
                "“Work starts at 10:00” takes the place of “I start at 8” until 15 March 2026.",
            ),
        ),
        (
            wished(description="I start at 8", **START, limits={"at": "08:00"}),
            wished(**START, limits={"at": "10:00"}, end_date="2026-03-12"),
            (
                "Work starts at 10:00, until 12 March 2026.",
                "“Work starts at 10:00” takes the place of “I start at 8” until 12 March 2026.",
            ),
        ),
        (
            wished(description="A tenth free", **BREATH, minutes_min=10),
            wished(**BREATH, minutes_min=20, days_of_week=["MO"]),
            (
                "20% of the free time stays free on Monday from now on.",
                f"“10% of the free time stays free” is for {REST} and Sunday only from now on.",
            ),
        ),
    ],
    ids=["for two weeks", "until a day", "on Mondays"],
)
async def test_a_setting_for_a_while_leaves_the_usual_one(
    meant: str, known: dict[str, Any], change: dict[str, Any], lines: tuple[str, ...]
) -> None:
    """S410: “for the next two weeks I start at ten” says nothing about the weeks after them."""
    now = await hear(session(), "first", wish("remember", rule=known))
    now = await hear(now, "second", wish(meant, 1, rule=change))
    assert now.rules.memory_writes[-1].lines == lines


async def test_said_again_it_still_ends(anna: Person, harness: Harness) -> None:
    """S410: a rule that replaced another for a while and is repeated for a while."""
    await anna.to_frame()
    await remember(anna, "Bed at ten", "22:00")
    await say_another(anna, "")
    again = await later(harness, 7)
    await say_another(again, "")
    assert counting(await again.session()) == ["Bed at eleven"]
    assert counting(await (await later(harness, 14)).session()) == ["Bed at eleven"]
    assert counting(await (await later(harness, 1)).session()) == ["Bed at ten"]
