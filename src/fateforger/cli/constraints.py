"""``fateforger constraints``: write, list, query, archive, import and export people's constraints."""

from __future__ import annotations

import click

from fateforger.cli.constraints_files import export_command, import_command
from fateforger.cli.constraints_index import reindex_command
from fateforger.cli.constraints_list import list_command
from fateforger.cli.constraints_migrate import migrate_command
from fateforger.cli.constraints_query import query_command
from fateforger.cli.constraints_story import story_command
from fateforger.cli.constraints_writing import add_command, archive_command, supersede_command


@click.group("constraints")
def command() -> None:
    """Manage people's constraints, and list those that apply on a day."""


for door in (
    add_command,
    list_command,
    query_command,
    story_command,
    archive_command,
    supersede_command,
    import_command,
    export_command,
    migrate_command,
    reindex_command,
):
    command.add_command(door)
