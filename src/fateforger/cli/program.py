"""``fateforger up``, ``doctor``, ``health`` and ``manifest``: run the program, check it, and describe its Slack app."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict
from typing import Literal
from urllib.parse import urlsplit

import click

from fateforger.cli.documents import echo, echo_address, print_result
from fateforger.cli.options import CommandCall, add_place_options, add_store_options, as_json, load_settings
from fateforger.errors import BadInput, WorldError
from fateforger.text import TIMEBOX, command_name


def end_on_signals() -> None:
    """End at once when the program is asked to, because nothing that it waits for while it starts has to be finished.

    The status is the one of a program that the signal ended. A thread that waits for a database would hold up an end in
    order.
    """
    _handle_signals(_end)


def stop_on_signals() -> asyncio.Event:
    """Return an event of the running loop that is set when the program is asked to end; a second time ends it at once.

    That is safe, because the program may be killed at any moment.
    """
    stop = asyncio.Event()

    def handle(number: signal.Signals) -> None:
        if stop.is_set():
            _end(number)
        stop.set()

    _handle_signals(handle)
    return stop


def _handle_signals(handle: Callable[[signal.Signals], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on its loop
            loop.add_signal_handler(number, handle, number)


def _end(number: signal.Signals) -> None:
    echo("Stopped.")
    sys.stdout.flush()
    os._exit(128 + number)


def exempt_loaded_objects() -> None:
    """Make the garbage collector skip what is loaded by now, because it lives as long as the program.

    A collection that visits all of it takes 0.16 s, during which the program answers nothing.
    """
    gc.collect()
    gc.freeze()


@click.command("up")
@add_place_options
@click.option("--host", help="Address the local page listens on.")
@click.option("--port", type=int, help="Port of the local page; 0 picks a free one.")
@click.option("--verbose", is_flag=True, help="Log what happens inside.")
@click.pass_context
def up_command(
    ctx: click.Context, now: str | None, data_dir: str | None, host: str | None, port: int | None, verbose: bool
) -> None:
    """Run everything with what is configured, say what is real and what is local, and print the page's address."""
    settings = load_settings(ctx, now=now, data_dir=data_dir, host=host, port=port)
    from fateforger.app.ops import configure_logging  # noqa: PLC0415  heavy
    from fateforger.app.program import open_app  # noqa: PLC0415  heavy

    configure_logging(settings.log, "info" if verbose else settings.log_level)

    async def run() -> None:
        end_on_signals()
        async with open_app(settings) as program:
            stop = stop_on_signals()
            for line in program.lines:
                echo(f"  {line}")
            if program.caldav:
                echo(f"  CalDAV: {program.caldav}")
            if program.warning:
                echo(f"\nWarning: {program.warning}")
            if program.claim:
                echo(f"\n{program.claim}")
            if program.page_url:
                echo_address("\nReady:", f"{program.page_url}\n")
                echo("Open it and choose “Plan my day”. Stop with Ctrl-C; nothing is lost.")
            else:
                if program.day_url:
                    echo_address("  Your day:", program.day_url)
                echo(f"\nReady: type {command_name(TIMEBOX)} in Slack. Stop with Ctrl-C; nothing is lost.")
            exempt_loaded_objects()
            await stop.wait()
            echo("Stopping. Ctrl-C again stops at once; nothing is lost.")

    asyncio.run(run())


_SIGNS = {"real": "●", "local": "○", "missing": "·", "broken": "✗"}


@click.command("doctor")
@add_store_options
@click.option("--model", "ask_model", is_flag=True, help="Also ask the language models something.")
def doctor_command(call: CommandCall, ask_model: bool) -> None:
    """Say what is real, what is local and what is missing, each with its fix. Exits with 3 when something is broken."""
    from fateforger.app.health import run_checks  # noqa: PLC0415  heavy

    checks = asyncio.run(run_checks(call.load_settings(), ask_model=ask_model))
    ok = all(check.state != "broken" for check in checks)
    lines = [
        f"{_SIGNS[check.state]} {check.name:<9} {check.state:<8} {check.message}"
        + (f"\n{'':21}→ {check.fix}" if check.fix else "")
        for check in checks
    ]
    lines.append("\nAll is well." if ok else "\nSomething needs mending; see above.")
    call.print_result({"ok": ok, "checks": [asdict(check) for check in checks]}, lines)
    if not ok:
        raise click.exceptions.Exit(3)


_SECONDS = 8


@click.command("health")
@click.option("--port", type=int, help="Port of the running program, if it uses another data directory.")
@as_json
@click.pass_context
def health_command(ctx: click.Context, port: int | None, as_json: bool) -> None:
    """Ask the program that runs on this machine whether it is well. Exits with 3 when it is not, or does not answer."""
    settings = load_settings(ctx, port=port)
    from fateforger.app.data_dir import find_page, read_addresses  # noqa: PLC0415  the help text needs none of it

    page = None if port is not None else read_addresses(settings.data_dir)[0]
    said = _ask(f"{page or find_page(settings)}/health")
    ill = [part for part in ("database", "slack") if not said.get(part)]
    if ill:
        raise WorldError(f"The program runs, but this does not answer: {', '.join(ill)}. fateforger doctor says more.")
    lines = ["It is well."]
    if said.get("constraints_trouble"):
        lines.append(f"Only what it should remember has to wait: {said['constraints_trouble']}")
    if said.get("memory_trouble"):
        lines.append(f"Only searching what it remembers does not work: {said['memory_trouble']}")
    print_result(said, lines, as_json=as_json)


def _ask(url: str) -> dict[str, object]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_SECONDS) as answer:
            said: dict[str, object] = json.load(answer)
    except urllib.error.HTTPError as answer:
        said = json.load(answer) if answer.code == 503 else {}
    except urllib.error.URLError as error:
        reason = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
        raise WorldError(f"No fateforger answers at {url}: {reason}. fateforger up starts it.") from None
    except (OSError, ValueError) as error:
        raise WorldError(f"No fateforger answers at {url}: {error}.") from None
    return said


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
