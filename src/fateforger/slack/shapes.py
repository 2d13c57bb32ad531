"""Schemas of Slack's payloads, limited to the fields that are read. Other fields are ignored."""

from __future__ import annotations

from datetime import date, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


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
