"""The command line: ``fateforger COMMAND``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from fateforger.cli.requirements import describe_missing, find_missing

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status (3 when a required package is not installed)."""
    lacking = find_missing()
    if lacking:
        as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
        print(describe_missing(lacking, as_json=as_json), file=sys.stdout if as_json else sys.stderr)
        sys.exit(3)
    from fateforger.cli.command_line import main as run  # noqa: PLC0415  imports the packages checked above

    run(arguments)
