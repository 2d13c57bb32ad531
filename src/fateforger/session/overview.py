"""A day in words: its frame, its plan (S48), the commitment (S209), and the reason for a block's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from fateforger.drafting.explanations import explain_place
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.memory.violations import Reason, find_reasons
from fateforger.planning.plan import ET, Resolved, TBPlan
from fateforger.planning.task_details import USUAL_DEEP, TaskKind, format_items, task_of
from fateforger.planning.timing import format_clock
from fateforger.session.cards import plain
from fateforger.session.checks import broken_day_rules
from fateforger.session.day import (
    Meeting,
    busy_meetings,
    frame_mistake,
    frame_of,
    lunch_start,
    on_calendar,
    visible_start,
    whole_frame,
)
from fateforger.session.draft import day_of, instance_in
from fateforger.session.frame import frame_in_force, local_time, zone_suffix
from fateforger.session.model import Session, Task
from fateforger.session.placement import GONE, by_time, find_placed, span
from fateforger.session.recall import followed_constraints
from fateforger.text import format_length, format_weekday, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

MOST_MEETINGS = 40
"""Most meetings listed one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the day, as CommonMark without a bullet."""

    start: datetime
    text: str


def frame_words(session: Session) -> str:
    """Return the frame in one line: ``09:00–18:00 (9 h), lunch around 12:30 for 45 min``."""
    frame = frame_in_force(session)
    line = f"{visible_start(session):%H:%M}–{frame.day_end:%H:%M}"
    valid = frame_mistake(session) is None
    if valid:
        start, end = whole_frame(session) if frame.usual_start is not None else frame_of(session)
        minutes = int((end.astimezone(UTC) - start.astimezone(UTC)).total_seconds() // 60)
        length = format_length(minutes)
        if end.date() > session.date:
            length = _("{length}, until the next day", length=length)
        line += f" ({length})"
    if frame.lunch_start is None or not frame.lunch_minutes:
        return _("{line}, no lunch break", line=line)
    lunch, day = lunch_start(session), day_of(session) if valid else None
    found = None if day is None else day.find_lunch()
    if found is not None:
        title, at = quote_title(found[0]), local_time(session, found[1])
        return _("{line}, lunch at {lunch:%H:%M} ({title})", line=line, lunch=at, title=title)
    if lunch is None or (day is not None and not day.wants_lunch):
        return line
    return _(
        "{line}, lunch around {lunch:%H:%M} for {lunch_minutes}",
        line=line,
        lunch=lunch,
        lunch_minutes=format_length(frame.lunch_minutes),
    )


def overview(session: Session) -> str:
    """Return each meeting and block in time order, and the count of those left out."""
    timed = on_calendar(session).timed
    lines = [Line(m.start, meeting_line(session, m)) for m in timed[:MOST_MEETINGS]]
    lines += (
        [Line(b.start, block_line(session, b)) for b in by_time(session.planning.plan)] if session.planning.plan else []
    )
    lines.sort(key=lambda line: line.start.astimezone(UTC))
    listed = "\n".join(f"- {line.text}" for line in lines) or _("Nothing is planned, and no meetings either.")
    more = len(timed) - MOST_MEETINGS
    rest = ngettext("… and {count} more meeting", "… and {count} more meetings", more)
    return f"{listed}\n- {rest}" if more > 0 else listed


def meeting_line(session: Session, meeting: Meeting) -> str:
    """Return ``**09:30–10:00** Standup``, clipped to the day, in the clock of where the person is.

    The calendar's name is added if it is another one.
    """
    there = zone_suffix(session, meeting.start, meeting.end)
    meeting, day = local_meeting(session, meeting), session.date
    where = "" if meeting.calendar is None else f" · {plain(meeting.calendar, 30)}"
    note = "" if meeting.busy else " · " + _("shown as free")
    return f"**{clip_span(meeting, day)}** {plain(meeting.title)}{outside_words(meeting, day)}{there}{where}{note}"


def local_meeting(session: Session, meeting: Meeting) -> Meeting:
    """Return a meeting, each end in the clock of where the person is then; for showing only."""
    return replace(meeting, start=local_time(session, meeting.start), end=local_time(session, meeting.end))


def clip_span(meeting: Meeting, day: date) -> str:
    """Return the part of a meeting on the day; all of it when it begins in the night after."""
    if meeting.start.date() > day:
        return span(meeting.start, meeting.end)
    start = "00:00" if meeting.start.date() < day else format_clock(meeting.start)
    end = "24:00" if meeting.end.date() > day else format_clock(meeting.end)
    return f"{start}–{end}"


def outside_words(meeting: Meeting, day: date) -> str:
    """Return the true start or end of a meeting when that is on another day."""
    if meeting.start.date() > day:
        return " " + _("(on {weekday})", weekday=format_weekday(meeting.start.date()))
    start, end = meeting.start, meeting.end
    since = (
        _("(since {weekday} {time:%H:%M})", weekday=format_weekday(start.date()), time=start)
        if start.date() < day
        else ""
    )
    until = (
        _("(until {weekday} {time:%H:%M})", weekday=format_weekday(end.date()), time=end)
        if _ends_later(meeting, day)
        else ""
    )
    return "".join(f" {each}" for each in (since, until) if each)


def block_line(session: Session, block: Resolved) -> str:
    """Return ``**09:00–10:30** Write report · 1 h 30 min · deep work``."""
    boxes = {task.id: task.details.items for task in session.day.inputs.tasks if task.details.items}
    box = task_of(block.key, boxes)
    items = "" if box is None else f" · {plain(format_items(boxes[box], ', '), 600)}"
    return f"{block_title(session, block)} · {format_length(block.minutes)} · {block.event.type.block_words}{items}"


def block_title(session: Session, block: Resolved) -> str:
    """Return ``**09:00–10:30** Write report``, starred when it is the one thing."""
    one = next((t.id for t in session.day.inputs.tasks if t.one_thing), None)
    star = " ⭐" if one is not None and (block.key == one or block.key.startswith(f"{one}-")) else ""
    there = zone_suffix(session, block.start, block.end)
    return f"**{block_span(session, block)}** {plain(block.event.name)}{star}{there}"


def block_span(session: Session, block: Resolved) -> str:
    """Return a span like ``09:00–10:30``, each end in the clock of where the person is then."""
    return span(local_time(session, block.start), local_time(session, block.end))


def collisions(session: Session) -> tuple[tuple[Resolved, Meeting], ...]:
    """Return the blocks that run into a meeting, each with the first one it runs into."""
    if session.planning.plan is None:
        return ()
    meetings = busy_meetings(session)
    hits: list[tuple[Resolved, Meeting]] = []
    for block in by_time(session.planning.plan):
        if block.event.type is ET.BACKGROUND:
            continue
        start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
        hit = next((m for m in meetings if m.start.astimezone(UTC) < end and start < m.end.astimezone(UTC)), None)
        if hit is not None:
            hits.append((block, hit))
    return tuple(hits)


def _ends_later(meeting: Meeting, day: date) -> bool:
    at_midnight = meeting.end.time() == time(0) and (meeting.end.date() - day).days == 1
    return meeting.end.date() > day and not at_midnight


BIG = 60
"""Minutes of deep work from which a task is a big item."""


class Commitment(NamedTuple):
    """A big item of the plan, and the local time at which its last block ends."""

    task: Task
    by: datetime


def is_big(task: Task) -> bool:
    """Check whether a task needs success criteria: the one thing, and longer deep work."""
    return task.one_thing or (task.details.kind is TaskKind.DEEP and (task.minutes or USUAL_DEEP) >= BIG)


def commitments(session: Session) -> tuple[Commitment, ...]:
    """Return the big items that the plan has a place for, the one thing first, then by time."""
    big = {task.id: task for task in session.day.inputs.tasks if is_big(task)}
    ends: dict[str, datetime] = {}
    for block in by_time(session.planning.plan) if session.planning.plan else ():
        owner = task_of(block.key, big)
        if owner is not None and (owner not in ends or ends[owner].astimezone(UTC) < block.end.astimezone(UTC)):
            ends[owner] = block.end
    kept = (Commitment(big[task_id], end) for task_id, end in ends.items())
    return tuple(sorted(kept, key=lambda each: (not each.task.one_thing, each.by.astimezone(UTC))))


def tasks_without_criteria(session: Session) -> tuple[Task, ...]:
    """Return the big items without success criteria."""
    return tuple(task for task in session.day.inputs.tasks if is_big(task) and not task.done_when)


MOST_REASONS = 4
AGAINST = mark_message("That goes against a rule of yours.")
YOU_PLACED = mark_message("You put it there: {change}")
NO_RULE = mark_message("No rule of yours is about it; it is where there was room for it.")


def explain_block(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[Reason, ...]:
    """Return the reasons for the place of a block, the most telling first.

    These are the rules that it breaks, those of its ``placement``, then the other rules about it. Raises
    ``PatchInvalid`` when it is not in the plan.
    """
    blocks = by_time(session.planning.plan) if session.planning.plan is not None else ()
    block = next((each for each in blocks if each.key == key), None)
    if block is None:
        raise PatchInvalid(_(GONE))
    shown = {reason.uid for reason in placement if reason.uid is not None}
    rules = find_reasons(block, followed_constraints(session).applicable, blocks)
    broken = tuple(reason for reason in rules if reason.stand == "broken")
    others = tuple(r for r in rules if r.stand != "broken" and r.uid not in shown)
    return (*_order_reasons(session, key), *broken, *placement, *others)


def _order_reasons(session: Session, key: str) -> tuple[Reason, ...]:
    """Return the rules over the order of the day that a block breaks."""
    found = (breach for breach in broken_day_rules(session) if key in breach.keys)
    return tuple(Reason(f"{_(AGAINST)} {breach.sentence}", breach.item.uid, "broken") for breach in found)


def placement_of(session: Session, key: str) -> tuple[Reason, ...]:
    """Return the cause of a block's place: the person, if they put it there, or else what a draft knows.

    That is a rule, a neighboring meeting or block, or its kind. The result is empty while the frame is a mistake or the
    plan cannot be resolved.
    """
    if session.planning.plan is None:
        return ()
    try:
        placed = find_placed(session).get(key)
        if placed is not None:
            return (Reason(_(YOU_PLACED, change=placed.sentence)),)
        found = explain_place(session.planning.plan, instance_in(session), key)
    except (BadInput, PlanInvalid):
        return ()
    return tuple(Reason(each.text, each.cause if each.kind == "rule" else None) for each in found)


def describe_reasons(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[str, ...]:
    """Return the reasons as sentences.

    Raises as :func:`explain_block`.
    """
    reasons = explain_block(session, key, placement)
    block = next(
        each for each in by_time(session.planning.plan or TBPlan(date=session.date, tz=session.tz)) if each.key == key
    )
    lines = [reason.sentence for reason in reasons[:MOST_REASONS]] or [_(NO_RULE)]
    more = len(reasons) - MOST_REASONS
    if more > 0:
        lines.append(ngettext("There is one more reason.", "There are {count} more reasons.", more))
    heading = _("{title}, {span}:", title=quote_title(block.event.name), span=block_span(session, block))
    return (heading, *lines)
