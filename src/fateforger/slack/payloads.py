"""Slack payloads read as requests, by pure functions. Nothing is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from pydantic import ValidationError

from fateforger.session.commands import Click
from fateforger.session.forms import FormRequest, FormSubmission, FormValue
from fateforger.session.store import Rating
from fateforger.slack.addresses import (
    COMMAND_NAME,
    FEEDBACK,
    FORM_PREFIX,
    MORE,
    PERSON_PREFIX,
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
    YES,
    Address,
    ControlAction,
    FormAddress,
    MessageAddress,
    Vote,
    action_of,
    field_name,
    unpack,
)
from fateforger.slack.mrkdwn import parse_typed
from fateforger.slack.requests import (
    Action,
    Arrival,
    BlockActions,
    Clicked,
    Entry,
    EventCallback,
    FormPressed,
    FormRefreshRequested,
    FormRequested,
    FormSubmitted,
    HomeEvent,
    HomeOpened,
    Ignored,
    Message,
    MessageSaid,
    MessageShortcut,
    MessagesOpened,
    OpenForm,
    OtherEvent,
    PersonalDataRequested,
    Place,
    ProposalAnswered,
    QueueRequested,
    Rated,
    Shortcut,
    ShownForm,
    Slash,
    StartRequested,
    StopEvent,
    StopRequested,
    View,
    ViewSubmission,
    command_id,
)
from fateforger.values import replace

NOT_A_NUMBER = "Please write a whole number here."


def parse_submission(payload: ViewSubmission, at: datetime, command_id: str) -> FormSubmitted | Ignored:
    """Parse a submission; return ``Ignored`` if the view is not one of this app's forms."""
    view = payload.view
    address = unpack(FormAddress, view.private_metadata)
    if address is None:
        return Ignored("a view that is not a form")
    values: dict[str, FormValue] = {}
    unreadable: dict[str, str] = {}
    blocks: dict[str, str] = {}
    for block_id, entries in view.state.values.items():
        entry, name = entries.get(VALUE_ACTION), field_name(block_id)
        if entry is None or name is None:
            continue
        blocks[name] = block_id
        try:
            values[name] = _value(entry)
        except ValueError:
            values[name] = None
            unreadable[name] = NOT_A_NUMBER
    submission = FormSubmission(
        form=address.form,
        session_id=address.session,
        user_id=payload.user.id,
        command_id=command_id,
        at=at,
        target=address.target,
        size=address.size,
        values=values,
    )
    return FormSubmitted(submission, address, list_forms_below(view, address), blocks, unreadable)


def list_forms_below(view: View, address: FormAddress) -> tuple[ShownForm, ...]:
    """Return the forms under an open one, nearest first. Slack names the nearest and the lowest of at most two."""
    found: list[ShownForm] = []
    under = address.below
    for view_id in (view.previous_view_id, view.root_view_id):
        if under is None or view_id is None or view_id in {view.id, *(shown.view_id for shown in found)}:
            continue
        found.append(ShownForm(view_id, under))
        under = under.below
    return tuple(found)


def read_chosen(view: View) -> dict[str, str]:
    """Return the values of an open form as text, by field name, without empty ones."""
    found: dict[str, str] = {}
    for block_id, entries in view.state.values.items():
        entry, name = entries.get(VALUE_ACTION), field_name(block_id)
        if entry is None or name is None:
            continue
        one = entry.selected_option.value if entry.selected_option else None
        many = " ".join(picked.value for picked in entry.selected_options)
        text = entry.value or one or many or entry.selected_date or entry.selected_time
        if text:
            found[name] = str(text)
    return found


def _value(entry: Entry) -> FormValue:
    """Return the value of a field; ``None`` if it is empty. Raises ``ValueError`` for an invalid number."""
    match entry.type:
        case "number_input":
            return int(entry.value) if entry.value else None
        case "checkboxes":
            ticked = tuple(picked.value for picked in entry.selected_options)
            return ticked if ticked and ticked != (YES,) else bool(ticked)
        case "multi_static_select":
            return tuple(picked.value for picked in entry.selected_options)
        case "datepicker":
            return entry.selected_date
        case "timepicker":
            return entry.selected_time
        case "radio_buttons" | "static_select":
            return entry.selected_option.value if entry.selected_option else None
        case _:
            return entry.value or None


def read_action(payload: BlockActions, at: datetime) -> Arrival:
    """Parse the use of a control on a card, on App Home, or in a form. ``at`` is the time of arrival."""
    action = payload.actions[0]
    if payload.view is not None and payload.view.type == "modal":
        return _read_in_form(payload, payload.view, action, at)
    if action_of(action.action_id) == FEEDBACK:
        return _read_vote(payload, action, at)
    found = _parse_control(action)
    if found is None:
        return Ignored(f"the control {action.action_id}")
    address, control, value = found
    # The card is in a thread, or at the root of the thread that the answer belongs to.
    container = payload.container
    place = Place(payload.channel.id if payload.channel else None, container.thread_ts or container.message_ts)
    once = command_id(
        "click",
        container.message_ts or container.view_id or "",
        action.action_id,
        address.pack(),
        control.pack(),
        "" if value is None else str(value),
    )
    if control.action == START:
        return _read_start(once, payload, address, place)
    if control.action == STOP:
        # The same button may appear again for the next turn, so the turn is part of the id.
        once = command_id("stop", address.session, control.target)
        return StopRequested(once, payload.user.id, place, address.session)
    if control.action.startswith((PROPOSAL_PREFIX, PERSON_PREFIX)):
        return _read_by_anyone(once, payload.user.id, control, place)
    if control.action == SAY:
        return _read_say(once, payload, control.target, place)
    if control.action.startswith(FORM_PREFIX):
        request = FormRequest(
            form=control.action.removeprefix(FORM_PREFIX),
            session_id=address.session,
            user_id=payload.user.id,
            # A select that opens a form passes the subject of the form as its value.
            target=value if isinstance(value, str) else control.target,
        )
        return FormRequested(request, payload.trigger_id, place)
    click = _build_click(once, payload, at, address.session, control, value)
    return Clicked(click, place, container.message_ts if control.action.startswith(QUEUE_PREFIX) else None)


def _read_start(once: str, payload: BlockActions, address: Address, place: Place) -> Arrival:
    once = command_id("start", once, payload.user.id)  # Anyone may press it, each for themselves.
    if address.v == WELCOME:
        ts = payload.container.message_ts
        return StartRequested(once, payload.user.id, place, by_button=True, welcome_ts=ts)
    return StartRequested(once, payload.user.id, Place(place.channel), by_button=True)


def _read_by_anyone(
    once: str, user_id: str, control: ControlAction, place: Place
) -> ProposalAnswered | PersonalDataRequested:
    """Parse a control that anyone may use. Permission is checked later, so the id includes the user."""
    if control.action.startswith(PERSON_PREFIX):
        return PersonalDataRequested(command_id("about", once, user_id), user_id, control.action)
    answer = control.action.removeprefix(PROPOSAL_PREFIX)
    return ProposalAnswered(
        command_id("answer", once, user_id), user_id, place, proposal_id=control.target, answer=answer
    )


def _build_click(
    once: str, payload: BlockActions, at: datetime, session: str, control: ControlAction, value: Any
) -> Click:
    return Click(
        command_id=once,
        user_id=payload.user.id,
        at=at,
        session_id=session,
        action=control.action,
        target=control.target,
        value=value,
    )


def _read_say(once: str, payload: BlockActions, words: str, place: Place) -> Arrival:
    ts = payload.container.message_ts
    if place.channel is None or place.thread_ts is None or ts is None:
        return Ignored("words on a button outside of any conversation")
    return MessageSaid(
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


def _read_vote(payload: BlockActions, action: Action, at: datetime) -> Arrival:
    vote = unpack(Vote, action.value)
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


def _parse_control(action: Action) -> tuple[Address, ControlAction, Any] | None:
    """Return the address, the action and the chosen value, if any; ``None`` for a foreign control."""
    name = action_of(action.action_id)
    if action.type == "button":
        address = unpack(Address, action.value)
        return None if address is None else (address, ControlAction(action=name, target=address.target), None)
    address = unpack(Address, action.block_id)
    if address is None:
        return None
    if action.selected_option is not None:
        control = unpack(ControlAction, action.selected_option.value)
        if control is not None:
            return address, control, None
        return address, ControlAction(action=name), action.selected_option.value
    value = action.selected_date or action.selected_time
    return None if value is None else (address, ControlAction(action=name), value)


def _read_in_form(payload: BlockActions, view: View, action: Action, at: datetime) -> Arrival:
    address = unpack(FormAddress, view.private_metadata)
    if address is None:
        return Ignored(f"the control {action.action_id} of a form")
    here = OpenForm(address, view.id, view.hash, list_forms_below(view, address))
    request = FormRequest(
        form=address.form, session_id=address.session, user_id=payload.user.id, target=address.target, size=address.size
    )
    name = action_of(action.action_id)
    if name == MORE:
        return FormRefreshRequested(replace(request, size=address.size + 1), here)
    if name == VALUE_ACTION and field_name(action.block_id) is not None:
        return FormRefreshRequested(replace(request, chosen=read_chosen(view)), here)
    found = _parse_control(action)
    if found is None:
        return Ignored(f"the control {action.action_id} of a form")
    _, control, value = found
    target = control.target if value is None else str(value)
    if control.action.startswith(TURN_PREFIX):
        choice = {control.action.removeprefix(TURN_PREFIX): target}
        return FormRefreshRequested(replace(request, chosen=read_chosen(view) | choice), here)
    if control.action.startswith(FORM_PREFIX):
        other = replace(request, form=control.action.removeprefix(FORM_PREFIX), target=target, size=0)
        return FormRequested(other, payload.trigger_id, Place(None), below=address)
    # The same button in a refreshed view is a different one.
    once = command_id("click", view.id, view.hash, action.action_id, control.pack(), target)
    return FormPressed(_build_click(once, payload, at, address.session, control, value), here)


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
