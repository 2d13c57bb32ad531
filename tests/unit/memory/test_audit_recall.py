"""The audit's findings about what is recalled (S175-S180, S193): each impossible here, proved on a real store.

Peers searched by similarity, scored by words that texts share, and let a summary stand for what it was made of. Here
what applies is computed from typed fields that are written once, and no text is compared.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import context_of, version_of
from tests.unit.conversation.sessions import plan_session, task
from tests.unit.memory.conftest import StoredConstraints

from fateforger.memory.applicability import Why
from fateforger.memory.consolidation import find_consolidations, mark_replacing, retire_replaced
from fateforger.memory.contradiction import Kind, find_contradictions
from fateforger.memory.record import Aspect
from fateforger.memory.versions import select_newest
from fateforger.memory.violations import build_sections
from fateforger.session.rulebook import topics_of
from fateforger.session.stages import TimeboxingStage

NOW = "2026-03-03T12:00:00Z"


def window(start: str) -> list[dict[str, str]]:
    return [{"kind": "prefer", "start": start, "end": "07:00"}]


@pytest.mark.parametrize(
    ("cue", "about", "trigger", "asked"),
    [
        ("no calls before 10", {"applies_event_types": ["M"]}, "fit the vendor demo tomorrow", {"event_types": ["M"]}),
        (
            "deathly allergic to peanuts",
            {"topics": ["food"]},
            "order Thai food for Kim",
            {},
        ),
        ("mijn moeder past donderdags op", {"days_of_week": ["TU"], "necessity": "must"}, "plan my Tuesday", {}),
        (
            "after the marathon my knees need a week",
            {"applies_event_types": ["H"]},
            "more sport",
            {"event_types": ["H"]},
        ),
    ],
)
async def test_semantic_disconnect_retrieval(
    kept: StoredConstraints, cue: str, about: dict[str, Any], trigger: str, asked: dict[str, Any]
) -> None:
    """S175, S197, S233 (C-01): a constraint and the moment it is for share no word, so a search by likeness missed it.
    It is found by what it affects, which was written down with it. What the day is about is computed from its titles."""
    await kept.rule("it", cue, **{"confidence": 0.2, "status": "proposed", **about})
    for n in range(50):
        await kept.rule(f"n{n}", f"{trigger} {n}", topics=["other"], applies_event_types=["BU"])
    assert not set(cue.split()) & set(trigger.split())
    answer = await kept.recall(situation=trigger, k=6, topics=await topics_of_day(kept, trigger), **asked)
    assert answer.applicable[0].uid == "it"


async def topics_of_day(kept: StoredConstraints, *titles: str) -> tuple[str, ...]:
    """Return the topics that a session computes from the titles of its tasks."""
    session = plan_session(TimeboxingStage.REFINE, *(task(title, 30) for title in titles))
    return topics_of(session, await kept.store.constraints.of("U1"))


async def test_constraint_dilution(kept: StoredConstraints) -> None:
    """S176 (C-02): all active constraints came back with the same weight, and the relevant one was cut at six.

    Now the order is computed over all of them before any cut: of 50 the relevant one comes first, and a must is never
    cut. The number of cut ones is reported.
    """
    for n in range(50):
        await kept.rule(f"n{n:02}", "a neutral policy", topics=["finance"], confidence=1.0)
    await kept.rule("shellfish", "never eat shellfish", topics=["food", "diet"], confidence=0.5, status="proposed")
    food = {"topics": await topics_of_day(kept, "Food for the party: lobster")}
    assert food == {"topics": ("food",)}
    assert (await kept.uids(**food, k=6))[0] == "shellfish"
    aspect = {"aspect_id": "diet", "category": "food"}
    await kept.rule("z", "no lobster either", aspect_classification=aspect, confidence=0.1, status="proposed")
    answer = await kept.recall(**food, k=6)
    assert [item.uid for item in answer.applicable[:2]] == ["shellfish", "z"]
    assert (len(answer.applicable), len(answer.cut), {item.why for item in answer.cut}) == (6, 46, {Why.CUT})
    await kept.rule("must", "insulin at noon", topics=["health"], necessity="must", status="proposed", confidence=0.1)
    assert await kept.uids(**food, k=0) == ["must"]


async def test_fast_classify_constraint_dimensions(kept: StoredConstraints) -> None:
    """S177, S194 (C-03): without a model the dimension was never known, so a state came back as if it were a policy.

    Now it is a field of the record: value and policy bind, goals and states are considered, for any words.
    """
    for dimension in ("policy", "value", "goal", "state"):
        words = "I should never be stressed about my goals"
        await kept.rule(dimension, words, aspect_classification={"dimension": dimension})
    told = build_sections(await kept.recall())
    assert sorted(reminder.uid for reminder in told.must_follow) == ["policy", "value"]
    assert sorted(reminder.uid for reminder in told.consider) == ["goal", "state"]


@pytest.mark.parametrize("typed", [{}, {"aspect_classification": {"dimension": "policy"}}], ids=["untyped", "typed"])
async def test_reranker_no_recency_penalty_for_old_constraints(kept: StoredConstraints, typed: dict[str, Any]) -> None:
    """S178, S194 (C-04): recency outweighed relevance, above all for what had no type. Here it breaks ties only: 90 days
    old and confirmed goes before yesterday's assumption, with a type or without."""
    await kept.rule("new", "an anecdote of yesterday", at="2026-03-02T09:00:00Z", status="proposed", confidence=1.0)
    await kept.rule("old", "never call before ten", at="2025-12-03T09:00:00Z", confidence=0.3, **typed)
    assert await kept.uids() == ["old", "new"]
    assert await kept.uids(k=1) == ["old"]


async def test_constraint_supersession(kept: StoredConstraints) -> None:
    """S179, S193 (C-05): contradictions were found only within minutes of a statement, so both rules stayed in force.

    Now every search finds them, also days later; the result is a version that names the rule it replaced.
    """
    old = await kept.rule("11pm", "in bed by eleven", rule_kind="fixed_bedtime", windows=window("23:00"))
    await kept.rule(
        "10pm", "actually ten", rule_kind="fixed_bedtime", windows=window("22:00"), at="2026-02-20T09:00:00Z"
    )
    (found,) = find_contradictions(await kept.store.constraints.of("U1"), "U1")
    assert (found.kind, found.uids) == (Kind.REPLACED, ("10pm", "11pm"))
    assert found.follows is not None
    await kept.say(found.follows.at(context_of(now=NOW).now or old.updated_at))
    for day in ("2026-03-03", "2026-09-01"):
        answer = await kept.recall(day=None, now=f"{day}T12:00:00Z")
        assert [item.uid for item in answer.applicable] == ["10pm"]
        assert [(out.uid, out.why, out.by and out.by.uid) for out in answer.excluded] == [
            ("11pm", Why.SUPERSEDED, "10pm")
        ]
    rows = await kept.store.constraints.of("U1")
    assert select_newest(rows, "U1")["10pm"].event.reason == "supersedes 11pm"
    assert find_contradictions(rows, "U1") == find_consolidations(rows, context_of(now=NOW)) == ()


async def test_what_was_superseded_outright_stays_so(kept: StoredConstraints) -> None:
    """S179 (C-05), S29: “I'm vegetarian”, then “actually I eat fish now”: only fish, and the old row says by what."""
    vegetarian = await kept.rule("vegetarian", "I'm vegetarian", topics=["diet"])
    fish = version_of("fish", description="actually I eat fish now", topics=["diet"], at=NOW)
    fish = fish.model_copy(update={"record": mark_replacing(fish.record, vegetarian)})
    gone = retire_replaced(vegetarian, fish, context_of().day)
    assert gone is not None
    await kept.say(fish, gone.at(fish.updated_at))
    answer = await kept.recall()
    assert [item.uid for item in answer.applicable] == ["fish"]
    assert [(out.uid, out.reason) for out in answer.excluded] == [
        ("vegetarian", "“Rule fish” takes its place on that day.")
    ]
    old = select_newest(await kept.store.constraints.of("U1"), "U1")["vegetarian"]
    assert (old.event.reason, old.record.words) == ("superseded by fish", "I'm vegetarian")


async def test_consolidation_preserves_constraint_type(kept: StoredConstraints) -> None:
    """S180, S193 (C-06): a summary of several memories lost that they were a policy. Here nothing is summarised: of exact
    duplicates one stays as it is, necessity, dimension, words and all, and the others are archived by an event."""
    policy = {"dimension": "policy", "category": "food"}
    for n in range(3):
        await kept.rule(f"g{n}", "I never eat gluten", name="Gluten", necessity="must", aspect_classification=policy)
    context = context_of(now=NOW)
    found = find_consolidations(await kept.store.constraints.of("U1"), context)
    changes = [finding.follows for finding in found if finding.follows is not None]
    assert [finding.kind for finding in found] == [Kind.DUPLICATE] * 2
    await kept.say(*(change.at(context.now or change.version.updated_at) for change in changes))
    (left,) = (await kept.recall()).applicable
    assert left.record.necessity == "must"
    assert left.record.aspect == Aspect.model_validate(policy)
    assert left.record.words == "I never eat gluten"
    assert [reminder.uid for reminder in build_sections(await kept.recall()).must_follow] == [left.uid]
    assert len(await kept.store.constraints.of("U1")) == 5
