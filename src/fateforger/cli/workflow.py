"""``fateforger workflow``: check a trace against the rules of a workflow.

FILE is a workflow in YAML, or the name of one that ships or lies in the folder FATEFORGER_WORKFLOWS. TRACE holds steps,
one per line (JSON lines): ``{"do":[actions],"true":[states],"unknown":[states]}``; a state that is neither true nor
unknown does not hold. Steps are counted from 0. A plan has only actions; they say which states hold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from fateforger.adapters.facts import AllowList, LocalFacts, read_allow_file
from fateforger.app.agents import build_workflows
from fateforger.cli.documents import answer_lines, parse_json, print_result, read_document, read_lines, read_text
from fateforger.cli.options import Group, as_json, load_settings
from fateforger.config import Settings
from fateforger.errors import BadInput, validate
from fateforger.workflow.conformance import CheckedRule, check, check_case, combine_verdicts, write_report
from fateforger.workflow.definition import Workflow, list_shipped, load_shipped, read_shipped, read_workflow
from fateforger.workflow.rules import is_name
from fateforger.workflow.trace import (
    EvaluatedState,
    KnownValues,
    Step,
    build_step,
    evaluate,
    evaluate_state,
    expect_kind,
    plan_steps,
    read_step,
)

_SIGNS = {"violated": "✗", "unknown": "?", "pending": "…", "satisfied": "✓", "vacuous": "·"}


@click.group("workflow", cls=Group)
def workflow_command() -> None:
    """Check what was done, or is planned, against the rules of a workflow."""


@workflow_command.command("list")
@as_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the workflows that tasks can have, with what each is for and not for."""
    workflows = build_workflows(load_settings(ctx))
    found = [workflow for name in workflows.names if (workflow := workflows.get(name)) is not None]
    rows = [
        {
            "workflow": each.name,
            "description": each.description,
            "applies_when": list(each.applies_when),
            "not_when": list(each.not_when),
            "own": each.name in workflows.own,
        }
        for each in found
    ]
    lines = [line for each in found for line in _describe_use(each)]
    print_result({"workflows": rows}, lines, as_json=as_json)


def _describe_use(workflow: Workflow) -> Iterator[str]:
    yield f"{workflow.name}: {workflow.description}"
    for label, texts in (("for", workflow.applies_when), ("not for", workflow.not_when)):
        if texts:
            yield f"  {label} {'; '.join(texts)}"


@workflow_command.command("check")
@click.argument("file", required=False)
@click.option("--trace", metavar="FILE", help="What was done, one step a line; or -.")
@click.option(
    "--plan", metavar="FILE", help="What is planned, one step a line: write_test, or commit + complete; or -."
)
@click.option("--open", "is_open", is_flag=True, help="The trace may go on: what has not come yet is pending.")
@click.option("--evaluate", is_flag=True, help="Look how the states are now, and check that as the last step.")
@click.option("--do", "do", multiple=True, metavar="ACTION", help="With --evaluate: what is done in that step.")
@click.option(
    "--known", metavar="FILE", help="With --evaluate and --plan: what the session, the task and the person say; or -."
)
@click.option("--batch", metavar="FILE", help="One case a line, rules and trace together; one result document a line.")
@click.option("--exit-code", is_flag=True, help="Exit with status 1 when a rule is violated.")
@as_json
@click.pass_context
def check_command(
    ctx: click.Context,
    file: str | None,
    trace: str | None,
    plan: str | None,
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
        if file is not None or trace is not None or plan is not None or is_open or evaluate:
            raise click.UsageError("With --batch each line says its rules, its trace, and whether that is closed.")
        answer_lines(batch, check_case)
        return
    if file is None or (trace is None and plan is None and not evaluate):
        raise click.UsageError(
            "Give a workflow FILE and its --trace TRACE (JSON lines) or --plan PLAN, or --batch FILE."
        )
    if plan is not None and (trace is not None or evaluate):
        raise click.UsageError("A --plan is checked by itself, without --trace and --evaluate.")
    if (do and not evaluate) or (known is not None and not evaluate and plan is None):
        raise click.UsageError("--do belongs to --evaluate, --known to --evaluate or --plan.")
    if [file, trace, plan, known].count("-") > 1:
        raise BadInput("Only one of the workflow, the trace, the plan and what is known can come from stdin.")
    workflow = _load_workflow(file, load_settings(ctx))
    if plan is not None:
        checked = check(workflow.rules, _read_plan(workflow, plan, known), workflow.vocabulary, closed=not is_open)
        print_result(write_report(checked), list(_format_report(checked)), as_json=as_json)
        if exit_code and any(each.violations for each in checked):
            raise click.exceptions.Exit(1)
        return
    states = _evaluate_states(workflow, known, load_settings(ctx)) if evaluate else ()
    last = (_build_step(workflow, states, do),) if evaluate else ()
    checked = _check_trace(workflow, trace, last, closed=not is_open)
    told = [{"state": each.name, "holds": each.holds, "why": list(each.why)} for each in states]
    lines = [f"{_STATE_SIGNS[each.holds]} {each.name}: {' '.join(each.why)}" for each in states]
    document = {**write_report(checked), **({"states": told} if evaluate else {})}
    print_result(document, [*lines, *_format_report(checked)], as_json=as_json)
    if exit_code and any(each.violations for each in checked):
        raise click.exceptions.Exit(1)


def _load_workflow(source: str, settings: Settings) -> Workflow:
    if source in list_shipped() and not Path(source).exists():
        return load_shipped(source)
    if is_name(source) and not Path(source).exists():
        own = build_workflows(settings).get(source)
        if own is not None:
            return own
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
    given = KnownValues() if known is None else validate(KnownValues, read_document(known), known)
    facts = LocalFacts(AllowList() if settings.facts is None else read_allow_file(settings.facts))
    predicates = [workflow.predicates[name] for name in sorted(workflow.predicates)]
    return asyncio.run(evaluate(predicates, given, facts))


def _read_plan(workflow: Workflow, plan: str, known: str | None) -> tuple[Step, ...]:
    """Return the steps of a plan, with the states that are known or brought about. Raises ``BadInput``."""
    steps = []
    for line, where in read_lines(plan):
        do = [name.strip() for name in line.split("+")]
        for name in do:
            expect_kind(name, "action", workflow.vocabulary, where)
        steps.append(do)
    given = KnownValues() if known is None else validate(KnownValues, read_document(known), known)
    predicates = tuple(workflow.predicates.values())
    states = (evaluate_state(predicate, given, {}) for predicate in predicates)
    return plan_steps(predicates, steps, given={each.name: each.holds for each in states if each.holds is not None})


def _build_step(workflow: Workflow, states: Sequence[EvaluatedState], do: Sequence[str]) -> Step:
    """Return the current step. Raises :class:`BadInput` for what is no declared action."""
    for name in do:
        expect_kind(name, "action", workflow.vocabulary, "--do")
    return build_step({state.name: state.holds for state in states}, do)
