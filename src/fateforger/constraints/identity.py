"""The identity of constraints: the uid recipe, and when two of them are the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fateforger.constraints.kinds import RuleKind, Scope
from fateforger.constraints.record import Aspect, ConstraintRecord

_TYPED = frozenset(
    {RuleKind.AVOID_WINDOW, RuleKind.FIXED_BEDTIME, RuleKind.MIN_SLEEP, RuleKind.BUFFER, RuleKind.CAPACITY}
)
"""Kinds that are fully described by times, minutes and event types. The others also depend on their words."""


def compute_uid(record: ConstraintRecord, user_id: str, session_id: str | None = None) -> str:
    """Return the uid of a constraint that has none yet: ``tb_`` and 40 hexadecimal digits.

    Another person, rule, window, date range, weekday or zone gives another uid; another description, necessity, status,
    confidence or routing does not. The uid of a constraint of one session also depends on that session.
    """
    place = session_id if record.scope is Scope.SESSION else None
    return f"tb_{_digest({'user': user_id, 'session': place, **_build_rule_material(record)})[:40]}"


def compute_content_key(record: ConstraintRecord) -> str:
    """Return a key that is equal for records with the same content and words, whatever their uid, status or history."""
    said = {
        "description": _fold(record.description),
        "necessity": record.necessity,
        "topics": sorted(record.topics),
        "stages": sorted(record.applies_stages),
        "types": sorted(record.applies_event_types),
        "ttl": record.lifecycle.ttl_days,
        "aspect": record.aspect and record.aspect.model_dump(mode="json"),
    }
    return _digest({**said, **_build_rule_material(record)})


def compute_rule_key(record: ConstraintRecord) -> str:
    """Return a key that is equal for records that ask for the same, whatever their names."""
    return _digest(
        {name: value for name, value in _build_rule_material(record).items() if name not in {"name", "scope"}}
    )


def means_the_same(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether two records are one constraint in other words, or in another language.

    They are if both are fully described by their typed fields, and these are equal. For rules whose meaning is in their
    words, only the person can tell.
    """
    if not (_is_typed(one) and _is_typed(other)) or one.scope is not other.scope:
        return False
    alike = set(one.applies_event_types) == set(other.applies_event_types) and one.necessity is other.necessity
    return alike and _get_slot(one) == _get_slot(other) and compute_rule_key(one) == compute_rule_key(other)


def _is_typed(record: ConstraintRecord) -> bool:
    scalars = record.payload.scalar_params.model_dump(exclude_none=True)
    whole = _get_slot(record) is not None or record.payload.rule_kind in _TYPED
    return record.payload.day_rule is not None or (whole and bool(record.payload.windows or scalars))


def _get_slot(record: ConstraintRecord) -> str | None:
    return None if record.aspect is None else record.aspect.frame_slot


def _build_rule_material(record: ConstraintRecord) -> dict[str, Any]:
    when, payload, aspect = record.applicability, record.payload, record.aspect
    return {
        "name": _fold(record.name),
        "scope": record.scope,
        "kind": payload.rule_kind,
        "scalars": payload.scalar_params.model_dump(mode="json", exclude_none=True),
        "windows": sorted([w.kind, w.start.isoformat(), w.end.isoformat()] for w in payload.windows),
        "dates": [when.start_date and when.start_date.isoformat(), when.end_date and when.end_date.isoformat()],
        "days": sorted(when.days_of_week),
        "recurrence": when.recurrence,
        "zone": when.timezone,
        "condition": None if aspect is None or not aspect.depends else _sort_condition(aspect),
        # Left out if absent: existing uids were computed without it.
        **({} if payload.day_rule is None else {"day_rule": payload.day_rule}),
    }


def _sort_condition(aspect: Aspect) -> list[list[str]]:
    return [sorted(aspect.conditional_on_present), sorted(aspect.conditional_on_absent)]


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _digest(material: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(material, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
