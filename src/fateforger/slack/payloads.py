"""From Slack's payload to what it asks for, by pure functions. Nothing is looked up here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from pydantic import ValidationError

from fateforger.coordinator.commands import Click
from fateforger.session.cards import FormRequest
from fateforger.session.feedback import Rating
from fateforger.slack.addresses import (
    COMMAND_NAME,
    FEEDBACK,
    FORM_PREFIX,
    MORE,
    PROPOSAL_PREFIX,
    PULL_COMMAND,
    QUEUE_PREFIX,
    SAVE_AS_TASK,
    SAY,
    START,
    STOP,
    TASKS_COMMAND,
    TURN_PREFIX,
    VALUE_ACTION,
    WELCOME,
    Address,
    Deed,
    FormAddress,
    MessageAddress,
    Vote,
    action_of,
    field_name,
    unpacked,
)
from fateforger.slack.arrivals import (
    Answered,
    Arrival,
    Clicked,
    FormAsked,
    FormPressed,
    FormTurned,
    HomeOpened,
    Ignored,
    MessagesOpened,
    OpenForm,
    Place,
    QueueAsked,
    Rated,
    Said,
    StartAsked,
    StopAsked,
)
from fateforger.slack.inputs import below, chosen, filled
from fateforger.slack.mrkdwn import typed
from fateforger.slack.shapes import (
    Action,
    BlockActions,
    EventCallback,
    HomeEvent,
    Message,
    MessageShortcut,
    OtherEvent,
    Shortcut,
    Slash,
    StopEvent,
    View,
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
"""Subtypes of messages that a person wrote; the others are edits, joins, topics and the like."""


def recognise(body: Mapping[str, Any], at: datetime) -> Arrival:
    """What a payload asks for. ``at`` is the aware instant at which it arrived."""
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
            return _action(payload, at)
        case ViewSubmission():
            return filled(payload, at, command_id("submit", payload.view.id, payload.view.hash))
        case Slash():
            return _slash(payload)
        case Shortcut():
            return _shortcut(payload)
        case MessageShortcut():
            return _saved(payload)
        case _:
            assert_never(payload)


def command_id(kind: str, *parts: str) -> str:
    """An id that is the same for repetitions of one deed, and short whatever the parts are."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
    return f"{kind}-{digest[:32]}"


def _slash(payload: Slash) -> Arrival:
    asked, place, said = command_id("slash", payload.trigger_id), Place(payload.channel_id), payload.text.strip()
    if payload.command in {PULL_COMMAND, TASKS_COMMAND}:
        return QueueAsked(asked, payload.user_id, place, payload.command, said)
    if payload.command != COMMAND_NAME:
        return Ignored(f"the command {payload.command}")
    return StartAsked(asked, payload.user_id, place, said)


def _shortcut(payload: Shortcut) -> Arrival:
    if payload.callback_id != START:
        return Ignored(f"the shortcut {payload.callback_id}")
    return StartAsked(command_id("shortcut", payload.trigger_id), payload.user.id, Place(None), by_button=True)


def _saved(payload: MessageShortcut) -> Arrival:
    """A task is to be made of a message: the form is filled with what stands in it."""
    if payload.callback_id != SAVE_AS_TASK:
        return Ignored(f"the shortcut {payload.callback_id}")
    message = payload.message
    request = FormRequest(
        form="queue_save",
        session_id="",
        user_id=payload.user.id,
        target=MessageAddress(channel=payload.channel.id, ts=message.ts).packed(),
        chosen={"text": typed(message.text, without_mentions_of=frozenset())},
    )
    return FormAsked(request, payload.trigger_id, Place(payload.channel.id, message.thread_ts))


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
            return StopAsked(asked, event.user, Place(event.channel, event.thread_ts))
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
    return Said(
        # The two events about one post that mentions us differ in all ids but these.
        command_id=command_id("message", payload.team_id, event.channel, event.ts),
        user_id=event.user,
        channel=event.channel,
        thread_ts=event.thread_ts or event.ts,
        ts=event.ts,
        text=typed(event.text, without_mentions_of=bots),
        event=event.type,
        direct=event.channel_type == "im",
        mention=event.type == "app_mention" or any(f"<@{bot}>" in event.text for bot in bots),
        opens=event.thread_ts is None,
    )


def _action(payload: BlockActions, at: datetime) -> Arrival:
    action = payload.actions[0]
    if payload.view is not None and payload.view.type == "modal":
        return _in_form(payload, payload.view, action, at)
    if action_of(action.action_id) == FEEDBACK:
        return _vote(payload, action, at)
    found = _use(action)
    if found is None:
        return Ignored(f"the control {action.action_id}")
    address, deed, value = found
    # The card stands in a thread, or at the root of the thread that the answer belongs to.
    container = payload.container
    place = Place(payload.channel.id if payload.channel else None, container.thread_ts or container.message_ts)
    once = command_id(
        "click",
        container.message_ts or container.view_id or "",
        action.action_id,
        address.packed(),
        deed.packed(),
        "" if value is None else str(value),
    )
    if deed.action == START:
        once = command_id("start", once, payload.user.id)  # anybody may press it, each for themselves
        if address.v == WELCOME:
            return StartAsked(once, payload.user.id, place, by_button=True, welcome_ts=container.message_ts)
        return StartAsked(once, payload.user.id, Place(place.channel), by_button=True)
    if deed.action == STOP:
        # The same button may stand there for the next turn, so the turn is part of what makes the click.
        once = command_id("stop", address.session, deed.target)
        return StopAsked(once, payload.user.id, place, address.session)
    if deed.action.startswith(PROPOSAL_PREFIX):
        answer = deed.action.removeprefix(PROPOSAL_PREFIX)
        # Who may answer is looked up later, so a click of somebody else must not stand for the owner's.
        once = command_id("answer", once, payload.user.id)
        return Answered(once, payload.user.id, place, proposal_id=deed.target, answer=answer)
    if deed.action == SAY:
        return _said_by_button(once, payload, deed.target, place)
    if deed.action.startswith(FORM_PREFIX):
        request = FormRequest(
            form=deed.action.removeprefix(FORM_PREFIX),
            session_id=address.session,
            user_id=payload.user.id,
            # A select that asks for a form says with its value what the form is about.
            target=value if isinstance(value, str) else deed.target,
        )
        return FormAsked(request, payload.trigger_id, place)
    click = Click(
        command_id=once,
        user_id=payload.user.id,
        at=at,
        session_id=address.session,
        action=deed.action,
        target=deed.target,
        value=value,
    )
    return Clicked(click, place, container.message_ts if deed.action.startswith(QUEUE_PREFIX) else None)


def _said_by_button(once: str, payload: BlockActions, words: str, place: Place) -> Arrival:
    ts = payload.container.message_ts
    if place.channel is None or place.thread_ts is None or ts is None:
        return Ignored("words on a button outside of any conversation")
    return Said(
        command_id=once,
        user_id=payload.user.id,
        channel=place.channel,
        thread_ts=place.thread_ts,
        ts=ts,
        text=words,
        event="block_actions",
        direct=True,
        mention=True,
        opens=False,
    )


def _vote(payload: BlockActions, action: Action, at: datetime) -> Arrival:
    vote = unpacked(Vote, action.value)
    if vote is None:
        return Ignored(f"the control {action.action_id}")
    rating = Rating(
        session_id=vote.session,
        turn=vote.turn,
        user_id=payload.user.id,
        helpful=vote.helpful,
        prompts=vote.prompts,
        at=at,
    )
    container = payload.container
    channel = payload.channel.id if payload.channel else None
    return Rated(rating, Place(channel, container.thread_ts or container.message_ts))


def _use(action: Action) -> tuple[Address, Deed, Any] | None:
    """The address, the deed and the value chosen, if any; ``None`` for what is not a control of ours."""
    name = action_of(action.action_id)
    if action.type == "button":
        address = unpacked(Address, action.value)
        return None if address is None else (address, Deed(action=name, target=address.target), None)
    address = unpacked(Address, action.block_id)
    if address is None:
        return None
    if action.selected_option is not None:
        deed = unpacked(Deed, action.selected_option.value)
        if deed is not None:
            return address, deed, None
        return address, Deed(action=name), action.selected_option.value
    value = action.selected_date or action.selected_time
    return None if value is None else (address, Deed(action=name), value)


def _in_form(payload: BlockActions, view: View, action: Action, at: datetime) -> Arrival:
    address = unpacked(FormAddress, view.private_metadata)
    if address is None:
        return Ignored(f"the control {action.action_id} of a form")
    here = OpenForm(address, view.id, view.hash, below(view, address))
    request = FormRequest(
        form=address.form, session_id=address.session, user_id=payload.user.id, target=address.target, size=address.size
    )
    name = action_of(action.action_id)
    if name == MORE:
        return FormTurned(request.model_copy(update={"size": address.size + 1}), here)
    if name == VALUE_ACTION and field_name(action.block_id) is not None:
        return FormTurned(request.model_copy(update={"chosen": chosen(view)}), here)
    found = _use(action)
    if found is None:
        return Ignored(f"the control {action.action_id} of a form")
    _, deed, value = found
    target = deed.target if value is None else str(value)
    if deed.action.startswith(TURN_PREFIX):
        choice = {deed.action.removeprefix(TURN_PREFIX): target}
        return FormTurned(request.model_copy(update={"chosen": chosen(view) | choice}), here)
    if deed.action.startswith(FORM_PREFIX):
        other = request.model_copy(
            update={"form": deed.action.removeprefix(FORM_PREFIX), "target": target, "size": 0},
        )
        return FormAsked(other, payload.trigger_id, Place(None), below=address)
    click = Click(
        # The same button of a view that was shown anew since is another one.
        command_id=command_id("click", view.id, view.hash, action.action_id, deed.packed(), target),
        user_id=payload.user.id,
        at=at,
        session_id=address.session,
        action=deed.action,
        target=deed.target,
        value=value,
    )
    return FormPressed(click, here)
