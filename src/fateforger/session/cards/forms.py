"""Forms: a modal as a value, how one is asked for, and what was filled in."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.session.cards.parts import Choice, Controls, Divider, Note, Prose

_FROZEN = ConfigDict(frozen=True, extra="forbid")


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
    """Any number of a few. ``placeholder`` says what no choice means. ``boxes``: each is a box to tick, while they are
    few."""

    model_config = _FROZEN
    kind: Literal["many"] = "many"
    name: str
    label: str
    choices: tuple[Choice, ...] = Field(min_length=1)
    value: tuple[str, ...] = ()
    placeholder: str
    hint: str = ""
    boxes: bool = False


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
