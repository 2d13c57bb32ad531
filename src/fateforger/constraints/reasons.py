"""A constraint that applies, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.constraints.context import Context
from fateforger.constraints.exclusions import compute_last_day
from fateforger.constraints.kinds import Status, Weekday
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Version
from fateforger.constraints.wording import format_day, join_words


@dataclass(frozen=True, slots=True)
class Applicable:
    """A constraint that applies in a context."""

    version: Version
    context: Context

    @property
    def uid(self) -> str:
        return self.version.uid

    @property
    def record(self) -> ConstraintRecord:
        return self.version.record

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons it applies and ranks where it does, as sentences for a person."""
        return (self._binding(), self._days(), *self._routing(), *self._life())

    def _binding(self) -> str:
        how = {"must": "It has to be kept", "should": "It should be kept", "prefer": "You prefer it"}
        known = "you confirmed it" if self.record.status is Status.LOCKED else "it is assumed, not confirmed yet"
        return f"{how[self.record.necessity.value]}; {known}."

    def _days(self) -> str:
        when = self.record.applicability
        text = f"It holds on {format_day(self.context.day)}"
        if when.recurrence is not None:
            text += f", one of its occurrences ({when.recurrence})"
        elif when.days_of_week:
            text += f", as on each {join_words([day.words for day in Weekday if day in when.days_of_week])}"
        if when.start_date is not None and when.end_date is not None:
            return f"{text}, between {format_day(when.start_date)} and {format_day(when.end_date)}."
        if when.start_date is not None:
            return f"{text}, since {format_day(when.start_date)}."
        return f"{text}, until {format_day(when.end_date)}." if when.end_date is not None else f"{text}."

    def _routing(self) -> tuple[str, ...]:
        touched = [kind for kind in self.record.applies_event_types if kind in self.context.event_types]
        return (f"It concerns {join_words([kind.words for kind in touched])}.",) if touched else ()

    def _life(self) -> tuple[str, ...]:
        last = compute_last_day(self.version, self.context)
        return () if last is None else (f"It is kept until {format_day(last)} unless you confirm it again.",)
