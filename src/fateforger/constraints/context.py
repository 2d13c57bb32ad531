"""The context of a query: the person, the day, and the point of planning."""

from __future__ import annotations

from datetime import UTC, datetime
from datetime import date as Date  # noqa: N812  as elsewhere
from functools import cached_property
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fateforger.constraints.kinds import normalize_stage
from fateforger.constraints.record import EventType, Label, Stage, Uid
from fateforger.constraints.versions import Instant
from fateforger.plan import zone


def _default_to_empty(value: object) -> object:
    return () if value is None else value


class Context(BaseModel):
    """The known facts when constraints are queried. A field left out does not filter.

    ``as_of`` is the planned day; without it, it is the day at ``now`` in ``timezone``. Versions written after ``now``
    do not exist yet. ``k`` is the number of constraints there is room for. ``situation`` names parts of the day
    (aspects, event types) for conditional constraints; a sentence is for people only and filters nothing. ``topics``
    only affect the rank. ``suppressed_uids`` are those the person set aside for this session.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    user_id: str
    stage: Stage | None = None
    as_of: Date | None = None
    now: Instant | None = None
    timezone: Annotated[
        str, BeforeValidator(lambda v: "UTC" if v is None else v), AfterValidator(lambda n: zone(n).key)
    ] = "UTC"
    event_types: Annotated[tuple[EventType, ...], BeforeValidator(_default_to_empty)] = ()
    session_id: str | None = None
    type_ids: Annotated[tuple[Label, ...], BeforeValidator(_default_to_empty)] = ()
    k: int | None = Field(None, ge=0, strict=True)
    situation: str | tuple[Label, ...] | None = None
    topics: Annotated[tuple[Label, ...], BeforeValidator(_default_to_empty)] = ()
    suppressed_uids: Annotated[tuple[Uid, ...], BeforeValidator(_default_to_empty)] = ()

    @model_validator(mode="after")
    def _knows_its_day(self) -> Self:
        if self.as_of is None and self.now is None:
            raise ValueError("say which day it is about: as_of, or now with timezone")
        return self

    @cached_property
    def day(self) -> Date:
        """The planned day, as a calendar day without a zone."""
        return self.as_of or self.local_day(self.now or datetime.min.replace(tzinfo=UTC))

    @cached_property
    def asked_stage(self) -> str | None:
        """The stage by its usual name."""
        return None if self.stage is None else normalize_stage(self.stage)

    @cached_property
    def asked_types(self) -> frozenset[str]:
        """The event types asked about; if empty, they do not filter."""
        return frozenset(kind.value for kind in self.event_types)

    @property
    def present(self) -> frozenset[str]:
        """The labels known to be part of the day."""
        labels = () if self.situation is None or isinstance(self.situation, str) else self.situation
        return self.asked_types.union(labels)

    def local_day(self, instant: datetime) -> Date:
        """Return the calendar day of an instant in the person's zone."""
        return instant.astimezone(zone(self.timezone)).date()
