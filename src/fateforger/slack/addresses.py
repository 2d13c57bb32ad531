"""How a control says what it is about when it comes back from Slack.

A button carries an :class:`Address` in its ``value``. Pickers and menus have no such field, so the ``block_id`` of
the block they stand in carries one too, without a target. The choices of a row's menu carry a :class:`Deed` each.
``v`` names the rendering: the same control of a later rendering has another ``v``, so a click on it is another
click, while two clicks on one rendering are the same one twice.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

ACTION_MARK = "#"
"""Parts a control's action from the suffix that makes its ``action_id`` unique within a message."""

FORM_PREFIX = "form."
"""A control whose action begins so asks for the form named by the rest."""

TURN_PREFIX = "turn."
"""A control in a form whose action begins so shows that form anew, with the choice named by the rest."""

COMMAND_NAME = "/timebox"

PULL_COMMAND = "/pull"
TASKS_COMMAND = "/tasks"

QUEUE_PREFIX = "queue."
"""A control whose action begins so is about the queue; its answer takes the place of its card."""

SAVE_AS_TASK = "save_as_task"
"""The shortcut on a message that makes a task of it."""

STOP = "turn.stop"
"""The action of the button that stops the turn under way; its target is the turn's command."""

PROPOSAL_PREFIX = "proposal."
"""A control whose action begins so answers another agent's proposal, with what the rest says; its target is the
proposal."""

PERSON_PREFIX = "person."
"""A control whose action begins so is about all that is held about the person who uses it."""

FEEDBACK = "feedback"
"""The action of the thumbs; what was said travels in the value."""

SAY = "say"
"""The action of a button that says something for the person: its target is the words."""

START = "start"
"""The action of a control that begins a session; only the chat side knows where it was used and in which zone."""

WELCOME = "welcome"
"""The rendering of a welcome card: its button begins a session in the card's own thread."""

MORE = "more"
"""The action of the button in a form that asks for more rows."""

VALUE_ACTION = "value"
"""The ``action_id`` of every field of a form; the ``block_id`` says which one."""

YES = "yes"
"""What the one box of a field stands for that has only one; boxes of several stand for their choices."""

FIELD_PREFIX = "field."
"""Begins the ``block_id`` of a form's field, before its name."""

EDITION_MARK = "~"
"""Parts the name of a field from its edition, where it has more than one."""


class _Compact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def packed(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


class Address(_Compact):
    """Which session a control belongs to, what it is about, which rendering it stands in, and its block's number."""

    session: str = ""
    target: str = ""
    v: str = ""
    n: int = 0


class Deed(_Compact):
    """What a choice of a row's menu does, and to what."""

    action: str
    target: str = ""


class Vote(_Compact):
    """What one of the thumbs says, about which turn of which session, and the prompts behind it."""

    session: str
    turn: str
    helpful: bool
    prompts: tuple[str, ...] = ()


class MessageAddress(_Compact):
    """A message that a form is about."""

    channel: str = ""
    ts: str = ""


class FormAddress(_Compact):
    """What a form comes back with, in its ``private_metadata``. ``below`` is the address of the form under it."""

    form: str
    session: str = ""
    target: str = ""
    size: int = 0
    below: FormAddress | None = None


A = TypeVar("A", bound=_Compact)


def unpacked(kind: type[A], text: str | None) -> A | None:
    """The address in a text that came back from Slack; ``None`` when the text is not one of ours."""
    try:
        return kind.model_validate_json(text or "")
    except ValidationError:
        return None


def field_block(name: str, edition: int = 0) -> str:
    """The ``block_id`` of a field."""
    return f"{FIELD_PREFIX}{name}" + (f"{EDITION_MARK}{edition}" if edition else "")


def field_name(block_id: str) -> str | None:
    """The name of the field with that ``block_id``; ``None`` when it is no field."""
    if not block_id.startswith(FIELD_PREFIX):
        return None
    return block_id.removeprefix(FIELD_PREFIX).partition(EDITION_MARK)[0]


def action_of(action_id: str) -> str:
    """The action of a control, without the suffix."""
    return action_id.rpartition(ACTION_MARK)[0] or action_id
