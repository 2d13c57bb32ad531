"""The databases of constraints in Notion and their columns, found by titles or by options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from notion_client.helpers import extract_notion_id

from fateforger.adapters.notion.client import NotionPages
from fateforger.errors import BadInput
from fateforger.text import join_words, quote_title


@dataclass(frozen=True, slots=True)
class Table:
    """A database: its key in options, its title, and the titles of its columns by field name.

    The first title of a column is the usual one. The migration can do without a table that is not ``needed``.
    """

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
"""The title of the column for each field; fields without a column are left out."""


def parse_columns(options: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Parse options like ``ttl_days=Lives`` or ``windows.kind=Sort`` into titles by table and field.

    Raises ``BadInput``.
    """
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


def find_columns(table: Table, schema: Mapping[str, Any], said: Mapping[tuple[str, str], str]) -> Columns:
    """Return the columns of this database.

    Raises :class:`BadInput` with the missing columns, and the ones they could be.
    """
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
                f"“{table.title}” has no column “{given}”; it has {join_words(map(quote_title, sorted(schema)))}.",
                where="column",
            )
        if title is None:
            missing.append(name)
        else:
            found[name] = title
    if missing:
        raise BadInput(_describe_missing(table, missing, sorted(set(schema) - set(found.values()))), where="column")
    return found


def _describe_missing(table: Table, missing: Sequence[str], unknown: Sequence[str]) -> str:
    usual = join_words(quote_title(table.columns[name][0]) for name in missing)
    option = missing[0] if table is CONSTRAINTS else f"{table.key}.{missing[0]}"
    others = f" I do not know {join_words(map(quote_title, unknown))}." if unknown else ""
    return (
        f"“{table.title}” has no column {usual}. If it goes by another name, say so: --column {option}=NAME; if there"
        f" is none, --column {option}= leaves it out.{others}"
    )


WITHOUT = "none"


@dataclass(frozen=True, slots=True)
class Place:
    """A data source and the columns in it."""

    source_id: str
    columns: Columns


def parse_databases(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Parse options like ``windows=https://notion.so/...`` into ids by key, or ``none``. Raises ``BadInput``."""
    tables = {table.key: table for table in TABLES}
    found = {}
    for key, given in options:
        if key not in tables:
            raise BadInput(f"“{key}” is no database I read; use one of {', '.join(tables)}.", where="database")
        if given.strip() == WITHOUT and key != "constraints":
            found[key] = WITHOUT
            continue
        object_id = extract_notion_id(given)
        if object_id is None:
            raise BadInput(f"“{given[:80]}” is no id or address of a Notion database.", where="database")
        found[key] = object_id
    return found


async def find_place(
    table: Table, pages: NotionPages, databases: Mapping[str, str], columns: Mapping[tuple[str, str], str]
) -> Place | None:
    """Return the place of a table; ``None`` when an optional one is missing. Raises ``BadInput`` for a needed one."""
    given = databases.get(table.key)
    if given == WITHOUT:
        return None
    source_id = await (_find_by_title(table, pages) if given is None else _find_by_id(table, pages, given))
    source = None if source_id is None else await pages.data_source(source_id)
    if source_id is None or source is None:
        if table.needed:
            raise BadInput(_describe_not_found(table), where="database")
        return None
    return Place(source_id, find_columns(table, source["properties"], columns))


async def _find_by_title(table: Table, pages: NotionPages) -> str | None:
    found = await pages.find_by_title(table.title)
    if len(found) > 1:
        ids = ", ".join(str(source["id"]) for source in found)
        raise BadInput(
            f"There are {len(found)} databases called “{table.title}”; say which one: --database {table.key}=ID, with"
            f" one of {ids}.",
            where="database",
        )
    return str(found[0]["id"]) if found else None


async def _find_by_id(table: Table, pages: NotionPages, object_id: str) -> str:
    """Return the id of a data source, from its own id or from that of its database.

    A database with several data sources must have exactly one with the table's title.
    """
    database = await pages.database(object_id)
    if database is None:
        return object_id
    sources = database.get("data_sources") or []
    fitting = sources if len(sources) == 1 else [each for each in sources if each.get("name") == table.title]
    if len(fitting) != 1:
        names = ", ".join(f"“{each.get('name')}” ({each['id']})" for each in sources) or "none"
        raise BadInput(
            f"That database has several data sources: {names}. Name one by its id: --database {table.key}=ID.",
            where="database",
        )
    return str(fitting[0]["id"])


def _describe_not_found(table: Table) -> str:
    without = "" if table.key == "constraints" else f"; if you never had one, --database {table.key}=none"
    return (
        f"I do not find the database “{table.title}” in Notion. Share it with the integration (in Notion: ••• on its"
        f" page, Connections), or name it with --database {table.key}=ADDRESS{without}."
    )
