"""The query of a stage (S14-S18, S20, S233, S234)."""

from __future__ import annotations

import pytest
from tests.factories.constraints import DAY, context_of, version_of

from fateforger.memory.retrieval import DayFacts, build_queries, query_types, retrieve, select_event_types
from fateforger.memory.vocabulary import STAGES
from fateforger.planning.plan import ET


@pytest.mark.parametrize(
    ("stage", "facts", "types"),
    [
        ("COLLECT", DayFacts(), []),
        ("CAPTURE", DayFacts(), ["DW", "SW"]),
        ("SKELETON", DayFacts(), ["DW", "SW", "PR"]),
        ("COLLECT", DayFacts(meetings=True, commutes=True), ["M", "C"]),
        ("COLLECT", DayFacts(sleep=True, habits=True, gaps=True), ["H", "R", "BU", "BG"]),
        ("CAPTURE", DayFacts(blocks=(ET.REGENERATION,)), ["DW", "SW", "R"]),
        ("ReviewCommit", DayFacts(meetings=True, gaps=True), ["M", "DW", "SW", "PR", "BU", "BG"]),
    ],
)
def test_event_types_follow_from_facts(stage: str, facts: DayFacts, types: list[str]) -> None:
    """S15."""
    assert list(select_event_types(stage, facts)) == types


def test_the_filters_are_exactly_these() -> None:
    """S17."""
    (query,) = build_queries("REFINE", DAY, (ET.MEETING,), ("buffer",))
    assert query.model_dump(mode="json", exclude_defaults=True) == {
        "as_of": "2026-03-03",
        "stage": "REFINE",
        "event_types_any": ["M"],
        "type_ids": ["buffer"],
    }
    assert (query.statuses_any, query.require_active, query.limit) == (("locked", "proposed"), True, 50)


def test_stage_one_asks_for_what_was_marked_and_then_once_more() -> None:
    """S18."""
    first, second = build_queries("CollectConstraints", DAY, (ET.MEETING,), ("buffer",))
    assert (first.tags, first.scopes_any, first.event_types_any, first.type_ids) == (
        ("startup_prefetch",),
        ("profile", "datespan"),
        (),
        (),
    )
    assert second == first.model_copy(update={"tags": ()})
    assert [len(build_queries(stage, DAY)) for stage in STAGES] == [1, 2, 1, 1, 1, 1]
    rows = [
        version_of("plain"),
        version_of("session", scope="session", session="S1", topics=["startup_prefetch"]),
        version_of("tag", topics=["startup_prefetch"]),
        version_of("aspect", aspect_classification={"aspect_id": "sleep", "is_startup_prefetch": True}),
    ]
    context = context_of(session_id="S1")
    assert [item.uid for item in retrieve(rows, context, (first, second)).applicable] == ["aspect", "tag"]
    assert [item.uid for item in retrieve(rows[:2], context, (first, second)).applicable] == ["plain"]


def test_types_are_ranked_and_a_rare_must_comes_first() -> None:
    """S16: ranking by count alone would cut exactly what is rare."""
    rows = [version_of(f"b{n}", rule_kind="buffer") for n in range(3)]
    rows += [version_of(f"c{n}", rule_kind="capacity") for n in range(4)]
    rows += [version_of("must", rule_kind="min_sleep", necessity="must"), version_of("none")]
    assert query_types(rows, context_of()) == ("min_sleep", "capacity", "buffer", "other")


def test_retrieval_is_not_limited_to_a_few_and_never_cuts_a_must() -> None:
    """S234, S174: 60 musts and 10 others with a limit of 50; what is cut is named."""
    rows = [version_of(f"m{n:02}", necessity="must") for n in range(60)] + [version_of(f"s{n}") for n in range(10)]
    answer = retrieve(rows, context_of(), build_queries("REFINE", DAY))
    assert ([item.record.necessity for item in answer.applicable], len(answer.cut)) == (["must"] * 60, 10)
    assert answer.cut[0].reason == "There was room for 50 only, and others come first."
