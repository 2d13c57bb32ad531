"""Parts of a card, and the card itself."""

from __future__ import annotations

from datetime import date, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.picture.model import DayView

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_~[]<>"})


def plain(text: str, limit: int = 80) -> str:
    """Return a title for use inside a CommonMark text.

    Markup is escaped, line ends become spaces, and a long title is cut with an ellipsis.
    """
    flat = " ".join(text.split())
    short = flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
    return short.translate(_MARKUP)


class Button(BaseModel):
    """A button.

    ``action`` names its meaning, ``target`` its object (a block key, a task id).
    """

    model_config = _FROZEN
    kind: Literal["button"] = "button"
    label: str
    action: str
    target: str = ""
    style: Literal["default", "primary", "danger"] = "default"
    confirm: str | None = None
    """Question to ask before the click counts."""
    spoken: str = ""
    """Label for screen readers, where several rows have buttons with the same label."""


class Choice(BaseModel):
    """An entry of a menu or a select.

    In a row's menu ``value`` is the action; in a select it is the chosen value.
    """

    model_config = _FROZEN
    label: str
    value: str


class Menu(BaseModel):
    """A small menu at the end of a row.

    Each choice's ``value`` is the action, and ``target`` its object.
    """

    model_config = _FROZEN
    kind: Literal["menu"] = "menu"
    choices: tuple[Choice, ...]
    target: str


class Select(BaseModel):
    """A choice of one value; choosing is the action."""

    model_config = _FROZEN
    kind: Literal["select"] = "select"
    action: str
    placeholder: str
    choices: tuple[Choice, ...]
    selected: str | None = None


class DatePick(BaseModel):
    """A choice of a day; choosing is the action."""

    model_config = _FROZEN
    kind: Literal["date"] = "date"
    action: str
    selected: date


class TimePick(BaseModel):
    """A choice of a local time of day; choosing is the action."""

    model_config = _FROZEN
    kind: Literal["time"] = "time"
    action: str
    placeholder: str
    selected: time | None = None


Control = Annotated[Button | Menu | Select | DatePick | TimePick, Field(discriminator="kind")]


class Heading(BaseModel):
    model_config = _FROZEN
    kind: Literal["heading"] = "heading"
    text: str


class Prose(BaseModel):
    """A paragraph with at most one control."""

    model_config = _FROZEN
    kind: Literal["prose"] = "prose"
    text: str
    control: Control | None = None


class Note(BaseModel):
    """Small print: status, hints, background work."""

    model_config = _FROZEN
    kind: Literal["note"] = "note"
    text: str


class Divider(BaseModel):
    model_config = _FROZEN
    kind: Literal["divider"] = "divider"


class Controls(BaseModel):
    """A row of controls."""

    model_config = _FROZEN
    kind: Literal["controls"] = "controls"
    items: tuple[Control, ...] = Field(min_length=1)


class Feedback(BaseModel):
    """Thumbs up and down for a card that a model contributed to.

    ``turn`` is the id of the command behind the card. ``prompts`` are the prompts that shaped it, with their
    versions.
    """

    model_config = _FROZEN
    kind: Literal["feedback"] = "feedback"
    turn: str
    prompts: tuple[str, ...] = ()


class Picture(BaseModel):
    """A picture of the day.

    It is left out where no picture can be shown, so the other parts say everything, too.
    """

    model_config = _FROZEN
    kind: Literal["picture"] = "picture"
    day: DayView


Part = Annotated[Heading | Prose | Note | Divider | Controls | Feedback | Picture, Field(discriminator="kind")]


class Card(BaseModel):
    """One message.

    ``text`` is used by notifications and screen readers.
    """

    model_config = _FROZEN
    text: str
    parts: tuple[Part, ...]
