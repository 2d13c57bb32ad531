"""Declaring and checking tool arguments, with the wording callers of the real server know.

Each `Kind` knows its JSON schema and its complaints. Arguments nobody declared are left out without a word, `null` is a
wrong type like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import invalid_arguments
from ..times import range_form, time_problem

Check = Callable[[Any, str], list[str]]


@dataclass(frozen=True)
class Kind:
    """One kind of value: its JSON schema, its check (value and path to complaints), and a reading of lenient forms."""

    schema: dict[str, Any]
    check: Check
    lenient: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class Declaration:
    """One tool: its description, its arguments in order, and which of them must be there."""

    name: str
    description: str
    arguments: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    read_only: bool = False
    whole: Callable[[dict[str, Any]], list[str]] = field(default=lambda _: [])

    def input_schema(self) -> dict[str, Any]:
        properties = {name: kind.schema for name, kind in self.arguments.items()}
        return {"type": "object", "properties": properties, "required": list(self.required)}

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The declared arguments that were given; raises `ToolError` with every complaint."""
        known = {name: kind.lenient(given[name]) for name, kind in self.arguments.items() if name in given}
        complaints = [_wrong("string", None, name, absent=True) for name in self.required if name not in known]
        for name, value in known.items():
            complaints += self.arguments[name].check(value, name)
        complaints = complaints or self.whole(known)
        if complaints:
            raise invalid_arguments(self.name, complaints)
        return known


def text(pattern: Callable[[str], str | None] | None = None, **schema: Any) -> Kind:
    """A string; `pattern` returns what is wrong with it."""

    def check(value: Any, path: str) -> list[str]:
        if not isinstance(value, str):
            return [_wrong("string", value, path)]
        problem = pattern(value) if pattern else None
        return [f"{problem} at {path}"] if problem else []

    return Kind({"type": "string", **schema}, check)


def choice(*options: str) -> Kind:
    listed = "|".join(f'"{option}"' for option in options)

    def check(value: Any, path: str) -> list[str]:
        return [] if value in options else [f"Invalid option: expected one of {listed} at {path}"]

    return Kind({"type": "string", "enum": list(options)}, check)


def flag() -> Kind:
    def check(value: Any, path: str) -> list[str]:
        return [] if isinstance(value, bool) else [_wrong("boolean", value, path)]

    return Kind({"type": "boolean"}, check)


def number(minimum: float | None = None, maximum: float | None = None) -> Kind:
    def check(value: Any, path: str) -> list[str]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return [_wrong("number", value, path)]
        if minimum is not None and value < minimum:
            return [f"Too small: expected number to be >={minimum:g} at {path}"]
        if maximum is not None and value > maximum:
            return [f"Too big: expected number to be <={maximum:g} at {path}"]
        return []

    bounds = {"minimum": minimum, "maximum": maximum}
    return Kind({"type": "number", **{k: v for k, v in bounds.items() if v is not None}}, check)


def array(of: Kind) -> Kind:
    """A list; a string holding a JSON list of strings counts as one."""

    def check(value: Any, path: str) -> list[str]:
        if not isinstance(value, list):
            return [_wrong("array", value, path)]
        return [problem for n, entry in enumerate(value) for problem in of.check(entry, f"{path}.{n}")]

    return Kind({"type": "array", "items": of.schema}, check, _listed)


def record() -> Kind:
    def check(value: Any, path: str) -> list[str]:
        if not isinstance(value, dict):
            return [_wrong("record", value, path)]
        return [_wrong("string", v, f"{path}.{k}") for k, v in value.items() if not isinstance(v, str)]

    return Kind({"type": "object", "additionalProperties": {"type": "string"}}, check)


def structure(fields: Mapping[str, Kind], required: tuple[str, ...] = ()) -> Kind:
    def check(value: Any, path: str) -> list[str]:
        if not isinstance(value, dict):
            return [_wrong("object", value, path)]
        missing = [_wrong("string", None, f"{path}.{n}", absent=True) for n in required if n not in value]
        return missing + [
            problem for n, kind in fields.items() if n in value for problem in kind.check(value[n], f"{path}.{n}")
        ]

    properties = {name: kind.schema for name, kind in fields.items()}
    return Kind({"type": "object", "properties": properties, "required": list(required)}, check)


def calendars() -> Kind:
    """One calendar (id or name), or up to 50 different ones."""

    def check(value: Any, path: str) -> list[str]:
        if isinstance(value, str):
            return []
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
            return [f"Invalid input at {path}"]
        if not value:
            return [f"At least one calendar ID is required at {path}"]
        if len(value) > 50:
            return [f"Maximum 50 calendars allowed per request at {path}"]
        return [] if len(set(value)) == len(value) else [f"Duplicate calendar IDs are not allowed at {path}"]

    either = [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 50}]
    return Kind({"anyOf": either}, check, _listed)


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


def _listed(value: Any) -> Any:
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
