"""Three-way merge of one event, and the conflicts that it leaves, as questions to the person.

    plan changed | person changed | result
    -------------+----------------+------------------------------------------------------
    no           | no             | stays
    yes          | no             | the plan's value
    no           | yes            | the person's value, to be adopted by the plan
    yes          | yes, the same  | stays
    yes          | yes            | a conflict: the side the person chose; if undecided, it stays, and they are asked

The person's answers take precedence over the table: a side they chose stays chosen, and a field they were asked about
is not written before they answer. The two ends of a block belong together: if they disagree at either end, or the
mixture would end before it starts, the winning side gives both.

A choice is about what the calendar showed at the time. Once the calendar shows something else it expires, and the
person is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, assert_never
from zoneinfo import ZoneInfo

from pydantic import Field

from fateforger.calendar.event import (
    MANAGED,
    Canon,
    EventFields,
)
from fateforger.calendar.model import Merged, SyncOp, SyncPlan
from fateforger.planning.plan import COLOR_BY_TYPE, type_of_color
from fateforger.planning.timing import zone
from fateforger.text import format_day, quote_title
from fateforger.text import gettext as _
from fateforger.values import Value

Topic = Literal["time", "summary", "description", "color_id", "deleted"]
"""The topic of one question. Start and end belong together; ``deleted`` is the block as a whole."""
Keep = Literal["calendar", "plan", "open"]
"""The side whose value stays; ``open``: undecided, so the calendar stays as it is and the person is asked."""

FIELDS: Mapping[Topic, tuple[str, ...]] = {
    "time": ("start", "end"),
    "summary": ("summary",),
    "description": ("description",),
    "color_id": ("color_id",),
    "deleted": (),
}
TOPICS: Mapping[str, Topic] = {
    "deleted": "deleted",
    "released": "time",
    **{name: topic for topic, names in FIELDS.items() for name in names},
}


_HALF_A_DAY = timedelta(hours=12)


def explain_other_day(start: datetime, known: datetime, day: date, tz: ZoneInfo) -> str | None:
    """Return the reason that a block left its day, if the person moved it from ``known`` to a ``start`` on another day.

    A block of a night, which moves past midnight by less than half a day, has not left.
    """
    there = start.astimezone(tz).date()
    if there == day or abs(start - known) < _HALF_A_DAY:
        return None
    return _("it is on {day} now", day=format_day(there))


def agrees_on(topic: Topic, one: Canon | None, other: Canon | None) -> bool:
    """Check whether two sides agree on a topic; ``None`` is a missing block."""
    if one is None or other is None:
        return one is other
    return all(getattr(one, name) == getattr(other, name) for name in FIELDS[topic])


class Answer(Value):
    """The person's answer on one topic of an event while the calendar showed ``calendar`` (``None``: deleted).

    ``keep`` is ``open`` for a question that is not answered yet.
    """

    event_id: str
    topic: Topic
    keep: Keep
    calendar: EventFields | None


class Choices(Value):
    """All choices that apply to one comparison.

    ``seen`` holds, by event id, what the person saw when the plan became what it is (``None``: deleted). If the
    calendar still shows that, the plan's value is their intention and wins. ``answers`` take precedence over it.
    ``otherwise`` applies if there is neither; ``deletions``, if set, replaces it for deleted blocks.
    """

    seen: Mapping[str, EventFields | None] = Field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    otherwise: Keep = "open"
    deletions: Keep | None = None

    def rules(self, event_id: str, theirs: Canon | None) -> Rules:
        """Return the choices about one event that shows ``theirs`` now."""
        said = {
            answer.topic: answer.keep
            for answer in self.answers
            if answer.event_id == event_id
            if agrees_on(answer.topic, None if answer.calendar is None else answer.calendar.canon, theirs)
        }
        seen = self.seen.get(event_id)
        rest = self.deletions if theirs is None and self.deletions is not None else self.otherwise
        return Rules(theirs, said, known=event_id in self.seen, seen=None if seen is None else seen.canon, rest=rest)


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices about one event, by topic."""

    theirs: Canon | None = None
    said: Mapping[Topic, Keep] | None = None
    known: bool = False
    seen: Canon | None = None
    rest: Keep = "open"

    def answer(self, topic: Topic) -> Keep | None:
        """Return the person's answer, if any; ``open`` if they were asked and have not answered."""
        return None if self.said is None else self.said.get(topic)

    def winner(self, topic: Topic) -> Keep:
        """Return the winning side for a topic that both sides changed."""
        if (answer := self.answer(topic)) is not None:
            return answer
        return "plan" if self.known and agrees_on(topic, self.seen, self.theirs) else self.rest


NOTHING_SAID = Choices()


_ASK = Rules()


@dataclass(frozen=True, slots=True)
class FieldMerge:
    """The result of a merge.

    ``result`` is what the event shall show. ``adopted`` are the fields that keep the person's value although the plan
    has another, ``conflicts`` those that both sides changed, with the winner of each.
    """

    result: Canon
    adopted: frozenset[str] = frozenset()
    conflicts: Mapping[str, Keep] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Check whether a question remains."""
        return "open" in self.conflicts.values()


def merge(*, wanted: Canon, base: Canon, theirs: Canon, ours: Canon, rules: Rules = _ASK) -> FieldMerge:
    """Merge one event.

    ``wanted`` and ``base`` are the two sides at our last write: what the plan asked for and what the calendar showed.
    """
    if ours == theirs:
        return FieldMerge(theirs)
    result = list(theirs)
    adopted: set[str] = set()
    conflicts: set[str] = set()
    for place, name in enumerate(MANAGED):
        if ours[place] == theirs[place]:
            continue
        plan_changed, person_changed = ours[place] != wanted[place], theirs[place] != base[place]
        said = rules.answer(TOPICS[name])
        if (plan_changed and person_changed) or said in {"plan", "calendar"} or (said == "open" and plan_changed):
            conflicts.add(name)
        elif plan_changed:
            result[place] = ours[place]
        elif person_changed:
            adopted.add(name)
    merged = Canon(*result)  # type: ignore[arg-type]  # each place keeps its own type
    if conflicts & {*FIELDS["time"]} or merged.end <= merged.start:
        conflicts.update(FIELDS["time"])
    if not conflicts:
        return FieldMerge(merged, frozenset(adopted))
    winners = {name: rules.winner(TOPICS[name]) for name in MANAGED if name in conflicts}
    merged = merged._replace(**{n: getattr(ours if who == "plan" else theirs, n) for n, who in winners.items()})
    return FieldMerge(merged, frozenset(adopted - conflicts), winners)


class Conflict(Value):
    """One topic of one block that both sides changed.

    ``base`` is what the plan had asked for before. Of ``calendar`` (``None``: deleted), ``plan`` and ``base``, only the
    fields of the topic count.
    """

    key: str
    event_id: str
    title: str
    topic: Topic
    calendar: EventFields | None
    plan: EventFields
    base: EventFields

    @property
    def is_agreed(self) -> bool:
        """Check whether the two sides have become equal."""
        return self.calendar is not None and agrees_on(self.topic, self.calendar.canon, self.plan.canon)

    @property
    def is_withdrawn(self) -> bool:
        """Check whether the plan's change was reverted, so that only the person's change is left."""
        topics = FIELDS if self.topic == "deleted" else (self.topic,)
        return all(agrees_on(topic, self.plan.canon, self.base.canon) for topic in topics)


def find_conflicts(sync_plan: SyncPlan) -> tuple[Conflict, ...]:
    """Return the open conflicts of a comparison, in the order of its ops."""
    ops = {op.key: op for op in sync_plan.ops}
    found: dict[tuple[str, Topic], list[Merged]] = {}
    for merged in sync_plan.merged:
        if merged.winner == "open":
            found.setdefault((merged.key, TOPICS[merged.field]), []).append(merged)
    return tuple(
        conflict
        for (key, topic), fields in found.items()
        if (conflict := _build_conflict(ops[key], topic, fields)) is not None
    )


def _build_conflict(op: SyncOp, topic: Topic, merged: list[Merged]) -> Conflict | None:
    if op.head_before is None:
        return None
    calendar = None if op.before is None else op.before.fields
    wanted = op.after if calendar is None else calendar
    if wanted is None:
        return None
    values: dict[str, object] = {m.field: m.plan for m in merged if topic != "deleted"}
    return Conflict(
        key=op.key,
        event_id=op.event_id,
        title=op.summary,
        topic=topic,
        calendar=calendar,
        plan=EventFields.model_validate(wanted.model_dump() | values),
        base=op.head_before.asked,
    )


def phrase_question(conflict: Conflict, day: date, tz: ZoneInfo) -> str:
    """Return both sides in one sentence.

    An example is ``“Deep work”: you moved it to 10:00 on your calendar; the plan has 11:00.``
    """
    title, theirs, ours = quote_title(conflict.title), conflict.calendar, conflict.plan
    if theirs is None:
        span = _format_span(ours, day, tz)
        return _("{title} is no longer on your calendar; the plan has it at {span}.", title=title, span=span)
    match conflict.topic:
        case "time" | "deleted":
            return _describe_times(title, theirs, ours, conflict.base, day, tz)
        case "summary":
            return _(
                "{was}: you renamed it {theirs} on your calendar; the plan calls it {ours}.",
                was=quote_title(conflict.base.summary),
                theirs=quote_title(theirs.summary),
                ours=quote_title(ours.summary),
            )
        case "description":
            return _(
                "{title}: your calendar has {theirs}; the plan has {ours}.",
                title=title,
                theirs=_describe_notes(theirs),
                ours=_describe_notes(ours),
            )
        case "color_id":
            return _(
                "{title}: your calendar has it in {theirs}; the plan has {ours}.",
                title=title,
                theirs=_describe_color(theirs),
                ours=_describe_color(ours),
            )
        case _:
            assert_never(conflict.topic)


def phrase_questions(sync_plan: SyncPlan) -> tuple[str, ...]:
    """Return one sentence for each question that a comparison leaves to the person."""
    return tuple(phrase_question(c, sync_plan.day, zone(sync_plan.tz)) for c in find_conflicts(sync_plan))


def describe_value(conflict: Conflict, fields: EventFields, day: date, tz: ZoneInfo) -> str:
    """Return a block's value for the topic of a conflict as a sentence.

    An example is ``“Mail” is from 10:00 to 11:00.``
    """
    title, topic = quote_title(conflict.title), conflict.topic
    match topic:
        case "time" | "deleted":
            return _describe_span(title, fields, day, tz)
        case "summary":
            return _("{title} is called {name}.", title=title, name=quote_title(fields.summary))
        case "description":
            return _("{title} has {notes}.", title=title, notes=_describe_notes(fields))
        case "color_id":
            return _("{title} is in {color}.", title=title, color=_describe_color(fields))
        case _:
            assert_never(topic)


def _describe_times(
    title: str, theirs: EventFields, ours: EventFields, base: EventFields, day: date, tz: ZoneInfo
) -> str:
    """Describe both times, by their starts alone if the length is unchanged."""
    moved = theirs.start != base.start
    length = theirs.end - theirs.start
    if moved and length == ours.end - ours.start == base.end - base.start:
        there, here = _format_start(theirs.start, day, tz), _format_start(ours.start, day, tz)
    else:
        there, here = _format_span(theirs, day, tz), _format_span(ours, day, tz)
    if moved:
        return _(
            "{title}: you moved it to {there} on your calendar; the plan has {here}.",
            title=title,
            there=there,
            here=here,
        )
    return _(
        "{title}: you changed it to {there} on your calendar; the plan has {here}.", title=title, there=there, here=here
    )


def _format_start(moment: datetime, day: date, tz: ZoneInfo) -> str:
    local = moment.astimezone(tz)
    time = f"{local:%H:%M}"
    return time if local.date() == day else _("{time} on {day}", time=time, day=format_day(local.date()))


def _format_span(fields: EventFields, day: date, tz: ZoneInfo) -> str:
    start, end = fields.start.astimezone(tz), fields.end.astimezone(tz)
    span = f"{start:%H:%M}–{end:%H:%M}"
    return span if start.date() == day else _("{time} on {day}", time=span, day=format_day(start.date()))


def _describe_span(title: str, fields: EventFields, day: date, tz: ZoneInfo) -> str:
    start, end = fields.start.astimezone(tz), fields.end.astimezone(tz)
    if start.date() == day:
        return _("{title} is from {start:%H:%M} to {end:%H:%M}.", title=title, start=start, end=end)
    on = format_day(start.date())
    return _("{title} is from {start:%H:%M} to {end:%H:%M} on {day}.", title=title, start=start, end=end, day=on)


def _describe_notes(fields: EventFields) -> str:
    if not fields.description.strip():
        return _("no notes")
    return _("the notes {notes}", notes=quote_title(fields.description))


def _describe_color(fields: EventFields) -> str:
    if fields.color_id in COLOR_BY_TYPE.values():
        return _("the color of {type}", type=type_of_color(fields.color_id).words)
    return _("a color of your own")
