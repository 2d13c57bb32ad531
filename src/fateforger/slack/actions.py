"""Parse Slack block actions, by pure functions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fateforger.session.cards import FormRequest
from fateforger.session.commands import Click
from fateforger.session.feedback import Rating
from fateforger.slack.addresses import (
    FEEDBACK,
    FORM_PREFIX,
    MORE,
    PERSON_PREFIX,
    PROPOSAL_PREFIX,
    QUEUE_PREFIX,
    SAY,
    START,
    STOP,
    TURN_PREFIX,
    VALUE_ACTION,
    WELCOME,
    Address,
    ControlAction,
    FormAddress,
    Vote,
    action_of,
    field_name,
    unpack,
)
from fateforger.slack.arrivals import (
    Arrival,
    Clicked,
    FormPressed,
    FormRefreshRequested,
    FormRequested,
    Ignored,
    MessageSaid,
    OpenForm,
    PersonalDataRequested,
    Place,
    ProposalAnswered,
    Rated,
    StartRequested,
    StopRequested,
    command_id,
)
from fateforger.slack.inputs import list_forms_below, read_chosen
from fateforger.slack.shapes import Action, BlockActions, View
from fateforger.values import replace


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
