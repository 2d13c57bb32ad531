"""``fateforger manifest``: the document from which the Slack app is made."""

from __future__ import annotations

import json
from typing import Literal
from urllib.parse import urlsplit

import click

from fateforger.cli.options import as_json
from fateforger.cli.output import echo
from fateforger.errors import BadInput

_HEADING = "# The Slack app. At api.slack.com/apps choose Create New App, From a manifest, and paste this.\n"


@click.command("manifest")
@click.option(
    "--mode", type=click.Choice(["socket", "http"]), help="How Slack reaches the program. Also: FATEFORGER_SLACK_MODE."
)
@click.option("--url", metavar="URL", help="Its public address, for HTTP mode. Also: FATEFORGER_PUBLIC_URL.")
@as_json
def manifest_command(mode: Literal["socket", "http"] | None, url: str | None, as_json: bool) -> None:
    """Print the manifest from which the Slack app is made, with the commands named as the settings say."""
    import yaml  # noqa: PLC0415  not every command needs it

    from fateforger.config import read_unchecked_settings  # noqa: PLC0415  slow to import
    from fateforger.slack.manifest import app_manifest  # noqa: PLC0415  slow to import
    from fateforger.text import use_command_names  # noqa: PLC0415  slow to import

    # The tokens are made from the app that does not exist yet.
    settings = read_unchecked_settings(slack_mode=mode, public_url=url)
    use_command_names(settings.commands)
    http = settings.slack_mode == "http"
    document = app_manifest(_check_address(settings.public_url) if http else None)
    if as_json:
        echo(json.dumps(document, indent=2))
    else:
        echo((_HEADING + yaml.safe_dump(document, sort_keys=False, width=120)).removesuffix("\n"))


def _check_address(url: str | None) -> str:
    """Return the public address. Raises ``BadInput`` if there is none, or Slack would not accept it."""
    if url is None:
        raise BadInput(
            "In HTTP mode, Slack has to know where to reach this program. Give its address with --url, such as"
            " https://plan.example.org, or set FATEFORGER_PUBLIC_URL.",
            where="url",
        )
    if urlsplit(url).scheme != "https":
        raise BadInput(f"Slack sends nothing to {url}: it wants an address that begins with https://.", where="url")
    return url
