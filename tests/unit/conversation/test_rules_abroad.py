"""The times of a rule from home follow the clock of the place where a day is planned (S412)."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.told_rules import build_extraction, rule
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, words_in
from tests.unit.conversation.sessions import make_command, session, turn

from fateforger.conversation.language.rule_extraction import build_records, interpret
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import MemoryReading
from fateforger.planning.plan import resolve
from fateforger.planning.timing import zone

NEW_YORK, TOKYO = "America/New_York", "Asia/Tokyo"
WEDNESDAY = date(2026, 3, 4)
TASKS: dict[str, Any] = {
    f"{field}_{n}": value
    for n, title in enumerate("ABCDE", start=1)
    for field, value in (("title", title), ("minutes", 60))
}


@pytest.mark.parametrize("tz", [NEW_YORK, TOKYO])
async def test_a_must_told_at_home_is_kept_abroad(anna: Person, harness: Harness, tz: str) -> None:
    """S412: nothing before ten, and in bed by ten, in New York as in Amsterdam."""
    await anna.to_frame()
    must: dict[str, Any] = {"necessity": "must"}
    assert await anna.fill("rule_new", words="Nothing before 10", kind="avoid_window", times="0-10", **must) is None
    assert await anna.fill("rule_new", words="In bed by ten", kind="fixed_bedtime", times="22-6", **must) is None
    there = Person(harness)
    await there.start(WEDNESDAY, tz=tz)
    await there.press("Plan this day")
    await there.press("Continue")
    await there.fill("tasks", size=5, **TASKS)
    plan = (await there.session()).planning.plan
    assert plan is not None
    blocks = resolve(plan)
    assert min(block.start.astimezone(zone(tz)).time() for block in blocks) == time(10)
    assert max(block.end.astimezone(zone(tz)).time() for block in blocks) > time(16)
    assert "Did not fit" not in there.words


async def test_said_again_abroad_it_is_the_same_rule(anna: Person, harness: Harness) -> None:
    """S412: also one that an earlier version tied to the time zone of that day."""
    fields: dict[str, Any] = {
        "rule_kind": "avoid_window",
        "windows": [avoiding("00:00", "10:00")],
    }
    old = version_of("old", user=ANNA, name="Nothing before 10", timezone="Europe/Amsterdam", **fields)
    await harness.store.constraints.write([old], cause="told")
    there = Person(harness)
    await there.start(WEDNESDAY, tz=NEW_YORK)
    await there.press("Plan this day")
    await there.fill("rule_new", words="Nothing before 10", kind="avoid_window", times="0-10")
    newest = (await harness.store.constraints.of(ANNA))[-1]
    assert (newest.uid, newest.record.applicability.timezone) == ("old", None)
    assert words_in(await there.look("rules")).count("Nothing before 10") == 1


async def test_words_tie_no_rule_to_a_time_zone() -> None:
    """S412: neither words to be remembered nor a rule found in a message."""
    windows = [avoiding("00:00", "10:00")]
    told = wished(description="nothing before ten", windows=windows)
    reply = make_command("user_reply", text="…")
    now = (await run_turn(turn(session(), reply), ScriptedModel(wants("memory"), wish("remember", rule=told)))).session
    heard = build_extraction(rule("Late", "nothing before ten", windows=windows))
    (record,) = build_records(await interpret(reply, session(), ScriptedModel(heard)), session())
    assert {now.rules.said[-1].record.applicability.timezone, record.applicability.timezone} == {None}


async def test_times_that_words_change_are_tied_to_no_time_zone() -> None:
    """S412: the rule was tied to one by an earlier version."""
    old = version_of("old", user="U1", seq=1, timezone="Europe/Amsterdam", windows=[avoiding("00:00", "10:00")])
    given = turn(session(), make_command("user_reply", text="…"))
    given = given.model_copy(update={"memory": MemoryReading(versions=(old,))})
    more = wish("memory_update_constraint", 1, rule=wished(windows=[avoiding("00:00", "11:00")]))
    record = (await run_turn(given, ScriptedModel(wants("memory"), more))).session.rules.said[-1].record
    assert (record.applicability.timezone, record.payload.windows[0].end) == (None, time(11))


def avoiding(start: str, end: str) -> dict[str, str]:
    return {"kind": "avoid", "start": start, "end": end}
