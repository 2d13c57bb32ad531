"""“I stop at 17”, then “I work till 19 now”: only the later rule counts, in any language.

This holds even if a model could not turn all of it into times, for rules that were found in a message and for explicit
ones (S179, S188; C-05, L-04).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.told_rules import NOTHING, build_extraction, rule
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.sessions import make_command, session, turn

from fateforger.conversation.language.rule_extraction import build_records, interpret
from fateforger.conversation.memory_node import apply_understood
from fateforger.conversation.turn_runs import run_turn
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.model import Session
from fateforger.session.rulebook import rules_in_force

Told = tuple[str, str]
SAID: dict[str, tuple[str, Told, Told]] = {
    "en": ("work_end", ("I stop at 17", "17:00"), ("I work till 19 now", "19:00")),
    "de": ("bedtime", ("um zehn bin ich im Bett", "22:00"), ("ich gehe jetzt erst um elf schlafen", "23:00")),
    "fr": ("lunch", ("je déjeune à midi", "12:00"), ("maintenant je mange à 13 h", "13:00")),
    "nl": ("work_start", ("ik begin om acht uur", "08:00"), ("ik begin tegenwoordig om negen", "09:00")),
    "ja": ("wake_up", ("6時に起きます", "06:00"), ("今は7時に起きています", "07:00")),
}
EACH = pytest.mark.parametrize("language", list(SAID))
TIMES = pytest.mark.parametrize("times", ["both", "first", "second", "none"])


def windows(times: str, place: int, clock: str) -> list[dict[str, Any]]:
    given = times == "both" or times == ("first", "second")[place]
    return [{"kind": "prefer", "start": clock, "end": "23:30"}] if given else []


def names(now: Session) -> list[str]:
    return [item.record.words for item in rules_in_force(now).applicable]


@EACH
@TIMES
async def test_what_was_overheard_later_counts(language: str, times: str) -> None:
    slot, *told = SAID[language]
    now = session()
    for place, (words, clock) in enumerate(told):
        line = rule(words, words, slot=slot, windows=windows(times, place, clock))
        reply = make_command("user_reply", text=words)
        heard = build_records(await interpret(reply, now, ScriptedModel(build_extraction(line))), now)
        now, _ = apply_understood(
            now,
            None,
            AddExtracted(command_id=f"u{place}", session_id=now.id, of=f"c{place}", at=reply.at, records=heard),
        )
    assert names(now) == [told[1][0]]
    assert f"“{told[1][0]}” takes the place of “{told[0][0]}” from now on." in now.rules.memory_writes[-1].lines


@EACH
@TIMES
async def test_what_was_told_to_be_remembered_later_counts(language: str, times: str) -> None:
    slot, *told = SAID[language]
    now = session()
    for place, (words, clock) in enumerate(told):
        said_ = wished(description=words, slot=slot, windows=windows(times, place, clock), topics=["day"])
        model = ScriptedModel(wants("memory"), wish("remember", rule=said_))
        reply = make_command("user_reply", text=words)
        now = (await run_turn(turn(now, reply.model_copy(update={"command_id": f"c{place}"})), model)).session
    is_setting = slot == "lunch" and times in {"both", "second"}
    assert names(now) == ["Lunch is between 13:00 and 23:30 for 45 min" if is_setting else told[1][0]]


@EACH
async def test_two_things_that_one_has_one_of_each_stay(language: str) -> None:
    slot, (words, _), _ = SAID[language]
    other = "lunch" if slot != "lunch" else "bedtime"
    lines = build_extraction(rule(words, words, slot=slot), rule("other", "the other", slot=other))
    now = session()
    heard = build_records(await interpret(make_command("user_reply", text=words), now, ScriptedModel(lines)), now)
    event = AddExtracted(
        command_id="u", session_id=now.id, of="c", at=make_command("user_reply", text=words).at, records=heard
    )
    now, _ = apply_understood(now, None, event)
    assert sorted(names(now)) == sorted([words, "the other"])


@pytest.mark.parametrize("missing", ["topics", "domain", "dimension"])
async def test_s188_what_a_rule_is_about_is_asked_for_again(missing: str) -> None:
    whole = rule("No shellfish", "never eat shellfish", topics=["food", "diet"], domain="food")
    partial = {**whole, "topics": []} if missing == "topics" else {k: v for k, v in whole.items() if k != missing}
    model = ScriptedModel(build_extraction(partial), build_extraction(whole))
    now = session()
    (record,) = build_records(await interpret(make_command("user_reply", text="never eat shellfish"), now, model), now)
    ((_, sentence),) = model.prompts[1].history
    assert missing in sentence
    assert record.aspect is not None
    assert (record.topics, record.aspect.category, record.aspect.dimension) == (("food", "diet"), "food", "policy")


async def test_a_bedtime_is_one_whatever_a_model_calls_it() -> None:
    now = session()
    lines = build_extraction(rule("Bed", "in bed by ten", rule_kind="fixed_bedtime"))
    (record,) = build_records(await interpret(make_command("user_reply", text="…"), now, ScriptedModel(lines)), now)
    assert record.aspect is not None
    assert record.aspect.frame_slot == "bedtime"
    assert build_records(await interpret(make_command("user_reply", text="…"), now, ScriptedModel(NOTHING)), now) == ()
