"""Settings, routines and the ends of the day of a person as constraints (S42, decision 064).

A setting is a constraint whose ``frame_slot`` names it, so that a new one takes the place of the old one. Its value is
a wanted time of day, or a number: minutes, percent, or a count; 0 means none. A routine is a constraint with the slot
``routine:`` and its title; its windows say when, and ``duration_min`` how long.

Each end of the day is a moment. No work lies beyond the ends of work, and nothing at all before getting up and after
bedtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time

from fateforger.memory.record import (
    Applicability,
    Aspect,
    ConstraintRecord,
    Payload,
    ScalarParams,
    Window,
    describe_days,
)
from fateforger.memory.vocabulary import (
    Dimension,
    Necessity,
    RuleKind,
    Scope,
    Slot,
    Source,
    Status,
    Weekday,
    WindowKind,
)
from fateforger.planning.plan import ET
from fateforger.text import format_date, format_length, format_percent, join_words, mark_message, ngettext
from fateforger.text import gettext as _
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


Hours = tuple[time, time]


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """Form of a setting: its kind of rule, the types it is about, its number, and what is said of it.

    ``least`` and ``most`` bound the number where it is not 0. ``none`` is said of the number 0. Without a setting the
    number is ``usual``; “more” and “less” change it by ``step``. ``upper_bound`` marks a limit, of which 0 means
    that there is none.
    """

    kind: RuleKind | None
    types: tuple[ET, ...]
    number: str
    least: int
    most: int
    said: str
    none: str
    usual: int = 0
    step: int = 0
    upper_bound: bool = False
    moment: bool = False
    """It is a single moment, without a number."""


_DAY = 24 * 60
SPECS: Mapping[Slot, SettingSpec] = {
    Slot.LUNCH: SettingSpec(
        RuleKind.PREFER_WINDOW,
        (ET.REGENERATION,),
        "duration_min",
        5,
        240,
        mark_message("Lunch is {times} for {length}"),
        mark_message("No lunch break is planned"),
        usual=45,
        step=15,
    ),
    Slot.SLACK: SettingSpec(
        None,
        (),
        "percent",
        1,
        90,
        mark_message("{share} of the free time stays free"),
        mark_message("No free time is kept free"),
        usual=15,
        step=5,
    ),
    Slot.LONGEST_FOCUS: SettingSpec(
        None,
        (ET.DEEP_WORK,),
        "duration_max",
        30,
        _DAY,
        mark_message("There is a break after {length} of deep work"),
        mark_message("Deep work may go on without a break"),
        usual=90,
        step=15,
        upper_bound=True,
    ),
    Slot.AFTER_DEEP: SettingSpec(
        RuleKind.BUFFER,
        (ET.DEEP_WORK,),
        "duration_min",
        1,
        240,
        mark_message("The break after deep work takes {length}"),
        mark_message("No break is kept after deep work"),
        usual=10,
        step=5,
    ),
    Slot.AFTER_MEETINGS: SettingSpec(
        None,
        (),
        "duration_min",
        1,
        240,
        mark_message("After two meetings in a row there is a break of {length}"),
        mark_message("No break is kept after meetings"),
        usual=10,
        step=5,
    ),
    Slot.DEEP_BLOCKS: SettingSpec(
        RuleKind.CAPACITY,
        (ET.DEEP_WORK,),
        "count_max",
        1,
        24,
        mark_message("A day has at most {blocks} of deep work"),
        mark_message("A day may have any number of blocks of deep work"),
        usual=3,
        step=1,
        upper_bound=True,
    ),
    Slot.SHUTDOWN: SettingSpec(
        None,
        (),
        "duration_min",
        1,
        240,
        mark_message("The last {length} are for shutting down"),
        mark_message("No time is kept for shutting down"),
        usual=30,
        step=10,
    ),
    Slot.BEST_HOURS: SettingSpec(
        RuleKind.PREFER_WINDOW,
        (ET.DEEP_WORK,),
        "",
        0,
        0,
        mark_message("The best hours for deep work are {times}"),
        "",
    ),
    **{
        slot: SettingSpec(kind_of(slot), types_of(slot), "", 0, 0, said, "", moment=True)
        for slot, said in (
            (Slot.WAKE_UP, mark_message("You get up at {at:%H:%M}")),
            (Slot.WORK_START, mark_message("Work starts at {at:%H:%M}")),
            (Slot.WORK_END, mark_message("Work ends at {at:%H:%M}")),
            (Slot.BEDTIME, mark_message("You go to bed at {at:%H:%M}")),
        )
    },
}
_PLAIN = frozenset({Slot.SLACK, Slot.SHUTDOWN, Slot.AFTER_MEETINGS})
"""Settings that say nothing about single blocks, even as a must."""
_LONGEST_LUNCH = 90
"""A longer window without minutes is the time within which lunch lies."""
_LUNCH = 45
_ROUTINE = 30


@dataclass(frozen=True, slots=True)
class Setting:
    """Value of a setting: its times of day, and its number, of which 0 means none; or ``at``, a moment."""

    slot: Slot
    number: int | None = None
    hours: tuple[Hours, ...] = ()
    at: time | None = None


@dataclass(frozen=True, slots=True)
class Routine:
    """Something that a person does on certain days.

    It lies within ``hours``, or at any time without them. ``minutes`` that fill the hours fix it.
    """

    title: str
    minutes: int
    hours: Hours | None
    kind: ET

    @property
    def is_fixed(self) -> bool:
        """True when its hours leave no choice of the start."""
        return self.hours is not None and count_minutes(self.hours) == self.minutes


def count_minutes(hours: Hours) -> int:
    """Return the length of a window in minutes; one that ends before its start reaches over midnight."""
    start, end = (clock.hour * 60 + clock.minute for clock in hours)
    return (end - start) % _DAY or _DAY


def read_setting(record: ConstraintRecord) -> Setting | None:
    """Return the setting that a record holds; ``None`` if it holds none, or no value of one."""
    slot = get_setting_slot(record)
    if slot is None:
        return None
    spec, number = SPECS[slot], _read_number(record)
    if spec.moment:
        moment = read_moments(record).get(slot)
        return None if moment is None else Setting(slot, at=moment)
    hours = _wanted_hours(record) if spec.kind is RuleKind.PREFER_WINDOW else ()
    if set(record.applies_event_types) - set(spec.types) and spec.types:
        return None
    if number is not None and spec.most:
        number = number and min(max(number, spec.least), spec.most)
    elif slot is Slot.LUNCH and hours:
        length = count_minutes(hours[0])
        number = length if length <= _LONGEST_LUNCH else _LUNCH
    if not hours and (number is None or slot is Slot.BEST_HOURS):
        return None
    return Setting(slot, number if spec.most else None, hours)


def read_frame(record: ConstraintRecord) -> Mapping[Slot, time | None]:
    """Return the parts of a day's frame that a record sets, each with its time if it says one."""
    if get_setting_slot(record) is not Slot.LUNCH:
        return read_moments(record)
    setting = read_setting(record)
    return {} if setting is None else {Slot.LUNCH: setting.hours[0][0] if setting.hours else None}


def change_number(slot: Slot, now: Setting | None, *, more: bool) -> int | None:
    """Return the number of a setting after one step up or down; ``None`` if it has none.

    More than no limit is no limit, and less is the usual one. Less than the least break is none at all.
    """
    spec = SPECS[slot]
    if not spec.step:
        return None
    number = spec.usual if now is None or now.number is None else now.number
    if spec.upper_bound:
        if number == 0:
            return 0 if more else spec.usual
    elif not more and number <= spec.least:
        return 0
    return max(spec.least, min(spec.most, number + (spec.step if more else -spec.step)))


def get_setting_slot(record: ConstraintRecord) -> Slot | None:
    """Return the slot of a setting, or ``None`` for any other record."""
    if record.payload.rule_kind is RuleKind.FIXED_BEDTIME:
        return Slot.BEDTIME
    name = None if record.aspect is None else record.aspect.frame_slot
    return next((slot for slot in SPECS if slot.value == name), None)


def read_routine(record: ConstraintRecord) -> Routine | None:
    name = "" if record.aspect is None else record.aspect.frame_slot or ""
    if name.partition(":")[0] != Slot.ROUTINE.value:
        return None
    hours, number = next(iter(_wanted_hours(record)), None), _read_number(record)
    most = _DAY if hours is None else count_minutes(hours)
    minutes = min(number or (_ROUTINE if hours is None else most), most)
    return Routine(record.name, minutes, hours, next(iter(record.applies_event_types), ET.HABIT))


def is_kept_by_policy(record: ConstraintRecord) -> bool:
    """Check whether a draft keeps the record by its policy or its tasks alone, and not as a rule about blocks.

    A must that names its types of blocks stays such a rule, and so does an end of the day.
    """
    if read_routine(record) is not None:
        return True
    setting = read_setting(record)
    if setting is not None and setting.at is not None:
        return False
    about_blocks = record.necessity is Necessity.MUST and bool(record.applies_event_types)
    return setting is not None and (setting.slot in _PLAIN or not about_blocks)


def _read_number(record: ConstraintRecord) -> int | None:
    scalars = record.payload.scalar_params
    more = scalars.model_extra or {}
    named = (more.get("percent"), more.get("count_max"), scalars.duration_min, scalars.duration_max)
    return next((each for each in named if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def _wanted_hours(record: ConstraintRecord) -> tuple[Hours, ...]:
    return tuple((w.start, w.end) for w in record.payload.windows if w.kind is WindowKind.PREFER)


def build_setting(setting: Setting, base: ConstraintRecord | None = None) -> ConstraintRecord:
    """Return the record of a setting that the person wrote down; ``base`` is the one that it changes.

    Its times are local to wherever the person is.
    """
    spec = SPECS[setting.slot]
    slot = setting.slot.value
    record = ConstraintRecord(
        name="-",
        necessity=Necessity.SHOULD,
        scope=Scope.PROFILE,
        aspect=Aspect(aspect_id=slot, frame_slot=slot, dimension=Dimension.POLICY),
    )
    scalars = {} if setting.number is None else {spec.number: setting.number}
    record = record if base is None else base
    changed = replace(
        record,
        applicability=replace(record.applicability, timezone=None),
        status=Status.LOCKED,
        source=Source.USER,
        confidence=1.0,
        applies_event_types=spec.types,
        description="",
    )
    if setting.at is not None:
        return with_standard_form(with_moment(changed, setting.slot, setting.at))
    return with_standard_form(replace(changed, payload=_build_payload(spec.kind, setting.hours, scalars)))


def build_routine(routine: Routine, days: tuple[Weekday, ...]) -> ConstraintRecord:
    """Return the record of a routine that the person wrote down."""
    record = ConstraintRecord(
        name=routine.title,
        necessity=Necessity.SHOULD,
        status=Status.LOCKED,
        source=Source.USER,
        scope=Scope.PROFILE,
        confidence=1.0,
        applicability=Applicability(days_of_week=days),
        payload=_build_payload(
            RuleKind.PREFER_WINDOW, () if routine.hours is None else (routine.hours,), {"duration_min": routine.minutes}
        ),
        applies_event_types=(routine.kind,),
        aspect=Aspect(frame_slot=Slot.ROUTINE.value, dimension=Dimension.POLICY),
    )
    return with_standard_form(record)


def _build_payload(kind: RuleKind | None, hours: tuple[Hours, ...], scalars: Mapping[str, int]) -> Payload:
    windows = tuple(Window(kind=WindowKind.PREFER, start=start, end=end) for start, end in hours)
    return Payload(rule_kind=kind, windows=windows, scalar_params=ScalarParams.model_validate(scalars))


def with_standard_form(record: ConstraintRecord) -> ConstraintRecord:
    """Return a setting or a routine in the form in which it is kept; any other record as it is.

    The name of a setting says its value, and so does a description that is missing. The slot of a routine names its
    title, so that a routine takes the place of an older one of that name only.
    """
    routine = read_routine(record)
    if routine is not None and record.aspect is not None:
        title = " ".join(record.name.split()).casefold()
        aspect = replace(record.aspect, aspect_id=title[:200], frame_slot=f"{Slot.ROUTINE.value}:{title}")
        kinds = record.applies_event_types or (routine.kind,)
        record = replace(record, aspect=aspect, applies_event_types=kinds)
        return record if record.description else replace(record, description=describe_wish(record))
    setting = read_setting(record)
    if setting is None:
        return record
    statement = describe_setting(setting)
    if setting.at is not None:
        return record if record.description else replace(record, name=statement, description=statement)
    payload = replace(record.payload, rule_kind=SPECS[setting.slot].kind)
    types = SPECS[setting.slot].types
    return replace(
        record,
        name=statement,
        description=record.description or statement,
        payload=payload,
        applies_event_types=types,
    )


def describe_setting(setting: Setting) -> str:
    """Return a setting as a statement without its end: ``Lunch is at 13:00 for 1 h``."""
    spec, number = SPECS[setting.slot], setting.number or 0
    if setting.number == 0:
        return _(spec.none)
    return _(
        spec.said,
        at=setting.at or time(0),
        share=format_percent(number),
        length=format_length(number),
        blocks=ngettext("{count} block", "{count} blocks", number),
        times=_describe_times(setting, number),
    )


def _describe_times(setting: Setting, minutes: int) -> str:
    spans = [f"{start:%H:%M}–{end:%H:%M}" for start, end in setting.hours]
    if setting.slot is Slot.BEST_HOURS:
        return join_words(spans)
    if not setting.hours:
        return _("at the usual time")
    return _describe_place(setting.hours[0], minutes)


def _describe_place(hours: Hours, minutes: int) -> str:
    start, end = hours
    if count_minutes(hours) == minutes:
        return _("at {start:%H:%M}", start=start)
    return _("between {start:%H:%M} and {end:%H:%M}", start=start, end=end)


def describe_wish(record: ConstraintRecord) -> str:
    """Return a setting or a routine as a statement without its end; empty for any other record."""
    routine, setting = read_routine(record), read_setting(record)
    days = describe_days(record)
    if routine is not None:
        place = "" if routine.hours is None else f" {_describe_place(routine.hours, routine.minutes)}"
        said = _(
            "{title} is planned {days}{place} for {length}",
            title=routine.title,
            days=days or _("every day"),
            place=place,
            length=format_length(routine.minutes),
        )
        return said[:300]
    if setting is None:
        return ""
    return _("{wish} {days}", wish=describe_setting(setting), days=days) if days else describe_setting(setting)


def confirm_wish(record: ConstraintRecord, last: date | None = None) -> str:
    """Return the sentence that reads a setting or a routine back, and its ``last`` day; empty for any other record.

    A rule in the person's own words that happens to give an end of the day is named by these instead.
    """
    wish, when, setting = describe_wish(record), record.applicability, read_setting(record)
    if not wish or (setting is not None and setting.at is not None and record.name != describe_setting(setting)):
        return ""
    if record.scope is Scope.SESSION:
        return _("{wish}, on this day only.", wish=wish)
    if last is not None:
        return _("{wish}, until {date}.", wish=wish, date=format_date(last))
    if when.start_date is not None:
        return _("{wish}, from {date} on.", wish=wish, date=format_date(when.start_date))
    return _("{wish} from now on.", wish=wish)
