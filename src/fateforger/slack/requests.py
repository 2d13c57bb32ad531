"""Schemas of Slack's payloads, and the typed requests read from them, not looked up or checked yet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.session.commands import Click
from fateforger.session.forms import FormRequest, FormSubmission
from fateforger.session.store import Rating
from fateforger.slack.addresses import FormAddress


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Ref(_Shape):
    """Object that is known by its id."""

    id: str


# --- events ---------------------------------------------------------------------------------------------------


class Message(_Shape):
    """``message`` or ``app_mention`` event."""

    type: Literal["message", "app_mention"]
    channel: str
    ts: str
    user: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    text: str = ""
    thread_ts: str | None = None
    channel_type: str | None = None


class HomeEvent(_Shape):
    type: Literal["app_home_opened"]
    user: str
    channel: str
    tab: str = "home"


class StopEvent(_Shape):
    """Slack's own Stop button at the status of a thread."""

    type: Literal["agent_session_stopped"]
    user: str
    channel: str
    thread_ts: str
    event_ts: str


class OtherEvent(_Shape):
    type: str


class Authorization(_Shape):
    user_id: str


class EventCallback(_Shape):
    """Envelope of an event. ``authorizations`` names the bot."""

    type: Literal["event_callback"]
    team_id: str
    event: Annotated[Message | HomeEvent | StopEvent, Field(discriminator="type")] | OtherEvent = Field(
        union_mode="left_to_right"
    )
    authorizations: tuple[Authorization, ...] = ()


# --- slash commands -------------------------------------------------------------------------------------------


class Slash(_Shape):
    command: str
    channel_id: str
    user_id: str
    trigger_id: str
    text: str = ""


# --- interactions ---------------------------------------------------------------------------------------------


class Option(_Shape):
    value: str


class Action(_Shape):
    """Control that was used, with the choice made."""

    type: str
    action_id: str
    block_id: str
    value: str | None = None
    selected_option: Option | None = None
    selected_date: date | None = None
    selected_time: time | None = None


class Container(_Shape):
    type: str
    message_ts: str | None = None
    thread_ts: str | None = None
    view_id: str | None = None


class Entry(_Shape):
    """Value of a form's field, in the attribute for the field's type."""

    type: str
    value: str | None = None
    selected_option: Option | None = None
    selected_options: tuple[Option, ...] = ()
    selected_date: date | None = None
    selected_time: time | None = None


class ViewState(_Shape):
    values: dict[str, dict[str, Entry]] = Field(default_factory=dict)


class View(_Shape):
    id: str
    type: str
    hash: str
    private_metadata: str = ""
    previous_view_id: str | None = None
    root_view_id: str | None = None
    state: ViewState = ViewState()


class BlockActions(_Shape):
    type: Literal["block_actions"]
    user: Ref
    trigger_id: str
    container: Container
    actions: tuple[Action, ...] = Field(min_length=1)
    channel: Ref | None = None
    view: View | None = None


class ViewSubmission(_Shape):
    type: Literal["view_submission"]
    user: Ref
    view: View


class Shortcut(_Shape):
    """Global shortcut; it has no channel."""

    type: Literal["shortcut"]
    callback_id: str
    user: Ref
    trigger_id: str


class Original(_Shape):
    """Message that a shortcut was used on."""

    ts: str
    text: str = ""
    thread_ts: str | None = None


class MessageShortcut(_Shape):
    """Shortcut on a message."""

    type: Literal["message_action"]
    callback_id: str
    user: Ref
    trigger_id: str
    channel: Ref
    message: Original


@dataclass(frozen=True, slots=True)
class Place:
    """Place in Slack. App Home and modals have no channel."""

    channel: str | None
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class StartRequested:
    """Request to start a session by ``/timebox``, a shortcut, or a button.

    ``said`` is the text after the command; ``welcome_ts`` is the welcome card of the button.
    """

    command_id: str
    user_id: str
    place: Place
    said: str = ""
    by_button: bool = False
    welcome_ts: str | None = None


@dataclass(frozen=True, slots=True)
class MessageSaid:
    """Message that a person wrote.

    ``thread_ts`` is its thread, or the one it would open (then ``opens``). ``event`` tells apart the two events of a
    channel message that mentions the bot.
    """

    command_id: str
    user_id: str
    channel: str
    thread_ts: str
    ts: str
    text: str
    event: str
    direct: bool
    mention: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class QueueRequested:
    """Slash command about the queue; ``said`` is the text after it."""

    command_id: str
    user_id: str
    place: Place
    command: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Clicked:
    """Control of a card that was used. ``ts`` is the message of a queue control, which the answer replaces."""

    click: Click
    place: Place
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class StopRequested:
    """Stop, from the card's button, which knows its session, or from Slack's own button in a thread."""

    command_id: str
    user_id: str
    place: Place
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class ProposalAnswered:
    """Button of an agent's proposal that was pressed, with its ``answer``."""

    command_id: str
    user_id: str
    place: Place
    proposal_id: str
    answer: str


@dataclass(frozen=True, slots=True)
class PersonalDataRequested:
    """Request of a person to export or erase their data; ``wish`` is the action of the control."""

    command_id: str
    user_id: str
    wish: str


@dataclass(frozen=True, slots=True)
class Rated:
    """Vote on a card."""

    rating: Rating
    place: Place


@dataclass(frozen=True, slots=True)
class FormRequested:
    """Request to open a form.

    ``trigger_id`` is valid for three seconds; ``below`` is the form that contains the control, if any.
    """

    request: FormRequest
    trigger_id: str
    place: Place
    below: FormAddress | None = None


@dataclass(frozen=True, slots=True)
class ShownForm:
    """Form and the id of its view."""

    view_id: str
    address: FormAddress


@dataclass(frozen=True, slots=True)
class OpenForm:
    """Form that is open. ``hash`` is that of the view as it was; ``below`` are the forms under it, nearest first."""

    address: FormAddress
    view_id: str
    hash: str
    below: tuple[ShownForm, ...] = ()


@dataclass(frozen=True, slots=True)
class FormRefreshRequested:
    """Control that refreshes its form: with more rows, another page, or other fields."""

    request: FormRequest
    form: OpenForm


@dataclass(frozen=True, slots=True)
class FormPressed:
    """Control in a form that is a command."""

    click: Click
    form: OpenForm


@dataclass(frozen=True, slots=True)
class FormSubmitted:
    """Submitted form with its ``address`` and the forms ``below`` it.

    ``blocks`` maps each field to its block, in order; ``unreadable`` has a sentence for each field with an invalid
    value.
    """

    submission: FormSubmission
    address: FormAddress
    below: tuple[ShownForm, ...] = ()
    blocks: Mapping[str, str] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HomeOpened:
    user_id: str


@dataclass(frozen=True, slots=True)
class MessagesOpened:
    """Visit to the direct messages with the bot."""

    user_id: str
    channel: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Payload that needs no action; ``because`` is for the log."""

    because: str


Arrival = (
    StartRequested
    | QueueRequested
    | MessageSaid
    | Clicked
    | StopRequested
    | ProposalAnswered
    | PersonalDataRequested
    | Rated
    | FormRequested
    | FormRefreshRequested
    | FormPressed
    | FormSubmitted
    | HomeOpened
    | MessagesOpened
    | Ignored
)


def command_id(kind: str, *parts: str) -> str:
    """Return an id that is the same for repetitions of one event, and short whatever the parts are."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
    return f"{kind}-{digest[:32]}"
