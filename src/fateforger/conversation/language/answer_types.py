"""Types of answers as a model reads them: a short notation for prompts, and JSON schema for servers; and times of day.

The notation is that of TypeScript. Limits on lengths and numbers are left out: code checks them. A field that may be
left out is not said to be nullable, too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import time
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer, WithJsonSchema

from fateforger.limits import MAX_KEPT_DAYS, MAX_TAG_CHARS, MAX_TOPICS
from fateforger.memory.record import fold_label
from fateforger.memory.vocabulary import Source, Status
from fateforger.values import Value

CLOCK_PATTERN = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
"""Pattern of a local time of day."""
_WORDS = {"string": "string", "integer": "int", "number": "number", "boolean": "bool", "null": "null"}
_FORMATS = {"date": '"YYYY-MM-DD"', "time": '"HH:MM"', "duration": '"PT90M"'}
_NOTES = frozenset({"description", "title", "default", "examples"})
"""Parts of a schema that are for developers."""


@cache
def build_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a type of answer, without notes for developers."""
    whole: dict[str, Any] = _strip_notes(answer.model_json_schema(by_alias=True))
    return whole


@cache
def describe_type(answer: type[BaseModel]) -> str:
    """Return a type of answer in TypeScript's notation. A type that occurs more than once gets a line of its own."""
    schema = answer.model_json_schema(by_alias=True)
    defined: Mapping[str, Any] = schema.get("$defs", {})
    used = Counter(_list_references(schema))
    named = {name for name, times in used.items() if times > 1 and "enum" not in defined[name]}
    lines = [_describe(schema, defined, named)]
    lines += [f"{name} = {_describe(defined[name], defined, named)}" for name in defined if name in named]
    return "\n".join(lines)


def _describe(schema: Mapping[str, Any], defined: Mapping[str, Any], named: set[str]) -> str:
    if "$ref" in schema:
        name = read_reference(schema)
        return name if name in named else _describe(defined[name], defined, named)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " | ".join(dict.fromkeys(_describe(each, defined, named) for each in schema[choice]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if schema.get("type") == "array":
        item = _describe(schema["items"], defined, named)
        return f"({item})[]" if _is_choice(schema["items"], defined, named) else f"{item}[]"
    if schema.get("type") == "object":
        return _describe_fields(schema, defined, named)
    if schema.get("pattern") == CLOCK_PATTERN:
        return '"HH:MM"'
    return _FORMATS.get(schema.get("format", ""), _WORDS[schema["type"]])


def _is_choice(schema: Mapping[str, Any], defined: Mapping[str, Any], named: set[str]) -> bool:
    if "$ref" in schema:
        name = read_reference(schema)
        return name not in named and _is_choice(defined[name], defined, named)
    return not schema.keys().isdisjoint({"anyOf", "oneOf", "enum"})


def _describe_fields(schema: Mapping[str, Any], defined: Mapping[str, Any], named: set[str]) -> str:
    required = schema.get("required", ())
    fields = (
        f"{name}: {_describe(each, defined, named)}"
        if name in required
        else f"{name}?: {_describe(_without_null(each), defined, named)}"
        for name, each in schema["properties"].items()
    )
    return f"{{{', '.join(fields)}}}"


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an optional field, which is left out rather than null."""
    choices = schema.get("anyOf")
    return schema if choices is None else {**schema, "anyOf": [each for each in choices if each.get("type") != "null"]}


def read_reference(schema: Mapping[str, Any]) -> str:
    """Return the name of the type that a reference names."""
    return str(schema["$ref"]).removeprefix("#/$defs/")


def _list_references(schema: Any) -> Iterator[str]:
    """Yield the name of each type that a schema refers to, once for each time."""
    if isinstance(schema, list):
        for part in schema:
            yield from _list_references(part)
    elif isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield read_reference(schema)
        for name, part in schema.items():
            if name != "discriminator":
                yield from _list_references(part)


def _strip_notes(schema: Any, *, names: bool = False) -> Any:
    """Return the schema without notes. With ``names``, its keys are names of fields or types, which all stay."""
    if isinstance(schema, list):
        return [_strip_notes(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: _strip_notes(part, names=not names and name in {"properties", "$defs"})
        for name, part in schema.items()
        if names or name not in _NOTES
    }


def _local(clock: time) -> time:
    if clock.tzinfo is not None:
        raise ValueError("a time of day is local: HH:MM, without a zone")
    return clock.replace(second=0, microsecond=0)


Clock = Annotated[
    time,
    AfterValidator(_local),
    PlainSerializer(lambda value: value.strftime("%H:%M"), return_type=str),
    WithJsonSchema({"type": "string", "pattern": CLOCK_PATTERN}),
]
"""A local time of day, to the minute."""


StageName = Literal["DATE", "COLLECT", "CAPTURE", "SKELETON", "REFINE", "REVIEW"]
Label = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)]


class RuleLimits(Value):
    """What else limits a rule, as far as the message says it; null leaves a part as it is."""

    at: Clock | None = None
    """Time of a slot that is a moment of the day."""
    kept_days: Annotated[int, Field(ge=1, le=MAX_KEPT_DAYS)] | None = None
    only_with: Annotated[tuple[Label, ...], Field(max_length=MAX_TOPICS)] | None = None
    only_without: Annotated[tuple[Label, ...], Field(max_length=MAX_TOPICS)] | None = None
    stages: Annotated[tuple[StageName, ...], Field(max_length=MAX_TOPICS)] | None = None
    source: Source | None = None
    unsure: bool | None = None
    """They are not sure of it themselves, so that they are asked again."""

    def to_fields(self) -> dict[str, Any]:
        """Return the fields of a record, by group, without the time of a slot."""
        conditions = {"conditional_on_present": self.only_with, "conditional_on_absent": self.only_without}
        aspect = {
            name: [fold_label(one) for one in labels] for name, labels in conditions.items() if labels is not None
        }
        life = {} if self.kept_days is None else {"ttl_days": self.kept_days - 1}
        core = {"applies_stages": self.stages, "source": self.source, "needs_confirmation": self.unsure}
        groups = {"aspect_classification": aspect, "lifecycle": life}
        return {
            **{name: value for name, value in core.items() if value is not None},
            **({"status": Status.PROPOSED} if self.unsure else {}),
            **{name: group for name, group in groups.items() if group},
        }
