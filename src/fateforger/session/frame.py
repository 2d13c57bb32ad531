"""The frame of a day: what the person gave for it, else what their rules say, else the usual (S41, S42)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import time
from functools import lru_cache

from fateforger.drafting.instance import Lunch
from fateforger.drafting.policy import lunch_of
from fateforger.memory.applicability import Why
from fateforger.memory.settings import read_frame, read_setting
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Slot
from fateforger.session.model import FrameFacts, Session
from fateforger.session.rulebook import given_slots, known_versions, rules_in_force, situation_of
from fateforger.values import replace

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
