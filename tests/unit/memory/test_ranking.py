"""Precedence and budget (A12, S174)."""

from __future__ import annotations

from typing import Any

from tests.factories.constraints import context_of, version_of

from fateforger.memory.applicability import Why, decide_applicability
from fateforger.memory.versions import Version


def order(versions: list[Version], **context: Any) -> list[str]:
    return [item.uid for item in decide_applicability(versions, context_of(**context)).applicable]


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
    answer = decide_applicability(rows, context_of(k=4))
    assert [(item.uid, item.why) for item in answer.cut] == [("p", Why.CUT)]
