"""``fateforger sync``: show, apply, undo and list differences between a plan and a calendar.

PLAN is a file in the wire form, or ``-``. The calendar is the configured one, or the MCP endpoint of
``--calendar-url``; without either the embedded one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.documents import read_document, write_json
from fateforger.cli.options import add_place_options, as_json, load_settings
from fateforger.cli.progress import ProgressLines, show_progress
from fateforger.cli.retry import NEWEST, Attempt, Request, begin_attempt, hash_document
from fateforger.errors import UserError

if TYPE_CHECKING:
    from fateforger.commit import CalendarSubmitter, SyncResult
    from fateforger.config import Settings
    from fateforger.journal import Transaction
    from fateforger.journal.rows import HistoryRow
    from fateforger.sync import Choices
    from fateforger.sync.model import SyncOp, SyncPlan


def add_calendar_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the calendar, and those that every command shares."""
    url = click.option("--calendar-url", metavar="URL", help="MCP endpoint of a calendar server.")
    calendar = click.option("--calendar-id", metavar="ID", help="Which of its calendars; by default the primary one.")
    account = click.option("--account", metavar="NAME", help="Which login of that server, when it has several.")
    return add_place_options(url(calendar(account(as_json(click.pass_context(function))))))


@click.group("sync")
def command() -> None:
    """Show, apply and take back the difference between a plan and a calendar."""


_keeping = click.option(
    "--keep",
    type=click.Choice(["calendar", "plan"]),
    help="Who wins where you and PLAN changed the same; without it your calendar stays as it is there.",
)


@command.command("diff")
@click.argument("plan")
@_keeping
@add_calendar_options
def diff_command(ctx: click.Context, plan: str, keep: str | None, as_json: bool, **where: str | None) -> None:
    """Show what would change on the calendar for PLAN. Writes nothing."""
    from fateforger.bootstrap.ground import open_resources  # noqa: PLC0415  heavy
    from fateforger.plan import read_plan  # noqa: PLC0415  heavy
    from fateforger.sync.sentences import describe_plan  # noqa: PLC0415  heavy

    day = read_plan(read_document(plan))

    async def run(settings: Settings) -> tuple[SyncPlan, tuple[str, ...]]:
        async with open_resources(settings) as ground, show_progress() as told:
            planned = await told.read_patiently(lambda: ground.submitter.preview(day, choices=_build_choices(keep)))
            return planned, await told.read_patiently(ground.submitter.late)

    planned, late = _run(ctx, where, run)
    words = describe_plan(planned)
    document = {
        "transaction": None,
        "status": "planned" if planned.writes else "unchanged",
        "counts": planned.counts(),
        "ops": [_build_op(op, planned.tz, "planned") for op in planned.ops],
        "sentences": [*words.notes, *_suggest_keep(planned), *words.brakes, *late],
    }
    _show(document, as_json=as_json)


@command.command("apply")
@click.argument("plan")
@click.option("--yes", is_flag=True, help="Write even where I would rather ask first (mass deletion and the like).")
@_keeping
@add_calendar_options
def apply_command(
    ctx: click.Context, plan: str, yes: bool, keep: str | None, as_json: bool, **where: str | None
) -> None:
    """Make the calendar show PLAN. Your own changes on the calendar stay."""
    from fateforger.errors import ConfirmationNeeded  # noqa: PLC0415  only this command needs it
    from fateforger.plan import read_plan  # noqa: PLC0415  heavy
    from fateforger.sync.model import SafetyCheckKind  # noqa: PLC0415  heavy

    day = read_plan(read_document(plan))
    confirmed = tuple(SafetyCheckKind) if yes else ()

    async def apply(submitter: CalendarSubmitter, cause: str, told: ProgressLines) -> SyncResult:
        try:
            return await submitter.submit_plan(
                day, cause=cause, confirmed=confirmed, choices=_build_choices(keep), told=told, finishing=True
            )
        except ConfirmationNeeded as needed:
            sentence = f"{needed.message} Say so with --yes."
            raise ConfirmationNeeded(sentence, reasons=needed.reasons, where=", ".join(needed.reasons)) from None

    _write(ctx, where, Request("apply", hash_document(day.model_dump_json())), apply, as_json=as_json)


@command.command("undo")
@click.argument("transaction", required=False)
@click.option("--force", is_flag=True, help="Also take back what you changed yourself since.")
@add_calendar_options
def undo_command(ctx: click.Context, transaction: str | None, force: bool, as_json: bool, **where: str | None) -> None:
    """Go back to before TRANSACTION, by default the latest write that stands: take back it and every later write of
    its day. Undoing an undo does it again."""
    named = NEWEST if transaction in {None, "last"} else str(transaction)

    async def undo(submitter: CalendarSubmitter, cause: str, told: ProgressLines) -> SyncResult:
        if named == NEWEST:
            return await submitter.undo_last(cause=cause, force=force, told=told, finishing=True)
        return await submitter.undo_since(named, cause=cause, force=force, told=told, finishing=True)

    _write(ctx, where, Request("undo", named, force=force), undo, as_json=as_json)


@command.command("history")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many, newest first.")
@add_calendar_options
def history_command(ctx: click.Context, limit: int, as_json: bool, **where: str | None) -> None:
    """List what was written to the calendar, newest first."""
    from fateforger.bootstrap.ground import open_journal  # noqa: PLC0415  heavy

    async def run(settings: Settings) -> tuple[Transaction, ...]:
        async with open_journal(settings) as (journal, calendar):
            return await journal.history(calendar, limit=limit)

    transactions = _build_history(_run(ctx, where, run))
    if as_json:
        write_json({"transactions": transactions})
        return
    if not transactions:
        click.echo("Nothing has been written to this calendar yet.")
    for row in transactions:
        said = f" {row['said']}" if row["said"] else ""
        mark = "  (can be undone)" if row["undoable"] else ""
        click.echo(f"{row['created_at']}  {row['title']}:{said} {row['deeds']}, {row['state']}.{mark}")
        click.echo(f"  Transaction {row['transaction']}")


_R = TypeVar("_R")


def _run(ctx: click.Context, where: Mapping[str, str | None], run: Callable[[Settings], Coroutine[Any, Any, _R]]) -> _R:
    given = dict(where)
    given["calendar_account"] = given.pop("account")
    return asyncio.run(run(load_settings(ctx, **given)))


def _write(
    ctx: click.Context,
    where: Mapping[str, str | None],
    request: Request,
    act: Callable[[CalendarSubmitter, str, ProgressLines], Awaitable[SyncResult]],
    *,
    as_json: bool,
) -> None:
    """Carry out a writing command and show its result.

    The command is remembered until then, so that a repetition finishes it. It is also remembered when it paused or
    could not reach the calendar.
    """
    from fateforger.bootstrap.ground import open_resources  # noqa: PLC0415  heavy

    async def run(settings: Settings) -> tuple[SyncResult, Attempt]:
        async with open_resources(settings) as ground, show_progress() as told:
            attempt = await begin_attempt(settings.data_dir, ground.submitter, request)
            try:
                return await act(ground.submitter, attempt.cause, told), attempt
            except UserError:
                attempt.close()
                raise

    result, attempt = _run(ctx, where, run)
    _show_result(result, as_json=as_json)
    if result.status != "paused":
        attempt.close()
    if result.status in {"partial", "paused"}:
        raise click.exceptions.Exit(3)


def _build_choices(keep: str | None) -> Choices:
    from fateforger.sync import Choices  # noqa: PLC0415  heavy

    return Choices.model_validate({"otherwise": keep or "open"})


def _suggest_keep(plan: SyncPlan) -> tuple[str, ...]:
    asks = any(merged.winner == "open" for merged in plan.merged)
    return ("Say who wins there with --keep calendar or --keep plan.",) if asks else ()


def _build_op(op: SyncOp, tz: str, state: str, error: str = "") -> dict[str, Any]:
    from fateforger.plan import zone  # noqa: PLC0415  heavy
    from fateforger.sync.sentences import describe_op  # noqa: PLC0415  heavy

    return {
        "verb": op.verb.value,
        "event_id": op.event_id,
        "key": op.key,
        "summary": op.summary,
        "changes": {name: list(change) for name, change in op.changes.items()},
        "state": state,
        "reason": error or op.reason,
        "words": describe_op(op, zone(tz), done=state == "applied"),
    }


def _show_result(result: SyncResult, *, as_json: bool) -> None:
    from fateforger.journal.standing import list_undone  # noqa: PLC0415  heavy

    transaction = result.transaction
    whole = {"changed": "committed"}.get(result.status, result.status)
    records = [record for t in result.transactions for record in t.records]
    tz = result.plan.tz
    ops = [_build_op(r.op, tz, r.state.value, r.error) for r in records] or [
        _build_op(o, tz, "planned") for o in result.plan.ops
    ]
    document = {
        "transaction": None if transaction is None else transaction.id,
        "status": whole,
        "counts": result.plan.counts(),
        "ops": ops,
        "sentences": [*result.sentences, *_suggest_keep(result.plan)],
    }
    if transaction is not None and transaction.kind == "undo":
        document["took_back"] = list(list_undone(transaction))
    _show(document, as_json=as_json)


def _show(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json(document)
        return
    for op in document["ops"]:
        failed = op["state"] in {"conflict", "failed", "superseded"}
        click.echo(f"{op['words']}: not done. {op['reason']}" if failed else op["words"])
    counts = ", ".join(f"{number} {verb}" for verb, number in document["counts"].items() if number) or "nothing to do"
    click.echo(f"{document['status']}: {counts}")
    for sentence in document["sentences"]:
        click.echo(sentence)
    if document["transaction"]:
        click.echo(f"Transaction {document['transaction']}")


def _build_history(transactions: Sequence[Transaction]) -> list[dict[str, Any]]:
    """Return the history, newest first, in the words the thread uses. A submit that changed no event has no row."""
    from fateforger.journal.rows import build_rows  # noqa: PLC0415  heavy

    days = {t.day for t in transactions}
    rows = {row.transaction: row for day in days for row in build_rows([t for t in transactions if t.day == day])}
    return [_build_history_row(t, rows[t.id]) for t in transactions if t.id in rows]


def _build_history_row(transaction: Transaction, row: HistoryRow) -> dict[str, Any]:
    return {
        "transaction": transaction.id,
        "kind": transaction.kind,
        "status": transaction.state.value,
        "created_at": transaction.created_at.isoformat(),
        "counts": transaction.plan.counts(),
        "undoable": transaction.undoable,
        "title": row.title,
        "said": row.said,
        "deeds": row.deeds,
        "state": row.state,
    }
