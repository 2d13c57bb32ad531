"""``fateforger workflow``: check a trace against the rules of a workflow.

FILE is a workflow in YAML, or the name of a bundled one. TRACE holds steps, one per line (JSON lines):
``{"do":[actions],"true":[states],"unknown":[states]}``; a state that is neither true nor unknown does not hold. Steps
are counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import parse_json, read_lines, read_text, write_json
from fateforger.cli.options import as_json, load_settings
from fateforger.errors import BadInput, FateforgerError

if TYPE_CHECKING:
    from fateforger.workflow.conformance import Report
    from fateforger.workflow.definition import Workflow
    from fateforger.workflow.facts import EvaluatedState
    from fateforger.workflow.trace import Step

_SIGNS = {"violated": "✗", "unknown": "?", "pending": "…", "satisfied": "✓", "vacuous": "·"}


@click.group("workflow")
def workflow_command() -> None:
    """Check what was done, or is planned, against the rules of a workflow."""


@workflow_command.command("check")
@click.argument("file", required=False)
@click.option("--trace", metavar="FILE", help="What was done, one step a line; or -.")
@click.option("--open", "is_open", is_flag=True, help="The trace may go on: what has not come yet is pending.")
@click.option("--evaluate", is_flag=True, help="Look how the states are now, and check that as the last step.")
@click.option("--do", "do", multiple=True, metavar="ACTION", help="With --evaluate: what is done in that step.")
@click.option("--known", metavar="FILE", help="With --evaluate: what the session, the task and the person say; or -.")
@click.option("--batch", metavar="FILE", help="One case a line, rules and trace together; one result document a line.")
@click.option("--exit-code", is_flag=True, help="Exit with status 1 when a rule is violated.")
@as_json
@click.pass_context
def check_command(
    ctx: click.Context,
    file: str | None,
    trace: str | None,
    is_open: bool,
    evaluate: bool,
    do: tuple[str, ...],
    known: str | None,
    batch: str | None,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Check which rules of FILE a trace keeps, which it breaks, at which steps, and what to do about it.

    With --evaluate the states of FILE are looked up now: in what is --known, {"session":{FACT:bool},
    "task":{FIELD:value},"stated":[KIND]}, and in the files and commands that the file FATEFORGER_FACTS allows.
    """
    if batch is not None:
        if file is not None or trace is not None or is_open or evaluate:
            raise click.UsageError("With --batch each line says its rules, its trace, and whether that is closed.")
        _check_lines(batch)
        return
    if file is None or (trace is None and not evaluate):
        raise click.UsageError("Give a workflow FILE and its --trace TRACE (JSON lines), or --batch FILE.")
    if (do or known is not None) and not evaluate:
        raise click.UsageError("--do and --known belong to --evaluate.")
    if [file, trace, known].count("-") > 1:
        raise BadInput("Only one of the workflow, the trace and what is known can come from stdin.")
    workflow = _load_workflow(file)
    states, last = _evaluate_now(ctx, workflow, known, do) if evaluate else (None, ())
    report = _check_trace(workflow, trace, last, closed=not is_open)
    if as_json:
        from fateforger.workflow.conformance import write_report  # noqa: PLC0415  the help text needs none of it

        write_json({**write_report(report), **_write_states(states)})
    else:
        _print_states(states)
        _print_report(report)
    if exit_code and report.violated_rules:
        raise click.exceptions.Exit(1)


def _load_workflow(source: str) -> Workflow:
    from fateforger.workflow.definition import (  # noqa: PLC0415  the help text needs none of it
        list_shipped,
        load_shipped,
        read_workflow,
    )

    if source in list_shipped() and not Path(source).exists():
        return load_shipped(source)
    text = read_text(source)
    try:
        return read_workflow(text, _build_parent_reader(source))
    except BadInput as error:
        raise BadInput(error.message, where=f"{source}, {error.where}" if error.where else source) from None


def _build_parent_reader(source: str) -> Callable[[str], str | None]:
    """Return a reader of parent workflows, which lie in the folder of the file or are bundled."""
    from fateforger.workflow.definition import read_shipped  # noqa: PLC0415  the help text needs none of it

    def parent(name: str) -> str | None:
        path = Path(source).parent / f"{name}.yaml"
        return read_text(str(path)) if source != "-" and path.is_file() else read_shipped(name)

    return parent


def _evaluate_now(
    ctx: click.Context, workflow: Workflow, known: str | None, do: tuple[str, ...]
) -> tuple[tuple[EvaluatedState, ...], tuple[Step]]:
    """Return the current states, and the current step."""
    from fateforger.cli.workflow_states import build_step, evaluate_states  # noqa: PLC0415  heavy

    states = evaluate_states(workflow, known, load_settings(ctx))
    return states, (build_step(workflow, states, do),)


def _check_trace(workflow: Workflow, trace: str | None, last: Sequence[Step], *, closed: bool) -> Report:
    from fateforger.workflow.conformance import check  # noqa: PLC0415  the help text needs none of it
    from fateforger.workflow.trace import read_step  # noqa: PLC0415  the help text needs none of it

    names = workflow.vocabulary
    lines = () if trace is None else read_lines(trace)
    steps = [read_step(parse_json(line, where), names, where) for line, where in lines]
    return check(workflow.rules, [*steps, *last], names, closed=closed)


def _write_states(states: tuple[EvaluatedState, ...] | None) -> dict[str, Any]:
    if states is None:
        return {}
    from fateforger.cli.workflow_states import write_states  # noqa: PLC0415  heavy

    return {"states": write_states(states)}


def _print_states(states: tuple[EvaluatedState, ...] | None) -> None:
    if states is None:
        return
    from fateforger.cli.workflow_states import print_states  # noqa: PLC0415  heavy

    print_states(states)


def _check_lines(batch: str) -> None:
    """Answer each line. A bad line gets its error document in its place, so that lines of output and input match."""
    from fateforger.workflow.conformance import check_case  # noqa: PLC0415  the help text needs none of it

    for line, where in read_lines(batch):
        try:
            write_json(check_case(parse_json(line, where)))
        except FateforgerError as error:
            place = where if error.where in {None, where} else f"{where}, {error.where}"
            write_json({"error": {"kind": error.kind, "message": error.message, "where": place}})


def _print_report(report: Report) -> None:
    for each in report.rules:
        judgement = each.judgement
        at: dict[str, Any] = {"": judgement.violations, "unknown ": judgement.unknown, "open ": judgement.pending}
        steps = "; ".join(f"{what}at step {', '.join(map(str, numbers))}" for what, numbers in at.items() if numbers)
        click.echo(f"{_SIGNS[each.verdict]} {each.stated.text}: {each.verdict.value}{f', {steps}' if steps else ''}")
        if not each.verdict.passes:
            click.echo(f"  → {each.remedy}")
    click.echo(f"Together: {report.verdict.value}.")
