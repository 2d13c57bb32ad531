"""Prompts from templates: one task each, data as fenced tables, and the schema of the answer (S70, S92, S93)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel
from toon_format import encode

from fateforger.ports import Prompt, Role
from fateforger.turn.reading.facts import Row, Table

VERSIONS: Mapping[str, int] = {
    "ask": 4,
    "date": 6,
    "decide": 7,
    "decompose": 1,
    "draft": 3,
    "facts": 7,
    "memory": 5,
    "patch": 8,
    "replan": 2,
    "rules": 5,
    "start": 6,
}
"""Increase a version with each change of a template, its includes, or its tables. Recorded turns name the version."""
POLICY_VERSION = 1
LONGEST_MESSAGE = 6_000
"""Longest message passed on, in characters; Slack allows 40,000."""


def prompt_for(
    name: str,
    role: Role,
    answer: type[BaseModel],
    message: str,
    *,
    facts: Sequence[tuple[str, Row]] = (),
    tables: Sequence[Table] = (),
    schema: Mapping[str, Any] | None = None,
    words: Row | None = None,
) -> Prompt:
    """Render the prompt of a template.

    ``facts`` are single rows, ``tables`` lists. ``words`` are other values for the template, never text from a person
    or a calendar. ``schema`` defaults to that of the answer.
    """
    schema = answer.model_json_schema() if schema is None else schema
    data = "\n".join([encode({key: dict(row)}) for key, row in facts] + [_table(table) for table in tables])
    said = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}… (cut)"
    mark = _mark(data + said)
    shown = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    system = _template(f"{name}.j2").render(mark=mark, schema=shown, policy_version=POLICY_VERSION, **(words or {}))
    user = _template("user.j2").render(mark=mark, tables=data, message=said)
    return Prompt(f"{name}/{VERSIONS[name]}", role, system.strip(), user.strip(), schema)


def _table(table: Table) -> str:
    """Encode a table as ``name[N]{a,b}:`` with one row per line (S92), and the number of rows that are not shown."""
    name, rows, more = table
    text = encode({name: [dict(row) for row in rows]})
    return f"{text}\n({more} more are not shown.)" if more else text


def _mark(text: str) -> str:
    """Return a delimiter that cannot occur in the data, because it is a hash of it."""
    return f"=== {hashlib.sha256(text.encode()).hexdigest()[:16]} ==="


@cache
def _template(name: str) -> Any:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    # The output is plain text for a model, not markup; escaping would only garble it.
    loader = PackageLoader("fateforger.turn", "prompts")
    return Environment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  plain text for a model
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
