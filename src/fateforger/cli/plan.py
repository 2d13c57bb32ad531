"""``fateforger plan``: resolve, patch, check and draft. PLAN, PATCH and INSTANCE are files, or ``-``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import answer_lines, echo, format_block, print_result, read_document, write_json
from fateforger.cli.options import Group, as_json
from fateforger.errors import BadInput, PlanInvalid
from fateforger.limits import MAX_FRAME
from fateforger.planning.plan import Resolved, TBPlan, overlap_sentence, overlaps, resolve, resolve_strict
from fateforger.planning.timing import local_day
from fateforger.planning.wire import (
    apply_tb_ops,
    read_patch,
    read_plan,
    to_wire,
    write_patch,
    write_plan,
    write_resolved,
)

if TYPE_CHECKING:
    from fateforger.drafting.model import Violation


@click.group("plan", cls=Group)
def plan_command() -> None:
    """Resolve, patch, check and draft plans."""


@plan_command.command("resolve")
@click.argument("plan", required=False)
@click.option("--batch", metavar="FILE", help="One plan a line (JSON lines); one result document a line.")
@as_json
def resolve_command(plan: str | None, batch: str | None, as_json: bool) -> None:
    """Show when each block of PLAN happens, as instants."""
    if (plan is None) == (batch is None):
        raise click.UsageError("Give a PLAN file (or - for stdin), or --batch FILE.")
    if batch is not None:
        answer_lines(batch, _resolve_document, place=_find_place)
        return
    assert plan is not None  # noqa: S101  checked above; for the type checker
    document = read_document(plan)
    if as_json:
        write_json(_resolve_document(document))
        return
    day = read_plan(document)
    echo(f"{day.date:%A %d %B %Y}, {day.tz}")
    for block in resolve_strict(day):
        echo(format_block(block))


@plan_command.command("patch")
@click.argument("plan")
@click.argument("patch")
@as_json
def patch_command(plan: str, patch: str, as_json: bool) -> None:
    """Apply PATCH to PLAN; gives the new plan and the patch that leads back."""
    if plan == patch == "-":
        raise BadInput("Only one of plan and patch can come from stdin.")
    before = read_plan(read_document(plan))
    applied = apply_tb_ops(before, read_patch(read_document(patch)))
    if as_json:
        inverse = write_patch(to_wire(applied.plan, applied.inverse))
        write_json({"plan": write_plan(applied.plan), "inverse": inverse})
        return
    for block in resolve_strict(applied.plan):
        echo(format_block(block))


@plan_command.command("draw")
@click.argument("plan")
@click.option("--out", metavar="FILE", help="Write the picture here: FILE.svg or FILE.png.")
@click.option("--before", metavar="PLAN", help="Show what changed since this plan of the same day.")
@click.option("--now", metavar="INSTANT", help="Draw a line at this instant (RFC 3339).")
@as_json
def draw_command(plan: str, out: str | None, before: str | None, now: str | None, as_json: bool) -> None:
    """Draw PLAN as a picture of the day, and describe it in words."""
    from fateforger.cli.drafting import read_view, write_picture  # noqa: PLC0415  only this command needs it

    view = read_view(plan, before, now)
    document = write_picture(view, out)
    print_result(document, [document["text" if out else "svg"]], as_json=as_json)


@plan_command.command("check")
@click.argument("plan")
@click.option("--constraints", metavar="FILE", help="What was said: records, or what `constraints query` prints.")
@click.option("--exit-code", is_flag=True, help="Exit with status 1 when the plan is not ok.")
@as_json
def check_command(plan: str, constraints: str | None, exit_code: bool, as_json: bool) -> None:
    """Check whether PLAN holds together, keeps what was said, and how good it is."""
    if plan == constraints == "-":
        raise BadInput("Only one of plan and constraints can come from stdin.")
    said = None if constraints is None else read_document(constraints)
    result = check_plan(read_document(plan), said)
    quality = result["quality"]
    lines = [f"✗ {error['message']}" for error in result["errors"]]
    lines += [f"• {finding['message']}" for finding in result["findings"]]
    if result["ok"]:
        lines.append(f"✓ The plan holds together. Quality {quality['level']}/4, {quality['label']}.")
    print_result(result, [*lines, f"→ {quality['next_step']}"], as_json=as_json)
    if exit_code and not result["ok"]:
        raise click.exceptions.Exit(1)


def check_plan(document: Any, said: Any = None) -> dict[str, Any]:
    """Return ``{"ok","errors":[{"message","events"}],"findings":[..],"quality":{"level","label","next_step"}}``.

    Mistakes inside a block are errors, and so is a violated must of ``said``; any other violated constraint is a
    finding. Raises ``PlanInvalid`` for a document that is not a plan.
    """
    if isinstance(document, dict) and "frame" in document:
        raise BadInput("This is an instance, which plan draft takes; plan check takes a plan.", where="frame")
    errors: list[dict[str, Any]] = []
    resolved: tuple[Resolved, ...] = ()
    day: TBPlan | None = None
    try:
        day = read_plan(document)
        resolved = resolve(day)
    except PlanInvalid as error:
        if not error.events:
            raise
        errors.append({"message": error.message, "events": list(error.events)})
    for first, second in overlaps(resolved):
        errors.append({"message": overlap_sentence(first, second), "events": [first.index, second.index]})
    findings, quality = _judge_plan(None if errors else day, resolved, said)
    if said is not None and day is not None:
        for breach in _find_violations(day, resolved, said):
            told = {"message": breach.text, "events": [day.position(key) for key in breach.keys]}
            (errors if breach.must else findings).append(told)
    return {"ok": not errors, "errors": errors, "findings": findings, "quality": quality}


@plan_command.command("draft")
@click.argument("instance", required=False)
@click.option("--batch", metavar="FILE", help="One instance a line (JSON lines); one result document a line.")
@click.option("--days", type=click.IntRange(1, 7), help="So many days in a row, with the same frame and tasks.")
@click.option("--steps", type=click.IntRange(0, 10_000_000), help="How long to improve; the same steps, the same plan.")
@click.option("--budget", metavar="MS", type=click.IntRange(0), help="Stop improving after so many milliseconds.")
@as_json
def draft_command(
    instance: str | None, batch: str | None, days: int | None, steps: int | None, budget: int | None, as_json: bool
) -> None:
    """Draft a day from INSTANCE (its schema: docs/instance.schema.json): what fits where, and what does not fit."""
    from fateforger.cli.drafting import draft_document, print_draft  # noqa: PLC0415  only this command needs it

    if (instance is None) == (batch is None):
        raise click.UsageError("Give an INSTANCE file (or - for stdin), or --batch FILE.")
    if batch is not None:
        answer_lines(batch, lambda document: draft_document(document, days, steps, budget), place=_find_place)
        return
    assert instance is not None  # noqa: S101  checked above; for the type checker
    document = read_document(instance)
    if as_json:
        write_json(draft_document(document, days, steps, budget))
    else:
        print_draft(document, days, steps, budget)


def _judge_plan(
    day: TBPlan | None, resolved: Sequence[Resolved], said: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the advice on a plan without errors, and its level.

    Without a day's frame, the plan's own blocks define the day. Overlaps and constraints are omitted, since they are
    reported elsewhere.
    """
    from fateforger.drafting.instance import read_instance  # noqa: PLC0415  only this command needs it
    from fateforger.quality.model import LABELS, Criterion  # noqa: PLC0415  only this command needs it
    from fateforger.quality.rubric import grade_plan  # noqa: PLC0415  only this command needs it

    if day is None:
        return [], {"level": 0, "label": LABELS[0], "next_step": "Mend the errors first."}
    begin, end = local_day(day.date, day.zone)
    if resolved:
        begin = min((block.start for block in resolved), key=_to_utc)
        end = min((max((b.end for b in resolved), key=_to_utc), begin + MAX_FRAME), key=_to_utc)
    frame = {"start": begin.isoformat(), "end": end.isoformat()}
    records = [] if said is None else _records_of(said)
    # A plan names no tasks, so the one thing is unknown here.
    document = {"date": day.date.isoformat(), "tz": day.tz, "frame": frame, "constraints": records}
    instance = read_instance({**document, "policy": {"one_thing_early": False}})
    quality = grade_plan(instance, day)
    elsewhere = {Criterion.OVERLAP, Criterion.MUST, Criterion.SHOULD, Criterion.WISH}
    findings = [
        {"message": found.text, "events": [day.position(key) for key in found.keys]}
        for found in quality.findings
        if found.criterion not in elsewhere
    ]
    return findings, {"level": quality.level, "label": quality.label, "next_step": quality.next_step}


def _find_violations(plan: TBPlan, resolved: Sequence[Resolved], said: Any) -> tuple[Violation, ...]:
    """Return the violations of the constraints in a document, on the whole day of the plan."""
    from fateforger.drafting.instance import read_instance  # noqa: PLC0415  only this command needs it
    from fateforger.drafting.model import find_violations  # noqa: PLC0415  only this command needs it

    midnight = datetime.combine(plan.date, time())
    ends = [block.end.replace(tzinfo=None) for block in resolved]
    until = min(max([midnight + timedelta(days=1), *ends]), midnight + MAX_FRAME)
    document = {
        "date": plan.date.isoformat(),
        "tz": plan.tz,
        "frame": {"start": midnight.isoformat(), "end": until.isoformat()},
        "constraints": _records_of(said),
    }
    return find_violations(read_instance(document), resolved)


def _records_of(said: Any) -> list[Any]:
    """Return the constraints in a document: a list of records, or ``{"constraints": [..]}``.

    Raises :class:`BadInput` for a document without any.
    """
    if isinstance(said, Mapping):
        said = said.get("constraints", [said])
    if not isinstance(said, list):
        raise BadInput("Constraints are a list of constraint records.", where="constraints")
    return said


def _to_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _resolve_document(document: Any) -> dict[str, Any]:
    day = read_plan(document)
    return {
        "date": day.date.isoformat(),
        "tz": day.tz,
        "events": [write_resolved(block) for block in resolve_strict(day)],
    }


def _find_place(where: str, part: str | None) -> str:
    return part or where
