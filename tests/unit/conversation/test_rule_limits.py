"""Limits of a rule: conditions, time to live, steps, certainty and source, by form and in words (S225, S233, S235)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.told_rules import build_extraction, rule
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, buttons_in, meeting, words_in
from tests.unit.conversation.sessions import make_command, session, task, turn
from tests.unit.conversation.test_rules import list_names, newest

from fateforger.conversation.language.rule_extraction import build_records, interpret
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import MemoryReading
from fateforger.errors import ConstraintUnreadable
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Source, Status
from fateforger.session.forms import NumberField
from fateforger.session.model import InputFacts
from fateforger.session.rulebook import rules_in_force
from fateforger.session.stages import TimeboxingStage

LIMITS: dict[str, Any] = {"only_without": "Gym", "kept_days": 14, "stages": ("REFINE",), "tags": "sport, evenings"}
SAID: dict[str, Any] = {
    "only_without": ["Gym"],
    "kept_days": 14,
    "stages": ["REFINE"],
    "source": "feedback",
    "unsure": True,
}


async def read_home(harness: Harness) -> str:
    return "\n".join(part.text for part in (await harness.coordinator.home(ANNA)).parts if hasattr(part, "text"))


def limits_of(record: ConstraintRecord) -> tuple[object, ...]:
    assert record.aspect is not None
    return record.aspect.conditional_on_absent, record.lifecycle.ttl_days, record.applies_stages


async def test_the_rare_is_behind_more_and_what_is_set_is_shown(anna: Person, harness: Harness) -> None:
    """S225, S233, S235, S36"""
    await anna.to_frame()
    first = await anna.look("rule_new")
    assert first.more == "More: days it depends on, steps, tags"
    assert {*LIMITS, "source", "unsure"}.isdisjoint(field.name for field in first.inputs)
    assert await anna.fill("rule_new", words="Walk after lunch", source="feedback", unsure=True, **LIMITS) is None
    record = (await newest(harness, "Walk after lunch")).record
    assert limits_of(record) == (("gym",), 13, ("REFINE",))
    assert (record.topics, record.source, record.needs_confirmation) == (("sport", "evenings"), Source.FEEDBACK, True)
    listed = words_in(await anna.look("rules"))
    assert "kept until 15 March 2026, only without “gym”, in the step “Refine” only" in listed
    assert "please confirm" in listed
    version = await newest(harness, "Walk after lunch")
    form = await anna.look("rule", target=f"{version.seq} {version.uid}")
    assert {*LIMITS, "source", "unsure"} <= {field.name for field in form.inputs}
    await anna.click("memory.accept", f"{version.seq} {version.uid}")
    await anna.read()
    assert (await newest(harness, "Walk after lunch")).record.needs_confirmation is False
    assert "please confirm" not in words_in(await anna.look("rules"))


async def test_a_kind_of_block_is_a_condition_by_its_name(anna: Person, harness: Harness) -> None:
    await anna.to_frame()
    assert await anna.fill("rule_new", words="Mail first", only_with="meeting, team lunch") is None
    aspect = (await newest(harness, "Mail first")).record.aspect
    assert aspect is not None
    assert aspect.conditional_on_present == ("M", "team lunch")
    assert "only with meeting and “team lunch”" in words_in(await anna.look("rules"))


@pytest.mark.parametrize(("title", "holds"), [("Gym with Tom", True), ("Gymnastics", False)])
async def test_a_condition_looks_at_the_calendar(anna: Person, harness: Harness, title: str, *, holds: bool) -> None:
    """S225: the title, or words of it; never a part of a word."""
    meeting(harness, title, "12:00", "13:00")
    await anna.to_frame()
    assert await anna.fill("rule_new", words="Eat early", only_with="gym") is None
    assert ("“Eat early” (should)" in anna.words) is holds
    reason = "It is for days with “gym” only"
    assert (reason in words_in(await anna.look("rules"))) is not holds


def test_a_condition_looks_at_the_tasks_of_the_day() -> None:
    """S225"""
    aspect = {"conditional_on_absent": ["gym"]}
    early = version_of("early", user="U1", seq=1, aspect_classification=aspect)
    day = session(TimeboxingStage.CAPTURE_INPUTS)
    reading = MemoryReading(versions=(early,))
    now = day.with_rules(said=reading.versions)
    assert [item.uid for item in rules_in_force(now).applicable] == ["early"]
    now = now.with_day(inputs=InputFacts(tasks=(task("Gym"),)))
    assert rules_in_force(now).applicable == ()


async def test_words_say_the_same(anna: Person) -> None:
    """S225, S233, S235: this covers an explicit rule, and one found in a message."""
    told = wished(description="walk after lunch", limits=SAID)
    outcome = await run_turn(
        turn(session(), make_command("user_reply", text="…")),
        ScriptedModel(wants("memory"), wish("remember", rule=told)),
    )
    (version,) = outcome.session.rules.said
    assert limits_of(version.record) == (("gym",), 13, ("REFINE",))
    assert (version.record.source, version.record.needs_confirmation) == (Source.FEEDBACK, True)
    assert version.record.status is Status.PROPOSED
    heard = build_extraction(rule("Walk", "walk after lunch", limits=SAID))
    (record,) = build_records(
        await interpret(make_command("user_reply", text="…"), session(), ScriptedModel(heard)), session()
    )
    assert limits_of(record) == limits_of(version.record)


async def test_words_change_the_limits_of_a_rule(anna: Person, harness: Harness) -> None:
    """S235: “for the next two weeks” of a rule that is there."""
    calls = version_of("calls", user="U1", seq=1)
    more = wish("memory_update_constraint", 1, rule=wished(limits={"kept_days": 14}))
    given = turn(session(), make_command("user_reply", text="…"))
    given = given.model_copy(update={"memory": MemoryReading(versions=(calls,))})
    outcome = await run_turn(given, ScriptedModel(wants("memory"), more))
    assert outcome.session.rules.said[-1].record.lifecycle.ttl_days == 13


async def test_words_keep_a_rule_for_as_long_again(anna: Person, harness: Harness) -> None:
    """S421: who says “for two weeks” of a rule for two weeks means two weeks from then on; other words leave its end."""
    for limits, left in (({"kept_days": 14}, 13), ({"only_with": ["Gym"]}, 9)):
        calls = version_of("calls", user="U1", seq=1, ttl_days=14, at="2026-02-25T09:00:00+00:00")
        more = wish("memory_update_constraint", 1, rule=wished(limits=limits))
        given = turn(session(), make_command("user_reply", text="…"))
        given = given.model_copy(update={"memory": MemoryReading(versions=(calls,))})
        outcome = await run_turn(given, ScriptedModel(wants("memory"), more))
        assert outcome.session.rules.said[-1].record.lifecycle.ttl_days == left


async def test_a_rule_for_two_weeks_ends(anna: Person, harness: Harness) -> None:
    """S235"""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14)
    harness.clock.at += timedelta(days=14)
    later = Person(harness)
    await later.to_frame()
    assert "No coffee" not in later.words
    assert "I know no rules of yours yet" in await read_home(harness)
    assert "It was kept until 15 March 2026 and not confirmed since" in words_in(await later.look("rules"))


async def test_undo_does_not_extend_a_time_to_live(anna: Person, harness: Harness) -> None:
    """S235, S421: the rule ends when it would have, not two weeks after the Undo."""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14)
    harness.clock.at += timedelta(days=5)
    version = await newest(harness, "No coffee")
    await anna.click("memory.archive", f"{version.seq} {version.uid}")
    await anna.read()
    (write,) = [each for each in (await anna.session()).rules.memory_writes if each.fresh]
    await anna.click("undo_memory", write.cause)
    await anna.read()
    assert "kept until 15 March 2026" in words_in(await anna.look("rules"))


async def test_an_edit_does_not_extend_a_time_to_live(anna: Person, harness: Harness) -> None:
    """S421: unless it is of the time to live itself; the reply says until when the rule is kept."""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14)
    harness.clock.at += timedelta(days=5)
    version = await newest(harness, "No coffee")
    await anna.fill("rule", target=f"{version.seq} {version.uid}", words="No coffee after noon")
    assert "is changed, and kept until 15 March 2026." in anna.words
    assert "kept until 15 March 2026" in words_in(await anna.look("rules"))
    version = await newest(harness, "No coffee")
    await anna.fill("rule", target=f"{version.seq} {version.uid}", kept_days=20)
    assert "kept until 26 March 2026" in words_in(await anna.look("rules"))


async def test_a_rule_on_its_last_day_says_so_and_can_be_kept(anna: Person, harness: Harness) -> None:
    """S452: it can be edited on that day, more than once, and confirmed for as long again."""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14)
    assert "on its last day" not in anna.words
    harness.clock.at += timedelta(days=13)
    later = Person(harness)
    await later.to_frame()
    assert "“No coffee” (should, on its last day)" in later.words
    for words in ("No coffee after noon", "No coffee at all"):
        version = await newest(harness, "No coffee")
        assert await later.fill("rule", target=f"{version.seq} {version.uid}", words=words) is None
        assert "is changed, and kept until 15 March 2026." in later.words
    assert "kept until 15 March 2026" in words_in(await later.look("rules"))
    version = await newest(harness, "No coffee")
    assert await later.fill("rule", target=f"{version.seq} {version.uid}", kept_days=3) is None
    assert "is changed, and kept until 17 March 2026." in later.words


async def test_what_is_confirmed_already_begins_its_days_again(anna: Person, harness: Harness) -> None:
    """S452: by Confirm, and by Save without a change; an edit leaves the days that were left, which then begin again."""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14)
    for days, end in ((5, "20 March 2026"), (3, "23 March 2026")):
        harness.clock.at += timedelta(days=days)
        version = await newest(harness, "No coffee")
        target = f"{version.seq} {version.uid}"
        assert "Confirm" in [each.label for each in buttons_in(await anna.look("rule", target=target))]
        await anna.click("memory.accept", target)
        await anna.read()
        assert f"“No coffee” is confirmed, and kept until {end}." in anna.words
    harness.clock.at += timedelta(days=4)
    version = await newest(harness, "No coffee")
    await anna.fill("rule", target=f"{version.seq} {version.uid}", words="No coffee at all")
    version = await newest(harness, "No coffee")
    assert version.record.lifecycle.ttl_days == 9
    target = f"{version.seq} {version.uid}"
    assert await anna.fill("rule", target=target) is None
    assert "“No coffee” is confirmed already." in anna.words
    harness.clock.at += timedelta(days=1)
    assert await anna.fill("rule", target=target) is None
    assert "“No coffee” is confirmed, and kept until 24 March 2026." in anna.words


async def test_a_verdict_says_until_when_the_rule_is_kept(anna: Person, harness: Harness) -> None:
    """S452: confirmed and restored, and what is over by its dates stays over until these are changed."""
    await anna.to_frame()
    await anna.fill("rule_new", words="No coffee", kept_days=14, unsure=True)
    version = await newest(harness, "No coffee")
    harness.clock.at += timedelta(days=5)
    for verdict, answer in (
        ("accept", "“No coffee” is confirmed, and kept until 20 March 2026."),
        ("archive", "“No coffee” is put away; I won't use it any more."),
        ("restore", "“No coffee” is restored, and kept until 20 March 2026."),
    ):
        version = await newest(harness, "No coffee")
        await anna.click(f"memory.{verdict}", f"{version.seq} {version.uid}")
        await anna.read()
        assert answer in anna.words
    await harness.store.constraints.write(
        [version_of("over", user=ANNA, status="declined", end_date="2026-02-01")], cause="told"
    )
    over = await newest(harness, "Rule over")
    await anna.click("memory.restore", f"{over.seq} {over.uid}")
    await anna.read()
    assert "“Rule over” ended on 1 February 2026. Change its days, and it counts again." in anna.words


async def test_app_home_is_shown_while_rules_cannot_be_read(
    anna: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S452: for example because a newer version of the program wrote one of them."""

    async def of(_user_id: str) -> tuple[Version, ...]:
        raise ConstraintUnreadable("One rule is damaged.", names={"calls": "Calls"})

    await anna.to_frame()
    monkeypatch.setattr(harness.store.constraints, "of", of)
    assert "I cannot read your rules just now." in await read_home(harness)


async def test_the_list_is_filtered_by_necessity_and_tag(anna: Person, harness: Harness) -> None:
    """S27"""
    rules = [
        version_of("a", user=ANNA, necessity="must", topics=["sport"]),
        version_of("b", user=ANNA, necessity="prefer", topics=["sport", "food"]),
        version_of("c", user=ANNA, necessity="must"),
    ]
    await harness.store.constraints.write(rules, cause="told")
    await anna.to_frame()
    assert list_names(await anna.look("rules", force="must")) == ["Rule a", "Rule c"]
    assert list_names(await anna.look("rules", tag="sport")) == ["Rule a", "Rule b"]
    assert list_names(await anna.look("rules", tag="sport", force="prefer")) == ["Rule b"]
    assert sorted(list_names(await anna.look("rules", tag="*", force="any"))) == ["Rule a", "Rule b", "Rule c"]


async def test_the_kind_of_a_statement_is_told_and_listed_by_form(anna: Person, harness: Harness) -> None:
    """S177: without a model, too."""
    await anna.to_frame()
    assert await anna.fill("rule_new", words="My family comes first", dimension="value") is None
    assert await anna.fill("rule_new", words="Run a marathon", dimension="goal") is None
    assert (await newest(harness, "My family comes first")).record.dimension == "value"
    assert list_names(await anna.look("rules", tells="value")) == ["My family comes first"]
    assert list_names(await anna.look("rules", tells="policy")) == []
    assert len(list_names(await anna.look("rules", tells="anything"))) == 2
    version = await newest(harness, "Run a marathon")
    form = await anna.look("rule", target=f"{version.seq} {version.uid}")
    assert {field.name: field.value for field in form.inputs}["dimension"] == "goal"


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ({"necessities": ["must"]}, {"a", "c"}),
        ({"tags": ["food"]}, {"b"}),
        ({"dimensions": ["value"]}, {"b"}),
        ({"dimensions": ["state", "goal"]}, {"a", "c"}),
        ({"scopes": ["datespan"]}, set()),
        ({"statuses": ["declined"]}, {"gone"}),
    ],
)
async def test_words_list_one_sort_of_rules(only: dict[str, Any], expected: set[str]) -> None:
    """S27, S177"""
    rules = (
        version_of("a", seq=1, necessity="must", topics=["sport"]),
        version_of("b", seq=2, necessity="prefer", topics=["food"], aspect_classification={"dimension": "value"}),
        version_of("c", seq=3, necessity="must"),
        version_of("gone", seq=4, status="declined"),
    )
    given = turn(session(), make_command("user_reply", text="my musts?"))
    given = given.model_copy(update={"memory": MemoryReading(versions=rules)})
    model = ScriptedModel(wants("memory"), wish("memory_list_constraints", only=only))
    view = (await run_turn(given, model)).session.thread.memory
    assert view is not None
    assert {row.uid for row in view.rows} == expected


async def test_a_rule_that_is_kept_longer_than_a_form_allows_can_be_changed(anna: Person, harness: Harness) -> None:
    """S452: one from elsewhere; Slack opens no form with a number above its bound."""
    await harness.store.constraints.write(
        [version_of("c1", user=ANNA, name="Old", lifecycle={"ttl_days": 9_999})], cause="told"
    )
    await anna.to_frame()
    version = await newest(harness, "Old")
    target = f"{version.seq} {version.uid}"
    (days,) = (each for each in (await anna.look("rule", target=target)).inputs if each.name == "kept_days")
    assert isinstance(days, NumberField)
    assert (days.value, days.maximum) == (10_000, 10_000)
    assert await anna.fill("rule", target=target, words="Old and dear", kept_days=10_000) is None
    assert (await newest(harness, "Old")).record.lifecycle.ttl_days == 9_970  # the same last day, thirty days later
