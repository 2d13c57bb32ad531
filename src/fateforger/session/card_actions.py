"""Actions of controls on cards: each has an id and a label, and gives one command (K7, S214).

The class of a command declares its actions as class variables. Cards make their controls from them, and clicks are read
by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  as in the commands
from datetime import datetime, time
from typing import Any, Literal

from fateforger.errors import BadInput
from fateforger.session.cards import Button, Choice, Select
from fateforger.text import gettext, mark_message
from fateforger.text import gettext as _
from fateforger.values import Value

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
