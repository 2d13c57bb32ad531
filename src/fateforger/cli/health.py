"""``fateforger health``: check that the running program is healthy. For a container's healthcheck."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import click

from fateforger.cli.options import load_settings
from fateforger.errors import WorldError

_SECONDS = 8
_EVERY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104  compared, not bound


@click.command("health")
@click.option("--port", type=int, help="Port of the program that runs; by default the configured one.")
@click.pass_context
def command(ctx: click.Context, port: int | None) -> None:
    """Ask the program that runs on this machine whether it is well. Exits with 3 when it is not, or does not answer."""
    settings = load_settings(ctx, port=port)
    host = "127.0.0.1" if settings.host in _EVERY_ADDRESS else settings.host
    said = _ask(f"http://{host}:{settings.port}/health")
    ill = [part for part in ("database", "slack") if not said.get(part)]
    if ill:
        raise WorldError(f"The program runs, but this does not answer: {', '.join(ill)}. fateforger doctor says more.")
    click.echo("It is well.")
    if said.get("constraints_trouble"):
        click.echo(f"Only what it should remember has to wait: {said['constraints_trouble']}")
    if said.get("memory_trouble"):
        click.echo(f"Only searching what it remembers does not work: {said['memory_trouble']}")


def _ask(url: str) -> dict[str, object]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_SECONDS) as answer:
            said: dict[str, object] = json.load(answer)
    except urllib.error.HTTPError as answer:
        said = json.load(answer) if answer.code == 503 else {}
    except (OSError, ValueError) as error:
        raise WorldError(f"No fateforger answers at {url}: {error}.") from None
    return said
