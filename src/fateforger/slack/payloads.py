"""Parts of Slack's payloads as values, and the check of their types. Pure functions; nothing is looked up.

The functions raise ``KeyError``, ``TypeError`` or ``ValueError`` for a payload that lacks what Slack documents.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from fateforger.session.forms import Click, FormRequest, FormValue
from fateforger.session.store import Rating
from fateforger.slack.ids import (
    VALUE_ACTION,
    YES,
    Address,
    ControlAction,
    FormAddress,
    Vote,
    action_of,
    field_name,
    get_bare,
    unpack,
)
from fateforger.slack.mrkdwn import parse_typed, read_rich_text
from fateforger.text import mark_message
from fateforger.values import replace

NOT_A_NUMBER = mark_message("Please write a whole number here.")

Json = Mapping[str, Any]
SLACKBOT = "USLACKBOT"
"""Slack's own user, which seems to be a person; it speaks for ``/remind``, and for a deleted message with replies."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place in Slack. App Home and modals have no channel."""

    channel: str | None
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class Press:
    """Click on a control that leaves its card as it is, so that it can be used again.

    Those with one ``name`` count if they are ``apart`` enough; others are double clicks. ``command_id`` is that of this
    click alone, also if Slack sends it again.
    """

    command_id: str
    name: str
    at: datetime
    apart: timedelta


@dataclass(frozen=True, slots=True)
class MessageSaid:
    """Message that a person wrote.

    ``thread_ts`` is its thread, or the one it would open (then ``opens``). ``event`` tells apart the two events of a
    channel message that mentions the bot. ``attached`` tells that files or another message came with it, ``press`` that
    a button said it.
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
    attached: bool = False
    press: Press | None = None

    @property
    def heard_place(self) -> tuple[str, str | None]:
        """See :attr:`Opening.heard_place`."""
        return self.channel, self.thread_ts


@dataclass(frozen=True, slots=True)
class ControlUse:
    """Use of a control on a card, on App Home, or in a form.

    ``command_id`` is the same for a repeated click, which Slack says was ``pressed`` at a timestamp. ``message_ts`` is
    the message of the control; ``place`` is the thread of that message, or the thread that it opens.
    """

    command_id: str
    user_id: str
    trigger_id: str
    place: Place
    message_ts: str | None
    address: Address
    control: ControlAction
    value: str | date | time | None
    pressed: str = "0"

    def to_press(self, seconds: int) -> Press:
        """Return the use as a click that counts ``seconds`` after the person's last one on this control."""
        return Press(
            command_id=command_id("again", self.command_id, self.user_id, self.pressed),
            name=command_id("press", self.command_id, self.user_id),
            at=datetime.fromtimestamp(float(self.pressed), UTC),
            apart=timedelta(seconds=seconds),
        )

    @property
    def subject(self) -> str:
        """Return the chosen value, or else the target of the control."""
        return self.control.target if self.value is None else str(self.value)

    def to_click(self, at: datetime) -> Click:
        """Return the use as a click at the aware instant ``at``."""
        return Click(
            command_id=self.command_id,
            user_id=self.user_id,
            at=at,
            session_id=self.address.session,
            action=self.control.action,
            target=self.control.target,
            value=self.value,
        )


@dataclass(frozen=True, slots=True)
class OpenForm:
    """Form that is open; ``below`` are the forms under it, nearest first.

    ``initial`` are the values that the fields of a form that edits were shown with.
    """

    address: FormAddress
    view_id: str
    below: tuple[OpenForm, ...] = ()
    initial: Mapping[str, FormValue] = field(default_factory=dict)

    def find_untouched(self, values: Mapping[str, FormValue]) -> frozenset[str]:
        """Return the fields that have the values that they were shown with."""
        return frozenset(name for name, shown in self.initial.items() if name in values and values[name] == shown)

    def build_request(self, user_id: str, *, done: str | None = None) -> FormRequest:
        """Return a person's request to see this form again, after the command ``done``."""
        address = self.address
        return FormRequest(
            form=address.form,
            session_id=address.session,
            user_id=user_id,
            target=address.target,
            size=address.size,
            done=done,
        )


def command_id(kind: str, *parts: str) -> str:
    """Return an id that is the same for repetitions of one event, and short whatever the parts are."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
    return f"{kind}-{digest[:32]}"


def parse_message(body: Json) -> MessageSaid | None:
    """Parse a message or a mention; return ``None`` for one of the bot or of Slack."""
    event = body["event"]
    bots = {authorization["user_id"] for authorization in body.get("authorizations", ())}
    if event.get("user") is None or event["user"] in bots or get_bare(event["user"]) == SLACKBOT:
        return None
    mentioned = {get_bare(bot) for bot in bots}
    channel, ts, text = event["channel"], event["ts"], event.get("text", "")
    return MessageSaid(
        # The two events about one post that mentions the bot share only these ids.
        command_id=command_id("message", body["team_id"], channel, ts),
        user_id=event["user"],
        channel=channel,
        thread_ts=event.get("thread_ts") or ts,
        ts=ts,
        text=read_words(event, without_mentions_of=mentioned),
        event=event["type"],
        direct=event.get("channel_type") == "im",
        mention=event["type"] == "app_mention" or any(f"<@{bot}>" in text for bot in mentioned),
        opens=event.get("thread_ts") is None,
        attached=bool(event.get("files")) or any(each.get("is_share") for each in event.get("attachments") or ()),
    )


def read_words(message: Json, *, without_mentions_of: Collection[str] = ()) -> str:
    """Return the words of a message: from the blocks of Slack's editor, or else from its text."""
    words = read_rich_text(message.get("blocks"), without_mentions_of=without_mentions_of)
    return parse_typed(message.get("text", ""), without_mentions_of=without_mentions_of) if words is None else words


def parse_change(body: Json) -> MessageSaid | None:
    """Parse a message whose text a person changed, or which is deleted; its ``event`` is that subtype.

    Return ``None`` if its text is the same: Slack reports a preview of a link like an edit. A deleted message that has
    replies leaves a tombstone.
    """
    event = body["event"]
    before, kind = event.get("previous_message"), event["subtype"]
    after = event.get("message", before)
    if not before:
        return None
    if after.get("subtype") == "tombstone":
        after, kind = before, "message_deleted"
    elif after is not before and after.get("text") == before.get("text"):
        return None
    return parse_message({**body, "event": {**event, **after, "type": kind}})


def find_stranger(body: Json) -> str | None:
    """Return the person of a payload if they certainly belong to another organization than its workspace.

    Of people of a large organization (Enterprise Grid), Slack has to be asked.
    """
    event = body.get("event")
    if event is None:
        user = body.get("user")
        who, team, ours, organization = _read_actor(body, user if isinstance(user, dict) else {})
    else:
        (install, *_others) = body.get("authorizations") or [body]
        ours, organization = install.get("team_id"), install.get("enterprise_id")
        said = event.get("previous_message") or event
        who, team = said.get("user"), said.get("user_team")
        # Only in a shared channel is the team of an event that of its author.
        if team is None and body.get("is_ext_shared_channel"):
            team = said.get("team")
    return who if isinstance(who, str) and team and ours and not organization and team != ours else None


def _read_actor(body: Json, user: Json) -> tuple[str | None, str | None, str | None, str | None]:
    """Return the person who used a control, a form or a shortcut, their team, the app's team, and its organization."""
    team, view = body.get("team") or {}, body.get("view") or {}
    ours = view.get("app_installed_team_id") or team.get("id")
    organization = (body.get("enterprise") or {}).get("id") or team.get("enterprise_id")
    return user.get("id"), user.get("team_id"), ours, organization


def parse_place(body: Json) -> Place:
    """Return the thread of the message whose control was used, or the thread that the message opens."""
    container, channel = body["container"], body.get("channel")
    return Place(channel["id"] if channel else None, container.get("thread_ts") or container.get("message_ts"))


def parse_control(body: Json) -> ControlUse | None:
    """Parse the use of a control; return ``None`` for a foreign control, or one without a choice."""
    action, container, view = body["actions"][0], body["container"], body.get("view") or {}
    button, value = action["type"] == "button", _choice(action)
    address = unpack(Address, action.get("value") if button else action["block_id"])
    if address is None:
        return None
    control = ControlAction(action=action_of(action["action_id"]))
    if button:
        control = replace(control, target=address.target)
    elif value is None:
        return None
    elif isinstance(value, str) and (chosen := unpack(ControlAction, value)) is not None:
        control, value = chosen, None
    if view.get("type") == "modal":
        # The same button in a refreshed view is a different one.
        subject = control.target if value is None else str(value)
        parts = (view["id"], view["hash"], action["action_id"], control.pack(), subject)
    else:
        # Two channels, and more so two workspaces, may have a message with the same timestamp.
        channel = (body.get("channel") or {}).get("id") or ""
        shown = f"{channel} {container.get('message_ts') or container.get('view_id') or ''}"
        chosen_text = "" if value is None else str(value)
        parts = (shown, action["action_id"], address.pack(), control.pack(), chosen_text)
    return ControlUse(
        command_id=command_id("click", *parts),
        user_id=body["user"]["id"],
        trigger_id=body["trigger_id"],
        place=parse_place(body),
        message_ts=container.get("message_ts"),
        address=address,
        control=control,
        value=value,
        pressed=action.get("action_ts") or "0",
    )


def parse_vote(body: Json, at: datetime) -> Rating | None:
    """Parse a vote at the aware instant ``at``; return ``None`` if its value is not valid."""
    vote = unpack(Vote, body["actions"][0].get("value"))
    if vote is None:
        return None
    return Rating(
        session_id=vote.session,
        turn=vote.turn,
        user_id=body["user"]["id"],
        helpful=vote.helpful,
        prompts=vote.prompts,
        at=at,
    )


def parse_form(view: Json) -> OpenForm | None:
    """Return an open form with the forms under it; ``None`` if the view is not one of this app's forms."""
    address = unpack(FormAddress, view.get("private_metadata"))
    if address is None:
        return None
    # Slack names the nearest and the lowest of at most two.
    below: list[OpenForm] = []
    under = address.below
    for view_id in (view.get("previous_view_id"), view.get("root_view_id")):
        if under is None or view_id is None or view_id in {view["id"], *(form.view_id for form in below)}:
            continue
        below.append(OpenForm(under, view_id))
        under = under.below
    return OpenForm(address, view["id"], tuple(below), _read_initial(view) if address.edits else {})


def _read_initial(view: Json) -> dict[str, FormValue]:
    """Return the values that the fields of a view were shown with, by name."""
    found: dict[str, FormValue] = {}
    for block in view["blocks"]:
        if block["type"] == "input" and (name := field_name(block["block_id"])) is not None:
            element = block["element"]
            found[name] = read_value(element | {entered: element.get(shown) for shown, entered in _ENTERED.items()})
    return found


_ENTERED = {
    "initial_value": "value",
    "initial_option": "selected_option",
    "initial_options": "selected_options",
    "initial_date": "selected_date",
    "initial_time": "selected_time",
}
"""The value of a field in its state, by the name of its first value in its element."""


def list_entries(view: Json) -> dict[str, tuple[str, Json]]:
    """Return the block id and the entry of each field of an open form, by name, in order."""
    entries: dict[str, tuple[str, Json]] = {}
    for block_id, by_action in view.get("state", {}).get("values", {}).items():
        name = field_name(block_id)
        if name is not None and VALUE_ACTION in by_action:
            entries[name] = (block_id, by_action[VALUE_ACTION])
    return entries


def read_chosen(view: Json) -> dict[str, str]:
    """Return the values of an open form as text, by field name, without empty ones."""
    chosen: dict[str, str] = {}
    for name, (_, entry) in list_entries(view).items():
        text = entry.get("value") or _choice(entry) or " ".join(_list_ticked(entry))
        if text:
            chosen[name] = str(text)
    return chosen


def read_value(entry: Json) -> FormValue:
    """Return the value of a field; ``None`` if it is empty. Raises ``ValueError`` for an invalid number."""
    match entry["type"]:
        case "number_input":
            return int(entry["value"]) if entry.get("value") else None
        case "checkboxes":
            ticked = _list_ticked(entry)
            return ticked if ticked and ticked != (YES,) else bool(ticked)
        case "multi_static_select":
            return _list_ticked(entry)
        case "datepicker" | "timepicker" | "radio_buttons" | "static_select":
            return _choice(entry)
        case _:
            return entry.get("value") or None


def _list_ticked(entry: Json) -> tuple[str, ...]:
    return tuple(picked["value"] for picked in entry.get("selected_options") or ())


def _choice(chosen: Json) -> str | date | time | None:
    """Return what was chosen with a picker, a select or a menu."""
    if (option := chosen.get("selected_option")) is not None:
        return str(option["value"])
    if (day := chosen.get("selected_date")) is not None:
        return date.fromisoformat(day)
    at = chosen.get("selected_time")
    return None if at is None else time.fromisoformat(at)


_TEXT, _LABEL = str | None, str | dict | None
_TEXTS = {"text": _LABEL} | dict.fromkeys(
    (
        "action_id",
        "app_installed_team_id",
        "block_id",
        "bot_id",
        "callback_id",
        "channel_id",
        "channel_type",
        "command",
        "enterprise_id",
        "hash",
        "id",
        "previous_view_id",
        "private_metadata",
        "response_url",
        "root_view_id",
        "selected_date",
        "selected_time",
        "subtype",
        "tab",
        "team_id",
        "trigger_id",
        "type",
        "tz",
        "user_id",
        "user_team",
        "value",
        "view_id",
    ),
    _TEXT,
)
"""Names of texts, with their types. The label of a control is an object."""
_TIMESTAMPS = frozenset({"action_ts", "event_ts", "message_ts", "thread_ts", "ts"})
_OBJECTS = frozenset({"container", "event", "message", "previous_message", "state", "view"})
_OBJECTS_OR_NONE = frozenset({"channel", "enterprise", "selected_option", "team"})
"""Of these, ``team`` is missing where an organization installed the app."""
_OBJECTS_OR_TEXTS = frozenset({"channel", "team", "user"})
"""An id, or an object with one."""
_LISTS = frozenset({"actions", "authorizations", "selected_options"})
_OF_COMMANDS = ("user_id", "channel_id", "trigger_id")
"""Texts that every command has."""
_TIMESTAMP = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)


def find_flaw(body: object) -> str | None:
    """Return the name of a part whose type is not the one that Slack sends; ``None`` if there is none."""
    if not isinstance(body, dict):
        return "payload"
    return next(_iter_top_flaws(body), None)


def _iter_top_flaws(body: dict[str, Any]) -> Iterator[str]:
    if isinstance(body.get("team"), str):  # only within an event is a team a text
        yield "team"
    if "command" in body:
        yield from (name for name in _OF_COMMANDS if not isinstance(body.get(name), str))
    yield from _iter_flaws(body)
    said = (body, body.get("event"), body.get("message"))
    yield from ("text" for part in said if isinstance(part, dict) and isinstance(part.get("text"), dict))
    view = body.get("view")
    if body.get("type") == "view_submission" and isinstance(view, dict) and "type" not in view:  # Bolt reads it
        yield "view"
    event = body.get("event")
    if isinstance(event, dict):
        is_profile = event.get("type") == "user_change"  # the only event with a whole person in it
        yield from (name for name in ("channel", "user") if isinstance(event.get(name), dict) and not is_profile)
        person = event.get("user")
        if is_profile and isinstance(person, dict) and person.get("id") is None:
            yield "user"


def _iter_flaws(part: dict[str, Any]) -> Iterator[str]:
    for name, value in part.items():
        if name in _TEXTS:
            if not isinstance(value, _TEXTS[name]):
                yield name
        elif name in _TIMESTAMPS:
            if value is not None and not (isinstance(value, str) and _TIMESTAMP.fullmatch(value)):
                yield name
        elif name == "values":
            yield from _iter_value_flaws(value)
        elif name in _LISTS:
            yield from _iter_list_flaws(name, value)
        elif name in _OBJECTS | _OBJECTS_OR_NONE | _OBJECTS_OR_TEXTS:
            yield from _iter_object_flaws(name, value)


def _iter_object_flaws(name: str, value: object) -> Iterator[str]:
    is_other = (name in _OBJECTS_OR_NONE and value is None) or (name in _OBJECTS_OR_TEXTS and isinstance(value, str))
    if isinstance(value, dict):
        yield from _iter_flaws(value)
    elif not is_other:
        yield name


def _iter_list_flaws(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, list) or (name == "actions" and not value):
        yield name
        return
    for item in value:
        yield from _iter_object_flaws(name, item)
        if name == "actions" and isinstance(item, dict) and item.get("action_id") is None:  # Bolt reads it
            yield "action_id"


def _iter_value_flaws(values: object) -> Iterator[str]:
    """Yield the flaws in the fields of a form: entries by the id of their block, then by that of their action."""
    if values == []:  # the form has no fields
        return
    if not isinstance(values, dict):
        yield "values"
        return
    for block in values.values():
        if not isinstance(block, dict):
            yield "values"
            continue
        for entry in block.values():
            yield from _iter_object_flaws("values", entry)
