"""Values of a comparison (days, our last writes, ops), and the differences of event fields with their wording.

All times are aware instants; ``start``/``end`` of an all-day event are dates. Everything here is frozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from fateforger.calendar.event import (
    MANAGED,
    PLAIN,
    Canon,
    EventExtras,
    EventFields,
    EventImage,
    OwnedId,
    find_changed_extras,
)
from fateforger.planning.plan import COLOR_BY_TYPE, ET, type_of_color
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, quote_title
from fateforger.values import Value, drop_fields


def normalize_title(title: str) -> str:
    """Return a title for comparison, without case and runs of space."""
    return " ".join(title.split()).casefold()


def get_duration(event: Canon) -> float:
    """Return the elapsed seconds."""
    return (event.end - event.start).total_seconds()


def get_overlap(one: Canon, other: Canon) -> float:
    """Return the shared time in seconds, never negative."""
    return max(0.0, (min(one.end, other.end) - max(one.start, other.start)).total_seconds())


FieldValue = str | datetime | None
Change = tuple[FieldValue, FieldValue]
_MOST_NAMED = 3


def format_value(value: FieldValue, tz: ZoneInfo) -> str | None:
    """Return a field's value as text; an instant in RFC 3339 with the offset of ``tz``."""
    return value.astimezone(tz).isoformat() if isinstance(value, datetime) else value


def list_changes(before: Canon | None, after: Canon | None) -> dict[str, Change]:
    """Return ``{field: (before, after)}`` for each managed field that differs; ``None`` means no event."""
    return {name: (getattr(before, name, None), getattr(after, name, None)) for name in _find_differing(before, after)}


def _find_differing(before: Canon | None, after: Canon | None) -> Sequence[str]:
    """Return the names of the managed fields that differ: all of them if one side has no event."""
    if before is None or after is None:
        return MANAGED
    if before == after:
        return ()
    from deepdiff import DeepDiff  # noqa: PLC0415  needed only when a pair differs, and it loads NumPy

    differing = DeepDiff(before._asdict(), after._asdict(), view="tree").affected_root_keys
    return [name for name in MANAGED if name in differing]


def format_clock(start: datetime, end: datetime, tz: ZoneInfo) -> str:
    """Return ``09:00–10:30``, by the clock of ``tz``."""
    return f"{start.astimezone(tz):%H:%M}–{end.astimezone(tz):%H:%M}"


def list_titles(titles: Sequence[str]) -> str:
    """Return up to three titles, and the number of others."""
    return join_words(map(quote_title, titles), _MOST_NAMED)


def describe_field(name: str, value: str | datetime | None, tz: ZoneInfo) -> str:
    """Return a field with its value, for a sentence."""
    match name:
        case "summary":
            return _("the title {title}", title=quote_title(str(value or "")))
        case "description":
            return _("the notes")
        case "start" | "end":
            instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
            time = f"{instant.astimezone(tz):%H:%M}"
            return _("the start at {time}", time=time) if name == "start" else _("the end at {time}", time=time)
        case _:
            known = value in COLOR_BY_TYPE.values()
            return _("the color of {type}", type=type_of_color(str(value)).words) if known else _("the color")


_ADDED = {
    "location": mark_message("a place"),
    "reminders": mark_message("reminders"),
    "guests": mark_message("guests"),
    "attachments": mark_message("attachments"),
    "conference": mark_message("a video call"),
    "source": mark_message("a source link"),
    "properties": mark_message("data of another program"),
    "shared_properties": mark_message("data for other programs"),
    "others": mark_message("details of another calendar program"),
}
"""Extras that an event either has or lacks, as something that was added."""
_OF_IT = {
    "location": mark_message("the place"),
    "reminders": mark_message("the reminders"),
    "guests": mark_message("the guests"),
    "guest_rights": mark_message("the settings for guests"),
    "attachments": mark_message("the attachments"),
    "conference": mark_message("the video call"),
    "source": mark_message("the source link"),
    "visibility": mark_message("the visibility"),
    "free": mark_message("the free or busy setting"),
    "tentative": mark_message("the tentative status"),
    "answers": mark_message("the guests' answers"),
    "properties": mark_message("the data of another program"),
    "shared_properties": mark_message("the data for other programs"),
    "others": mark_message("the details of another calendar program"),
}
"""All extras, as parts of an event."""


def describe_extras(now: EventExtras, known: EventExtras | None) -> str | None:
    """Return the extras a person added or changed, as a clause: ``you added a place and changed the visibility``.

    Returns ``None`` if nothing differs.
    """
    base = PLAIN if known is None else known
    names = find_changed_extras(now, known)
    added = [_(_ADDED[name]) for name in names if name in _ADDED and getattr(base, name) == getattr(PLAIN, name)]
    changed = [_(_OF_IT[n]) for n in names if n not in _ADDED or getattr(base, n) != getattr(PLAIN, n)]
    if added and changed:
        return _("you added {added} and changed {changed}", added=join_words(added), changed=join_words(changed))
    if added:
        return _("you added {added}", added=join_words(added))
    return _("you changed {changed}", changed=join_words(changed)) if changed else None


def describe_missing(names: Sequence[str]) -> str:
    """Return the end of a sentence about an event that lacks some extras: ``without the place and the reminders``."""
    return _("without {parts}", parts=join_words(_(_OF_IT[name]) for name in names))


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """From ``at`` on, the person is in the zone ``tz``; ``journey`` is the event that took them there."""

    at: datetime
    tz: str
    journey: EventImage


def find_zone_changes(events: Iterable[EventImage]) -> tuple[ZoneChange, ...]:
    """Return the changes of zone, in order.

    An event whose start and end are in zones with different clocks is a journey, as calendars keep flights.
    """
    found = [
        ZoneChange(event.end.astimezone(UTC), tz, event)
        for event in events
        if event.busy and not event.gone and isinstance(event.end, datetime)
        for tz in _read_arrivals(event, event.end)
    ]
    return tuple(sorted(found, key=lambda change: (change.at, change.journey.id)))


def _read_arrivals(event: EventImage, end: datetime) -> Iterator[str]:
    """Yield the zone in which a journey ends; nothing for any other event."""
    names = [str(side["timeZone"]) for side in event.raw_zones.values()]
    # Only places move a person: some programs write one end of an event in UTC.
    if len(names) != 2 or any("/" not in name or name.startswith("Etc/") for name in names):
        return
    try:
        start_zone, end_zone = map(zone, names)
    except ValueError:
        return
    if end.astimezone(start_zone).utcoffset() != end.astimezone(end_zone).utcoffset():
        yield names[1]


class DesiredBlock(Value):
    """A block of the plan as the calendar should show it. ``index`` is its place in the plan (S73)."""

    key: str
    index: int
    type: ET
    fields: EventFields


class DesiredDay(Value):
    """All blocks that the calendar should show for one local day."""

    day: date
    tz: str
    blocks: tuple[DesiredBlock, ...]


class Standing(StrEnum):
    """The ownership of one of our events."""

    HELD = "held"
    """Ours, and on the calendar as far as we know."""
    RELEASED = "released"
    """The person made it theirs; it stays as it is."""
    DELETED = "deleted"
    """The person deleted it while the plan still has the block; it stays deleted until the plan asks for something
    else."""
    REMOVED = "removed"
    """Neither plan nor calendar has it. If it shows up again, the person brought it back."""


class Head(Value):
    """Our last write of a block: the base of every merge.

    ``base`` is what the calendar showed right after; ``wanted`` is what the plan had asked for (``None``: the same).
    They differ where the calendar rewrites its input, and where the person's own edit was kept. "The person changed it"
    therefore compares the calendar with ``base``, and "the plan changed it" compares the plan with ``wanted``.
    """

    key: str
    event_id: str
    generation: int
    day: date
    base: EventFields
    wanted: EventFields | None = None
    standing: Standing = Standing.HELD
    version: str | None = None
    restores: tuple[str, ...] = ()
    """Ids of the deleted events that this one brought back, the latest first: an undo creates a new event, on which
    changes to the old ones can still be undone."""
    extras: EventExtras | None = None
    """The extras of the event when it was created; any difference from them is the person's. ``None``: written by a
    version that did not record them."""
    unrestored: tuple[str, ...] = ()
    """Managed fields in which an undo had to leave our value, because the calendar cannot remove it. As long as the
    calendar shows ``base`` there, the value is ours rather than a change of the person's."""

    @property
    def asked(self) -> EventFields:
        """The fields that the plan had asked for."""
        return self.base if self.wanted is None else self.wanted


class Ledger(Value):
    """Our known writes to one calendar for one day, and the used generations.

    ``generations`` maps a seed (``date|name|start|index``, see S73) to the highest generation ever minted from it.
    ``brought_back`` are events without a record that the person took out of the bin: another event of their block has
    the record. They are not stored here; :func:`~fateforger.calendar.access.find_brought_back` finds them. ``salt`` is
    appended to the seeds of new events after their ids turned out to be used up; it is not stored, either.
    """

    heads: tuple[Head, ...] = ()
    generations: Mapping[str, int] = Field(default_factory=dict)
    brought_back: tuple[str, ...] = ()
    salt: str = ""

    def add_salt(self, seed: str) -> str:
        """Return the seed with the salt, if there is one."""
        return f"{seed}|{self.salt}" if self.salt else seed


class Snapshot(Value):
    """The current state of the calendar.

    ``events`` are those of the window around the day. ``fetched`` holds, for each head not among them, the result of a
    request by id (``None``: there is no such event). ``left_out`` are titles of recurring events that could not be
    expanded in time.
    """

    day: date
    tz: str
    events: tuple[EventImage, ...]
    fetched: Mapping[str, EventImage | None] = Field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @cached_property
    def live(self) -> Mapping[str, EventImage]:
        """The events that exist, by id, ordered by start (all-day events first), then id."""
        known = (*self.events, *(event for event in self.fetched.values() if event is not None))
        live = {event.id: event for event in known if not event.gone}
        return dict(
            sorted(live.items(), key=lambda item: (isinstance(item[1].start, datetime), item[1].start, item[0]))
        )

    @cached_property
    def zone_changes(self) -> tuple[ZoneChange, ...]:
        """The changes of zone that the events cause, in order."""
        return find_zone_changes(self.events)

    @cached_property
    def own_fields(self) -> Mapping[str, EventFields | None]:
        """The managed fields of the events with one of our ids; ``None`` for one that is gone."""
        shown = {**self.fetched, **{event.id: event for event in self.events}}
        return {
            event_id: None if event is None or event.gone else event.fields
            for event_id, event in shown.items()
            if OwnedId.is_one(event_id) and (event is None or event.gone or event.is_timed)
        }

    @cached_property
    def asked_ids(self) -> frozenset[str]:
        """The ids of all events that were seen or requested, whether they exist or not."""
        return frozenset({event.id for event in self.events} | self.fetched.keys())


class Verb(StrEnum):
    """The treatment of one block. Only the first three write to the calendar."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADOPT = "adopt"
    """The calendar already is as it should be, or the person's own change is kept: only our record changes."""
    RELEASE = "release"
    """The person made it theirs: leave it alone from now on."""
    FORGET = "forget"
    """It is gone from the calendar, and not wanted back."""
    NOOP = "noop"
    """The calendar shows it already: no change."""
    SKIP = "skip"
    """Not done on purpose; ``reason`` says why."""


WRITES = frozenset({Verb.CREATE, Verb.UPDATE, Verb.DELETE})
RECORDS = frozenset({Verb.ADOPT, Verb.RELEASE, Verb.FORGET})
"""Verbs that change our records, and nothing on the calendar."""


class SyncOp(Value):
    """One step.

    ``before`` is the event at the time of the decision, and never missing for an update or a delete. ``after`` are the
    desired managed fields. ``head_before`` is the known record of the block, ``head_after`` its record once the op took
    effect.
    """

    _drop_stored = drop_fields("changes")
    op_id: str
    verb: Verb
    key: str
    event_id: str
    generation: int = 0
    seed: str | None = None
    """The seed of the id, for a create; generations are counted per seed."""
    summary: str
    before: EventImage | None = None
    after: EventFields | None = None
    extras: EventExtras | None = None
    """The extras that a create restores, as far as the calendar accepts them."""
    head_before: Head | None = None
    head_after: Head | None = None
    reason: str = ""

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        """The managed fields that a write changes, with both values (``None`` where there is no event)."""
        if self.verb not in WRITES:
            return {}
        before = None if self.before is None else self.before.canon
        return list_changes(before, None if self.after is None else self.after.canon)


ManagedName = Literal["summary", "description", "start", "end", "color_id"]


class Adopted(Value):
    """The person's own change on the calendar, which the plan does not have yet.

    ``field`` is a managed field, ``deleted`` if they deleted the block, or ``released`` if they made it an event that
    cannot be a block of the day any more, such as one that repeats; ``calendar`` is the reason then.
    """

    key: str
    summary: str
    field: Literal["summary", "description", "start", "end", "color_id", "deleted", "released"]
    plan: str | None
    calendar: str | None


class SafetyCheckKind(StrEnum):
    """A change so unlikely to be intended that nothing is written before the person confirms it."""

    EMPTIED_CALENDAR = "emptied_calendar"
    VANISHED_BLOCKS = "vanished_blocks"
    MASS_DELETION = "mass_deletion"
    DUPLICATE_BLOCK = "duplicate_block"


class SafetyCheck(Value):
    """A named reason to stop and ask, with a sentence for the person."""

    kind: SafetyCheckKind
    sentence: str


class Merged(Value):
    """A field that both the person (on the calendar) and the plan changed, and the winner.

    ``deleted`` is used as in :class:`Adopted`. ``open``: undecided, so the calendar's value stays. Values are written
    as in ``changes``.
    """

    key: str
    summary: str
    field: str
    base: str | None
    calendar: str | None
    plan: str | None
    winner: Literal["calendar", "plan", "open"]


class SyncPlan(Value):
    """All ops, decided before anything is written.

    ``adopted`` are the person's own edits on the calendar that flow back into the plan. ``warnings`` are sentences for
    the person. With ``brakes``, nothing is written unless each of them is confirmed.
    """

    _drop_stored = drop_fields("snapshot_fingerprint")
    day: date
    tz: str
    ops: tuple[SyncOp, ...]
    merged: tuple[Merged, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    brakes: tuple[SafetyCheck, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def writes(self) -> tuple[SyncOp, ...]:
        """The ops that change the calendar."""
        return tuple(op for op in self.ops if op.verb in WRITES)

    @property
    def skipped(self) -> tuple[SyncOp, ...]:
        """The ops that leave an event as it is, without those of blocks that the person took out of the plan."""
        released = {change.key for change in self.adopted if change.field == "released"}
        skips = (op for op in self.ops if op.verb is Verb.SKIP and op.before is not None)
        return tuple(op for op in skips if op.key not in released)

    @property
    def linked(self) -> tuple[str, ...]:
        """Sentences about the blocks that an event of the person covers."""
        return tuple(op.reason for op in self.ops if op.verb is Verb.NOOP and not OwnedId.is_one(op.event_id))

    @property
    def idle(self) -> bool:
        """Check whether there is nothing to write and nothing to record."""
        return not any(op.verb in WRITES or op.verb in RECORDS for op in self.ops)

    def counts(self) -> dict[str, int]:
        """Return counts of ``create, update, delete, noop, skip``; bookkeeping verbs count as noop."""
        counts = dict.fromkeys(("create", "update", "delete", "noop", "skip"), 0)
        for op in self.ops:
            counts[op.verb.value if op.verb.value in counts else "noop"] += 1
        return counts
