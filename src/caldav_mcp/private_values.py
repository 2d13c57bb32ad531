"""Values that iCalendar has no property for, kept in X- properties that any server stores unharmed.

Keys and values are percent-encoded wherever a character means something to iCalendar, so no program between here and
the disk has a reason to unescape, split or refold them differently.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, unquote

import icalendar

from caldav_mcp.content_lines import Component
from caldav_mcp.values import values

PRIVATE = "X-FATEFORGER-PRIVATE"
SHARED = "X-FATEFORGER-SHARED"
EXTRA = "X-FATEFORGER-FIELD"

_LONGEST_KEY, _LONGEST_VALUE = 44, 1024
_PROPERTY = re.compile(r'[^;:]+;KEY="?([^":;]*)"?:(.*)', re.DOTALL | re.IGNORECASE)
_PLAIN = " !#$&'()*+-./:<=>?@[]^_`{|}~"


def property_line(name: str, key: str, value: str) -> str:
    return f"{name};KEY={quote(key, safe='', errors='replace')}:{quote(value, safe=_PLAIN, errors='replace')}"


def read_properties(event: icalendar.Component, name: str) -> dict[str, str]:
    """All keys and values kept under a property name, in their order."""
    found = (value for value in values(event, name) if "KEY" in value.params)
    return {unquote(str(value.params["KEY"])): unquote(str(value)) for value in found}


def merge_properties(event: Component, name: str, given: dict[str, str]) -> Component:
    """Set keys, leave the others. As at Google, keys over 44 characters are dropped and values cut at 1024."""
    kept = {key: value[:_LONGEST_VALUE] for key, value in given.items() if len(key) <= _LONGEST_KEY}
    return _replace_pairs(event, name, _read_pairs(event, name) | kept)


def read_extras(event: icalendar.Component) -> dict[str, Any]:
    return {key: json.loads(value) for key, value in read_properties(event, EXTRA).items()}


def set_extras(event: Component, given: dict[str, Any]) -> Component:
    """Keep Google-only fields (guest rights, source, ...) as JSON values."""
    merged = _read_pairs(event, EXTRA) | {key: json.dumps(value) for key, value in given.items()}
    return _replace_pairs(event, EXTRA, merged)


def _read_pairs(event: Component, name: str) -> dict[str, str]:
    matches = (_PROPERTY.fullmatch(line) for line in event.lines(name))
    return {unquote(match[1]): unquote(match[2]) for match in matches if match}


def _replace_pairs(event: Component, name: str, pairs: dict[str, str]) -> Component:
    return event.lacking({name}).adding(property_line(name, key, value) for key, value in pairs.items())
