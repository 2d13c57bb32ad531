"""Find the databases of constraints in Notion, by their titles or by options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from notion_client.helpers import extract_notion_id

from fateforger.adapters.notion.client import NotionPages
from fateforger.adapters.notion.columns import TABLES, Columns, Table, find_columns
from fateforger.errors import BadInput

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
