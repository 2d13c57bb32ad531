"""Constraints that a day breaks and those that explain it, and the constraints that apply, in the person's words.

Only typed fields are used. Meetings count as well in rules over the order of a day, but a plan never moves them.

Constraints that apply are grouped under *Must follow* and *Consider*. Values only: a prompt shows the rows as a table,
a card shows the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from fateforger.memory.applicability import Answer, Applicable
from fateforger.memory.record import Aspect, ConstraintRecord, Window, describe_days, name_label
from fateforger.memory.settings import read_routine, read_setting
from fateforger.memory.vocabulary import (
    STAGE_HEADINGS,
    WEEK,
    Dimension,
    Necessity,
    RuleKind,
    Source,
    Status,
    WindowKind,
    normalize_stage,
)
from fateforger.planning.plan import ET, WORK, Resolved, TBPlan
from fateforger.planning.timing import instant_of, zone
from fateforger.text import format_date, join_sentences, join_words, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.workflow.conformance import StatedRule
from fateforger.workflow.day_conformance import DayBlock, judge_day
from fateforger.workflow.day_rules import read_day_rule
from fateforger.workflow.day_words import describe_day_rule, suggest_day_remedy

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


NEAR = timedelta(minutes=30)
"""The distance to an avoided time within which the constraint explains a block."""
_NIGHT = timedelta(hours=6)
"""The time after a bedtime without plans, when the constraint gives no end."""
Span = tuple[datetime, datetime]


BlockRelation = Literal["broken", "wanted", "clear", "about"]
"""The ways a constraint can concern a block.

It breaks the constraint; lies within a time that is wanted for it; keeps clear of an avoided time, and is next to it;
or the constraint names its type.
"""
_OPENINGS: Mapping[BlockRelation, str] = {
    "broken": mark_message("That goes against a rule of yours."),
    "wanted": mark_message("It is at a time that you want for it."),
    "clear": mark_message("It keeps clear of a time that you do not want for it."),
    "about": mark_message("A rule of yours is about it."),
}
"""First sentence of a reason, the most important relation first."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence for a person that explains the place of a block. ``uid`` names the constraint behind it, if any."""

    sentence: str
    uid: str | None = None
    stand: BlockRelation = "about"


@dataclass(frozen=True, slots=True)
class ConstraintViolation:
    """A constraint and the keys of the blocks that break it.

    For a rule over the order of the day, also the ``meetings`` that break it, the ``rule`` in plain words, the blocks
    by name, and a remedy.
    """

    item: Applicable
    keys: tuple[str, ...]
    meetings: tuple[str, ...] = ()
    rule: str = ""
    named: str = ""
    remedy: str = ""

    @property
    def places(self) -> frozenset[str]:
        """The keys and meetings involved, to compare two violations of one rule."""
        return frozenset((*self.keys, *self.meetings))

    @property
    def sentence(self) -> str:
        """The person's own words with their date, and the blocks against the rule unless they are obvious."""
        reminder = build_reminder(self.item)
        if not self.rule:
            return reminder.sentence
        rule = "" if self.rule == f"{reminder.words}." else self.rule
        against = _("These break it: {blocks}.", blocks=self.named)
        return join_sentences(reminder.sentence, rule, against, self.remedy)


def find_block_violations(items: Iterable[Applicable], blocks: Sequence[Resolved]) -> tuple[ConstraintViolation, ...]:
    """Return the constraints that the blocks break, in order. Free text never counts as broken."""
    found = ((item, _find_breaking(item, blocks)) for item in items)
    return tuple(ConstraintViolation(item, tuple(block.key for block in broken)) for item, broken in found if broken)


def find_reasons(block: Resolved, items: Iterable[Applicable], blocks: Sequence[Resolved]) -> tuple[Reason, ...]:
    """Return the constraints that concern a block of the plan, most important first."""
    found = [(stand, item) for item in items if (stand := _find_relation(block, item, blocks)) is not None]
    found.sort(key=lambda each: tuple(_OPENINGS).index(each[0]))
    return tuple(
        Reason(join_sentences(_(_OPENINGS[stand]), build_reminder(item).sentence), item.uid, stand)
        for stand, item in found
    )


def _find_relation(block: Resolved, item: Applicable, blocks: Sequence[Resolved]) -> BlockRelation | None:
    record = item.record
    if block.key in {broken.key for broken in _find_breaking(item, blocks)}:
        return "broken"
    if not _concerns(record, block.event.type):
        return None
    begin, end = _to_utc(block.start, block.end)
    if any(start <= begin and end <= stop for start, stop in _iter_windows(item, WindowKind.PREFER)):
        return "wanted"
    for start, stop in _iter_avoided(item):
        if timedelta() <= begin - stop <= NEAR or timedelta() <= start - end <= NEAR:
            return "clear"
    return "about" if block.event.type in record.applies_event_types else None


def _find_breaking(item: Applicable, blocks: Sequence[Resolved]) -> tuple[Resolved, ...]:
    mine = [block for block in blocks if _concerns(item.record, block.event.type)]
    times = list(_iter_avoided(item))
    inside = tuple(block for block in mine if _overlaps(block, times))
    return inside or _find_excess(item.record, mine)


def _iter_avoided(item: Applicable) -> Iterator[Span]:
    """Yield the times of the day that the constraint keeps free."""
    yield from _iter_windows(item, WindowKind.AVOID)
    if item.record.payload.rule_kind is RuleKind.FIXED_BEDTIME:
        yield from _iter_nights(item)


def _iter_nights(item: Applicable) -> Iterator[Span]:
    nights = list(_iter_windows(item, WindowKind.PREFER))
    aspect = item.record.aspect
    if not nights and aspect is not None and aspect.schedule_start is not None:
        start = _to_instant(item, item.context.day, aspect.schedule_start)
        nights = [(start, start + _NIGHT)]
    yield from nights


def _find_excess(record: ConstraintRecord, mine: Sequence[Resolved]) -> tuple[Resolved, ...]:
    """Return the blocks from the one on at which the total minutes exceed the maximum."""
    most = record.payload.scalar_params.duration_max
    if record.payload.rule_kind is not RuleKind.CAPACITY or most is None:
        return ()
    counted = [block for block in mine if record.applies_event_types or block.event.type in WORK]
    minutes, over = 0, list[Resolved]()
    for block in sorted(counted, key=lambda each: each.start.astimezone(UTC)):
        minutes += block.minutes
        over += [block] if minutes > most else []
    return tuple(over)


def _concerns(record: ConstraintRecord, kind: ET) -> bool:
    """Check whether a constraint is about a type of block.

    Without types it is about all but background blocks. A bedtime is about everything that would keep a person awake.
    """
    if record.payload.rule_kind is RuleKind.FIXED_BEDTIME:
        return kind not in {ET.REGENERATION, ET.BACKGROUND}
    return kind in record.applies_event_types if record.applies_event_types else kind is not ET.BACKGROUND


def _iter_windows(item: Applicable, kind: WindowKind) -> Iterator[Span]:
    """Yield the windows of one kind on the planned day, and on the next day if the constraint holds there.

    A plan reaches into the next day. A window over midnight also covers the early morning.
    """
    days = [item.context.day]
    if _holds_tomorrow(item):
        days.append(days[0] + timedelta(days=1))
    for window in (w for w in item.record.payload.windows if w.kind is kind):
        for day in days:
            yield from _iter_on_day(item, window, day)


def _iter_on_day(item: Applicable, window: Window, day: date) -> Iterator[Span]:
    if window.end > window.start:
        yield _to_instant(item, day, window.start), _to_instant(item, day, window.end)
        return
    yield _to_instant(item, day, window.start), _to_instant(item, day + timedelta(days=1), window.end)
    if window.end > time(0):
        yield _to_instant(item, day, time(0)), _to_instant(item, day, window.end)


def _holds_tomorrow(item: Applicable) -> bool:
    when, tomorrow = item.record.applicability, item.context.day + timedelta(days=1)
    weekdays = when.days_of_week or WEEK
    return when.recurrence is None and WEEK[tomorrow.weekday()] in weekdays and when.within_dates(tomorrow)


def _to_instant(item: Applicable, day: date, clock: time) -> datetime:
    tz = item.record.applicability.timezone or item.context.timezone
    return instant_of(datetime.combine(day, clock), zone(tz)).astimezone(UTC)


def _overlaps(block: Resolved, times: Iterable[Span]) -> bool:
    begin, end = _to_utc(block.start, block.end)
    return any(begin < stop and start < end for start, stop in times)


def _to_utc(start: datetime, end: datetime) -> Span:
    return start.astimezone(UTC), end.astimezone(UTC)


_WORKLIKE = WORK | {ET.PLAN_REVIEW, ET.MEETING, ET.COMMUTE}
"""Kinds that one and the same thing may be called: a call is a meeting to one, and shallow work to another."""


def is_checkable(record: ConstraintRecord) -> bool:
    """Check whether code can tell if a plan keeps a constraint: it has times, numbers or an order, not only words."""
    payload = record.payload
    numbers = payload.scalar_params.model_dump(exclude_none=True)
    if payload.day_rule is not None or payload.windows or numbers:
        return True
    if payload.rule_kind is RuleKind.SEQUENCING and len(record.applies_event_types) > 1:
        return True
    return read_setting(record) is not None or read_routine(record) is not None


def find_unlike_blocks(item: Applicable, blocks: Sequence[Resolved]) -> tuple[Resolved, ...]:
    """Return the blocks of work in the time that a constraint keeps free of another kind of work, or of meetings."""
    kinds = frozenset(item.record.applies_event_types)
    if kinds.isdisjoint(_WORKLIKE) or item.record.payload.rule_kind is RuleKind.FIXED_BEDTIME:
        return ()
    times = list(_iter_avoided(item))
    return tuple(b for b in blocks if b.event.type in _WORKLIKE - kinds and _overlaps(b, times))


MOST_NAMED = 3
"""Blocks that a sentence names."""


def find_order_violations(
    items: Iterable[Applicable], plan: TBPlan, meetings: Sequence[DayBlock] = ()
) -> tuple[ConstraintViolation, ...]:
    """Return the order rules that the day breaks, in their order.

    Raises :class:`PlanInvalid` when the plan has blocks without a time.
    """
    by_uid = {item.uid: item for item in items if item.record.payload.day_rule is not None}
    if not by_uid:
        return ()
    rules = [StatedRule(uid, read_day_rule(item.record.payload.day_rule or ""), "") for uid, item in by_uid.items()]
    return tuple(
        _build_violation(by_uid[checked.stated.id], checked.stated, blocks)
        for checked, blocks in judge_day(rules, plan, meetings)
        if blocks
    )


def _build_violation(item: Applicable, stated: StatedRule, blocks: Sequence[DayBlock]) -> ConstraintViolation:
    keys = tuple(block.key for block in blocks if block.key is not None)
    return ConstraintViolation(
        item,
        keys,
        meetings=tuple(f"{block.start.isoformat()} {block.title}" for block in blocks if block.key is None),
        rule=describe_day_rule(stated.rule),
        named=_name_blocks(blocks),
        remedy=suggest_day_remedy(stated.rule, ours=bool(keys)),
    )


def _name_blocks(blocks: Sequence[DayBlock]) -> str:
    names = (f"{quote_title(block.title)} ({block.start:%H:%M}–{block.end:%H:%M})" for block in blocks)
    return join_words(names, MOST_NAMED)
