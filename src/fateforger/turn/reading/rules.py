"""Answers of a model about memory: the constraints that are meant, and the change to make (S23-S25, S94).

Every field is named; ``null`` means "not stated".
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints.asked import MOST_QUERIES
from fateforger.constraints.kinds import Dimension, Domain, Necessity, RuleKind, Scope, Slot, Weekday, WindowKind
from fateforger.constraints.record import DayRuleText
from fateforger.plan import ET
from fateforger.turn.reading.values import Clock, PatchWords, Spoken

_CLOSED = ConfigDict(frozen=True, extra="forbid")
Words = Annotated[str, Field(min_length=1, max_length=2000)]
Query = Annotated[str, Field(min_length=1, max_length=200)]
Topic = Annotated[str, Field(min_length=1, max_length=60)]


class MemoryWish(StrEnum):
    """What is wanted of memory: the five tools by their names (S26), and what only a conversation knows."""

    LIST = "memory_list_constraints"
    GET = "memory_get_constraint"
    UPDATE = "memory_update_constraint"
    ARCHIVE = "memory_archive_constraint"
    SUPERSEDE = "memory_supersede_constraint"
    REMEMBER = "remember"
    ACCEPT = "accept"
    DECLINE = "decline"
    RESTORE = "restore"
    SET_ASIDE = "set_aside"
    USE_AGAIN = "use_again"
    KEEP = "keep"
    """Answer to which of two contradicting constraints counts, or that both do."""
    UNDO = "undo"
    """Undo the last write into memory."""


class WindowSaid(BaseModel):
    """A time of day that is wanted or not."""

    model_config = _CLOSED
    kind: WindowKind
    start: Clock
    end: Clock


class RuleWords(BaseModel):
    """A rule as it shall be, as far as the message says it; null leaves a part as it is."""

    model_config = _CLOSED
    name: Annotated[str, Field(min_length=1, max_length=300)] | None
    description: Words | None
    necessity: Necessity | None
    scope: Scope | None
    rule_kind: RuleKind | None
    slot: Slot | None
    dimension: Dimension | None
    domain: Domain | None
    windows: Annotated[tuple[WindowSaid, ...], Field(max_length=10)] | None
    minutes_min: int | None
    minutes_max: int | None
    day_rule: DayRuleText | None
    start_date: Date | None
    end_date: Date | None
    days_of_week: tuple[Weekday, ...] | None
    event_types: tuple[ET, ...] | None
    topics: Annotated[tuple[Topic, ...], Field(max_length=6)] | None


def aspect_of(
    slot: Slot | None, dimension: Dimension | None, domain: Domain | None, rule_kind: RuleKind | None
) -> dict[str, str]:
    """Return the given fields of an aspect. A fixed bedtime without a slot gets the bedtime slot."""
    if slot is None and rule_kind is RuleKind.FIXED_BEDTIME:
        slot = Slot.BEDTIME
    said = {"aspect_id": slot, "frame_slot": slot, "dimension": dimension, "category": domain}
    return {name: value.value for name, value in said.items() if value is not None}


class MemoryWords(BaseModel):
    """What a message wants of memory. ``numbers`` are rows of the table; ``rule`` is what a changed or new one shall
    be, ``reason`` why one is put away; ``search`` finds what the table does not show (S95). What cannot be understood
    is asked."""

    model_config = _CLOSED
    wish: MemoryWish
    numbers: Annotated[tuple[int, ...], Field(max_length=20)]
    search: Annotated[tuple[Query, ...], Field(max_length=MOST_QUERIES)]
    reason: Annotated[str, Field(max_length=600)] | None
    rule: RuleWords | None
    question: Spoken | None


class ChangeWords(PatchWords):
    """A change of the plan, and what the same message wants of memory besides; the plan comes first (S25)."""

    memory: MemoryWords | None = None
