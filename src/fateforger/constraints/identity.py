"""Which constraint is which: the uid recipe, and what makes two of them the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fateforger.constraints.kinds import Scope
from fateforger.constraints.record import Aspect, ConstraintRecord


def uid_for(record: ConstraintRecord, user_id: str, session_id: str | None = None) -> str:
    """The uid of a constraint that has none yet: ``tb_`` and 40 hexadecimal digits.

    Another person, rule, window, date range, weekday or zone gives another uid; another description, necessity, status,
    confidence or routing does not. One of a session also depends on that session.
    """
    place = session_id if record.scope is Scope.SESSION else None
    return f"tb_{_digest({'user': user_id, 'session': place, **_rule(record)})[:40]}"


def content_key(record: ConstraintRecord) -> str:
    """Equal for two records that say the same in the same words, whatever their uid, status, confidence and past."""
    said = {
        "description": _folded(record.description),
        "necessity": record.necessity,
        "topics": sorted(record.topics),
        "stages": sorted(record.applies_stages),
        "types": sorted(record.applies_event_types),
        "ttl": record.lifecycle.ttl_days,
        "aspect": record.aspect and record.aspect.model_dump(mode="json"),
    }
    return _digest({**said, **_rule(record)})


def rule_key(record: ConstraintRecord) -> str:
    """Equal for two records that ask for the same, whatever they are called."""
    return _digest({name: value for name, value in _rule(record).items() if name not in {"name", "scope"}})


def _rule(record: ConstraintRecord) -> dict[str, Any]:
    when, payload, aspect = record.applicability, record.payload, record.aspect
    return {
        "name": _folded(record.name),
        "scope": record.scope,
        "kind": payload.rule_kind,
        "scalars": payload.scalar_params.model_dump(mode="json", exclude_none=True),
        "windows": sorted([w.kind, w.start.isoformat(), w.end.isoformat()] for w in payload.windows),
        "dates": [when.start_date and when.start_date.isoformat(), when.end_date and when.end_date.isoformat()],
        "days": sorted(when.days_of_week),
        "recurrence": when.recurrence,
        "zone": when.timezone,
        "condition": None if aspect is None or not aspect.depends else _condition(aspect),
    }


def _condition(aspect: Aspect) -> list[list[str]]:
    return [sorted(aspect.conditional_on_present), sorted(aspect.conditional_on_absent)]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _digest(material: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(material, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
