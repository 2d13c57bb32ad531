"""The ends of a person's day as constraints: getting up, the start and the end of work, and bedtime (S42).

Each is a moment. No work lies beyond the ends of work, and nothing at all before getting up and after bedtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time

from fateforger.memory.record import Aspect, ConstraintRecord, Window
from fateforger.memory.vocabulary import RuleKind, Slot, WindowKind
from fateforger.planning.plan import ET
from fateforger.values import replace

DAY_ENDS = (Slot.WAKE_UP, Slot.WORK_START, Slot.WORK_END, Slot.BEDTIME)
"""The ends of a day, in their order."""
_OPENS = frozenset({Slot.WAKE_UP, Slot.WORK_START})
_OF_WORK = frozenset({Slot.WORK_START, Slot.WORK_END})


def kind_of(slot: Slot) -> RuleKind:
    return RuleKind.FIXED_BEDTIME if slot is Slot.BEDTIME else RuleKind.AVOID_WINDOW


def types_of(slot: Slot) -> tuple[ET, ...]:
    """Return the types of blocks that it is about; none for all of them."""
    return (ET.DEEP_WORK, ET.SHALLOW_WORK, ET.PLAN_REVIEW) if slot in _OF_WORK else ()


def read_moments(record: ConstraintRecord) -> Mapping[Slot, time]:
    """Return the ends of the day that a record gives: one, or both ends of a night. Empty for any other record.

    A rule about some kinds of work only does not bound the working day.
    """
    aspect = record.aspect
    slot = next((each for each in DAY_ENDS if aspect is not None and aspect.frame_slot == each.value), None)
    if record.payload.rule_kind is RuleKind.FIXED_BEDTIME:
        slot = Slot.BEDTIME
    if slot is None or not _bounds(record, slot):
        return {}
    window = next(iter(record.payload.windows), None)
    if window is None:
        scheduled = () if aspect is None else (aspect.schedule_start, aspect.schedule_end)
        in_order = scheduled if slot is not Slot.WORK_END else reversed(scheduled)
        at = next((clock for clock in in_order if clock is not None), None)
        return {} if at is None else {slot: at}
    if slot is Slot.BEDTIME and window.kind is WindowKind.PREFER:
        return {slot: window.start, Slot.WAKE_UP: window.end} if window.end != window.start else {slot: window.start}
    # A wanted time begins with the start of work; an unwanted one ends there. At the end of work it is the reverse.
    at_start = (slot is not Slot.WORK_END) is (window.kind is WindowKind.PREFER)
    return {slot: window.start if at_start or slot is Slot.BEDTIME else window.end}


def _bounds(record: ConstraintRecord, slot: Slot) -> bool:
    kinds = set(record.applies_event_types)
    return slot not in _OF_WORK or not kinds or kinds >= {ET.DEEP_WORK, ET.SHALLOW_WORK}


def with_moment(record: ConstraintRecord, slot: Slot, at: time) -> ConstraintRecord:
    """Return the record as the rule that an end of the day is at that time, wherever the person is.

    It is checked like any other rule.
    """
    aspect = replace(record.aspect or Aspect(), aspect_id=slot.value, frame_slot=slot.value, schedule_start=at)
    types = record.applies_event_types or types_of(slot)
    payload = replace(record.payload, rule_kind=kind_of(slot), windows=_bound_windows(record, slot, at))
    local = replace(record.applicability, timezone=None)
    return replace(record, aspect=aspect, payload=payload, applies_event_types=types, applicability=local)


def _bound_windows(record: ConstraintRecord, slot: Slot, at: time) -> tuple[Window, ...]:
    """Return the windows of a rule about an end of the day: the time beyond it, or the night that begins then."""
    if slot is Slot.BEDTIME:
        return tuple(replace(window, start=at) for window in record.payload.windows if window.end != at)
    midnight = time(0)
    start, end = (midnight, at) if slot in _OPENS else (at, midnight)
    return () if at == midnight else (Window(kind=WindowKind.AVOID, start=start, end=end),)


def with_said_moment(record: ConstraintRecord, slot: Slot | None, at: time | None) -> ConstraintRecord:
    """Return the record with the time of an end of the day that was said for it, unless its windows say more."""
    if slot not in DAY_ENDS or at is None or record.payload.windows:
        return record
    return with_moment(record, slot, at)
