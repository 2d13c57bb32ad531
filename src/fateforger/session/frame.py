"""The frame of a day (S41, S42), the clock of where the person is, and what a turn changed in either.

Plans and drafts stay in the session's zone. What a person reads goes through :func:`local_time`, and what they write or
choose through :func:`instant_of_clock`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import ZoneChange
from fateforger.drafting.instance import Lunch
from fateforger.drafting.policy import lunch_of
from fateforger.memory.applicability import Why
from fateforger.memory.settings import Hours, read_frame, read_setting
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Slot
from fateforger.planning.task_details import list_facts
from fateforger.planning.timing import instant_of, zone
from fateforger.session.model import FrameFacts, Session, Task
from fateforger.session.rulebook import given_slots, known_versions, rules_in_force, situation_of
from fateforger.session.stages import TimeboxingStage
from fateforger.text import (
    count_more,
    format_day,
    format_length,
    join_clauses,
    join_words,
    limit_items,
    ngettext,
    quote_title,
    shorten,
)
from fateforger.text import gettext as _
from fateforger.values import replace


def zone_changes(session: Session) -> tuple[ZoneChange, ...]:
    """Return the changes of zone on a session's day, in order."""
    snapshot = session.day.snapshot
    return () if snapshot is None or snapshot.day != session.date else snapshot.zone_changes


def zone_at(session: Session, moment: datetime) -> ZoneInfo:
    """Return the zone in which the person is at an instant."""
    passed = [change.tz for change in zone_changes(session) if change.at <= moment.astimezone(UTC)]
    return zone(passed[-1] if passed else session.tz)


def local_time(session: Session, moment: datetime) -> datetime:
    """Return an instant in the clock of where the person is then."""
    return moment.astimezone(zone_at(session, moment))


def instant_of_clock(session: Session, day: date, clock: time) -> datetime:
    """Return the instant of a time of a day in the clock of where the person is then, in the session's zone."""
    local = datetime.combine(day, clock)
    found = instant_of(local, zone(session.tz))
    for change in zone_changes(session):
        there = instant_of(local, zone(change.tz))
        if there.astimezone(UTC) >= change.at:
            found = there.astimezone(zone(session.tz))
    return found


def home_clock(session: Session, clock: time) -> time:
    """Return a time of the planned day, in the clock of where the person is then, as a time of the session's zone."""
    return instant_of_clock(session, session.date, clock).time()


def city(tz: str) -> str:
    """Return a name like ``New York`` for a zone."""
    return tz.rpartition("/")[2].replace("_", " ")


def zone_suffix(session: Session, start: datetime, end: datetime) -> str:
    """Return `` (New York time)`` for a span in which the person is not in the session's zone, else nothing."""
    first, last = zone_at(session, start).key, zone_at(session, end).key
    if first != last:
        return " " + _("(ends in {city} time)", city=city(last))
    return "" if first == session.tz else " " + _("({city} time)", city=city(first))


def describe_journeys(session: Session) -> tuple[str, ...]:
    """Return what the person should know: the clock after each journey, and the meetings that fall into it."""
    lines = []
    for change in zone_changes(session):
        arrival = change.at.astimezone(zone(change.tz))
        lines.append(
            _(
                "From {arrival:%H:%M} on, all times are in {there} time, because of “{journey}”: on cards, in forms and"
                " in your messages.",
                arrival=arrival,
                there=city(change.tz),
                journey=change.journey.summary,
            )
        )
        lines += [
            _("“{title}” falls into “{journey}”.", title=event.summary, journey=change.journey.summary)
            for event in _during(session, change.journey)
        ]
    return tuple(lines)


def _during(session: Session, journey: EventImage) -> Iterator[EventImage]:
    events = () if session.day.snapshot is None else session.day.snapshot.events
    for event in events:
        is_other = event.id != journey.id and event.busy and not event.gone and event.is_timed
        if is_other and event.canon.start < journey.canon.end and journey.canon.start < event.canon.end:
            yield event


TEMPLATE = (Slot.WAKE_UP, Slot.WORK_START, Slot.LUNCH, Slot.WORK_END, Slot.BEDTIME)
"""The parts of a frame that rules can set, in the order of the day."""
_NIGHT = time(12, 0)
_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class FrameRule:
    """A rule that sets a part of the frame; without ``at`` it says that there is no lunch, or only how long it is."""

    slot: Slot
    at: time | None
    version: Version


@dataclass(frozen=True, slots=True)
class FrameRules:
    """The rules about the frame of a day: those that set it, and those in whose place the person gave another time."""

    followed: Mapping[Slot, FrameRule]
    overridden: Mapping[Slot, FrameRule]

    @property
    def unknown(self) -> tuple[Slot, ...]:
        """The parts that no rule is about."""
        return tuple(slot for slot in TEMPLATE if slot not in self.followed and slot not in self.overridden)


def frame_rules(session: Session) -> FrameRules:
    """Return the rules about the frame of the session's day, the most binding one for each part."""
    return _find_rules(_RulesOfDay(session))


def frame_in_force(session: Session) -> FrameFacts:
    """Return the frame that counts. A part that the person did not give for this day follows their rules."""
    frame, rules = session.day.frame, frame_rules(session).followed
    if not rules:
        return frame
    moments: dict[Slot, time] = {
        slot: rule.at for slot, rule in rules.items() if slot is not Slot.LUNCH and rule.at is not None
    }
    given = given_slots(frame)
    if Slot.WORK_START not in given:
        frame = replace(frame, day_start=moments.get(Slot.WORK_START, frame.day_start))
    if Slot.WORK_END not in given:
        frame = replace(frame, day_end=moments.get(Slot.WORK_END, frame.day_end))
    frame = _within_waking(frame, moments, given)
    lunch = rules.get(Slot.LUNCH)
    return frame if lunch is None else _with_lunch(frame, lunch)


def hours_of(session: Session) -> Hours:
    """Return the start and the end of the frame that counts."""
    frame = frame_in_force(session)
    return frame.day_start, frame.day_end


def _within_waking(frame: FrameFacts, moments: Mapping[Slot, time], given: frozenset[Slot]) -> FrameFacts:
    """Return the frame without time before getting up and after going to bed, unless the person gave that."""
    start, end = _to_minute(frame.day_start), _to_minute(frame.day_end)
    end += _DAY if end <= start else 0
    up, bed = moments.get(Slot.WAKE_UP), moments.get(Slot.BEDTIME)
    if up is not None and Slot.WORK_START not in given and start < _to_minute(up) < end:
        frame = replace(frame, day_start=up)
    if bed is not None and Slot.WORK_END not in given:
        night = _to_minute(bed) + (_DAY if bed < _NIGHT else 0)
        frame = replace(frame, day_end=bed) if start < night < end else frame
    return frame


def _with_lunch(frame: FrameFacts, rule: FrameRule) -> FrameFacts:
    setting = read_setting(rule.version.record)
    usual = Lunch(start=frame.lunch_start or Lunch().start, minutes=frame.lunch_minutes or Lunch().minutes)
    lunch = None if setting is None else lunch_of(setting, usual)
    if lunch is None:
        return replace(frame, lunch_start=None, lunch_minutes=0)
    return replace(frame, lunch_start=lunch.start, lunch_minutes=lunch.minutes)


def _to_minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute


class _RulesOfDay:
    """Key for the rules of a session's day: the same rules, not equal ones, because comparing them is slow."""

    def __init__(self, session: Session) -> None:
        self.session = session
        situation = situation_of(session, known_versions(session))
        self._rest = (session.user_id, session.id, session.date, session.tz, session.day.frame, situation)

    def __hash__(self) -> int:
        return hash((id(self.session.rules), self._rest))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _RulesOfDay):
            return NotImplemented
        return self.session.rules is other.session.rules and self._rest == other._rest


@lru_cache(maxsize=64)
def _find_rules(key: _RulesOfDay) -> FrameRules:
    session = key.session
    if not any(read_frame(version.record) for version in known_versions(session)):
        return FrameRules({}, {})
    answer = rules_in_force(session, at_any_stage=True)
    given = given_slots(session.day.frame)
    aside = [each.version for each in answer.excluded if each.why is Why.SET_ASIDE]
    overridden = {slot: rule for slot, rule in _by_slot(aside).items() if slot in given}
    return FrameRules(_by_slot(item.version for item in answer.applicable), overridden)


def _by_slot(in_order: Iterable[Version]) -> Mapping[Slot, FrameRule]:
    found: dict[Slot, FrameRule] = {}
    for version in in_order:
        for slot, at in read_frame(version.record).items():
            found.setdefault(slot, FrameRule(slot, at, version))
    return found


def follow_frame_rules(frame: FrameFacts, versions: Iterable[Version]) -> FrameFacts:
    """Return the frame that follows rules which were stated just now, or count again."""
    stated = {slot for version in versions if not version.retired for slot in read_frame(version.record)}
    if Slot.WORK_START in stated and (frame.start_given or frame.usual_start is not None):
        frame = replace(frame, start_given=False, day_start=frame.usual_start or frame.day_start, usual_start=None)
    if Slot.WORK_END in stated and frame.end_given:
        frame = replace(frame, end_given=False, day_end=frame.usual_end or frame.day_end, usual_end=None)
    return replace(frame, lunch_given=False) if Slot.LUNCH in stated and frame.lunch_given else frame


MOST_NOTED = 6


def describe_noted(before: Session, after: Session) -> tuple[str, ...]:
    """Return a line such as ``Noted: Gym at 07:00, 1 h; Report, 2 h.``; nothing if no fact of the day has changed.

    A draft or a plan says itself what a change did to it, so there is nothing to add once there is one.
    """
    if before.stage.number >= TimeboxingStage.SKELETON.number or after.stage.number >= TimeboxingStage.REFINE.number:
        return ()
    noted = _join_changes(tuple(_list_changes(before, after)))
    return (_("Noted: {things}.", things=noted),) if noted else ()


def _join_changes(changes: tuple[str, ...]) -> str:
    """Return the changes as a list, with semicolons where a comma is part of one."""
    if any(", " in change for change in changes):
        return join_clauses(limit_items(changes, MOST_NOTED, count_more))
    return join_words(changes, MOST_NOTED)


def _list_changes(before: Session, after: Session) -> Iterator[str]:
    if (before.date, before.tz) != (after.date, after.tz) and after.stage is TimeboxingStage.DATE:
        yield format_day(after.date)
    then, now = frame_in_force(before), frame_in_force(after)
    if then.day_start != now.day_start:
        yield _("your day {start:%H:%M}–{end:%H:%M}", start=now.day_start, end=now.day_end)
    elif then.day_end != now.day_end:
        yield _("your day until {end:%H:%M}", end=now.day_end)
    if (then.lunch_start, then.lunch_minutes) != (now.lunch_start, now.lunch_minutes):
        yield _name_lunch(now)
    yield from _list_changed_tasks(before, after)


def _list_changed_tasks(before: Session, after: Session) -> Iterator[str]:
    known = {task.id: task for task in before.day.inputs.tasks}
    tasks = after.day.inputs.tasks
    if (before.day.inputs.goals, before.day.inputs.blocks) != (after.day.inputs.goals, after.day.inputs.blocks):
        yield from describe_aims(after) or (_("no goals for the day"),)
    starred = any(task.one_thing for task in tasks)
    for task in tasks:
        then, title = known.get(task.id), shorten(task.title)
        if then is None or replace(then, one_thing=task.one_thing) != task:
            yield name_task(task)
        elif task.one_thing and not then.one_thing:
            yield _("{task} is the one thing that matters", task=title)
        elif then.one_thing and not starred:
            yield _("{task} is no longer the one thing that matters", task=title)
    kept = {task.id for task in (*tasks, *after.open_work.deferred, *(each.task for each in after.open_work.sent))}
    yield from (_("{task} is off the list", task=shorten(task.title)) for task in known.values() if task.id not in kept)


def describe_aims(session: Session) -> tuple[str, ...]:
    """Return the goals of the day and its blocks of deep work, in a few words each; nothing if there are none."""
    inputs = session.day.inputs
    blocks, minutes = inputs.blocks.deep_blocks, inputs.blocks.minutes
    return (
        *(quote_title(goal) for goal in inputs.goals),
        *(() if blocks is None else (ngettext("{count} block of deep work", "{count} blocks of deep work", blocks),)),
        *(() if minutes is None else (_("{length} at a time", length=format_length(minutes)),)),
    )


def _name_lunch(frame: FrameFacts) -> str:
    if frame.lunch_start is None or not frame.lunch_minutes:
        return _("no lunch break")
    return _("lunch at {time:%H:%M}, {length}", time=frame.lunch_start, length=format_length(frame.lunch_minutes))


def name_task(task: Task) -> str:
    """Return a task in a few words, such as ``Gym at 07:00, 1 h`` or ``Report, 2 h, the one thing that matters``."""
    return ", ".join(_list_words(task))


def _list_words(task: Task) -> Iterator[str]:
    title, details = shorten(task.title), task.details
    yield title if details.at is None else _("{task} at {time:%H:%M}", task=title, time=details.at)
    if task.minutes is not None:
        yield format_length(task.minutes)
    yield from list_facts(replace(details, at=None))
    if task.one_thing:
        yield _("the one thing that matters")
