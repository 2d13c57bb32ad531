"""Instance of the drafting problem: one day, or a few days in a row, as one JSON document.

A clock value is ``09:30`` on the first day, a local date-time, or a date-time with offset. Minutes are elapsed.

Each part of the default policy (S206-S208) can be declined with ``null`` or 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from fateforger.errors import BadInput, first_mistake
from fateforger.limits import (
    MAX_DESCRIPTION_CHARS,
    MAX_ID_CHARS,
    MAX_INSTANCE_EVENTS,
    MAX_INSTANCE_RULES,
    MAX_INSTANCE_TASKS,
    MAX_MINUTES,
    MAX_PINS,
    MAX_TITLE_CHARS,
    MAX_UID_CHARS,
)
from fateforger.memory.record import Clock, ConstraintRecord
from fateforger.planning.plan import ET, Resolved, TBPlan
from fateforger.planning.task_details import USUAL_DEEP, USUAL_SHALLOW, TaskDetails, find_circle
from fateforger.planning.timing import ClockField, PlanDate, zone
from fateforger.text import join_words, mark_message
from fateforger.values import replace

_FROZEN = ConfigDict(frozen=True, extra="forbid")
Minutes = Annotated[int, Field(ge=0, le=MAX_MINUTES)]


class Between(BaseModel):
    """A stretch of each day, local time; an end that is not after the start means the next day."""

    model_config = _FROZEN
    start: Clock
    end: Clock


LUNCH_TITLE = mark_message("Lunch")
SHORTEST_LUNCH = 20
FULL_LUNCH = 30
"""Minutes below which a lunch is a snack: it is shorter only where meetings leave no more."""
LUNCH_DRIFT = 120
"""Minutes that lunch may move from the preferred time, either way."""


class Lunch(BaseModel):
    """Starts near ``start``; it may move by ``drift`` minutes and shrink to ``shortest`` where meetings leave no
    more.
    """

    model_config = _FROZEN
    start: Clock = time(12, 30)
    minutes: Annotated[int, Field(ge=5, le=240)] = 45
    shortest: Annotated[int, Field(ge=5, le=240)] = SHORTEST_LUNCH
    drift: Minutes = LUNCH_DRIFT

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths to try in minutes, the longest first: the wish, half an hour, and the shortest."""
        shorter = {m for m in (FULL_LUNCH, self.shortest) if self.shortest <= m < self.minutes}
        return (self.minutes, *sorted(shorter, reverse=True))


class Policy(BaseModel):
    """All of it is soft: it gives way to what a person has to do and to what they said. Times in minutes.

    ``slack_percent`` of the free time stays free. ``after_meetings`` is the pause after two meetings in a row.
    """

    model_config = _FROZEN
    lunch: Lunch | None = Lunch()
    commute: bool = True
    slack_percent: Annotated[int, Field(ge=0, le=90)] | None = 15
    around_meetings: Minutes = 0
    after_meetings: Minutes = 10
    after_deep: Minutes = 10
    before_deep: Minutes = 10
    after_meal: Minutes = 10
    shutdown: Minutes = 30
    shallow_percent: Annotated[int, Field(ge=0, le=100)] | None = 30
    one_thing_early: bool = True
    focus: tuple[Between, ...] = ()
    longest_focus: Annotated[int, Field(ge=30, le=MAX_MINUTES)] | None = 90
    deep_blocks: Annotated[int, Field(ge=1, le=24)] | None = 3
    block: Annotated[int, Field(ge=5, le=240)] = 30

    @model_serializer(mode="wrap")
    def _write_given(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write what was given, also null, which declines a part; the rest follows the person's rules."""
        written = write(self)
        return {name: written.get(name) for name in type(self).model_fields if name in self.model_fields_set}


WEEK = 7

Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]
Type = Annotated[ET, BeforeValidator(lambda v: v.upper() if isinstance(v, str) else v)]


class Frame(BaseModel):
    """When planned time begins and ends, each day; an end before the start lies in the night that follows.
    ``next_start``: when the day after begins, for the sleep between; by default as early as this one.
    """

    model_config = _FROZEN
    start: ClockField
    end: ClockField
    next_start: ClockField | None = None


class Immovable(BaseModel):
    """Something on the calendar. It stays where it is; what is not busy, and background, takes no time. With commutes
    it also takes the way there and back, in minutes.
    """

    model_config = _FROZEN
    id: Id | None = None
    title: Title = "Meeting"
    start: ClockField | None = None
    end: ClockField | None = None
    all_day: bool = False
    busy: bool = True
    type: Type = ET.MEETING
    commute_before: Annotated[int, Field(ge=0, le=720)] = 0
    commute_after: Annotated[int, Field(ge=0, le=720)] = 0

    @model_validator(mode="before")
    @classmethod
    def _accept_dates(cls, document: object) -> object:
        """Accept plain dates for an all-day event: its first day, and the day after its last."""
        if not isinstance(document, Mapping):
            return document
        days = {name: day for name in ("start", "end") if (day := _day(document.get(name))) is not None}
        if days and document.get("all_day") is not True:
            raise ValueError(
                f"“{document.get('title', 'Meeting')}” has a date for a time; all_day makes it a whole day"
            )
        return {**document, **days}

    @model_validator(mode="after")
    def _require_time(self) -> Self:
        if not self.all_day and (self.start is None or self.end is None):
            raise ValueError(f"“{self.title}” needs a start and an end, or all_day")
        if isinstance(self.start, datetime) and isinstance(self.end, datetime):
            alike = (self.start.tzinfo is None) is (self.end.tzinfo is None)
            if alike and self.end < self.start:
                raise ValueError(f"“{self.title}” ends before it starts; choose an end after the start")
        return self


def _day(value: object) -> datetime | None:
    """Return the midnight of a date that is written without a time."""
    if not isinstance(value, str) or len(value) != len("2026-03-02"):
        return None
    try:
        return datetime.combine(Date.fromisoformat(value), time())
    except ValueError:
        return None


class Task(BaseModel):
    """Something to do. Without ``minutes`` it takes ``blocks`` of the policy's length, or else the usual time.

    ``priority`` 1 comes first, 5 last. A ``required`` task has to be on the plan; ``after`` names tasks that have to be
    done before it. ``energy`` is when it is best done. ``travel`` are the minutes of the way there, and of the
    way back, which are blocks of their own. Pieces of a split task are ``min_chunk`` minutes or longer, and
    ``max_pieces`` at most; ``splittable`` left open means deep work of an hour or more. ``details`` are what a person
    says of a task, the same as in the queue; they count before the other fields.
    """

    model_config = _FROZEN
    id: Id
    title: Title
    minutes: Annotated[int, Field(ge=1, le=WEEK * MAX_MINUTES)] | None = None
    blocks: Annotated[int, Field(ge=1, le=100)] | None = None
    type: Type = ET.DEEP_WORK
    splittable: bool | None = None
    min_chunk: Annotated[int, Field(ge=5, le=1440)] = 30
    max_pieces: Annotated[int, Field(ge=1, le=6)] = 4
    priority: Annotated[int, Field(ge=1, le=5)] = 3
    required: bool = False
    one_thing: bool = False
    start: ClockField | None = None
    not_before: ClockField | None = None
    deadline: ClockField | None = None
    energy: tuple[Between, ...] = ()
    after: tuple[Id, ...] = ()
    travel: Annotated[int, Field(ge=0, le=240)] = 0
    notes: str = Field("", max_length=MAX_DESCRIPTION_CHARS)
    details: TaskDetails | None = None

    @classmethod
    def of_block(cls, block: Resolved) -> Self:
        """Return a block of a plan as a task that keeps its length."""
        return cls(
            id=block.key,
            title=block.event.name,
            minutes=max(1, block.minutes),
            type=block.event.type,
            splittable=False,
            notes=block.event.description,
        )

    def length(self, policy: Policy) -> int:
        """Return its minutes, the minutes of its blocks, or the usual length (S106)."""
        if self.minutes is not None:
            return self.minutes
        if self.blocks is not None:
            return self.blocks * policy.block
        return USUAL_DEEP if self.type is ET.DEEP_WORK else USUAL_SHALLOW


class Told(BaseModel):
    """A constraint that counts on these days, with the day the person said it. ``tasks`` narrows it to some tasks; for
    sequencing they are the order. What ``constraints query`` prints can stand here as it is.
    """

    model_config = _FROZEN
    uid: str | None = Field(None, min_length=1, max_length=MAX_UID_CHARS)
    constraint_record: ConstraintRecord
    said_on: Date | None = None
    tasks: tuple[Id, ...] = ()
    reasons: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _accept_record(cls, document: object) -> object:
        if isinstance(document, Mapping) and "constraint_record" not in document:
            return {"constraint_record": document}
        return document

    @property
    def id(self) -> str:
        """Identifier in conflicts and reasons."""
        return self.uid or self.constraint_record.lifecycle.uid or self.constraint_record.name


class Pin(BaseModel):
    """A block that does not move: one of ``previous`` by its key alone, or with its own time. ``task``: whose it is."""

    model_config = _FROZEN
    key: Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
    title: Title | None = None
    type: Type | None = None
    start: ClockField | None = None
    minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    task: Id | None = None


class Instance(BaseModel):
    """What is to be drafted. With ``now`` nothing is planned before it, and what of ``previous`` began before it stays.
    ``days`` in a row share frame, policy and tasks. ``placed`` are the blocks of ``previous`` that the person put where
    they are, which reasons name.
    """

    model_config = _FROZEN
    date: PlanDate
    tz: Annotated[str, AfterValidator(lambda name: zone(name).key)]
    days: Annotated[int, Field(ge=1, le=WEEK)] = 1
    frame: Frame
    immovables: tuple[Immovable, ...] = Field((), max_length=MAX_INSTANCE_EVENTS)
    tasks: tuple[Task, ...] = Field((), max_length=MAX_INSTANCE_TASKS)
    constraints: tuple[Told, ...] = Field((), max_length=MAX_INSTANCE_RULES)
    policy: Policy = Policy()
    pinned: tuple[Pin, ...] = Field((), max_length=MAX_PINS)
    previous: TBPlan | None = None
    placed: tuple[Id, ...] = ()
    now: ClockField | None = None

    @model_validator(mode="after")
    def _require_unique_ids(self) -> Self:
        ids = [task.id for task in self.tasks]
        told = [each.id for each in self.constraints]
        for what, names in (("tasks", ids), ("constraints", told), ("pinned blocks", [p.key for p in self.pinned])):
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"two {what} are called “{twice}”; each needs its own id")
        unknown = next((a for t in self.tasks for a in t.after if a not in ids), None)
        if unknown is not None:
            raise ValueError(f"a task comes after “{unknown}”, and there is no such task")
        waiting = find_circle({task.id: task.after for task in self.tasks})
        if waiting:
            titles = {task.id: task.title for task in self.tasks}
            named = join_words(f"“{titles[each]}”" for each in waiting)
            wait = "waits for itself" if len(waiting) == 1 else "wait for each other"
            raise ValueError(f"{named} {wait}; take one of them out of after")
        return self

    def from_now(self, plan: TBPlan, now: datetime) -> Instance:
        """Return the day from ``now`` on, with ``plan`` as its previous plan.

        Blocks that began before ``now`` stay, and nothing else is placed before it.
        """
        return replace(self, previous=plan, now=now.astimezone(UTC))

    def without_task(self, gone: str) -> Instance:
        """Return the day without a task, and without references to it."""
        kept = (replace(t, after=tuple(a for a in t.after if a != gone)) for t in self.tasks if t.id != gone)
        return replace(self, tasks=tuple(kept))


def read_instance(document: object) -> Instance:
    """Read an instance from its parsed JSON.

    Raises :class:`BadInput` with the first mistake and its place.
    """
    if not isinstance(document, dict):
        raise BadInput("An instance is a JSON object with date, tz, frame and tasks.")
    try:
        return Instance.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where or None) from None
    except RecursionError:
        raise BadInput("This instance is nested too deeply to be one.") from None


def instance_schema() -> dict[str, Any]:
    """Return the JSON schema of the document that :func:`read_instance` takes."""
    return Instance.model_json_schema(mode="validation", by_alias=True)
