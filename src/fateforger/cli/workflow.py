"""``fateforger workflow``: check a trace against the rules of a workflow.

FILE is a workflow in YAML, or the name of a bundled one. TRACE holds steps, one per line (JSON lines):
``{"do":[actions],"true":[states],"unknown":[states]}``; a state that is neither true nor unknown does not hold. Steps
are counted from 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
from pydantic import ValidationError

from fateforger.adapters.facts import AllowList, LocalFacts, read_allow_file
from fateforger.cli.documents import answer_lines, parse_json, print_result, read_document, read_lines, read_text
from fateforger.cli.options import as_json, load_settings
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.planning.validation import first_mistake
from fateforger.workflow.conformance import CheckedRule, check, check_case, combine_verdicts, write_report
from fateforger.workflow.definition import Workflow, list_shipped, load_shipped, read_shipped, read_workflow
from fateforger.workflow.predicates import EvaluatedState, KnownValues, build_step, evaluate
from fateforger.workflow.rules import suggest_names
from fateforger.workflow.trace import Step, read_step

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
        answer_lines(batch, check_case)
        return
    if file is None or (trace is None and not evaluate):
        raise click.UsageError("Give a workflow FILE and its --trace TRACE (JSON lines), or --batch FILE.")
    if (do or known is not None) and not evaluate:
        raise click.UsageError("--do and --known belong to --evaluate.")
    if [file, trace, known].count("-") > 1:
        raise BadInput("Only one of the workflow, the trace and what is known can come from stdin.")
    workflow = _load_workflow(file)
    states = _evaluate_states(workflow, known, load_settings(ctx)) if evaluate else ()
    last = (_build_step(workflow, states, do),) if evaluate else ()
    checked = _check_trace(workflow, trace, last, closed=not is_open)
    told = [{"state": each.name, "holds": each.holds, "why": list(each.why)} for each in states]
    lines = [f"{_STATE_SIGNS[each.holds]} {each.name}: {' '.join(each.why)}" for each in states]
    document = {**write_report(checked), **({"states": told} if evaluate else {})}
    print_result(document, [*lines, *_format_report(checked)], as_json=as_json)
    if exit_code and any(each.violations for each in checked):
        raise click.exceptions.Exit(1)


def _load_workflow(source: str) -> Workflow:
    if source in list_shipped() and not Path(source).exists():
        return load_shipped(source)
    text = read_text(source)
    try:
        return read_workflow(text, _build_parent_reader(source))
    except BadInput as error:
        raise BadInput(error.message, where=f"{source}, {error.where}" if error.where else source) from None


def _build_parent_reader(source: str) -> Callable[[str], str | None]:
    """Return a reader of parent workflows, which lie in the folder of the file or are bundled."""

    def parent(name: str) -> str | None:
        path = Path(source).parent / f"{name}.yaml"
        return read_text(str(path)) if source != "-" and path.is_file() else read_shipped(name)

    return parent


def _check_trace(
    workflow: Workflow, trace: str | None, last: Sequence[Step], *, closed: bool
) -> tuple[CheckedRule, ...]:
    names = workflow.vocabulary
    lines = () if trace is None else read_lines(trace)
    steps = [read_step(parse_json(line, where), names, where) for line, where in lines]
    return check(workflow.rules, [*steps, *last], names, closed=closed)


def _format_report(checked: Sequence[CheckedRule]) -> Iterator[str]:
    for each in checked:
        at = {"": each.violations, "unknown ": each.unknown, "open ": each.pending}
        steps = "; ".join(f"{what}at step {', '.join(map(str, numbers))}" for what, numbers in at.items() if numbers)
        yield f"{_SIGNS[each.verdict]} {each.stated.text}: {each.verdict.value}{f', {steps}' if steps else ''}"
        if not each.verdict.passes:
            yield f"  → {each.remedy}"
    yield f"Together: {combine_verdicts(each.verdict for each in checked).value}."


_STATE_SIGNS = {True: "✓", False: "✗", None: "?"}


def _evaluate_states(workflow: Workflow, known: str | None, settings: Settings) -> tuple[EvaluatedState, ...]:
    """Evaluate each state that the workflow declares, by name.

    ``known`` is a file, or ``-``. Raises :class:`BadInput`.
    """
    given = KnownValues() if known is None else _parse_known(read_document(known), known)
    facts = LocalFacts(AllowList() if settings.facts is None else read_allow_file(settings.facts))
    predicates = [workflow.predicates[name] for name in sorted(workflow.predicates)]
    return asyncio.run(evaluate(predicates, given, facts))


def _build_step(workflow: Workflow, states: Sequence[EvaluatedState], do: Sequence[str]) -> Step:
    """Return the current step. Raises :class:`BadInput` for an action that is not declared."""
    for name in do:
        if workflow.vocabulary.kind_of(name) != "action":
            meant = suggest_names(name, workflow.vocabulary)
            raise BadInput(f"“{name}” is no action of {workflow.name}.{meant}", where="--do")
    return build_step({state.name: state.holds for state in states}, do)


def _parse_known(document: object, where: str) -> KnownValues:
    try:
        return KnownValues.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=f"{where}, {mistake.where}" if mistake.where else where) from None
