"""Reminders: the constraints that apply, in the person's words (S174, S195, S196).

They are grouped under *Must follow* and *Consider*. Values only: a prompt shows the rows as a table, a card shows the
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time

from fateforger.memory.applicability import Answer, Applicable
from fateforger.memory.record import Aspect, ConstraintRecord, Window, describe_days, name_label
from fateforger.memory.vocabulary import (
    STAGE_HEADINGS,
    Dimension,
    Necessity,
    Source,
    Status,
    WindowKind,
    normalize_stage,
)
from fateforger.text import format_date, join_words, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.workflow.day_rules import read_day_rule
from fateforger.workflow.day_words import describe_day_rule

UNSURE = 0.7
"""Below this confidence a constraint is shown as one to be confirmed (S36)."""
_SAID = {
    Source.USER: mark_message("On {day} you said: {words}."),
    Source.FEEDBACK: mark_message("On {day} you told me afterwards: {words}."),
    Source.CALENDAR: mark_message("On {day} I read in your calendar: {words}."),
    Source.SYSTEM: mark_message("On {day} I assumed: {words}."),
}


@dataclass(frozen=True, slots=True)
class Reminder:
    """A constraint to show. ``said_on`` is a local day; ``when`` and ``times`` are empty if it always holds.

    ``confidence`` is ``None`` where it is unknown.
    """

    uid: str
    name: str
    words: str
    said_on: date
    source: Source
    necessity: Necessity
    dimension: Dimension
    when: str
    times: str
    confidence: float | None
    unsure: bool

    @property
    def sentence(self) -> str:
        """The statement with its day, such as ``On 2 March 2026 you said: “no calls before 10”``."""
        words = _("“{title}”", title=self.words)
        return _(_SAID[self.source], day=format_date(self.said_on), words=words)

    @property
    def row(self) -> dict[str, object]:
        """The columns of a table in a prompt; a question mark marks what the person has to confirm."""
        sure = "" if self.confidence is None else round(self.confidence, 2)
        return {
            "necessity": self.necessity.value,
            "kind": self.dimension.value,
            "words": self.words,
            "source": self.source.value,
            "said": self.said_on.isoformat(),
            "when": self.when,
            "times": self.times,
            "sure": f"{sure}?" if self.unsure else sure,
        }


@dataclass(frozen=True, slots=True)
class Sections:
    """Both sections in the order of precedence; ``left_out`` counts the ones there was no room for."""

    must_follow: tuple[Reminder, ...]
    consider: tuple[Reminder, ...]
    left_out: int


def build_sections(answer: Answer) -> Sections:
    told = [(build_reminder(item), is_binding(item.record)) for item in answer.applicable]
    return Sections(
        must_follow=tuple(reminder for reminder, binds in told if binds),
        consider=tuple(reminder for reminder, binds in told if not binds),
        left_out=len(answer.cut),
    )


def is_binding(record: ConstraintRecord) -> bool:
    """Check whether a constraint belongs under *Must follow*.

    Every must does, and a should that is a policy or a value. A preference, a goal or a state is only considered.
    """
    if record.necessity is not Necessity.SHOULD:
        return record.necessity is Necessity.MUST
    return record.dimension in {Dimension.POLICY, Dimension.VALUE}


def needs_confirmation(record: ConstraintRecord) -> bool:
    """Check whether the person should be asked about it (S36): it is flagged, or its confidence is low."""
    return record.needs_confirmation or (record.confidence is not None and record.confidence < UNSURE)


def build_reminder(item: Applicable) -> Reminder:
    """Return a constraint as a reminder in its context."""
    record = item.record
    return Reminder(
        uid=item.uid,
        name=record.name,
        words=" ".join(record.words.split()),
        said_on=item.context.local_day(item.version.created_at),
        source=record.source,
        necessity=record.necessity,
        dimension=record.dimension,
        when=describe_days(record),
        times=describe_times(record),
        confidence=1.0 if record.confidence is None and record.status is Status.LOCKED else record.confidence,
        unsure=needs_confirmation(record),
    )


def describe_limits(record: ConstraintRecord, last_day: date | None = None) -> str:
    """Return the other limits in words: the day until which it is kept, its conditions and its steps; else empty."""
    aspect = record.aspect or Aspect()
    stages = [quote_title(_(STAGE_HEADINGS[normalize_stage(stage)])) for stage in record.applies_stages]
    parts = (
        "" if last_day is None else _("kept until {day}", day=format_date(last_day)),
        _name_labels(aspect.conditional_on_present, with_them=True),
        _name_labels(aspect.conditional_on_absent, with_them=False),
        _("in the step {stages} only", stages=join_words(stages)) if stages else "",
    )
    return ", ".join(filter(None, parts))


def _name_labels(labels: Sequence[str], *, with_them: bool) -> str:
    if not labels:
        return ""
    named = join_words([name_label(label) for label in labels])
    return _("only with {labels}", labels=named) if with_them else _("only without {labels}", labels=named)


def describe_times(record: ConstraintRecord) -> str:
    """Return its windows and its order rule in words; empty if it has neither."""
    text = record.payload.day_rule
    rule = () if text is None else (describe_day_rule(read_day_rule(text)).rstrip("."),)
    return ", ".join((*map(_describe_window, record.payload.windows), *rule))


_MIDNIGHT = time(0)
_ENDS_OF_DAY = frozenset({_MIDNIGHT, time(23, 59)})


def _describe_window(window: Window) -> str:
    """Return a window as people say it: one from or to midnight is named by its other end."""
    avoid = window.kind is WindowKind.AVOID
    if window.start == _MIDNIGHT and window.end not in _ENDS_OF_DAY:
        return _("not before {end:%H:%M}", end=window.end) if avoid else _("best before {end:%H:%M}", end=window.end)
    if window.start != _MIDNIGHT and window.end in _ENDS_OF_DAY:
        if avoid:
            return _("not after {start:%H:%M}", start=window.start)
        return _("best after {start:%H:%M}", start=window.start)
    span = f"{window.start:%H:%M}–{window.end:%H:%M}"
    return _("avoid {span}", span=span) if avoid else _("prefer {span}", span=span)
