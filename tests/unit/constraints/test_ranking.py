"""Precedence, budget and the audit's findings about relevance (A12, S174-S176, S178)."""

from __future__ import annotations

from typing import Any

from tests.factories.constraints import context_of, version_of

from fateforger.constraints import Version, Why, applicability


def order(versions: list[Version], **context: Any) -> list[str]:
    return [item.uid for item in applicability(versions, context_of(**context)).applicable]


def test_precedence() -> None:
    """A12: each step of the order decides before the next one is looked at."""
    best_first = [
        version_of("1", necessity="must", status="proposed", confidence=0.1, applies_event_types=["DW"]),
        version_of("2", necessity="must", status="locked", confidence=1.0),
        version_of("3", applies_event_types=["DW"], status="proposed", confidence=0.1),
        version_of("4", status="locked", confidence=0.2),
        version_of("5", status="proposed", confidence=0.9, at="2026-02-01T09:00:00Z"),
        version_of("6", status="proposed", confidence=0.5, at="2026-02-03T09:00:00Z"),
        version_of("7", status="proposed", confidence=0.5, at="2026-02-02T09:00:00Z"),
        version_of("8", status="proposed", confidence=None, at="2026-02-09T09:00:00Z"),
        version_of("9", necessity="prefer", applies_event_types=["DW"], confidence=1.0, at="2026-02-20T09:00:00Z"),
    ]
    assert order(best_first[::-1], event_types=["DW"]) == [v.uid for v in best_first]


def test_a_budget_keeps_each_must_and_says_what_it_cut() -> None:
    """A12, S174."""
    rows = [version_of(f"m{n}", necessity="must", status="proposed", confidence=0.1) for n in range(3)]
    rows += [version_of("p", necessity="prefer"), version_of("s")]
    assert order(rows, k=0) == order(rows, k=2) == order(rows, k=3) == ["m0", "m1", "m2"]
    assert order(rows, k=4) == ["m0", "m1", "m2", "s"]
    answer = applicability(rows, context_of(k=4))
    assert [(item.uid, item.why) for item in answer.cut] == [("p", Why.CUT)]


def test_constraint_dilution() -> None:
    """S176 (C-02): of 50 rules the one that matters comes first, and the topic of the question is enough for it."""
    rows = [version_of(f"n{n:02}", topics=["finance"], confidence=1.0) for n in range(50)]
    rows.append(version_of("shellfish", topics=["food", "diet"], confidence=0.5, status="proposed"))
    assert order(rows, topics=["food"])[0] == "shellfish"
    assert order(rows, topics=["food"], k=6)[0] == "shellfish"
    diet = version_of("z", aspect_classification={"aspect_id": "diet", "category": "food"}, confidence=0.1)
    assert order([*rows[:50], diet], topics=["food"])[0] == "z"


def test_semantic_disconnect_retrieval() -> None:
    """S175 (C-01), S233: “no calls before 10” reaches the vendor demo, with which it shares no word, by what it affects."""
    rows = [
        version_of("calls", description="no calls before 10", applies_event_types=["M"], necessity="must"),
        version_of("gym", description="gym on Tuesdays", applies_event_types=["H"]),
    ]
    assert order(rows, event_types=["M"], situation="fit the vendor demo tomorrow") == ["calls"]


def test_reranker_no_recency_penalty_for_old_constraints() -> None:
    """S178 (C-04): 90 days old and confirmed goes before yesterday's assumption."""
    old = version_of("old", at="2025-12-03T09:00:00Z")
    assert order([version_of("new", at="2026-03-02T09:00:00Z", status="proposed"), old]) == ["old", "new"]
