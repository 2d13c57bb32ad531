"""What the bot says, as values: cards made of parts, and forms made of fields. Slack's shapes come later.

Texts are CommonMark: ``**bold**``, ``_italic_``, lists. They hold no untrusted markup: titles that came from a
person or a calendar go through :func:`plain`.
"""

from __future__ import annotations

from datetime import date, datetime, time
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


# --- forms ----------------------------------------------------------------------------------------------------


class TextField(BaseModel):
    model_config = _FROZEN
    kind: Literal["text"] = "text"
    name: str
    edition: int = 0
    """What was typed stays while a form is shown anew; in another edition it gives way to ``value``."""
    label: str
    optional: bool = False
    value: str = ""
    placeholder: str = ""
    hint: str = ""
    multiline: bool = False
    max_length: int = 300


class NumberField(BaseModel):
    """A whole number."""

    model_config = _FROZEN
    kind: Literal["number"] = "number"
    name: str
    label: str
    optional: bool = False
    value: int | None = None
    hint: str = ""
    minimum: int | None = None
    maximum: int | None = None


class ChoiceField(BaseModel):
    """One of a few, as radio buttons while they are very few, else as a select. ``turns``: choosing shows the form
    anew, with what goes with the choice (:attr:`FormRequest.chosen`)."""

    model_config = _FROZEN
    kind: Literal["choice"] = "choice"
    name: str
    label: str
    optional: bool = False
    choices: tuple[Choice, ...]
    value: str | None = None
    hint: str = ""
    turns: bool = False


class ManyField(BaseModel):
    """Any number of a few. ``placeholder`` says what no choice means."""

    model_config = _FROZEN
    kind: Literal["many"] = "many"
    name: str
    label: str
    choices: tuple[Choice, ...] = Field(min_length=1)
    value: tuple[str, ...] = ()
    placeholder: str
    hint: str = ""


class DateField(BaseModel):
    model_config = _FROZEN
    kind: Literal["date"] = "date"
    name: str
    label: str
    optional: bool = False
    value: date | None = None


class TimeField(BaseModel):
    """A local time of day."""

    model_config = _FROZEN
    kind: Literal["time"] = "time"
    name: str
    label: str
    optional: bool = False
    value: time | None = None
    hint: str = ""


class FlagField(BaseModel):
    """A box to tick."""

    model_config = _FROZEN
    kind: Literal["flag"] = "flag"
    name: str
    label: str
    value: bool = False


class TextPart(BaseModel):
    """Words between the fields."""

    model_config = _FROZEN
    kind: Literal["words"] = "words"
    text: str


Input = TextField | NumberField | ChoiceField | ManyField | DateField | TimeField | FlagField
"""What can be filled in."""
FormField = Annotated[
    Input | TextPart | Prose | Note | Divider | Controls,
    Field(discriminator="kind"),
]


class Form(BaseModel):
    """A modal: fields, and parts as a card has them. ``form`` and ``target`` come back with what the person filled in.
    ``more`` is the label of a button that asks for the same form with more rows (``size`` + 1), keeping what was typed.
    Without ``submit`` there is nothing to send, only to look at and to press.

    A control whose action begins with ``turn.`` shows the same form anew, with the choice that the rest of the action
    names; one whose action begins with ``form.`` shows another form above this one. Any other is a command, after which
    the form is shown as things are then.
    """

    model_config = _FROZEN
    form: str
    session_id: str
    target: str = ""
    title: str
    submit: str | None
    close: str = "Cancel"
    fields: tuple[FormField, ...]
    size: int = 0
    more: str | None = None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The fields that can be filled in."""
        return tuple(field for field in self.fields if isinstance(field, Input))


class FormRequest(BaseModel):
    """A person asked for a form, by clicking. ``chosen`` is what they chose and typed so far in the form that is open,
    by name, when it is to be shown anew. ``done`` is the command that was carried out meanwhile, if there was one."""

    model_config = _FROZEN
    form: str
    session_id: str
    user_id: str
    target: str = ""
    size: int = 0
    chosen: dict[str, str] = {}
    done: str | None = None


FormValue = str | int | bool | date | time | tuple[str, ...] | None


class FormSubmission(BaseModel):
    """What was filled in, by field name; ``command_id`` is unique to this submit, ``at`` is when it was made."""

    model_config = _FROZEN
    form: str
    session_id: str
    user_id: str
    command_id: str
    at: datetime
    target: str = ""
    size: int = 0
    values: dict[str, FormValue]


class FormErrors(BaseModel):
    """One sentence per field that cannot be used."""

    model_config = _FROZEN
    errors: dict[str, str] = Field(min_length=1)
