"""``fateforger sync``: show, apply, undo and list differences between a plan and a calendar.

PLAN is a file in the wire form, or ``-``. The calendar is the configured one, or the MCP endpoint of
``--calendar-url``; without either the embedded one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from zoneinfo import ZoneInfo

import click

from fateforger.cli.documents import echo, read_document, write_json
from fateforger.cli.options import (
    Group,
    add_place_options,
    as_json,
    check_person_option,
    echo_doubt,
    load_settings,
    note_command,
)
from fateforger.errors import StoreError, StoreUnavailable, UserError

if TYPE_CHECKING:
    from fateforger.calendar.access import Wait
    from fateforger.calendar.conflicts import Choices
    from fateforger.calendar.history import HistoryRow
    from fateforger.calendar.model import SyncOp, SyncPlan
    from fateforger.calendar.ports import Journal
    from fateforger.calendar.results import SyncResult
    from fateforger.calendar.submitter import CalendarSubmitter
    from fateforger.calendar.transactions import Transaction
    from fateforger.config import Settings


QUIET_SECONDS = 1.0
"""A command that takes no longer prints nothing, and lines are at least this far apart."""
PATIENCE_SECONDS = 90.0
"""Seconds a command that only reads waits for its turn."""

T = TypeVar("T")


class ProgressLines:
    """Progress callback of a write (see :class:`fateforger.calendar.access.WriteProgressCallback`) that prints lines.

    It prints each wait when it begins, and the count about once a second.
    """

    def __init__(self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._now = now
        self._last = now()
        self._said_done = 0
        self._waits_until = -math.inf
        self._spoke = False

    def __call__(self, done: int, of: int, wait: Wait | None = None) -> None:
        counted = f"{done} of {of} written" if of else ""
        if wait is not None:
            self._announce(counted, wait.seconds, wait.reason)
        elif counted and done > self._said_done and self._now() - self._last >= QUIET_SECONDS:
            self._line(f"{counted}.")
            self._said_done = done

    def announce_reading(self) -> None:
        """Say that the calendar is being read, if nothing else was said so far."""
        if not self._spoke:
            self._line("Reading your calendar.")

    async def read_patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read; while the calendar gives a time to wait, wait and read again."""
        from fateforger.calendar.access import read_patiently  # noqa: PLC0415  heavy

        async def wait(pause: Wait) -> None:
            self._announce("", pause.seconds, pause.reason)
            await asyncio.sleep(pause.seconds)

        return await read_patiently(read, wait, seconds=PATIENCE_SECONDS)

    def _announce(self, counted: str, seconds: float, reason: str) -> None:
        """Announce a wait once, even if several writes share it."""
        until = self._now() + seconds
        if seconds < QUIET_SECONDS or until < self._waits_until + QUIET_SECONDS:
            return
        self._waits_until = until
        head = f"{counted}; waiting" if counted else "Waiting"
        self._line(f"{head} {math.ceil(seconds)} s: {reason.rstrip('.')}.")

    def _line(self, text: str) -> None:
        self._spoke, self._last = True, self._now()
        self._say(text)


@asynccontextmanager
async def show_progress() -> AsyncIterator[ProgressLines]:
    """Print progress on standard error once the block waits or takes longer than a second."""
    lines = ProgressLines(lambda text: echo(text, err=True))
    timer = asyncio.get_running_loop().call_later(QUIET_SECONDS, lines.announce_reading)
    try:
        yield lines
    finally:
        timer.cancel()


NEWEST = ""
"""The ``what`` of an undo that names no transaction."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command and its object: a plan (by its digest) or a transaction."""

    kind: Literal["apply", "undo"]
    what: str
    force: bool = False

    def repeats(self, earlier: Request) -> bool:
        """Check whether it asks for the same as an earlier one. An undo that names no transaction repeats any undo."""
        what = earlier.what if (self.kind, self.what) == ("undo", NEWEST) else self.what
        return (self.kind, what, self.force) == (earlier.kind, earlier.what, earlier.force)


async def begin_attempt(data_dir: Path, submitter: CalendarSubmitter, request: Request) -> tuple[Path, str]:
    """Begin a command, or continue the same one if its answer was never shown and nothing was written since.

    Returns the file that remembers the command, and its cause, which identifies it in the journal. The caller holds the
    lock of the data directory. Raises ``StoreUnavailable``.
    """
    name = hashlib.sha256(submitter.calendar_key.encode()).hexdigest()[:32]
    path = data_dir / "commands" / f"{name}.json"
    try:
        if path.exists():
            known = json.loads(path.read_text())
            cause = known.pop("cause")
            if request.repeats(Request(**known)) and await submitter.may_be_repeated(cause):
                return path, cause
        cause = f"door-{uuid.uuid4().hex}"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps({**asdict(request), "cause": cause}))
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"I cannot use {path}: {error.strerror}.", where="data_dir") from None
    except (ValueError, TypeError, KeyError):
        raise StoreUnavailable(f"I cannot read {path}. Delete it, and try again.", where="data_dir") from None
    return path, cause


def hash_document(document: str) -> str:
    """Return the digest that identifies a plan."""
    return hashlib.sha256(document.encode()).hexdigest()


def add_calendar_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the calendar, and those that every command shares."""
    url = click.option("--calendar-url", metavar="URL", help="MCP endpoint of a calendar server.")
    calendar = click.option("--calendar-id", metavar="ID", help="Which of its calendars; by default the primary one.")
    account = click.option("--account", metavar="NAME", help="Which login of that server, when it has several.")
    user = click.option("--user", metavar="ID", callback=check_person_option, help="Whose own calendar, if not yours.")
    return add_place_options(url(calendar(account(user(as_json(click.pass_context(function)))))))


@click.group("sync", cls=Group)
def sync_command() -> None:
    """Show, apply and take back the difference between a plan and a calendar."""


_keeping = click.option(
    "--keep",
    type=click.Choice(["calendar", "plan"]),
    help="Who wins where you and PLAN changed the same; without it your calendar stays as it is there.",
)


@sync_command.command("diff")
@click.argument("plan")
@_keeping
@add_calendar_options
def diff_command(ctx: click.Context, plan: str, keep: str | None, as_json: bool, **where: str | None) -> None:
    """Show what would change on the calendar for PLAN. Writes nothing."""
    from fateforger.calendar.history import describe_plan  # noqa: PLC0415  heavy
    from fateforger.calendar.results import report_unchanged  # noqa: PLC0415  heavy
    from fateforger.planning.wire import read_plan  # noqa: PLC0415  heavy

    day = read_plan(read_document(plan))

    async def run(settings: Settings) -> tuple[SyncPlan, tuple[str, ...]]:
        async with _open_submitter(settings, where) as submitter, show_progress() as told:
            planned = await told.read_patiently(lambda: submitter.preview(day, choices=_build_choices(keep)))
            return planned, await told.read_patiently(submitter.late)

    planned, late = _run(ctx, where, run)
    words = describe_plan(planned)
    document = {
        "transaction": None,
        "status": "planned" if planned.writes else "unchanged",
        "counts": planned.counts(),
        "ops": [_build_op(op, planned.tz, "planned") for op in planned.ops],
        "sentences": [*words.notes, *_suggest_keep(planned), *words.brakes, *late],
    }
    summary = words.counts or report_unchanged(planned).headline
    _show(document, [*words.todo, *words.left, summary], as_json=as_json)


@sync_command.command("apply")
@click.argument("plan")
@click.option("--yes", is_flag=True, help="Write even where I would rather ask first (mass deletion and the like).")
@_keeping
@add_calendar_options
def apply_command(
    ctx: click.Context, plan: str, yes: bool, keep: str | None, as_json: bool, **where: str | None
) -> None:
    """Make the calendar show PLAN. Your own changes on the calendar stay."""
    from fateforger.calendar.model import SafetyCheckKind  # noqa: PLC0415  heavy
    from fateforger.errors import ConfirmationNeeded  # noqa: PLC0415  only this command needs it
    from fateforger.planning.wire import read_plan  # noqa: PLC0415  heavy

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


@sync_command.command("undo")
@click.argument("transaction", required=False)
@click.option("--force", is_flag=True, help="Also take back what you changed yourself since.")
@add_calendar_options
def undo_command(ctx: click.Context, transaction: str | None, force: bool, as_json: bool, **where: str | None) -> None:
    """Go back to before TRANSACTION, by default the latest write in effect: take back it and every later write of
    its day. After an undo that could not do all, the default is to go on with that. Undoing an undo does it again.
    """
    named = NEWEST if transaction in {None, "last"} else str(transaction)

    async def undo(submitter: CalendarSubmitter, cause: str, told: ProgressLines) -> SyncResult:
        if named == NEWEST:
            return await submitter.undo_last(cause=cause, force=force, told=told, finishing=True)
        return await submitter.undo_since(named, cause=cause, force=force, told=told, finishing=True)

    _write(ctx, where, Request("undo", named, force=force), undo, as_json=as_json)


@sync_command.command("history")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many, newest first.")
@add_calendar_options
def history_command(ctx: click.Context, limit: int, as_json: bool, **where: str | None) -> None:
    """List what was written to the calendar, newest first."""

    async def run(settings: Settings) -> tuple[Transaction, ...]:
        async with _open_journal(settings, where) as (journal, calendar):
            return await journal.history(calendar, limit=limit)

    found = _run(ctx, where, run)
    transactions = _build_history(found)
    if as_json:
        write_json({"transactions": transactions})
        return
    if not transactions:
        echo("Nothing has been written to this calendar yet.")
    local = {each.id: each.created_at.astimezone(ZoneInfo(each.plan.tz)) for each in found}
    for row in transactions:
        said = f" {row['said']}" if row["said"] else ""
        mark = "  (can be undone)" if row["undoable"] else ""
        echo(f"{local[row['transaction']]:%Y-%m-%d %H:%M}  {row['title']}:{said} {row['deeds']}, {row['state']}.{mark}")
        echo(f"  Transaction {row['transaction']}")


def _open_submitter(
    settings: Settings, where: Mapping[str, str | None]
) -> AbstractAsyncContextManager[CalendarSubmitter]:
    """Open the calendar of ``--user``, or the configured one."""
    user_id = where.get("user")
    if user_id is None:
        from fateforger.app.resources import open_submitter  # noqa: PLC0415  heavy

        return open_submitter(settings)
    from fateforger.app.people import open_person_submitter  # noqa: PLC0415  heavy

    return open_person_submitter(settings, user_id)


def _open_journal(
    settings: Settings, where: Mapping[str, str | None]
) -> AbstractAsyncContextManager[tuple[Journal, str]]:
    """Open the journal, with the name of the calendar of ``--user`` or of the configured one."""
    user_id = where.get("user")
    if user_id is None:
        from fateforger.app.resources import open_journal  # noqa: PLC0415  heavy

        return open_journal(settings)
    from fateforger.app.people import open_person_journal  # noqa: PLC0415  heavy

    return open_person_journal(settings, user_id)


_R = TypeVar("_R")


def _run(ctx: click.Context, where: Mapping[str, str | None], run: Callable[[Settings], Coroutine[Any, Any, _R]]) -> _R:
    given = {name: value for name, value in where.items() if name != "user"}
    given["calendar_account"] = given.pop("account")
    settings = load_settings(ctx, **given)

    async def note_and_run() -> _R:
        doubt = await note_command(ctx, settings)
        done = await run(settings)
        echo_doubt(doubt)
        return done

    return asyncio.run(note_and_run())


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

    async def run(settings: Settings) -> tuple[SyncResult, Path]:
        async with _open_submitter(settings, where) as submitter, show_progress() as told:
            attempt, cause = await begin_attempt(settings.data_dir, submitter, request)
            try:
                result = await act(submitter, cause, told)
            except UserError:
                attempt.unlink(missing_ok=True)
                raise
        try:
            await _refresh_plans(settings, where.get("user"), result)
        except StoreError as error:  # the calendar is written, and the result has to be shown
            echo(f"Plans of that day show this once their calendar is read again. {error.message}", err=True)
        return result, attempt

    result, attempt = _run(ctx, where, run)
    _show_result(result, as_json=as_json)
    if result.status != "paused":
        attempt.unlink(missing_ok=True)  # its person has the answer
    if result.status in {"partial", "paused"}:
        raise click.exceptions.Exit(3)


async def _refresh_plans(settings: Settings, user_id: str | None, result: SyncResult) -> None:
    """Let the plans of the days that were written show it now, not only when their calendar is read next."""
    from fateforger.app.resources import build_clock, build_ownership, open_state  # noqa: PLC0415  heavy
    from fateforger.session.commands.plan import RefreshCalendar  # noqa: PLC0415  heavy
    from fateforger.workers.turns import build_command_job  # noqa: PLC0415  heavy

    clock = build_clock(settings)
    async with aclosing(await open_state(settings)) as store:
        person = user_id or (await build_ownership(settings, store.owners, clock).owner()).person
        if person is None:
            return
        for transaction in result.transactions:
            for session in await store.sessions.on_days(person, transaction.day, transaction.day):
                command = RefreshCalendar(command_id=f"{transaction.id}:{session.id}", session_id=session.id)
                await store.jobs.enqueue(build_command_job(command, key=session.id), now=clock.now())


def _build_choices(keep: str | None) -> Choices:
    from fateforger.calendar.conflicts import Choices  # noqa: PLC0415  heavy

    return Choices.model_validate({"otherwise": keep or "open"})


def _suggest_keep(plan: SyncPlan) -> tuple[str, ...]:
    asks = any(merged.winner == "open" for merged in plan.merged)
    return ("Say who wins there with --keep calendar or --keep plan.",) if asks else ()


def _build_op(op: SyncOp, tz: str, state: str, error: str = "") -> dict[str, Any]:
    from fateforger.calendar.history import describe_op  # noqa: PLC0415  heavy
    from fateforger.calendar.model import format_value  # noqa: PLC0415  heavy
    from fateforger.planning.timing import zone  # noqa: PLC0415  heavy

    return {
        "verb": op.verb.value,
        "event_id": op.event_id,
        "key": op.key,
        "summary": op.summary,
        "changes": {name: [format_value(value, zone(tz)) for value in change] for name, change in op.changes.items()},
        "state": state,
        "reason": error or op.reason,
        "words": describe_op(op, zone(tz), done=state == "applied"),
    }


def _show_result(result: SyncResult, *, as_json: bool) -> None:
    from fateforger.calendar.history import list_undone  # noqa: PLC0415  heavy

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
    # The sentences say what was left as it is, and why something is not done.
    writes = [op for op in ops if op["verb"] in {"create", "update", "delete"}]
    _show(document, [op["words"] + _ENDS.get(op["state"], ": not done") for op in writes], as_json=as_json)


_ENDS = {"applied": "", "pending": ": waiting", "inflight": ": waiting"}


def _show(document: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a document, as text with ``lines`` about its ops."""
    if as_json:
        write_json(document)
        return
    for line in (*lines, *document["sentences"]):
        echo(line)
    if document["transaction"]:
        echo(f"Transaction {document['transaction']}")


def _build_history(transactions: Sequence[Transaction]) -> list[dict[str, Any]]:
    """Return the history, newest first, in the words the thread uses. A submit that changed no event has no row."""
    from fateforger.calendar.history import build_rows  # noqa: PLC0415  heavy

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
