"""Models of a plan: the blocks of one day, in order.

These are the only plan models that a language model ever sees (S111).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from fateforger.plan.timing import Timing, is_anchored
from fateforger.plan.types import ET
from fateforger.plan.zones import zone
from fateforger.values import replace

MAX_NAME = 300
MAX_DESCRIPTION = 8_000
MAX_EVENTS = 400


class TBEvent(BaseModel):
    """One block. ``key`` names it for good, whatever happens to its name, place or time."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: str = Field(alias="n", min_length=1, max_length=MAX_NAME, description="Title")
    description: str = Field("", alias="d", max_length=MAX_DESCRIPTION, description="Notes")
    type: ET = Field(alias="t", description="Event type code")
    timing: Timing = Field(alias="p", description="When it happens")
    key: str | None = Field(None, min_length=1, max_length=64, description="Stable name of the block")

    @model_validator(mode="after")
    def _require_background_time(self) -> Self:
        if self.type is ET.BACKGROUND and not is_anchored(self.timing):
            raise ValueError(f"“{self.name}” is a background block and needs a fixed start (fs) or window (fw)")
        if not self.name.strip():
            raise ValueError("a block needs a title")
        return self

    @property
    def block_key(self) -> str:
        """Key of the block.

        Blocks inside a :class:`TBPlan` always have one; others raise ``ValueError``.
        """
        if self.key is None:
            raise ValueError(f"“{self.name}” is not part of a plan yet, so it has no key")
        return self.key


class TBPlan(BaseModel):
    """The blocks of one local day in one IANA zone. Blocks without a key are given one on the way in.

    Raises pydantic's ``ValidationError``; the doors turn it into one sentence with
    :func:`fateforger.plan.wire.read_plan`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    date: Date
    tz: Annotated[str, AfterValidator(lambda name: zone(name).key)]
    events: tuple[TBEvent, ...] = Field((), max_length=MAX_EVENTS)

    @field_validator("events")
    @classmethod
    def _require_unique_keys(cls, events: tuple[TBEvent, ...]) -> tuple[TBEvent, ...]:
        keys = [e.key for e in events if e.key is not None]
        if len(set(keys)) != len(keys):
            twice = next(k for k in keys if keys.count(k) > 1)
            raise ValueError(f"two blocks have the key “{twice}”; each block needs its own")
        return with_keys(events)

    @property
    def zone(self) -> ZoneInfo:
        """Time zone of the plan."""
        return zone(self.tz)

    def position(self, key: str) -> int:
        """Return the list index of the block with that key.

        Raises ``KeyError``.
        """
        for index, event in enumerate(self.events):
            if event.key == key:
                return index
        raise KeyError(key)

    def block(self, key: str) -> TBEvent:
        """Return the block with that key.

        Raises ``KeyError``.
        """
        return self.events[self.position(key)]

    def replace(self, events: Iterable[TBEvent]) -> TBPlan:
        """Return a plan of the same day with other blocks."""
        return TBPlan(date=self.date, tz=self.tz, events=tuple(events))


def with_keys(events: Iterable[TBEvent], taken: Iterable[str] = ()) -> tuple[TBEvent, ...]:
    """Give each block without a key one that is derived from its content.

    The same input always gets the same keys. No key in ``taken`` is used.
    """
    events = tuple(events)
    used: set[str] = {e.key for e in events if e.key is not None}.union(taken)
    keyed: list[TBEvent] = []
    for event in events:
        if event.key is not None:
            keyed.append(event)
            continue
        key = _fresh_key(event, used)
        used.add(key)
        keyed.append(replace(event, key=key))
    return tuple(keyed)


def _fresh_key(event: TBEvent, used: set[str]) -> str:
    content = event.model_dump_json(by_alias=True, exclude={"key"})
    attempt = 0
    while True:
        digest = hashlib.sha1(f"{content}|{attempt}".encode(), usedforsecurity=False).digest()
        key = base64.b32hexencode(digest)[:10].decode().lower()
        if key not in used:
            return key
        attempt += 1
