"""``fateforger admin``: people and their connections, work that failed, upkeep, backup and restore."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.options import CommandCall, Group, Opened, add_store_options, note_action
from fateforger.errors import BadInput
from fateforger.text import format_count, join_words

if TYPE_CHECKING:
    from fateforger.adapters.store.upkeep import DeadJob, DeadMessage, Link, Planner, SqlGivenUp
    from fateforger.app.upkeep import Manifest

NotePeople = Callable[[Iterable[str]], Awaitable[None]]
"""Notes this command for each of the people."""
_SIGNS = {"real": "●", "local": "○", "missing": "·", "broken": "✗"}

_limit = click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="How many.")
_after = click.option("--after", default="", metavar="ID", help="Only those after this id, for the next page.")
_all = click.option("--all", "everything", is_flag=True, help="All that the list shows.")


@click.group("admin", cls=Group)
def admin_command() -> None:
    """For those who run fateforger for others. Nothing here shows what people wrote."""


@admin_command.command("people")
@_after
@_limit
@add_store_options
def people_command(call: CommandCall, after: str, limit: int) -> None:
    """List who plans: their days, when they were last active, and the state of their calendar's connection."""

    async def read(opened: Opened) -> tuple[tuple[Planner, ...], str | None]:
        from fateforger.adapters.store.upkeep import list_planners  # noqa: PLC0415  heavy
        from fateforger.app.resources import build_clock, build_ownership  # noqa: PLC0415  heavy

        owner = await build_ownership(opened.settings, opened.store.owners, build_clock(opened.settings)).owner()
        return await list_planners(opened.store.database, after=after, limit=limit), owner.person

    found, owner = call.run(read)
    documents = [_describe_planner(person, owner) for person in found]
    lines = [
        f"{each['user']}  {format_count(each['days'], 'day')}"
        + (f", {each['first_day']} to {each['last_day']}, active {each['active_at'][:10]}" if each["days"] else "")
        + f"; calendar: {each['calendar']}"
        for each in documents
    ] or ["Nobody has planned a day yet."]
    call.print_result({"people": documents}, lines)


def _describe_planner(person: Planner, owner: str | None) -> dict[str, Any]:
    state: str = "none" if person.link is None else person.link.state
    if state in {"none", "disconnected"} and person.user_id == owner:
        state = "configured"
    return {
        "user": person.user_id,
        "days": person.days,
        "first_day": _to_text(person.first_day),
        "last_day": _to_text(person.last_day),
        "active_at": _to_text(person.active_at),
        "calendar": state,
    }


def _to_text(value: Any) -> str | None:
    return None if value is None else value.isoformat()


@admin_command.command("connections")
@_after
@_limit
@add_store_options
def connections_command(call: CommandCall, after: str, limit: int) -> None:
    """List the calendars that people connected, and what is wrong with those that broke."""

    async def read(opened: Opened) -> tuple[Link, ...]:
        from fateforger.adapters.store.upkeep import list_links  # noqa: PLC0415  heavy

        return await list_links(opened.store.database, after=after, limit=limit)

    links = call.run(read)
    documents = [{**asdict(link), "connected_at": link.connected_at.isoformat()} for link in links]
    lines = [
        f"{link.user_id}  {link.provider}, {link.state} since {link.connected_at:%Y-%m-%d}"
        + (f": {link.problem}" if link.problem else "")
        for link in links
    ] or ["Nobody has connected a calendar yet."]
    call.print_result({"connections": documents}, lines)


@admin_command.group("jobs")
def jobs_command() -> None:
    """Work that was given up after all its tries."""


@admin_command.group("messages")
def messages_command() -> None:
    """Messages to Slack that were given up."""


def _run_given_up(call: CommandCall, work: Callable[[SqlGivenUp, NotePeople], Awaitable[Any]]) -> Any:
    async def run(opened: Opened) -> Any:
        from fateforger.adapters.store.upkeep import SqlGivenUp  # noqa: PLC0415  heavy

        return await work(SqlGivenUp(opened.store.database), lambda people: note_action(call.ctx, opened, people))

    return call.run(run)


@jobs_command.command("list")
@click.option("--lane", metavar="NAME", help="Only those of this lane, such as turn or sending.")
@_limit
@add_store_options
def jobs_list_command(call: CommandCall, lane: str | None, limit: int) -> None:
    """List jobs that were given up, each with its reason."""
    found: tuple[DeadJob, ...] = _run_given_up(call, lambda store, _: store.list_jobs(limit=limit, lane=lane))
    documents = [{**asdict(job), "enqueued_at": job.enqueued_at.isoformat()} for job in found]
    lines = [
        f"{job.number}  {job.lane}{f' {job.kind}' if job.kind else ''} for {job.user_id or 'nobody'}"
        f" of {job.enqueued_at:%Y-%m-%d %H:%M}Z, {format_count(job.attempts, 'try', 'tries')}: {job.reason}"
        for job in found
    ] or ["No job was given up."]
    call.print_result({"jobs": documents}, lines)


@jobs_command.command("retry")
@click.argument("numbers", nargs=-1, type=int)
@_all
@add_store_options
def jobs_retry_command(call: CommandCall, numbers: tuple[int, ...], everything: bool) -> None:
    """Queue jobs again, by their NUMBERS. A running program begins within seconds."""

    async def retry(store: SqlGivenUp, note: NotePeople) -> tuple[Sequence[int], Sequence[int]]:
        chosen = await _choose_jobs(store, note, numbers, everything=everything)
        return numbers or chosen, await store.retry_jobs(chosen)

    wanted, done = _run_given_up(call, retry)
    _report(call, "retried", "queued again", "job", wanted, done)


@jobs_command.command("drop")
@click.argument("numbers", nargs=-1, type=int)
@_all
@add_store_options
def jobs_drop_command(call: CommandCall, numbers: tuple[int, ...], everything: bool) -> None:
    """Delete jobs that were given up, by their NUMBERS."""

    async def drop(store: SqlGivenUp, note: NotePeople) -> tuple[Sequence[int], Sequence[int]]:
        chosen = await _choose_jobs(store, note, numbers, everything=everything)
        return numbers or chosen, await store.drop_jobs(chosen)

    wanted, done = _run_given_up(call, drop)
    _report(call, "dropped", "dropped", "job", wanted, done)


async def _choose_jobs(
    store: SqlGivenUp, note: NotePeople, numbers: Sequence[int], *, everything: bool
) -> Sequence[int]:
    _check_choice(numbers, everything=everything)
    chosen = [job for job in await store.list_jobs(limit=1000) if everything or job.number in numbers]
    await note(sorted({job.user_id for job in chosen if job.user_id}))
    return [job.number for job in chosen]


def _check_choice(chosen: Sequence[object], *, everything: bool) -> None:
    if bool(chosen) == everything:
        raise click.UsageError("Name those that you mean, or say --all.")


@messages_command.command("list")
@_limit
@add_store_options
def messages_list_command(call: CommandCall, limit: int) -> None:
    """List messages that were given up, each with Slack's reason."""
    found: tuple[DeadMessage, ...] = _run_given_up(call, lambda store, _: store.list_messages(limit=limit))
    documents = [{**asdict(message), "touched_at": message.touched_at.isoformat()} for message in found]
    lines = [
        f"{message.id}  to {message.user_id}, session {message.session_id}"
        f" of {message.touched_at:%Y-%m-%d %H:%M}Z: {message.reason}"
        + (" (a later message took its place)" if message.overtaken else "")
        for message in found
    ] or ["No message was given up."]
    call.print_result({"messages": documents}, lines)


@messages_command.command("retry")
@click.argument("ids", nargs=-1)
@_all
@add_store_options
def messages_retry_command(call: CommandCall, ids: tuple[str, ...], everything: bool) -> None:
    """Queue messages again, by their IDS. Those whose place a later one took stay as they are."""

    async def retry(store: SqlGivenUp, note: NotePeople) -> tuple[Sequence[str], Sequence[str]]:
        chosen = await _choose_messages(store, note, ids, everything=everything, overtaken=False)
        return ids or chosen, await store.retry_messages(chosen)

    wanted, done = _run_given_up(call, retry)
    _report(call, "retried", "queued again", "message", wanted, done)


@messages_command.command("drop")
@click.argument("ids", nargs=-1)
@_all
@add_store_options
def messages_drop_command(call: CommandCall, ids: tuple[str, ...], everything: bool) -> None:
    """Delete messages that were given up, by their IDS."""

    async def drop(store: SqlGivenUp, note: NotePeople) -> tuple[Sequence[str], Sequence[str]]:
        chosen = await _choose_messages(store, note, ids, everything=everything, overtaken=True)
        return ids or chosen, await store.drop_messages(chosen)

    wanted, done = _run_given_up(call, drop)
    _report(call, "dropped", "dropped", "message", wanted, done)


async def _choose_messages(
    store: SqlGivenUp, note: NotePeople, ids: Sequence[str], *, everything: bool, overtaken: bool
) -> Sequence[str]:
    _check_choice(ids, everything=everything)
    found = [each for each in await store.list_messages(limit=1000) if overtaken or not each.overtaken]
    chosen = [each for each in found if everything or each.id in ids]
    await note(sorted({each.user_id for each in chosen}))
    return [each.id for each in chosen]


def _report(
    call: CommandCall, done_key: str, words: str, noun: str, wanted: Iterable[object], done: Sequence[object]
) -> None:
    missed = [each for each in wanted if each not in done]
    if missed:
        listed = join_words(map(str, missed[:10]))
        sentence = f"This cannot be {words}: {listed}. admin {noun}s list shows what was given up."
        if not done:
            raise BadInput(sentence, where=noun)
    lines = [f"{format_count(len(done), noun)} {words}.", *([sentence] if missed else [])]
    call.print_result({done_key: list(done), "left": missed}, lines)


@admin_command.command("check")
@add_store_options
def check_command(call: CommandCall) -> None:
    """Check that the data is whole: tables, logins, the search index. Exits with 3 when something is broken."""

    async def check(opened: Opened) -> tuple[Any, ...]:
        from fateforger.app.upkeep import run_data_checks  # noqa: PLC0415  heavy

        return await run_data_checks(opened.settings, opened.store)

    checks = call.run(check)
    ok = all(check.state != "broken" for check in checks)
    lines = [
        f"{_SIGNS[check.state]} {check.name:<9} {check.message}" + (f"\n{'':12}→ {check.fix}" if check.fix else "")
        for check in checks
    ]
    call.print_result({"ok": ok, "checks": [asdict(check) for check in checks]}, lines)
    if not ok:
        raise click.exceptions.Exit(3)


@admin_command.command("maintain")
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="Age in days from which jobs and messages that were given up are deleted.",
)
@click.option("--vacuum", is_flag=True, help="Also give free space back to the disk; writers wait meanwhile.")
@add_store_options
def maintain_command(call: CommandCall, days: int, vacuum: bool) -> None:
    """Delete at once what is no longer needed, such as failed work; programs that run do so by themselves, too."""

    async def run(opened: Opened) -> Any:
        from fateforger.app.upkeep import maintain  # noqa: PLC0415  heavy

        return await maintain(opened.settings, opened.store, now=opened.now, days=days, vacuum=vacuum)

    pruned = call.run(run)
    counts = f"{format_count(pruned.jobs, 'job')} and {format_count(pruned.messages, 'message')}"
    lines = [f"Deleted: {counts} that were given up more than {format_count(days, 'day')} ago."]
    if vacuum:
        lines.append("Free space was given back to the disk.")
    call.print_result({**asdict(pruned), "vacuumed": vacuum}, lines)


@admin_command.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@add_store_options
def backup_command(call: CommandCall, file: Path) -> None:
    """Write everything durable into a new FILE, while the program runs. The keys of logins are not in it."""
    from fateforger.app.resources import read_instant  # noqa: PLC0415  heavy
    from fateforger.app.upkeep import make_backup  # noqa: PLC0415  heavy

    settings = call.load_settings()
    manifest = asyncio.run(make_backup(settings, file, now=read_instant(settings)))
    size = file.stat().st_size
    lines = [
        f"Backed up to {file} ({_format_size(size)}): {join_words(manifest.parts)}.",
        "It holds people's words: keep it as safe as the database.",
    ]
    if manifest.logins:
        lines.append(
            f"It holds {format_count(manifest.logins, 'login')} that only your key can read: keep the key elsewhere"
            f" (fingerprint {join_words(manifest.keys)})."
        )
    call.print_result({"file": str(file), "bytes": size, **_describe_manifest(manifest)}, lines)


def _format_size(size: int) -> str:
    """Return the size of a file; one that is not empty has at least 1 kB."""
    return f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{-(-size // 1000)} kB"


@admin_command.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--without-logins", is_flag=True, help="Go on although the key of people's logins is not here.")
@add_store_options
def restore_command(call: CommandCall, file: Path, without_logins: bool) -> None:
    """Restore a backup into a data directory, and a PostgreSQL database, with nothing in it.

    Take the old program out of service first: two programs with the same past write to the same calendars.
    """
    from fateforger.app.upkeep import restore_backup  # noqa: PLC0415  heavy

    settings = call.load_settings()
    manifest, lost = asyncio.run(restore_backup(settings, file, without_logins=without_logins))
    lines = [f"Restored as of {manifest.made_at:%Y-%m-%d %H:%M}Z: {join_words(manifest.parts)}."]
    if lost:
        lines.append(f"{format_count(lost, 'person', 'people')} must connect a calendar again.")
    lines.append("What was said and planned later is lost.")
    lines.append("What went to a calendar on another server later is still there, and cannot be undone from here.")
    lines.append("Start fateforger up: it goes on from there.")
    call.print_result({**_describe_manifest(manifest), "logins_lost": lost}, lines)


def _describe_manifest(manifest: Manifest) -> dict[str, Any]:
    about = manifest.model_dump(mode="json", exclude={"files", "format"})
    return {**about, "parts": list(manifest.parts)}
