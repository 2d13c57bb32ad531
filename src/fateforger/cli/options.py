"""Options that several commands share, and the settings that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fateforger.config import Settings


as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")
_now = click.option("--now", metavar="INSTANT", help="Set the clock (RFC 3339).")
_data_dir = click.option("--data-dir", metavar="DIR", help="Where everything durable lives.")


def add_place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--now`` and ``--data-dir`` to a command, in addition to those before it."""
    return _now(_data_dir(function))


def load_settings(ctx: click.Context, **given: object) -> Settings:
    """Return the settings. Options of the command override those before it, and both override the environment."""
    from fateforger.config import read_settings  # noqa: PLC0415  slow to import, and not every command needs it

    before = ctx.find_root().obj or {}
    merged = {**before, **{name: value for name, value in given.items() if value is not None}}
    return read_settings(**merged)
