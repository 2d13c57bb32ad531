"""Events as they were read from a calendar, and the ids and markers of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from fateforger.sync.model.extras import EventExtras, read_extras
from fateforger.values import replace

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


class Marker(BaseModel):
    """Private properties that make each write of ours recognizable in the event itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    generation: int = Field(ge=0)
    day: date
    op_id: str

    def properties(self) -> dict[str, str]:
        """Return ``ffu`` block key, ``ffg`` generation, ``ffd`` day of the plan, ``ffo`` op that wrote last."""
        return {"ffu": self.key, "ffg": str(self.generation), "ffd": self.day.isoformat(), "ffo": self.op_id}

    @classmethod
    def read(cls, properties: Mapping[str, str]) -> Marker | None:
        """Return the marker in an event's private properties, or ``None`` if there is none of this program."""
        try:
            return cls(
                key=properties["ffu"],
                generation=int(properties["ffg"]),
                day=date.fromisoformat(properties["ffd"]),
                op_id=properties["ffo"],
            )
        except (KeyError, ValueError):
            return None

    @staticmethod
    def find_day(properties: Mapping[str, str]) -> date | None:
        """Return the day in a complete marker, ``None`` if there is none: a cheap form of :meth:`read`."""
        try:
            day = date.fromisoformat(properties["ffd"])
            whole = int(properties["ffg"]) >= 0 and "ffu" in properties and "ffo" in properties
        except (KeyError, ValueError):
            return None
        return day if whole else None


class EventFields(BaseModel):
    """The managed fields of an event: the only ones that count as a change and are ever written (S81)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    summary: str
    description: str = ""
    start: Instant
    end: Instant
    color_id: str | None = None


MANAGED = ("summary", "description", "start", "end", "color_id")


class EventImage(BaseModel):
    """An event as it was read from a calendar. ``raw`` is the calendar's whole answer, kept for undo."""

    model_config = ConfigDict(frozen=True, extra="forbid")
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

    @model_validator(mode="before")
    @classmethod
    def _without_enriched(cls, given: Any) -> Any:
        """Drop a field of images stored by earlier versions; ``raw`` contains it."""
        if isinstance(given, Mapping) and "enriched" in given:
            return {name: value for name, value in given.items() if name != "enriched"}
        return given

    @property
    def extras(self) -> EventExtras:
        """The data beyond the managed fields, from ``raw`` and ``properties``."""
        return read_extras(self.raw, self.properties)

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)

    @property
    def gone(self) -> bool:
        return self.status == "cancelled"

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

    @property
    def marker(self) -> Marker | None:
        return Marker.read(self.properties)

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
            raw={name: self.raw[name] for name in ("iCalUID",) if name in self.raw},
        )
