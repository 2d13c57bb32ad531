"""Check the types in a payload before Bolt and the listeners rely on them.

Slack never sends others. A payload that has them changes nothing: it is acknowledged on a socket and refused over
HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
_TIMESTAMPS = frozenset({"event_ts", "message_ts", "thread_ts", "ts"})
_OBJECTS = frozenset({"container", "event", "message", "state", "view"})
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
    event = body.get("event")
    if isinstance(event, dict):
        is_profile = event.get("type") == "user_change"  # the only event with a whole person in it
        yield from (name for name in ("channel", "user") if isinstance(event.get(name), dict) and not is_profile)


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
