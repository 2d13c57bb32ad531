"""Properties of Notion pages as plain values, for any type of column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_AS_THEY_ARE = frozenset({"string", "boolean", "number", "checkbox", "url", "created_time", "last_edited_time"})
RUNS = 25
"""The number of values of a long property that come with a page; the rest must be requested."""


def is_whole(prop: Mapping[str, Any]) -> bool:
    """Check whether a property came complete with its page.

    A relation says so; for a text or a rollup only its length tells.
    """
    value = prop.get(str(prop.get("type")))
    if prop.get("has_more"):
        return False
    if prop.get("type") == "rollup":
        return value is None or (value.get("type") != "incomplete" and len(value.get("array") or ()) < RUNS)
    return not isinstance(value, list) or len(value) < RUNS


def to_plain(prop: Mapping[str, Any]) -> Any:
    """Return the value: text, number, bool, names of options, ids of pages; ``None`` when empty.

    A date gives its start; :func:`get_range_end` returns its end.
    """
    kind = str(prop.get("type"))
    value = prop.get(kind)
    match kind:
        case "title" | "rich_text":
            return _join_text(value or ()).strip() or None
        case "select" | "status":
            return value["name"] if value else None
        case "multi_select":
            return [option["name"] for option in value or ()]
        case "relation":
            return [page["id"] for page in value or ()]
        case "date":
            return value["start"] if value else None
        case "formula":
            return to_plain(value) if value else None
        case "rollup":
            return _flatten_rollup(value or {})
        case _ if kind in _AS_THEY_ARE:
            return value
        case _:
            raise ValueError(f"a column of the type {kind} cannot hold this")


def get_range_end(prop: Mapping[str, Any]) -> str | None:
    """Return the end of a date that is a range."""
    value = prop.get("date") if prop.get("type") == "date" else None
    return value.get("end") if value else None


def _join_text(runs: Sequence[Mapping[str, Any]]) -> str:
    return "".join(run.get("plain_text") or "" for run in runs)


def _flatten_rollup(value: Mapping[str, Any]) -> Any:
    """Return the values of a rollup of several pages as a list, or the only one."""
    if value.get("type") != "array":
        return to_plain(value) if value.get("type") in {"number", "date"} else None
    found: list[Any] = []
    for each in value.get("array") or ():
        one = to_plain(each)
        found += one if isinstance(one, list) else [] if one is None else [one]
    return found[0] if len(found) == 1 else found or None


def to_list(value: Any) -> list[Any]:
    """Return a value for a field with several entries; a text is split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [] if value is None else [value]


def to_single(value: Any) -> Any:
    """Return a value for a field with one entry. Raises ``ValueError`` for several."""
    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise ValueError(f"it holds {len(value)} values, and one is needed")
    return value[0] if value else None
