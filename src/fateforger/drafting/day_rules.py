"""Translate a rule over the order of the day into windows, lengths, counts, and orders.

Times, lengths, and counts translate exactly. An order translates to a stricter one (all of one kind before all of the
other), so a draft treats it as a preference; the rule's own judge decides once there is a plan. Other rules of this
kind do not affect a draft.
"""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

from fateforger.constraints.kinds import Necessity, RuleKind, WindowKind
from fateforger.constraints.record import ConstraintRecord, Payload, ScalarParams, Window
from fateforger.plan import ET
from fateforger.values import replace
from fateforger.workflow.day_names import DayName, parse_day_name
from fateforger.workflow.days import read_day_rule
from fateforger.workflow.expressions import Atom, Expression
from fateforger.workflow.rules import Rule
from fateforger.workflow.rules import RuleKind as Kind

_DAY = timedelta(hours=24)
_MIDNIGHT = time()
_PLACED = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK, ET.PLAN_REVIEW, ET.HABIT})
"""Kinds of blocks whose order a draft chooses.

Meetings stay where they are, and breaks can lie anywhere.
"""


def express_record(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record as a draft follows it.

    Only a record with a rule over the order of the day changes. The clock times of such a rule are in the planned
    day's zone.
    """
    if record.payload.day_rule is None:
        return record
    local = replace(record.applicability, timezone=None)
    followed = replace(record, applicability=local, **_changes(read_day_rule(record.payload.day_rule)))
    strict = followed.payload.rule_kind is RuleKind.SEQUENCING and record.necessity is Necessity.MUST
    return replace(followed, necessity=Necessity.SHOULD) if strict else followed


def _changes(rule: Rule) -> dict[str, Any]:
    match rule.kind:
        case Kind.NEVER:
            unwanted = _name(rule.target)
            return {} if unwanted is None else _forbid(unwanted)
        case Kind.BEFORE | Kind.AFTER:
            here, there = _name(rule.activation), _name(rule.target)
            if here is None or there is None or here.kind is None or there.kind is None:
                return {}
            return _require_order(here, there, first=rule.kind is Kind.AFTER)
        case _:
            return {}


def _name(expression: Expression | None) -> DayName | None:
    return parse_day_name(expression.name) if isinstance(expression, Atom) else None


def _forbid(name: DayName) -> dict[str, Any]:
    """Forbid a kind of block: altogether, at a time, or beyond a length."""
    if name.kind is None:
        return {}
    match name.aspect:
        case "after" if name.clock < _DAY:
            return _of(name.kind, RuleKind.AVOID_WINDOW, windows=(_window(_clock(name.clock), _MIDNIGHT),))
        case "before" if _clock(name.clock) > _MIDNIGHT:
            return _of(name.kind, RuleKind.AVOID_WINDOW, windows=(_window(_MIDNIGHT, _clock(name.clock)),))
        case "longer":
            return _of(name.kind, None, scalar_params=ScalarParams(duration_max=name.number))
        case "block":
            none = ScalarParams.model_validate({"count_max": 0})
            return _of(name.kind, RuleKind.CAPACITY, scalar_params=none)
        case _:
            return {}


def _require_order(here: DayName, there: DayName, *, first: bool) -> dict[str, Any]:
    """Require ``here`` before ``there`` if ``first``, else after it."""
    kinds = (here.kind, there.kind) if first else (there.kind, here.kind)
    if here.aspect != "block" or there.aspect not in {"block", "done"} or kinds[0] is kinds[1]:
        return {}
    if not set(kinds) <= _PLACED:
        return {}
    return {"payload": Payload(rule_kind=RuleKind.SEQUENCING), "applies_event_types": kinds}


def _of(kind: ET, rule_kind: RuleKind | None, **payload: Any) -> dict[str, Any]:
    return {"payload": Payload(rule_kind=rule_kind, **payload), "applies_event_types": (kind,)}


def _window(start: time, end: time) -> Window:
    return Window(kind=WindowKind.AVOID, start=start, end=end)


def _clock(since_midnight: timedelta) -> time:
    minutes = int(since_midnight.total_seconds()) // 60 % (24 * 60)
    return time(minutes // 60, minutes % 60)
