"""Policy in force on a day: what the person gave for it, else what their rules say, else the usual (decision 064)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time
from typing import Any

from fateforger.drafting.instance import LUNCH_DRIFT, Between, Lunch, Policy, Told
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.settings import Hours, Setting, count_minutes, read_setting
from fateforger.memory.vocabulary import WEEK, Slot, Status, occurs
from fateforger.planning.timing import GRID
from fateforger.values import replace

_FIELDS = {
    Slot.LUNCH: "lunch",
    Slot.SLACK: "slack_percent",
    Slot.LONGEST_FOCUS: "longest_focus",
    Slot.AFTER_DEEP: "after_deep",
    Slot.AFTER_MEETINGS: "after_meetings",
    Slot.DEEP_BLOCKS: "deep_blocks",
    Slot.SHUTDOWN: "shutdown",
    Slot.BEST_HOURS: "focus",
}
_LIMITS = frozenset({Slot.SLACK, Slot.LONGEST_FOCUS, Slot.DEEP_BLOCKS})
"""Settings whose 0 means that there is no limit."""


def policy_in_force(policy: Policy, told: Sequence[Told], day: date) -> Policy:
    """Return the policy with the settings among the constraints of a day.

    Fields that are set in ``policy`` were given for this day, and stay. Of several rules about one setting the most
    binding counts, and of these the latest.
    """
    found: dict[Slot, Setting] = {}
    for each in sorted(told, key=_precedence):
        record = each.constraint_record
        if record.status is Status.DECLINED or (setting := read_setting(record)) is None:
            continue
        if applies_on(record, day):
            found.setdefault(setting.slot, setting)
    changes = {name: _value(policy, found[slot]) for slot, name in _FIELDS.items() if slot in found}
    open_ = changes.keys() - policy.model_fields_set
    return replace(policy, **{name: changes[name] for name in open_}) if open_ else policy


def _precedence(told: Told) -> tuple[int, int]:
    return told.constraint_record.necessity.weakness, -(told.said_on or date.min).toordinal()


def _value(policy: Policy, setting: Setting) -> Any:
    if setting.slot is Slot.LUNCH:
        return lunch_of(setting, policy.lunch or Lunch())
    if setting.slot is Slot.BEST_HOURS:
        return tuple(Between(start=start, end=end) for start, end in setting.hours)
    return None if setting.number == 0 and setting.slot in _LIMITS else setting.number


def lunch_of(setting: Setting, usual: Lunch) -> Lunch | None:
    """Return the lunch of a setting; what it leaves open is as usual."""
    if setting.number == 0:
        return None
    minutes = usual.minutes if setting.number is None else setting.number
    start, drift = (usual.start, usual.drift) if not setting.hours else _place(setting.hours[0], minutes)
    return Lunch(start=start, minutes=minutes, shortest=min(usual.shortest, minutes), drift=drift)


def _place(hours: Hours, minutes: int) -> tuple[time, int]:
    """Return the start in the middle of a window, and how far lunch may move from it."""
    start = hours[0].hour * 60 + hours[0].minute
    room = (count_minutes(hours) - minutes) // 2 // GRID * GRID
    if room <= 0:
        return hours[0], LUNCH_DRIFT
    middle = (start + room) % (24 * 60)
    return time(middle // 60, middle % 60), room


def applies_on(record: ConstraintRecord, day: date) -> bool:
    """Check whether a record applies to that day, by its dates, weekdays, and recurrence."""
    when = record.applicability
    if not when.within_dates(day) or (when.days_of_week and WEEK[day.weekday()] not in when.days_of_week):
        return False
    return when.recurrence is None or occurs(when.recurrence, when.start_date, day)
