"""Forms: a modal, the request for one, and its submission, as values."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import Field

from fateforger.session.cards import Choice, Controls, Divider, Note, Prose
from fateforger.text import mark_message
from fateforger.values import Value


class TextField(Value):
    kind: Literal["text"] = "text"
    name: str
    edition: int = 0
    """Edition of the value.

    Typed text is kept when a form is redrawn; another edition replaces it with ``value``.
    """
    label: str
    optional: bool = False
    value: str = ""
    placeholder: str = ""
    hint: str = ""
    multiline: bool = False
    max_length: int = 300


class NumberField(Value):
    """A whole number."""

    kind: Literal["number"] = "number"
    name: str
    label: str
    optional: bool = False
    value: int | None = None
    hint: str = ""
    minimum: int | None = None
    maximum: int | None = None


class ChoiceField(Value):
    """One of a few choices: radio buttons for very few, else a select.

    With ``turns``, choosing redraws the form for the choice (:attr:`FormRequest.chosen`).
    """

    kind: Literal["choice"] = "choice"
    name: str
    label: str
    optional: bool = False
    choices: tuple[Choice, ...]
    value: str | None = None
    hint: str = ""
    turns: bool = False


class ManyField(Value):
    """Any number of a few choices.

    ``placeholder`` says what no choice means. With ``boxes``, each choice is a box to tick, while they are few.
    """

    kind: Literal["many"] = "many"
    name: str
    label: str
    choices: tuple[Choice, ...] = Field(min_length=1)
    value: tuple[str, ...] = ()
    placeholder: str
    hint: str = ""
    boxes: bool = False


class DateField(Value):
    kind: Literal["date"] = "date"
    name: str
    label: str
    optional: bool = False
    value: date | None = None


class TimeField(Value):
    """A local time of day."""

    kind: Literal["time"] = "time"
    name: str
    label: str
    optional: bool = False
    value: time | None = None
    hint: str = ""


class FlagField(Value):
    """A box to tick."""

    kind: Literal["flag"] = "flag"
    name: str
    label: str
    value: bool = False


class TextPart(Value):
    """Text between the fields."""

    kind: Literal["words"] = "words"
    text: str


Input = TextField | NumberField | ChoiceField | ManyField | DateField | TimeField | FlagField
"""Any field that can be filled in."""
FormField = Annotated[
    Input | TextPart | Prose | Note | Divider | Controls,
    Field(discriminator="kind"),
]


class Form(Value):
    """A modal: fields, and parts like those of a card.

    ``form`` and ``target`` are returned with the submission. ``more`` is the label of a button that asks for the same
    form with more rows (``size`` + 1), keeping the typed text. Without ``submit`` the form is only for reading and
    for pressing its controls.

    A control whose action begins with ``turn.`` redraws the form with the choice that the rest of the action names.
    One whose action begins with ``form.`` opens another form above this one. Any other action is a command, after
    which the form is redrawn.
    """

    form: str = ""
    session_id: str = ""
    target: str = ""
    title: str
    submit: str | None
    close: str = mark_message("Cancel")
    fields: tuple[FormField, ...]
    size: int = 0
    more: str | None = None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Fields that can be filled in."""
        return tuple(field for field in self.fields if isinstance(field, Input))


class FormRequest(Value):
    """A person's request for a form, by clicking.

    ``chosen`` holds the choices and the typed text of the open form by name, when it is to be redrawn. ``done`` is
    the command that was carried out meanwhile, if any.
    """

    form: str
    session_id: str
    user_id: str
    target: str = ""
    size: int = 0
    chosen: dict[str, str] = Field(default_factory=dict)
    done: str | None = None


FormValue = str | int | bool | date | time | tuple[str, ...] | None


class FormSubmission(Value):
    """Values filled in, by field name.

    ``command_id`` is unique to this submission; ``at`` is its instant.
    """

    form: str
    session_id: str
    user_id: str
    command_id: str
    at: datetime
    target: str = ""
    size: int = 0
    values: dict[str, FormValue]


class FormErrors(Value):
    """One sentence for each field with an unusable value."""

    errors: dict[str, str] = Field(min_length=1)
