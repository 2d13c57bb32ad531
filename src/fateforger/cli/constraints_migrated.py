"""The result of a migration, as text and as a document, and its progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fateforger.bootstrap.migration import Report
    from fateforger.constraints import Version
    from fateforger.constraints.moved import MigratedRow


def build_document(report: Report) -> dict[str, Any]:
    """Return the result for programs: counts, and each row with its outcome and the version written."""
    from fateforger.constraints import write_version  # noqa: PLC0415  heavy

    rows = [
        {
            "where": row.where,
            "name": row.name,
            "uid": row.version.uid if row.version else None,
            "outcome": row.outcome.value,
            "why": row.why,
            "notes": list(row.notes),
            "version": write_version(row.version) if row.version and row.outcome.is_written else None,
        }
        for row in report.rows
    ]
    return {
        "source": report.source,
        "user_id": report.user_id,
        "applied": report.applied,
        "counts": {**_count_outcomes(report), "others": report.others, "written": report.written},
        "left_out": list(report.left_out),
        "rows": rows,
    }


def _count_outcomes(report: Report) -> dict[str, int]:
    from fateforger.constraints.moved import Outcome  # noqa: PLC0415  heavy

    return {outcome.value: sum(row.outcome is outcome for row in report.rows) for outcome in Outcome}


def print_report(report: Report) -> None:
    """Print the result for people: a table of the written rows, the problems with place and reason, and the sum."""
    click.echo(f"From {report.source}, constraints of {report.user_id}:")
    shown = [row for row in report.rows if row.outcome.is_written and row.version is not None]
    if shown:
        click.echo(f"{'':<9}{'':<8}{'status':<10}{'reach':<10}{'edited':<12}name")
    for row in shown:
        click.echo(_format_line(row))
        for note in row.notes:
            click.echo(f"{'':<9}{note}")
    amiss = [row for row in report.rows if row.outcome.is_amiss]
    if amiss:
        click.echo("\nCannot be moved as they are:" if shown else "Cannot be moved as they are:")
    for row in amiss:
        click.echo(f"  “{row.name}” ({row.where})\n      {row.why}")
    click.echo(f"\n{_format_summary(report)}" if shown or amiss else _format_summary(report))
    for sentence in report.left_out:
        click.echo(sentence)
    if shown and not report.applied:
        click.echo("Nothing was changed. Add --apply to write them.")


def print_taken_back(versions: Sequence[Version], stay: int, *, applied: bool) -> None:
    """Print the constraints that were put away again, or would be."""
    for version in versions:
        click.echo(f"{'put away' if version.retired else 'as before':<10}{version.record.name}  [{version.uid}]")
    done = "taken back" if applied else "would be taken back"
    click.echo(f"{len(versions)} {done}; {stay} were changed here since and stay.")
    if versions and not applied:
        click.echo("Nothing was changed. Add --apply to do it.")


def _format_line(row: MigratedRow) -> str:
    version = row.version
    assert version is not None  # noqa: S101  only called for rows with a version
    record = version.record
    columns = f"{row.outcome.value:<9}{record.necessity.value:<8}{record.status.value:<10}{record.scope.value:<10}"
    return f"{columns}{version.updated_at:%Y-%m-%d}  {record.name}  [{version.uid}]"


def _format_summary(report: Report) -> str:
    counts = _count_outcomes(report)
    parts = [
        f"{counts['new']} new",
        f"{counts['changed']} changed",
        f"{counts['same']} here already",
        *([f"{counts['newer_here']} changed here since, left alone"] if counts["newer_here"] else []),
        *([f"{counts['bad']} bad"] if counts["bad"] else []),
        *([f"{counts['waiting']} waiting for a bad one"] if counts["waiting"] else []),
        *([f"{report.others} of other people, left alone"] if report.others else []),
    ]
    return f"{', '.join(parts)}.{f' {report.written} written.' if report.applied else ''}"


class ProgressBar:
    """A progress line, on a terminal only."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width = 0

    def show(self, what: str, done: int, total: int | None) -> None:
        if not self._shown:
            return
        bar = "" if not total else f" [{'#' * (30 * done // total):<30}]"
        text = f"{what}{bar} {done}{'' if total is None else f' of {total}'}"
        click.echo(f"\r{text:<{self._width}}", err=True, nl=False)
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            click.echo(f"\r{'':<{self._width}}\r", err=True, nl=False)
