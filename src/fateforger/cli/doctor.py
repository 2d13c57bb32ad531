"""``fateforger doctor``: list what is real, local or missing, each with its fix."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click

from fateforger.cli.documents import write_json
from fateforger.cli.options import add_place_options, as_json, load_settings

_SIGNS = {"real": "●", "local": "○", "missing": "·", "broken": "✗"}


@click.command("doctor")
@add_place_options
@as_json
@click.option("--model", "ask_model", is_flag=True, help="Also ask the language models something.")
@click.pass_context
def command(ctx: click.Context, now: str | None, data_dir: str | None, as_json: bool, ask_model: bool) -> None:
    """Say what is real, what is local and what is missing, each with its fix. Exits with 3 when something is broken."""
    from fateforger.bootstrap.health import run_checks  # noqa: PLC0415  heavy

    checks = asyncio.run(run_checks(load_settings(ctx, now=now, data_dir=data_dir), ask_model=ask_model))
    ok = all(check.state != "broken" for check in checks)
    if as_json:
        write_json({"ok": ok, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            click.echo(f"{_SIGNS[check.state]} {check.name:<9} {check.state:<8} {check.message}")
            if check.fix:
                click.echo(f"{'':21}→ {check.fix}")
        click.echo("\nAll is well." if ok else "\nSomething needs mending; see above.")
    if not ok:
        raise click.exceptions.Exit(3)
