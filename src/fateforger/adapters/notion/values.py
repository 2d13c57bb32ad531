"""Properties of Notion pages as plain values, whichever type a column has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_AS_THEY_ARE = frozenset({"string", "boolean", "number", "checkbox", "url", "created_time", "last_edited_time"})
RUNS = 25
"""How much of a long property comes with a page; the rest has to be asked for."""


def is_whole(prop: Mapping[str, Any]) -> bool:
    """Whether a property came whole with its page. A relation says so; of a text and a rollup only its length does."""
    value = prop.get(str(prop.get("type")))
    if prop.get("has_more"):
        return False
    if prop.get("type") == "rollup":
        return value is None or (value.get("type") != "incomplete" and len(value.get("array") or ()) < RUNS)
    return not isinstance(value, list) or len(value) < RUNS


def plain(prop: Mapping[str, Any]) -> Any:
    """The value: text, number, bool, the names of options, the ids of pages; ``None`` when empty. A date is its start;
    its end, when it has one, is asked for with :func:`end_of`."""
    kind = str(prop.get("type"))
    value = prop.get(kind)
    match kind:
        case "title" | "rich_text":
            return _text(value or ()).strip() or None
        case "select" | "status":
            return value["name"] if value else None
        case "multi_select":
            return [option["name"] for option in value or ()]
        case "relation":
            return [page["id"] for page in value or ()]
        case "date":
            return value["start"] if value else None
        case "formula":
            return plain(value) if value else None
        case "rollup":
            return _rolled_up(value or {})
        case _ if kind in _AS_THEY_ARE:
            return value
        case _:
            raise ValueError(f"a column of the type {kind} cannot hold this")


def end_of(prop: Mapping[str, Any]) -> str | None:
    """The end of a date that is a range."""
    value = prop.get("date") if prop.get("type") == "date" else None
    return value.get("end") if value else None


def _text(runs: Sequence[Mapping[str, Any]]) -> str:
    return "".join(run.get("plain_text") or "" for run in runs)


def _rolled_up(value: Mapping[str, Any]) -> Any:
    """A rollup of several pages: their values side by side, or the only one there is."""
    if value.get("type") != "array":
        return plain(value) if value.get("type") in {"number", "date"} else None
    found: list[Any] = []
    for each in value.get("array") or ():
        one = plain(each)
        found += one if isinstance(one, list) else [] if one is None else [one]
    return found[0] if len(found) == 1 else found or None


def listed(value: Any) -> list[Any]:
    """A value for a field that holds several: a text may hold them with commas between."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [] if value is None else [value]


def single(value: Any) -> Any:
    """A value for a field that holds one: the only one of several."""
    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise ValueError(f"it holds {len(value)} values, and one is needed")
    return value[0] if value else None
