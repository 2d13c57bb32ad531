"""The person's changes on the calendar adopted into the plan, and in words (S202, S242)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, time
from typing import Literal, cast
from zoneinfo import ZoneInfo

from fateforger.calendar.model import (
    RECORDS,
    Adopted,
    ManagedName,
    Merged,
    Standing,
    SyncOp,
    SyncPlan,
    Verb,
    describe_field,
    format_value,
    list_changes,
)
from fateforger.calendar.transactions import OpState, Transaction
from fateforger.limits import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from fateforger.planning.plan import COLOR_BY_TYPE, ET, Resolved, TBEvent, TBPlan, resolve, type_of_color
from fateforger.planning.task_details import follow_ways
from fateforger.planning.timing import AfterPrevious, BeforeNext, FixedWindow, instant_of
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title
from fateforger.values import replace, replace_named


def build_window_timing(start: datetime, end: datetime, day: date, tz: ZoneInfo) -> FixedWindow:
    """Return a timing that means exactly these instants in a plan for ``day``.

    It uses clock times where they are unambiguous, otherwise a full date-time with offset (another day, or an hour that
    happens twice).
    """
    first = _get_clear_clock(start, day, tz)
    last = _get_clear_clock(end, day, tz) if isinstance(first, time) else None
    return FixedWindow(
        start=start.astimezone(tz) if first is None else first, end=end.astimezone(tz) if last is None else last
    )


def _get_clear_clock(instant: datetime, day: date, tz: ZoneInfo) -> time | None:
    local = instant.astimezone(tz)
    clear = local.date() == day and instant_of(local.replace(tzinfo=None, fold=0), tz).astimezone(UTC) == instant
    return local.time() if clear else None


def adopt_changes(plan: TBPlan, changes: Iterable[Adopted]) -> TBPlan:
    """Return the plan with the person's own changes.

    Moved, resized, renamed and recolored blocks become as the calendar has them; deleted and released ones are dropped.
    Blocks that depended on one of those keep their time, and the way to and from one goes with it. The result may have
    overlaps, because a calendar may; ``resolve_strict`` reports them. A value that a plan cannot hold is not adopted.
    """
    adopted: dict[str, dict[str, str | None]] = {}
    for change in filter(_fits_plan, changes):
        adopted.setdefault(change.key, {})[change.field] = change.calendar
    deleted = {key for key, fields in adopted.items() if fields.keys() & {"deleted", "released"}}
    moved = {key for key, fields in adopted.items() if fields.keys() & {"start", "end"}} | deleted
    resolved = resolve(plan)
    pinned = _find_dependents(resolved, moved)
    events: list[TBEvent] = []
    for block in resolved:
        if block.key in deleted:
            continue
        event = block.event
        if block.key in pinned and block.key not in moved:
            event = _set_times(event, block.start, block.end, plan)
        events.append(_change_event(event, block, adopted.get(block.key, {}), plan))
    return follow_ways(plan, plan.replace(events))


def describe_changes(sync_plan: SyncPlan, tz: ZoneInfo) -> tuple[str, ...]:
    """Return one sentence per block that the person changed on the calendar, and per block where the plan won."""
    won: dict[str, list[Merged]] = {}
    for merged in sync_plan.merged:
        if merged.winner == "plan":
            won.setdefault(merged.key, []).append(merged)
    return (*describe_adopted(sync_plan.adopted, tz), *(_describe_won(fields, tz) for fields in won.values()))


def describe_adopted(adopted: Iterable[Adopted], tz: ZoneInfo) -> tuple[str, ...]:
    """Return one sentence for each block that the person changed on the calendar.

    A value that the plan cannot hold stays on the calendar. It is left out here, or each write would tell it again.
    """
    by_key: dict[str, list[Adopted]] = {}
    for change in filter(_fits_plan, adopted):
        by_key.setdefault(change.key, []).append(change)
    return tuple(_describe_adopted(changes, tz) for changes in by_key.values())


def _describe_won(fields: list[Merged], tz: ZoneInfo) -> str:
    words = join_words(describe_field(merged.field, merged.plan, tz) for merged in fields)
    return _(
        "You had changed {title} on your calendar; I set {changes}, as planned.",
        title=quote_title(fields[0].summary),
        changes=words,
    )


def _describe_adopted(changes: list[Adopted], tz: ZoneInfo) -> str:
    renamed = next((change.plan for change in changes if change.field == "summary"), None)
    title = quote_title(renamed or changes[0].summary)
    if any(change.field == "deleted" for change in changes):
        return _("{title} is no longer on your calendar, so it stays off.", title=title)
    if (left := next((change for change in changes if change.field == "released"), None)) is not None:
        return _("{title} is yours now, and not part of the plan: {reason}.", title=title, reason=left.calendar)
    words = join_words(describe_field(change.field, change.calendar, tz) for change in changes)
    return _("You changed {title} on your calendar, so I kept {changes}.", title=title, changes=words)


def list_noted(transactions: Iterable[Transaction], tz: ZoneInfo) -> tuple[Adopted, ...]:
    """Return the person's own changes that were recorded in ``transactions``, the newest first, in their order."""
    records = (r for t in reversed([*transactions]) if t.kind == "submit" for r in t.records)
    return tuple(change for r in records if r.state is OpState.APPLIED for change in _list_noted(r.op, tz))


def _list_noted(op: SyncOp, tz: ZoneInfo) -> list[Adopted]:
    known, now = op.head_before, op.head_after
    if op.verb not in RECORDS or known is None or now is None:
        return []
    whole: dict[Verb, Literal["deleted", "released"]] = {Verb.FORGET: "deleted", Verb.RELEASE: "released"}
    field = "deleted" if now.standing is Standing.DELETED else whole.get(op.verb)
    if field is not None:
        return [Adopted(key=op.key, summary=op.summary, field=field, plan=op.summary, calendar=op.reason)]
    return [
        Adopted(
            key=op.key,
            summary=op.summary,
            field=cast("ManagedName", name),
            plan=format_value(was, tz),
            calendar=format_value(shown, tz),
        )
        for name, (was, shown) in list_changes(known.base.canon, now.base.canon).items()
    ]


def _fits_plan(change: Adopted) -> bool:
    """Check whether a plan can hold the value: a short title that is not empty, short notes, the color of a type."""
    value = change.calendar
    match change.field:
        case "summary":
            return bool(value) and len(value or "") <= MAX_TITLE_CHARS
        case "description":
            return value is not None and len(value) <= MAX_DESCRIPTION_CHARS
        case "color_id":
            return value in COLOR_BY_TYPE.values() and type_of_color(value) is not ET.BACKGROUND
        case _:
            return True


def _change_event(event: TBEvent, block: Resolved, fields: dict[str, str | None], plan: TBPlan) -> TBEvent:
    update: dict[str, object] = {}
    title, notes, color = fields.get("summary"), fields.get("description"), fields.get("color_id")
    if title is not None:
        update["name"] = title
    if notes is not None:
        update["description"] = notes
    if color is not None:
        update["type"] = type_of_color(color)
    event = replace_named(event, update)
    if not fields.keys() & {"start", "end"}:
        return event
    start, end = (datetime.fromisoformat(v) if (v := fields.get(n)) else None for n in ("start", "end"))
    return _set_times(event, start or block.start, end or block.end, plan)


def _set_times(event: TBEvent, start: datetime, end: datetime, plan: TBPlan) -> TBEvent:
    if start.astimezone(UTC) >= end.astimezone(UTC):
        return event
    timing = build_window_timing(start.astimezone(UTC), end.astimezone(UTC), plan.date, plan.zone)
    return replace(event, timing=timing)


def _find_dependents(resolved: tuple[Resolved, ...], moved: Collection[str]) -> set[str]:
    """Return the blocks whose time depends on one that moves or goes.

    That is the next one if it follows it, and the one before if it ends there. With them at fixed times, no further
    block moves.
    """
    chain = [block for block in resolved if block.event.type is not ET.BACKGROUND]
    pinned: set[str] = set()
    for place, block in enumerate(chain):
        if block.key not in moved:
            continue
        if place + 1 < len(chain) and isinstance(chain[place + 1].event.timing, AfterPrevious):
            pinned.add(chain[place + 1].key)
        if place and isinstance(chain[place - 1].event.timing, BeforeNext):
            pinned.add(chain[place - 1].key)
    return pinned
