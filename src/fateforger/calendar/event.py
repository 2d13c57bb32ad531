"""Events as they were read from a calendar, our ids and markers, and all that a person added to them (K12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field

from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import Value, drop_fields, replace

MARKER_KEYS = frozenset({"ffu", "ffg", "ffd", "ffo", "ffp"})
"""The private properties of our marker; see :class:`~fateforger.calendar.event.Marker`."""
USUAL_RIGHTS: Mapping[str, bool] = {
    "guestsCanInviteOthers": True,
    "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True,
    "anyoneCanAddSelf": False,
}
_GUEST = ("email", "displayName", "optional", "responseStatus", "comment", "additionalGuests")
_ATTACHMENT = ("fileUrl", "title", "mimeType", "iconLink", "fileId")


class EventExtras(Value):
    """The data of an event beyond our managed fields, in a form in which equal things are equal values.

    The defaults are those of a new, untouched event: the values that a calendar fills in by itself (``reminders: None``
    are the calendar's own, ``guest_rights`` holds only the unusual ones). ``guests``, ``attachments`` and ``source``
    are in the form in which calendars take them. ``conference`` names a video call. ``others`` are properties that only
    CalDAV programs have (categories, a web address, ...).
    """

    location: str = ""
    reminders: tuple[tuple[str, int], ...] | None = None
    guests: tuple[Mapping[str, Any], ...] = ()
    guest_rights: Mapping[str, bool] = Field(default_factory=dict)
    attachments: tuple[Mapping[str, Any], ...] = ()
    conference: str = ""
    source: Mapping[str, str] = Field(default_factory=dict)
    visibility: str = "default"
    free: bool = False
    tentative: bool = False
    properties: Mapping[str, str] = Field(default_factory=dict)
    shared_properties: Mapping[str, str] = Field(default_factory=dict)
    others: tuple[str, ...] = ()


PLAIN = EventExtras()
"""The extras of a new, untouched event."""


def read_extras(raw: Mapping[str, Any], properties: Mapping[str, str]) -> EventExtras:
    """Return the extras in a calendar's whole answer about an event; ``properties`` are its private ones.

    Raises ``ValueError`` if the answer is not in the calendar's own form.
    """
    extended = _get_mapping(raw, "extendedProperties")
    return EventExtras(
        location=str(raw.get("location") or "").strip().replace("\r\n", "\n"),
        reminders=_read_reminders(_get_mapping(raw, "reminders")),
        guests=tuple(sorted((_pick_fields(guest, _GUEST) for guest in _get_list(raw, "attendees")), key=_get_address)),
        guest_rights={name: bool(raw[name]) for name, usual in USUAL_RIGHTS.items() if raw.get(name, usual) != usual},
        attachments=tuple(_pick_fields(attachment, _ATTACHMENT) for attachment in _get_list(raw, "attachments")),
        conference=str(_get_mapping(raw, "conferenceData").get("conferenceId") or raw.get("hangoutLink") or ""),
        source={name: str(value) for name, value in _get_mapping(raw, "source").items()},
        visibility=str(raw.get("visibility") or "default"),
        free=raw.get("transparency") == "transparent",
        tentative=raw.get("status") == "tentative",
        properties={name: value for name, value in properties.items() if name not in MARKER_KEYS},
        shared_properties={name: str(value) for name, value in _get_mapping(extended, "shared").items()},
        others=tuple(sorted(str(line) for line in _get_list(raw, "otherProperties"))),
    )


def find_changed_extras(now: EventExtras, known: EventExtras | None) -> tuple[str, ...]:
    """Return the names of the extras that differ from the ``known`` ones.

    Without a known state (written by a version that stored none) the event is compared with an untouched one.
    """
    base = PLAIN if known is None else known
    return tuple(name for name in EventExtras.model_fields if getattr(now, name) != getattr(base, name))


def find_missing_extras(wanted: EventExtras, shown: EventExtras) -> tuple[str, ...]:
    """Return the names of the extras that are ``wanted`` and that an event lacks, at least in part.

    ``answers`` is returned if all guests are there but their answers are not.
    """
    asked = [name for name in EventExtras.model_fields if getattr(wanted, name) != getattr(PLAIN, name)]
    missing = [name for name in asked if not _contains_value(name, getattr(shown, name), getattr(wanted, name))]
    if "guests" not in missing and not _has_same_answers(wanted, shown):
        missing.append("answers")
    return tuple(missing)


def _contains_value(name: str, shown: Any, wanted: Any) -> bool:
    """Check whether a value contains another: each entry of a list or mapping, or an equal value."""
    match name:
        case "guests":
            return {*map(_get_address, wanted)} <= {*map(_get_address, shown)}
        case "attachments":
            return {one.get("fileUrl") for one in wanted} <= {one.get("fileUrl") for one in shown}
        case "others":
            return {*wanted} <= {*shown}
        case _ if isinstance(wanted, Mapping):
            return all(shown.get(key) == value for key, value in wanted.items())
        case _:
            return bool(shown == wanted)


def _has_same_answers(wanted: EventExtras, shown: EventExtras) -> bool:
    now = {_get_address(guest): guest.get("responseStatus") for guest in shown.guests}
    return all(now.get(_get_address(guest)) == guest.get("responseStatus") for guest in wanted.guests)


def _read_reminders(shown: Mapping[str, Any]) -> tuple[tuple[str, int], ...] | None:
    if shown.get("useDefault", True):
        return None
    return tuple(
        sorted((str(one.get("method", "popup")), int(one["minutes"])) for one in _get_list(shown, "overrides"))
    )


def _pick_fields(shown: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(shown, Mapping):
        raise ValueError(f"{shown!r} is not an object")  # noqa: TRY004  the value comes from the wire
    return {name: shown[name] for name in names if shown.get(name) not in {None, False, ""}}


def _get_address(guest: Mapping[str, Any]) -> str:
    return str(guest.get("email", "")).lower()


def _get_mapping(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name) or {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is not an object")  # noqa: TRY004  the value comes from the wire
    return value


def _get_list(raw: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    value = raw.get(name) or ()
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is not a list")  # noqa: TRY004  the value comes from the wire
    return tuple(value)


OWNED_PREFIX = "fftb"
_OWNED_ID = re.compile(r"fftb[0-9a-v]{32}")


class OwnedId(str):
    """The id of an event that this program made: ``fftb`` and 32 characters of base32hex, nothing else.

    The calendar port writes only to ids of this type, and no other id can become one: not a foreign event's, not an
    occurrence of a series (``fftb..._20250616T...``), not a copy made in the calendar's own page.
    """

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        if not _OWNED_ID.fullmatch(value):
            raise ValueError(f"“{value}” is not the id of an event made by fateforger")
        return super().__new__(cls, value)

    @staticmethod
    def is_one(value: str) -> bool:
        """Check whether a text has the form of an owned id."""
        return _OWNED_ID.fullmatch(value) is not None


def _require_aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return value.astimezone(UTC)


Instant = Annotated[datetime, AfterValidator(_require_aware)]
"""An aware datetime, kept in UTC so that equal instants are equal values."""


class Marker(Value):
    """Private properties by which our writes are recognized in the event itself."""

    key: str
    generation: int = Field(ge=0)
    day: date
    op_id: str
    person: str = ""
    """A digest of the person whose plan it is; empty in events of earlier versions."""

    def properties(self) -> dict[str, str]:
        """Return ``ffu`` block key, ``ffg`` generation, ``ffd`` day of the plan, ``ffo`` op that wrote last.

        ``ffp`` is the person, if one is known.
        """
        known = {"ffu": self.key, "ffg": str(self.generation), "ffd": self.day.isoformat(), "ffo": self.op_id}
        return known | ({"ffp": self.person} if self.person else {})

    @classmethod
    def read(cls, properties: Mapping[str, str]) -> Marker | None:
        """Return the marker in an event's private properties, or ``None`` if there is none of this program."""
        try:
            return cls(
                key=properties["ffu"],
                generation=int(properties["ffg"]),
                day=date.fromisoformat(properties["ffd"]),
                op_id=properties["ffo"],
                person=properties.get("ffp", ""),
            )
        except (KeyError, ValueError):
            return None


MANAGED = ("summary", "description", "start", "end", "color_id")
"""The fields of an event that count as a change and are ever written (S81)."""


class Canon(NamedTuple):
    """The managed fields (:data:`MANAGED`, in that order) in canonical form.

    Texts are without surrounding space and with one kind of line break, an empty color is none, and instants are in
    whole seconds, as calendars store them.
    """

    summary: str
    description: str
    start: datetime
    end: datetime
    color_id: str | None

    def to_fields(self) -> EventFields:
        """Return the values as fields of the model."""
        return EventFields(**self._asdict())


def canonicalize(summary: str, description: str, start: datetime, end: datetime, color_id: str | None) -> Canon:
    """Return the canonical form of managed fields."""
    return Canon(
        normalize_text(summary),
        normalize_text(description),
        truncate_to_second(start),
        truncate_to_second(end),
        color_id or None,
    )


def normalize_text(value: str) -> str:
    """Strip a text and convert its line breaks to line feeds."""
    value = value.strip()
    return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value


def truncate_to_second(instant: datetime) -> datetime:
    return instant.replace(microsecond=0) if instant.microsecond else instant


class EventFields(Value):
    """The managed fields of an event, as they were given."""

    summary: str
    description: str = ""
    start: Instant
    end: Instant
    color_id: str | None = None

    @cached_property
    def canon(self) -> Canon:
        """The canonical form."""
        return canonicalize(self.summary, self.description, self.start, self.end, self.color_id)


REPEATS = mark_message("it repeats now")


class EventImage(Value):
    """An event as it was read from a calendar. ``raw`` is the calendar's whole answer, kept for undo."""

    _drop_stored = drop_fields("enriched")  # ``raw`` contains it
    id: str
    summary: str = ""
    description: str = ""
    start: Instant | date
    end: Instant | date
    color_id: str | None = None
    status: Literal["confirmed", "tentative", "cancelled"] = "confirmed"
    busy: bool = True
    """False for events shown as free and for invitations the person declined."""
    organized_by_me: bool = True
    series_id: str | None = None
    event_type: str = "default"
    properties: Mapping[str, str] = Field(default_factory=dict)
    version: str | None = None
    """The ETag if the calendar has one; otherwise its time stamp of the last change."""
    html_link: str | None = None
    calendar: str | None = None
    """The name of its calendar, if that is not the one that is written to."""
    raw: Mapping[str, Any] = Field(default_factory=dict)

    @cached_property
    def extras(self) -> EventExtras:
        """The data beyond the managed fields, from ``raw`` and ``properties``."""
        return read_extras(self.raw, self.properties)

    @cached_property
    def is_timed(self) -> bool:
        """Check whether both ends are instants; those of an all-day event are dates."""
        return isinstance(self.start, datetime) and isinstance(self.end, datetime)

    @cached_property
    def gone(self) -> bool:
        """Check whether it was cancelled."""
        return self.status == "cancelled"

    @cached_property
    def canon(self) -> Canon:
        """The canonical form of a timed event. Raises ``ValueError`` for an all-day one."""
        if not isinstance(self.start, datetime) or not isinstance(self.end, datetime):
            raise ValueError(f"“{self.summary}” is an all-day event and has no instants")  # noqa: TRY004  a value, not a type
        return canonicalize(self.summary, self.description, self.start, self.end, self.color_id)

    @property
    def fields(self) -> EventFields:
        """The managed fields of a timed event. Raises ``ValueError`` for an all-day one."""
        if not isinstance(self.start, datetime) or not isinstance(self.end, datetime):
            raise ValueError(f"“{self.summary}” is an all-day event and has no instants")  # noqa: TRY004  a value, not a type
        return EventFields(
            summary=self.summary,
            description=self.description,
            start=self.start,
            end=self.end,
            color_id=self.color_id,
        )

    @cached_property
    def marker(self) -> Marker | None:
        """The marker of this program, if it has one; a copy of one of our events has it, too."""
        return Marker.read(self.properties)

    @cached_property
    def has_owned_id(self) -> bool:
        """Check whether the id has the form of those that this program chooses."""
        return OwnedId.is_one(self.id)

    @cached_property
    def own_marker(self) -> Marker | None:
        """The marker, unless this is a copy of one of our events or belongs to a series."""
        return self.marker if self.series_id is None and self.has_owned_id else None

    @cached_property
    def obstacle(self) -> str | None:
        """The reason an event with one of our ids must not be written to, if any."""
        if self.series_id is not None or self.raw.get("recurrence"):
            return _(REPEATS)
        if not self.organized_by_me:
            return _("it is an invitation now")
        if self.event_type != "default":
            return _("it is a special kind of event now, such as focus time")
        if self.marker is None:
            return _("it lost the mark that makes it ours")
        return None if self.is_timed else _("it is an all-day event now")

    @cached_property
    def raw_zones(self) -> dict[str, Any]:
        """The part of ``raw`` that names the zones of both ends, if they differ, as those of a flight do."""
        sides = {side: _get_mapping(self.raw, side).get("timeZone") for side in ("start", "end")}
        if None in sides.values() or sides["start"] == sides["end"]:
            return {}
        return {side: {"timeZone": name} for side, name in sides.items()}

    def elsewhere(self, calendar_id: str, calendar: str) -> EventImage:
        """Return the event as one of another calendar, which cannot be mistaken for ours.

        The calendar's id precedes its own (no :class:`OwnedId` has a slash), it has no marker, and it counts as
        organized by another person. Otherwise a block that the person moved to another calendar would seem to
        be on this one.
        """
        return replace(
            self,
            id=f"{calendar_id}/{self.id}",
            series_id=None if self.series_id is None else f"{calendar_id}/{self.series_id}",
            organized_by_me=False,
            properties={},
            calendar=calendar,
            raw={name: self.raw[name] for name in ("iCalUID",) if name in self.raw} | self.raw_zones,
        )
