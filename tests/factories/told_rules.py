"""Answers of a model that looks for rules in a message."""

from __future__ import annotations

from typing import Any

NOTHING = {"should_extract": False, "holds_secret": False, "scope": "session", "constraints": [], "question": None}


def rule(name: str, words: str, **more: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "necessity": "should",
        "rule_kind": None,
        "slot": None,
        "dimension": "policy",
        "domain": "work",
        "windows": [],
        "minutes_min": None,
        "minutes_max": None,
        "day_rule": None,
        "start_date": None,
        "end_date": None,
        "days_of_week": [],
        "recurrence": None,
        "event_types": [],
        "topics": ["days"],
        "confidence": 0.9,
    }
    return {"name": name, "description": words, **nothing, **more}


def build_extraction(*rules: dict[str, Any], scope: str = "profile", question: str | None = None) -> dict[str, Any]:
    return {**NOTHING, "should_extract": True, "scope": scope, "constraints": list(rules), "question": question}
