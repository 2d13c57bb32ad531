"""Actions and forms of cards: a control gives one command (K7, S214), at once or by a submitted modal.

The class of a command declares its actions as class variables. Cards make their controls from them, and clicks are read
by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from datetime import date as Date  # noqa: N812  as in the commands
from typing import Annotated, Any, Literal

from pydantic import Field

from fateforger.errors import BadInput
from fateforger.session.cards import Button, Choice, Controls, Divider, Note, Prose, Select
from fateforger.text import gettext, mark_message
from fateforger.text import gettext as _
from fateforger.values import Value, replace, replace_named

UNREADABLE = mark_message("I could not read what you chose there; please choose once more.")

Fields = Mapping[str, Any]
ButtonStyle = Literal["default", "primary", "danger"]


class Click(Value):
    """A used control: the envelope of every card (S214).

    ``value`` is the chosen value, where there is a choice.
    """

    command_id: str
    user_id: str
    at: datetime
    session_id: str
    action: str
    target: str = ""
    value: str | Date | time | None = None


def _read_nothing(_click: Click) -> Fields:
    return {}


@dataclass(frozen=True, slots=True)
class CardAction:
    """Action of a control.

    ``label`` is its usual label. ``read`` returns the fields of the command from a click; it may raise ``BadInput``.
    """

    id: str
    label: str = ""
    read: Callable[[Click], Fields] = _read_nothing

    def button(
        self,
        target: str = "",
        *,
        label: str | None = None,
        style: ButtonStyle = "default",
        confirm: str | None = None,
        spoken: str = "",
    ) -> Button:
        label = gettext(self.label) if label is None else label
        return Button(label=label, action=self.id, target=target, style=style, confirm=confirm, spoken=spoken)

    def constant(self, label: str = "") -> Button:
        """Return a button that is a constant, in the source language; it is localized where it is used."""
        return Button(label=label or self.label, action=self.id)

    def menu_entry(self) -> Choice:
        """Return this action as an entry of a row's menu."""
        return Choice(label=gettext(self.label), value=self.id)

    def select(
        self, choices: tuple[Choice, ...], *, placeholder: str | None = None, selected: str | None = None
    ) -> Select:
        """Return a select for this action."""
        placeholder = gettext(self.label) if placeholder is None else placeholder
        return Select(action=self.id, placeholder=placeholder, choices=choices, selected=selected)


def list_actions(kind: type) -> Iterator[CardAction]:
    """Yield the actions that a class of commands declares."""
    for declared in vars(kind).values():
        if isinstance(declared, CardAction):
            yield declared
        elif isinstance(declared, Mapping):
            yield from (action for action in declared.values() if isinstance(action, CardAction))


def give(**fields: Any) -> Callable[[Click], Fields]:
    """Read nothing; the action always means the same."""
    return lambda _click: fields


def read_target(name: str, **fields: Any) -> Callable[[Click], Fields]:
    """Read the target as the field ``name``."""
    return lambda click: {name: click.target, **fields}


def read_value(name: str) -> Callable[[Click], Fields]:
    """Read the chosen value as the field ``name``."""
    return lambda click: {name: click.value}


def read_chosen(name: str, kind: type[Date | time]) -> Callable[[Click], Fields]:
    """Read a chosen date or time as the field ``name``."""

    def read(click: Click) -> Fields:
        try:
            return {name: click.value if isinstance(click.value, kind) else kind.fromisoformat(str(click.value))}
        except ValueError:
            raise BadInput(_(UNREADABLE)) from None

    return read


FormValue = str | int | bool | date | time | tuple[str, ...] | None


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

    A form that ``edits`` shows values that exist. A field that comes back as it was shown does not change its value,
    which may be another one by then.
    """

    form: str = ""
    session_id: str = ""
    target: str = ""
    title: str
    submit: str | None
    close: str = Field(default_factory=lambda: gettext("Cancel"))
    fields: tuple[FormField, ...]
    size: int = 0
    more: str | None = None
    edits: bool = False

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Fields that can be filled in."""
        return tuple(field for field in self.fields if isinstance(field, Input))

    def with_values(self, values: Mapping[str, FormValue]) -> Form:
        """Return the form with these values in the fields of these names."""
        fields = tuple(
            _with_value(field, values[field.name]) if isinstance(field, Input) and field.name in values else field
            for field in self.fields
        )
        return replace(self, fields=fields)


def _with_value(field: Input, value: FormValue) -> Input:
    empty = value is None or value is False
    return replace_named(field, {"value": type(field).model_fields["value"].default if empty else value})


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


class FormSubmission(Value):
    """Values filled in, by field name.

    ``command_id`` is unique to this submission; ``at`` is its instant. ``untouched`` are the fields of a form that
    edits whose values are those that it showed.
    """

    form: str
    session_id: str
    user_id: str
    command_id: str
    at: datetime
    target: str = ""
    size: int = 0
    values: dict[str, FormValue]
    untouched: frozenset[str] = frozenset()

    @property
    def request(self) -> FormRequest:
        """The request that shows the form as it is now, with all of its fields."""
        return FormRequest(
            form=self.form,
            session_id=self.session_id,
            user_id=self.user_id,
            target=self.target,
            size=max(self.size, 1),
        )

    def renew(self, form: Form) -> FormSubmission:
        """Return what the person would have sent had they opened the form as it is now.

        An untouched field has its value of now, and is left out if the form has no such field any more.
        """
        now = {field.name: field.value for field in form.inputs}
        kept = {name: value for name, value in self.values.items() if name in now or name not in self.untouched}
        current = {name: now[name] for name in kept.keys() & self.untouched}
        return replace(self, values=kept | current, untouched=frozenset())


class FormErrors(Value):
    """One sentence for each field with an unusable value."""

    errors: dict[str, str] = Field(min_length=1)
