"""What a card is made of, and the card itself."""

from __future__ import annotations

from datetime import date, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.picture.model import DayView

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_~[]<>"})


def plain(text: str, limit: int = 80) -> str:
    """A title for use inside a CommonMark text: markup escaped, line ends flattened, cut with an ellipsis."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
    return short.translate(_MARKUP)


class Button(BaseModel):
    """``action`` names the meaning, ``target`` what it is about (a block key, a task id)."""

    model_config = _FROZEN
    kind: Literal["button"] = "button"
    label: str
    action: str
    target: str = ""
    style: Literal["default", "primary", "danger"] = "default"
    confirm: str | None = None
    """A question to ask before the click counts."""
    spoken: str = ""
    """What a screen reader says instead of the label, where the same label stands beside several rows."""


class Choice(BaseModel):
    """An entry of a menu. In a row's menu ``value`` names the action, in a select it is the value chosen."""

    model_config = _FROZEN
    label: str
    value: str


class Menu(BaseModel):
    """A small menu behind one row; each choice's ``value`` is the action, ``target`` what it is about."""

    model_config = _FROZEN
    kind: Literal["menu"] = "menu"
    choices: tuple[Choice, ...]
    target: str


class Select(BaseModel):
    """Choose one value; choosing is the action."""

    model_config = _FROZEN
    kind: Literal["select"] = "select"
    action: str
    placeholder: str
    choices: tuple[Choice, ...]
    selected: str | None = None


class DatePick(BaseModel):
    """Choose a day; choosing is the action."""

    model_config = _FROZEN
    kind: Literal["date"] = "date"
    action: str
    selected: date


class TimePick(BaseModel):
    """Choose a local time of day; choosing is the action."""

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
    """A paragraph, with at most one control beside it."""

    model_config = _FROZEN
    kind: Literal["prose"] = "prose"
    text: str
    control: Control | None = None


class Note(BaseModel):
    """Small print: status, hints, what happens in the background."""

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
    """Thumbs up and down for what a model had a part in. ``turn`` is the id of the command behind the card, ``prompts``
    are those that shaped it, with their versions."""

    model_config = _FROZEN
    kind: Literal["feedback"] = "feedback"
    turn: str
    prompts: tuple[str, ...] = ()


class Picture(BaseModel):
    """The day to look at; left out where no picture can be shown, so the other parts say everything, too."""

    model_config = _FROZEN
    kind: Literal["picture"] = "picture"
    day: DayView


Part = Annotated[Heading | Prose | Note | Divider | Controls | Feedback | Picture, Field(discriminator="kind")]


class Card(BaseModel):
    """One message. ``text`` is what a notification and a screen reader say."""

    model_config = _FROZEN
    text: str
    parts: tuple[Part, ...]
