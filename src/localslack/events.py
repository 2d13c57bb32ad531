"""Events as the Events API words them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from localslack.directory import APP_ID, BOT_USER_ID, TEAM_ID
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage

Event = dict[str, Any]

_UNSENT = frozenset({"metadata"})
_MESSAGE_SUBSCRIPTIONS = {"im": "message.im", "channel": "message.channels", "group": "message.groups"}


def event_callback(event: Event, event_time: int) -> dict[str, Any]:
    """Return the outer payload of one event."""
    return {
        "type": "event_callback",
        "token": "unused",
        "team_id": TEAM_ID,
        "context_team_id": TEAM_ID,
        "context_enterprise_id": None,
        "api_app_id": APP_ID,
        "event": event,
        "event_id": f"Ev{uuid4().hex.upper()[:16]}",
        "event_time": event_time,
        "event_context": uuid4().hex,
        "is_ext_shared_channel": False,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM_ID,
                "user_id": BOT_USER_ID,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
    }


def subscription(event: Event) -> str:
    """Return the manifest's name for what this event is subscribed to with."""
    return _MESSAGE_SUBSCRIPTIONS[event["channel_type"]] if event["type"] == "message" else str(event["type"])


def message_posted(channel: Channel, message: StoredMessage, parent_user: str | None) -> Event:
    event: Event = {
        **_bare(message.body),
        "channel": channel.id,
        "channel_type": channel.type,
        "event_ts": message.ts,
    }
    if parent_user is not None:
        event["parent_user_id"] = parent_user
    return event


def app_mentioned(channel: Channel, message: StoredMessage) -> Event:
    return {**_bare(message.body), "type": "app_mention", "channel": channel.id, "event_ts": message.ts}


def message_changed(channel: Channel, before: StoredMessage, after: StoredMessage, event_ts: str) -> Event:
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "message": {**_bare(after.body), "source_team": TEAM_ID, "user_team": TEAM_ID},
        "previous_message": _bare(before.body),
        "channel": channel.id,
        "channel_type": channel.type,
        "ts": event_ts,
        "event_ts": event_ts,
    }


def message_deleted(channel: Channel, before: StoredMessage, event_ts: str) -> Event:
    return {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "deleted_ts": before.ts,
        "previous_message": _bare(before.body),
        "channel": channel.id,
        "channel_type": channel.type,
        "ts": event_ts,
        "event_ts": event_ts,
    }


def home_opened(user: str, channel: str, tab: str, view: Mapping[str, Any] | None, event_ts: str) -> Event:
    event: Event = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab, "event_ts": event_ts}
    if tab == "home" and view is not None:
        event["view"] = view
    return event


def reaction(kind: str, user: str, name: str, message: StoredMessage, event_ts: str) -> Event:
    """`kind` is `reaction_added` or `reaction_removed`."""
    return {
        "type": kind,
        "user": user,
        "reaction": name,
        "item_user": message.body.get("user"),
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "event_ts": event_ts,
    }


def session_stopped(user: str, channel: Channel, thread_ts: str, streaming: Sequence[str], event_ts: str) -> Event:
    return {
        "type": "agent_session_stopped",
        "user": user,
        "channel": channel.id,
        "thread_ts": thread_ts,
        "streaming_message_ts": list(streaming),
        "event_ts": event_ts,
    }


def session_renamed(
    user: str, channel: Channel, thread_ts: str, title: str, previous_title: str | None, event_ts: str
) -> Event:
    event: Event = {
        "type": "agent_session_title_changed",
        "user": user,
        "channel": channel.id,
        "thread_ts": thread_ts,
        "team_id": TEAM_ID,
        "title": title,
        "event_ts": event_ts,
    }
    return event if previous_title is None else event | {"previous_title": previous_title}


def _bare(body: Mapping[str, Any]) -> Event:
    return {key: value for key, value in body.items() if key not in _UNSENT}
