"""Answers of a model about memory."""

from __future__ import annotations

from tests.factories.words import Answer


def wish(what: str, *numbers: int, **said: object) -> Answer:
    return {
        "wish": what,
        "numbers": list(numbers),
        "search": [],
        "reason": None,
        "rule": None,
        "question": None,
        **said,
    }


def rule(**said: object) -> Answer:
    """Return a rule with the parts that a message mentions."""
    nothing = dict.fromkeys(
        (
            "name", "description", "necessity", "scope", "rule_kind", "windows", "minutes_min", "minutes_max", "change", "day_rule",
            "start_date", "end_date", "days_of_week", "event_types", "topics", "slot", "dimension", "domain",
        )
    )  # fmt: skip
    return {**nothing, **said}
