"""Declaring and reading tool arguments, with the wording callers of the real server know.

Each `Kind` knows its JSON schema and how to read a value. Undeclared arguments are left out without a word, at any
depth; `null` is a wrong type like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from caldav_mcp.errors import invalid_arguments
from caldav_mcp.limits import MAX_CALENDARS
from caldav_mcp.times import range_form, time_problem

Reading = tuple[Any, list[str]]
"""The value as the tools get it, and the complaints about it."""


@dataclass(frozen=True)
class Kind:
    """One kind of value: its JSON schema, and how to read one at a path."""

    schema: dict[str, Any]
    read: Callable[[Any, str], Reading]


@dataclass(frozen=True)
class Declaration:
    """One tool: its description, its arguments in order, and which of them must be there.

    `whole` says what is wrong with arguments that are fine one by one.
    """

    name: str
    description: str
    arguments: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    read_only: bool = False
    whole: Callable[[dict[str, Any]], list[str]] = field(default=lambda _: [])

    def input_schema(self) -> dict[str, Any]:
        return structure(self.arguments, self.required).schema

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the declared arguments that were given; raises `ToolError` with every complaint."""
        known, complaints = _read_fields(self.arguments, self.required, given, "")
        complaints = complaints or self.whole(known)
        if complaints:
            raise invalid_arguments(self.name, complaints)
        return known


def text(problem: Callable[[str], str | None] = lambda _: None, **schema: Any) -> Kind:
    """Return a string; `problem` says what is wrong with it."""

    def read(value: Any, path: str) -> Reading:
        if not isinstance(value, str):
            return value, [_wrong("string", value, path)]
        found = problem(value)
        return value, [f"{found} at {path}"] if found else []

    return Kind({"type": "string", **schema}, read)


def choice(*options: str) -> Kind:
    listed = "|".join(f'"{option}"' for option in options)

    def read(value: Any, path: str) -> Reading:
        return value, [] if value in options else [f"Invalid option: expected one of {listed} at {path}"]

    return Kind({"type": "string", "enum": list(options)}, read)


def flag() -> Kind:
    def read(value: Any, path: str) -> Reading:
        return value, [] if isinstance(value, bool) else [_wrong("boolean", value, path)]

    return Kind({"type": "boolean"}, read)


def number(minimum: float | None = None, maximum: float | None = None) -> Kind:
    def read(value: Any, path: str) -> Reading:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value, [_wrong("number", value, path)]
        if minimum is not None and value < minimum:
            return value, [f"Too small: expected number to be >={minimum:g} at {path}"]
        if maximum is not None and value > maximum:
            return value, [f"Too big: expected number to be <={maximum:g} at {path}"]
        return value, []

    bounds = {"minimum": minimum, "maximum": maximum}
    return Kind({"type": "number", **{k: v for k, v in bounds.items() if v is not None}}, read)


def array(of: Kind) -> Kind:
    """Return a list; a string holding a JSON list of strings counts as one."""

    def read(value: Any, path: str) -> Reading:
        value = _parse_list(value)
        if not isinstance(value, list):
            return value, [_wrong("array", value, path)]
        readings = [of.read(entry, f"{path}.{n}") for n, entry in enumerate(value)]
        return [entry for entry, _ in readings], [problem for _, problems in readings for problem in problems]

    return Kind({"type": "array", "items": of.schema}, read)


def record() -> Kind:
    """Any keys, each with a string."""

    def read(value: Any, path: str) -> Reading:
        if not isinstance(value, dict):
            return value, [_wrong("record", value, path)]
        return value, [_wrong("string", v, f"{path}.{k}") for k, v in value.items() if not isinstance(v, str)]

    return Kind({"type": "object", "additionalProperties": {"type": "string"}}, read)


def structure(fields: Mapping[str, Kind], required: tuple[str, ...] = ()) -> Kind:
    def read(value: Any, path: str) -> Reading:
        if not isinstance(value, dict):
            return value, [_wrong("object", value, path)]
        return _read_fields(fields, required, value, f"{path}.")

    properties = {name: kind.schema for name, kind in fields.items()}
    return Kind({"type": "object", "properties": properties, "required": list(required)}, read)


def calendars() -> Kind:
    """One calendar (id or name), or up to 50 different ones."""

    def read(value: Any, path: str) -> Reading:
        value = _parse_list(value)
        if isinstance(value, str):
            return value, []
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
            return value, [f"Invalid input at {path}"]
        if not value:
            return value, [f"At least one calendar ID is required at {path}"]
        if len(value) > MAX_CALENDARS:
            return value, [f"Maximum {MAX_CALENDARS} calendars allowed per request at {path}"]
        return value, [] if len(set(value)) == len(value) else [f"Duplicate calendar IDs are not allowed at {path}"]

    either = [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_CALENDARS},
    ]
    return Kind({"anyOf": either}, read)


def event_time() -> Kind:
    return text(
        time_problem,
        description="'2025-01-01T10:00:00' (timed, optionally with Z or an offset), '2025-01-01' (all-day), or JSON: "
        '\'{"dateTime": "2025-01-01T10:00:00", "timeZone": "America/Los_Angeles"}\'',
    )


def range_bound() -> Kind:
    def problem(value: str) -> str | None:
        return None if range_form(value) else "Must be ISO 8601 format: '2026-01-01T00:00:00'"

    return text(problem, description="ISO 8601 date and time, e.g. '2024-01-01T00:00:00'")


def _read_fields(
    fields: Mapping[str, Kind], required: tuple[str, ...], given: Mapping[str, Any], path: str
) -> tuple[dict[str, Any], list[str]]:
    complaints = [_wrong("string", None, path + name, absent=True) for name in required if name not in given]
    readings = {name: kind.read(given[name], path + name) for name, kind in fields.items() if name in given}
    complaints += [problem for _, problems in readings.values() for problem in problems]
    return {name: value for name, (value, _) in readings.items()}, complaints


def _parse_list(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip().startswith("["):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, list) and all(isinstance(entry, str) for entry in found) else value


def _wrong(expected: str, value: Any, path: str, *, absent: bool = False) -> str:
    return f"Invalid input: expected {expected}, received {'undefined' if absent else _type(value)} at {path}"


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
