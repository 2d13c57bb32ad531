"""``fateforger constraints``: write, list, query, archive, import and export people's constraints."""

from __future__ import annotations

import click

from fateforger.cli.constraints_files import export_door, import_door
from fateforger.cli.constraints_index import reindex_door
from fateforger.cli.constraints_list import list_door
from fateforger.cli.constraints_migrate import migrate_door
from fateforger.cli.constraints_query import query_door
from fateforger.cli.constraints_story import story_door
from fateforger.cli.constraints_writing import add_door, archive_door, supersede_door


@click.group("constraints")
def command() -> None:
    """Manage people's constraints, and list those that apply on a day."""


for door in (
    add_door,
    list_door,
    query_door,
    story_door,
    archive_door,
    supersede_door,
    import_door,
    export_door,
    migrate_door,
    reindex_door,
):
    command.add_command(door)
