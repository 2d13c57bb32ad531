"""Times of day, time zones, the timing of a block, and the five-minute grid of the clock.

The timing is one of four variants, discriminated on the field ``a``.

A clock value is ``"09:30"`` (on the plan's day), a local date-time ``"2026-03-02T23:30"`` (another day), or a date-time
with offset (one exact instant, for the hour that happens twice in autumn). A duration is ISO 8601 (``"PT45M"``),
counted in elapsed time.

A minute is an elapsed minute since the epoch, so a change of the clock has no effect on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import Field, PlainSerializer, TypeAdapter
from pydantic.functional_validators import AfterValidator, BeforeValidator

from fateforger.limits import MAX_CODE_CHARS, MAX_DAY, MAX_DURATION, MAX_ZONE_CHARS, MIN_DAY
from fateforger.text import gettext
from fateforger.values import Value


@lru_cache(maxsize=256)
def zone(name: str) -> ZoneInfo:
    """Return the IANA zone of that name.

    Raises ``ValueError`` with a sentence for a person.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            gettext("“{name}” is not a time zone I know; use an IANA name such as Europe/Amsterdam", name=_show(name))
        ) from None


def find_zone(text: str) -> ZoneInfo:
    """Return the zone that a person names, by its IANA name or by its city: ``new york``.

    Zones of one city are one clock; the longest name is the current one. Raises ``ValueError`` as :func:`zone` does.
    """
    wanted = "_".join(text.split()).casefold()
    known = available_timezones()
    named = [name for name in known if name.casefold() == wanted]
    cities = [name for name in known if name.rpartition("/")[2].casefold() == wanted]
    return zone(max(named or cities or [text], key=len))


def _show(name: str) -> str:
    """Return the beginning of a name that may hold anything."""
    return "".join(c if c.isprintable() else "\ufffd" for c in name[:MAX_ZONE_CHARS])


def instant_of(local: datetime, tz: ZoneInfo) -> datetime:
    """Return the instant of a wall-clock reading, in ``tz``.

    A reading that the spring change skips moves forward by the length of the gap. A reading that happens twice in
    autumn means the first pass (both as in RFC 5545). A reading with an offset is that exact instant.
    """
    if local.tzinfo is None:
        local = local.replace(tzinfo=tz, fold=local.fold)
    return local.astimezone(UTC).astimezone(tz)


def second_reading(local: datetime, tz: ZoneInfo) -> datetime | None:
    """Return the later instant of a wall-clock reading that happens twice, else ``None``."""
    if local.tzinfo is not None:
        return None
    first, second = (local.replace(tzinfo=tz, fold=f).astimezone(UTC) for f in (0, 1))
    return second.astimezone(tz) if second > first else None


def format_clock(local: datetime) -> str:
    """Return a time of day like ``02:30``; with its zone, ``02:30 CET``, if the clock is set back over it that day."""
    is_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{local:%H:%M %Z}" if is_twice else f"{local:%H:%M}"


@lru_cache(maxsize=256)
def local_day(day: date, tz: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first instants of a local day and of the next day.

    They are 23, 24 or 25 hours apart in most zones.
    """
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001  a wall-clock reading on purpose
    return instant_of(start, tz), instant_of(start + timedelta(days=1), tz)


_ISO_DURATION: TypeAdapter[timedelta] = TypeAdapter(timedelta)

Clock = time | datetime


def read_clock(value: object) -> object:
    """Parse text into a naive local time of day, or into a date-time.

    Any value other than text is returned unchanged, for pydantic to refuse. Raises ``ValueError`` for text that
    cannot be parsed.
    """
    if isinstance(value, int | float):
        raise ValueError("a time of day is written as text like 09:30")  # noqa: TRY004  pydantic reports ValueError
    if not isinstance(value, str):
        return value
    text = value.strip()
    if len(text) > MAX_CODE_CHARS:
        raise ValueError(f"“{value}” is not a time of day; write it like 09:30")
    try:
        parsed = datetime.fromisoformat(text) if "T" in text.upper() else time.fromisoformat(text)
    except ValueError:
        raise ValueError(f"“{value}” is not a time of day; write it like 09:30") from None
    if isinstance(parsed, datetime):
        check_day(parsed.date())
    elif parsed.tzinfo is not None:
        raise ValueError(f"“{value}” has an offset but no date; write 09:30, or a full date and time")
    return parsed


def write_clock(value: Clock) -> str:
    """Return the shortest text that :func:`read_clock` turns back into the same value."""
    short = value.second == 0 and value.microsecond == 0
    return value.isoformat(timespec="minutes") if short else value.isoformat()


def read_duration(value: object) -> object:
    """Parse an ISO 8601 duration; a ``timedelta`` from code passes through.

    Raises ``ValueError`` unless the duration is more than zero and at most 24 hours.
    """
    if isinstance(value, str):
        if not value.lstrip("+-").upper().startswith("P"):
            raise ValueError(f"“{value}” is not a duration; write it like PT45M or PT1H30M")
        value = _ISO_DURATION.validate_python(value)
    if not isinstance(value, timedelta):
        raise ValueError("a duration is written as text like PT45M")  # noqa: TRY004  pydantic reports ValueError
    if value <= timedelta(0):
        raise ValueError("a block has to last longer than zero minutes")
    if value > MAX_DURATION:
        raise ValueError("a block can last 24 hours at most")
    return value


def check_day(day: date) -> date:
    """Return a day that can be planned. Raises ``ValueError`` for one too far away to calculate with."""
    if not MIN_DAY <= day <= MAX_DAY:
        raise ValueError(f"a plan has to be for a day between {MIN_DAY.year} and {MAX_DAY.year}, not in {day.year}")
    return day


PlanDate = Annotated[date, AfterValidator(check_day)]
ClockField = Annotated[Clock, BeforeValidator(read_clock), PlainSerializer(write_clock, return_type=str)]
Duration = Annotated[timedelta, BeforeValidator(read_duration)]


class AfterPrevious(Value):
    """Starts when the block before it ends."""

    a: Literal["ap"] = "ap"
    duration: Duration = Field(alias="dur", description="ISO 8601, for example PT30M")


class BeforeNext(Value):
    """Ends when the block after it starts."""

    a: Literal["bn"] = "bn"
    duration: Duration = Field(alias="dur", description="ISO 8601, for example PT30M")


class FixedStart(Value):
    """Starts at a given time."""

    a: Literal["fs"] = "fs"
    start: ClockField = Field(alias="st", description="HH:MM on the plan's day")
    duration: Duration = Field(alias="dur", description="ISO 8601, for example PT30M")


class FixedWindow(Value):
    """Starts and ends at given times; an earlier end means the next morning."""

    a: Literal["fw"] = "fw"
    start: ClockField = Field(alias="st", description="HH:MM on the plan's day")
    end: ClockField = Field(alias="et", description="HH:MM; earlier than the start = next day")


Timing = Annotated[AfterPrevious | BeforeNext | FixedStart | FixedWindow, Field(discriminator="a")]


def is_anchored(timing: AfterPrevious | BeforeNext | FixedStart | FixedWindow) -> bool:
    """Check whether the timing names a time itself, so that it depends on no neighbor."""
    match timing:
        case FixedStart() | FixedWindow():
            return True
        case AfterPrevious() | BeforeNext():
            return False
        case _:
            assert_never(timing)


GRID = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def floor(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded down to the grid."""
    return int((instant - _EPOCH) // timedelta(minutes=GRID)) * GRID


def ceil(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded up to the grid."""
    return -int((_EPOCH - instant) // timedelta(minutes=GRID)) * GRID


def on_grid(minutes: int) -> int:
    """Round a length up to the grid, in minutes."""
    return -(-minutes // GRID) * GRID


def minute_of(instant: datetime) -> int:
    """Return whole elapsed minutes since the epoch."""
    return int((instant - _EPOCH) // timedelta(minutes=1))


def instant(minute: int) -> datetime:
    """Return the instant of a minute since the epoch, in UTC."""
    return _EPOCH + timedelta(minutes=minute)


def find_next_fit(taken: Iterable[tuple[datetime, datetime]], start: datetime, length: timedelta) -> datetime:
    """Return the first instant from ``start`` on at which ``length`` fits between the ``taken`` times."""
    for begin, end in sorted(taken):
        if begin < start + length and start < end:
            start = end
    return start


def clock_at(when: datetime, day: date, tz: str) -> Clock:
    """Return the clock value of the aware instant ``when`` in a plan of ``day``.

    It is a time of day, a local date-time on another day, or a date-time with offset for the second pass of an hour
    that happens twice.
    """
    local = when.astimezone(zone(tz))
    wall = local.replace(tzinfo=None, fold=0)
    if instant_of(wall, zone(tz)).astimezone(UTC) != when.astimezone(UTC):
        return datetime.fromisoformat(local.isoformat())
    return wall.time() if wall.date() == day else wall


@dataclass(frozen=True, slots=True)
class Busy:
    """Busy time that does not move.

    An empty or reversed stretch takes no time.
    """

    start: datetime
    end: datetime
    title: str = field(default="", kw_only=True)


class Stretch(NamedTuple):
    """A stretch of time in minutes since the epoch, end not included."""

    start: int
    end: int

    @property
    def minutes(self) -> int:
        return self.end - self.start


def busy_stretches(busy: Iterable[Busy]) -> tuple[Stretch, ...]:
    """Return the busy time, rounded outward to the grid, merged, in time order."""
    return join_stretches(Stretch(floor(b.start), ceil(b.end)) for b in busy if b.start < b.end)


def join_stretches(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Return the union of the stretches, in time order."""
    union: list[Stretch] = []
    for stretch in sorted(stretches):
        if union and stretch.start <= union[-1].end:
            union[-1] = Stretch(union[-1].start, max(union[-1].end, stretch.end))
        else:
            union.append(stretch)
    return tuple(union)


def gaps(frame: Stretch, taken: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of the frame that ``taken`` leaves free, in time order."""
    at = frame.start
    for stretch in join_stretches(taken):
        if at >= frame.end:
            return
        if stretch.start > at:
            yield Stretch(at, min(stretch.start, frame.end))
        at = max(at, stretch.end)
    if at < frame.end:
        yield Stretch(at, frame.end)
