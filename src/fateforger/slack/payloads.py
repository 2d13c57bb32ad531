"""Parse Slack payloads by pure functions. Nothing is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from pydantic import ValidationError

from fateforger.session.cards import FormRequest
from fateforger.slack.actions import read_action
from fateforger.slack.addresses import COMMAND_NAME, PULL_COMMAND, SAVE_AS_TASK, START, TASKS_COMMAND, MessageAddress
from fateforger.slack.arrivals import (
    Arrival,
    FormRequested,
    HomeOpened,
    Ignored,
    MessageSaid,
    MessagesOpened,
    Place,
    QueueRequested,
    StartRequested,
    StopRequested,
    command_id,
)
from fateforger.slack.inputs import parse_submission
from fateforger.slack.mrkdwn import parse_typed
from fateforger.slack.shapes import (
    BlockActions,
    EventCallback,
    HomeEvent,
    Message,
    MessageShortcut,
    OtherEvent,
    Shortcut,
    Slash,
    StopEvent,
    ViewSubmission,
)

_SHAPES: Mapping[str, type[EventCallback | BlockActions | ViewSubmission | Shortcut | MessageShortcut | Slash]] = {
    "event_callback": EventCallback,
    "block_actions": BlockActions,
    "view_submission": ViewSubmission,
    "shortcut": Shortcut,
    "message_action": MessageShortcut,
}
_BY_PEOPLE = frozenset({None, "file_share", "thread_broadcast"})
"""Subtypes of messages that people write; the others are edits, joins, topics and the like."""


def parse_payload(body: Mapping[str, Any], at: datetime) -> Arrival:
    """Parse a payload. ``at`` is the aware instant of its arrival."""
    shape = _SHAPES.get(str(body.get("type", ""))) or (Slash if "command" in body else None)
    if shape is None:
        return Ignored(f"a payload of type {body.get('type')}")
    try:
        payload = shape.model_validate(body)
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"])
        return Ignored(f"a payload of type {body.get('type')} that cannot be read at {where}")
    match payload:
        case EventCallback():
            return _event(payload)
        case BlockActions():
            return read_action(payload, at)
        case ViewSubmission():
            return parse_submission(payload, at, command_id("submit", payload.view.id, payload.view.hash))
        case Slash():
            return _slash(payload)
        case Shortcut():
            return _shortcut(payload)
        case MessageShortcut():
            return _read_save_request(payload)
        case _:
            assert_never(payload)


def _slash(payload: Slash) -> Arrival:
    asked, place, said = command_id("slash", payload.trigger_id), Place(payload.channel_id), payload.text.strip()
    if payload.command in {PULL_COMMAND, TASKS_COMMAND}:
        return QueueRequested(asked, payload.user_id, place, payload.command, said)
    if payload.command != COMMAND_NAME:
        return Ignored(f"the command {payload.command}")
    return StartRequested(asked, payload.user_id, place, said)


def _shortcut(payload: Shortcut) -> Arrival:
    if payload.callback_id != START:
        return Ignored(f"the shortcut {payload.callback_id}")
    return StartRequested(command_id("shortcut", payload.trigger_id), payload.user.id, Place(None), by_button=True)


def _read_save_request(payload: MessageShortcut) -> Arrival:
    """Return the request for a form that creates a task from a message."""
    if payload.callback_id != SAVE_AS_TASK:
        return Ignored(f"the shortcut {payload.callback_id}")
    message = payload.message
    request = FormRequest(
        form="queue_save",
        session_id="",
        user_id=payload.user.id,
        target=MessageAddress(channel=payload.channel.id, ts=message.ts).pack(),
        chosen={"text": parse_typed(message.text, without_mentions_of=frozenset())},
    )
    return FormRequested(request, payload.trigger_id, Place(payload.channel.id, message.thread_ts))


def _event(payload: EventCallback) -> Arrival:
    match payload.event:
        case Message():
            return _message(payload.event, payload)
        case HomeEvent():
            if payload.event.tab == "messages":
                return MessagesOpened(payload.event.user, payload.event.channel)
            return HomeOpened(payload.event.user)
        case StopEvent():
            event = payload.event
            asked = command_id("stop", event.channel, event.thread_ts, event.event_ts)
            return StopRequested(asked, event.user, Place(event.channel, event.thread_ts))
        case OtherEvent():
            return Ignored(f"the event {payload.event.type}")
        case _:
            assert_never(payload.event)


def _message(event: Message, payload: EventCallback) -> Arrival:
    bots = {authorization.user_id for authorization in payload.authorizations}
    if event.user is None or event.bot_id is not None or event.user in bots:
        return Ignored("a message by a bot")
    if event.subtype not in _BY_PEOPLE:
        return Ignored(f"a message of subtype {event.subtype}")
    return MessageSaid(
        # The two events about one post that mentions the bot share only these ids.
        command_id=command_id("message", payload.team_id, event.channel, event.ts),
        user_id=event.user,
        channel=event.channel,
        thread_ts=event.thread_ts or event.ts,
        ts=event.ts,
        text=parse_typed(event.text, without_mentions_of=bots),
        event=event.type,
        direct=event.channel_type == "im",
        mention=event.type == "app_mention" or any(f"<@{bot}>" in event.text for bot in bots),
        opens=event.thread_ts is None,
    )
