"""Addresses that controls carry, and that Slack sends back when a control is used.

A button carries an :class:`Address` in its ``value``. Pickers and menus have no such field, so the ``block_id`` of
their block carries one, without a target. Each choice of a row's menu carries a :class:`ControlAction`. ``v`` names the
rendering: a control of a later rendering has another ``v``, so a click on it is a new click, while two clicks on one
rendering are the same click.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

ACTION_MARK = "#"
"""Separates the action from the suffix that makes an ``action_id`` unique within a message."""

FORM_PREFIX = "form."
"""Prefix of actions that open a form; the rest is the name of the form."""

TURN_PREFIX = "turn."
"""Prefix of actions that refresh their form; the rest is the name of the choice."""

QUEUE_PREFIX, RITUAL_PREFIX = "queue.", "ritual."
"""Prefixes of actions on the queue, and on messages that the bot sent by itself; the answer replaces the card."""

SAVE_AS_TASK = "save_as_task"
"""Message shortcut that creates a task from a message."""

STOP = "turn.stop"
"""Action of the button that stops a running turn; its target is the id of the turn's command."""

PROPOSAL_PREFIX = "proposal."
"""Prefix of actions that answer an agent's proposal; the rest is the answer, and the target is the proposal."""

PERSON_PREFIX = "person."
"""Prefix of actions on the data held about the person who uses them."""

CALENDAR_PREFIX = "calendar."
"""Prefix of actions on the connection of a person's calendar."""

FEEDBACK = "feedback"
"""Action of the thumbs; the value carries the vote."""

SAY = "say"
"""Action of a button that says something for the person: its target is the text."""

START = "start"
"""Action that begins a session; only this package knows where it was used and in which zone."""

WELCOME = "welcome"
"""Rendering of a welcome card: its button begins a session in the card's own thread."""

MORE = "more"
"""Action of the button in a form that asks for more rows."""

VALUE_ACTION = "value"
"""``action_id`` of every field of a form; the ``block_id`` tells which one."""

YES = "yes"
"""Value of the box of a single checkbox; with several boxes, each has the value of its choice."""

FIELD_PREFIX = "field."
"""Prefix of the ``block_id`` of a form's field; the rest is its name."""

EDITION_MARK = "~"
"""Separates the name of a field from its edition, if it has more than one."""


class _Compact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def pack(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


class Address(_Compact):
    """Session, target, rendering and block number of a control."""

    session: str = ""
    target: str = ""
    v: str = ""
    n: int = 0


class ControlAction(_Compact):
    """Action and target of a choice in a row's menu."""

    action: str
    target: str = ""


class Vote(_Compact):
    """Vote of a thumb: session, turn, and the prompts of the turn."""

    session: str
    turn: str
    helpful: bool
    prompts: tuple[str, ...] = ()


class FormAddress(_Compact):
    """State of a form in its ``private_metadata``. ``below`` is the address of the form under it."""

    form: str
    session: str = ""
    target: str = ""
    size: int = 0
    below: FormAddress | None = None


A = TypeVar("A", bound=_Compact)


def unpack(kind: type[A], text: str | None) -> A | None:
    """Parse an address that came back from Slack; return ``None`` if it is not valid."""
    try:
        return kind.model_validate_json(text or "")
    except ValidationError:
        return None


def field_block(name: str, edition: int = 0) -> str:
    """Return the ``block_id`` of a field."""
    return f"{FIELD_PREFIX}{name}" + (f"{EDITION_MARK}{edition}" if edition else "")


def field_name(block_id: str) -> str | None:
    """Return the name of the field with this ``block_id``; ``None`` if it is not a field."""
    if not block_id.startswith(FIELD_PREFIX):
        return None
    return block_id.removeprefix(FIELD_PREFIX).partition(EDITION_MARK)[0]


def action_of(action_id: str) -> str:
    """Return the action of a control, without the suffix."""
    return action_id.rpartition(ACTION_MARK)[0] or action_id
