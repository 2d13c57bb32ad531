"""Messages of the bot as values: cards made of parts, the picture of a day, and the progress of a turn.

They do not depend on Slack's formats. Texts are CommonMark: ``**bold**``, ``_italic_``, lists. They contain no
untrusted markup: titles from a person or a calendar go through :func:`plain`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from fateforger.planning.plan import ET, TBPlan, resolve
from fateforger.planning.timing import zone
from fateforger.text import current_language, gettext, label_text, quote_title, shorten
from fateforger.values import Value, replace


class PlannedBlock(Value):
    """A planned block, as instants.

    ``key`` identifies it across a change.
    """

    key: str
    title: str
    kind: ET
    start: AwareDatetime
    end: AwareDatetime

    @property
    def minutes(self) -> int:
        """Elapsed minutes, rounded down."""
        return int((self.end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() // 60)


class Meeting(Value):
    """An immovable event.

    One that is not ``busy`` is shown but blocks nothing. ``calendar`` is the name of its calendar, where that
    matters.
    """

    title: str
    start: AwareDatetime
    end: AwareDatetime
    busy: bool = True
    calendar: str | None = None


class DayView(Value):
    """One local day in one IANA zone.

    ``start`` and ``end`` are the frame of the day, if any. ``before`` are the blocks from before a change, if it is
    to be shown. ``now`` draws a line. ``zones`` are the instants from which on the person is in another zone.
    ``language`` is that of the words of the picture.
    """

    date: Date
    tz: str
    start: AwareDatetime | None = None
    end: AwareDatetime | None = None
    blocks: tuple[PlannedBlock, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    all_day: tuple[str, ...] = ()
    before: tuple[PlannedBlock, ...] | None = None
    now: AwareDatetime | None = None
    zones: tuple[tuple[AwareDatetime, str], ...] = ()
    language: str = Field(default_factory=current_language)

    @cached_property
    def zone(self) -> ZoneInfo:
        return zone(self.tz)

    def local_time(self, moment: datetime) -> datetime:
        """Return an instant in the clock of where the person is then."""
        passed = [tz for at, tz in self.zones if at <= moment]
        return moment.astimezone(zone(passed[-1]) if passed else self.zone)


class DayBar(Value):
    """Minutes of a day's plan that were ``done``, ``moved`` to another day, and ``left`` open."""

    date: Date
    done: int = 0
    moved: int = 0
    left: int = 0

    @property
    def minutes(self) -> int:
        """All minutes of the plan."""
        return self.done + self.moved + self.left

    def minutes_of(self, part: str) -> int:
        return {"done": self.done, "moved": self.moved, "left": self.left}[part]


class WeekBars(Value):
    """The planned days of a week, in order. ``language`` is that of the words of the picture."""

    days: tuple[DayBar, ...] = Field(min_length=1)
    language: str = Field(default_factory=current_language)

    @property
    def date(self) -> Date:
        """The first day."""
        return self.days[0].date


def planned_blocks(plan: TBPlan) -> tuple[PlannedBlock, ...]:
    """Return the blocks of a plan as instants, in time order.

    Raises ``PlanInvalid`` as :func:`fateforger.planning.plan` does.
    """
    found = (
        PlannedBlock(key=r.key, title=r.event.name, kind=r.event.type, start=r.start, end=r.end) for r in resolve(plan)
    )
    return tuple(sorted(found, key=lambda block: (block.start.astimezone(UTC), block.end.astimezone(UTC), block.key)))


_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_~[]<>"})


def plain(text: str, limit: int = 80) -> str:
    """Return a title for use inside a CommonMark text.

    Markup is escaped, line ends become spaces, and a long title is cut with an ellipsis.
    """
    return shorten(text, limit).translate(_MARKUP)


def name_button(label: str, title: str) -> str:
    """Return a button's label with its object, for screen readers: ``Pull: “Write report”``."""
    return label_text(label, quote_title(title, 40))


class Button(Value):
    """A button.

    ``action`` names its meaning, ``target`` its object (a block key, a task id). One with a ``url`` opens it in the
    person's browser.
    """

    kind: Literal["button"] = "button"
    label: str
    action: str
    target: str = ""
    style: Literal["default", "primary", "danger"] = "default"
    confirm: str | None = None
    """Question to ask before the click counts."""
    spoken: str = ""
    """Label for screen readers, where several rows have buttons with the same label."""
    url: Annotated[str, Field(exclude_if=lambda url: not url)] = ""

    def localize(self) -> Button:
        """Return the button with its texts in the language of this task; for buttons that are constants."""
        confirm = None if self.confirm is None else gettext(self.confirm)
        spoken = gettext(self.spoken) if self.spoken else ""
        return replace(self, label=gettext(self.label), spoken=spoken, confirm=confirm)


class Choice(Value):
    """An entry of a menu or a select.

    In a row's menu ``value`` is the action; in a select it is the chosen value.
    """

    label: str
    value: str


class Menu(Value):
    """A small menu at the end of a row.

    Each choice's ``value`` is the action, and ``target`` its object.
    """

    kind: Literal["menu"] = "menu"
    choices: tuple[Choice, ...]
    target: str


class Select(Value):
    """A choice of one value; choosing is the action."""

    kind: Literal["select"] = "select"
    action: str
    placeholder: str
    choices: tuple[Choice, ...]
    selected: str | None = None


class DatePick(Value):
    """A choice of a day; choosing is the action."""

    kind: Literal["date"] = "date"
    action: str
    selected: date


class TimePick(Value):
    """A choice of a local time of day; choosing is the action."""

    kind: Literal["time"] = "time"
    action: str
    placeholder: str
    selected: time | None = None


Control = Annotated[Button | Menu | Select | DatePick | TimePick, Field(discriminator="kind")]


class Heading(Value):
    kind: Literal["heading"] = "heading"
    text: str


class Prose(Value):
    """A paragraph with at most one control."""

    kind: Literal["prose"] = "prose"
    text: str
    control: Control | None = None


class Note(Value):
    """Small print: status, hints, background work."""

    kind: Literal["note"] = "note"
    text: str


class Divider(Value):
    kind: Literal["divider"] = "divider"


class Controls(Value):
    """A row of controls."""

    kind: Literal["controls"] = "controls"
    items: tuple[Control, ...] = Field(min_length=1)


def localize_row(*buttons: Button) -> Controls:
    """Return a row of buttons that are constants, in the language of this task."""
    return Controls(items=tuple(button.localize() for button in buttons))


class Feedback(Value):
    """Thumbs up and down for a card that a model contributed to.

    ``turn`` is the id of the command behind the card. ``prompts`` are the prompts that shaped it, with their
    versions.
    """

    kind: Literal["feedback"] = "feedback"
    turn: str
    prompts: tuple[str, ...] = ()


class Picture(Value):
    """A picture of a day, or of a week.

    It is left out where no picture can be shown, so the other parts say everything, too.
    """

    kind: Literal["picture"] = "picture"
    day: DayView | WeekBars


Part = Annotated[Heading | Prose | Note | Divider | Controls | Feedback | Picture, Field(discriminator="kind")]


class Card(Value):
    """One message.

    ``text`` is used by notifications and screen readers. ``language`` is that of its texts.
    """

    text: str
    parts: tuple[Part, ...]
    language: str = Field(default_factory=current_language)


class Activity(StrEnum):
    LOOKING = "looking"
    """Reading the calendar."""
    READING = "reading"
    """Reading the person's message."""
    DRAFTING = "drafting"
    """Drafting a first plan of the day."""
    CHANGING = "changing"
    """Working out a change of the plan."""
    WRITING = "writing"
    """Writing to the calendar: from here on the turn runs to its end."""


class Progress(BaseModel):
    """Progress of a turn.

    ``done`` of ``of`` events are written, where that can be counted; the rest ``waits`` that many seconds. With
    ``too_late``, a stop came once it had begun, so it is finished.
    """

    model_config = ConfigDict(frozen=True)
    doing: Activity
    done: int = 0
    of: int = 0
    waits: int = 0
    too_late: bool = False


ProgressCallback = Callable[[Progress], None]
"""Callback for the progress of a turn; it must not block and must not raise."""


def ignore_progress(progress: Progress) -> None:
    del progress
