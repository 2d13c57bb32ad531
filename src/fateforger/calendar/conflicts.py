"""Conflicts between the person and the plan that are undecided, as questions to the person."""

from __future__ import annotations

from datetime import date, datetime
from typing import assert_never
from zoneinfo import ZoneInfo

from fateforger.calendar.event import EventFields
from fateforger.calendar.merge import FIELDS, TOPICS, Topic, agrees_on
from fateforger.calendar.model import Merged, SyncOp, SyncPlan
from fateforger.planning.plan import COLOR_BY_TYPE, type_of_color
from fateforger.planning.timing import zone
from fateforger.text import format_day, quote_title
from fateforger.text import gettext as _
from fateforger.values import Value


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
        return _("{title}: you deleted it on your calendar; the plan has it at {span}.", title=title, span=span)
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
