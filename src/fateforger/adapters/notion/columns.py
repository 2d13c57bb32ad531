"""Which column of a Notion database holds what: the titles they were made with, or the ones that somebody names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fateforger.errors import BadInput


@dataclass(frozen=True, slots=True)
class Table:
    """A database by its key in options, its title, and its columns by the name of what they hold. The first title of a
    column is the usual one. ``needed`` says whether the migration can do without it."""

    key: str
    title: str
    columns: Mapping[str, tuple[str, ...]]
    needed: bool = True


CONSTRAINTS = Table(
    "constraints",
    "TB Constraints",
    {
        "name": ("Name",),
        "description": ("Description",),
        "uid": ("UID",),
        "necessity": ("Necessity",),
        "status": ("Status",),
        "source": ("Source",),
        "confidence": ("Confidence",),
        "scope": ("Scope",),
        "start_date": ("Start Date",),
        "end_date": ("End Date",),
        "days_of_week": ("Days Of Week",),
        "timezone": ("Timezone",),
        "recurrence": ("Recurrence",),
        "ttl_days": ("TTL Days",),
        "applies_stages": ("Applies Stages",),
        "applies_event_types": ("Applies Event Types",),
        "topics": ("Topics",),
        "rule_kind": ("Rule Kind",),
        "duration_min": ("Duration Min (min)", "Duration Min"),
        "duration_max": ("Duration Max (min)", "Duration Max"),
        "contiguity": ("Contiguity",),
        "supersedes": ("Supersedes",),
    },
)
WINDOWS = Table(
    "windows",
    "TB Constraint Windows",
    {
        "constraint": ("Constraint",),
        "kind": ("Kind",),
        "start": ("Start Time (local)", "Start Time"),
        "end": ("End Time (local)", "End Time"),
    },
)
TOPICS = Table("topics", "TB Topics", {"name": ("Name",)})
EVENTS = Table(
    "events",
    "TB Constraint Events",
    {"uid": ("Extracted UID",), "words": ("User Utterance",), "at": ("Occurred At",)},
    needed=False,
)
TABLES = (CONSTRAINTS, WINDOWS, TOPICS, EVENTS)

Columns = Mapping[str, str]
"""The title of the column that holds each thing; what has no column is left out."""


def named_columns(options: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What somebody said about columns, like ``ttl_days=Lives`` or ``windows.kind=Sort``: by table and name."""
    tables = {table.key: table for table in TABLES}
    found = {}
    for given, title in options:
        key, dot, name = given.rpartition(".")
        table = tables.get(key if dot else CONSTRAINTS.key)
        if table is None or name not in table.columns:
            known = [
                column if each is CONSTRAINTS else f"{each.key}.{column}" for each in TABLES for column in each.columns
            ]
            raise BadInput(f"“{given}” is nothing I look for; use one of {', '.join(known)}.", where="column")
        found[table.key, name] = title.strip()
    return found


def columns_of(table: Table, schema: Mapping[str, Any], said: Mapping[tuple[str, str], str]) -> Columns:
    """Where each thing stands in this database. Raises :class:`BadInput` naming what is not there, and the columns that
    it could be."""
    by_fold = {title.casefold(): title for title in schema}
    found: dict[str, str] = {}
    missing: list[str] = []
    for name, usual in table.columns.items():
        given = said.get((table.key, name))
        if given == "":
            continue
        candidates = usual if given is None else (given,)
        title = next((by_fold[each.casefold()] for each in candidates if each.casefold() in by_fold), None)
        if title is None and name == "name":
            title = next((each for each, column in schema.items() if column["type"] == "title"), None)
        if title is None and given is not None:
            raise BadInput(
                f"“{table.title}” has no column “{given}”; it has {_quoted(sorted(schema))}.", where="column"
            )
        if title is None:
            missing.append(name)
        else:
            found[name] = title
    if missing:
        raise BadInput(_sentence(table, missing, sorted(set(schema) - set(found.values()))), where="column")
    return found


def _sentence(table: Table, missing: Sequence[str], unknown: Sequence[str]) -> str:
    usual = _quoted(table.columns[name][0] for name in missing)
    option = missing[0] if table is CONSTRAINTS else f"{table.key}.{missing[0]}"
    others = f" I do not know {_quoted(unknown)}." if unknown else ""
    return (
        f"“{table.title}” has no column {usual}. If it goes by another name, say so: --column {option}=NAME; if there"
        f" is none, --column {option}= leaves it out.{others}"
    )


def _quoted(titles: Iterable[str]) -> str:
    return ", ".join(f"“{title}”" for title in titles)
