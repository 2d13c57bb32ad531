"""``fateforger constraints``: write, list, query, archive, import and export people's constraints.

A query reads the store, or a FILE of versions, one per line (JSON lines), as an export writes them. With ``--batch``,
each line is a context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraint_files import export_command, import_command, migrate_command
from fateforger.cli.constraint_memory import (
    add_filter_options,
    add_limit_options,
    build_limits,
    reindex_command,
    restore_command,
    verify_command,
    with_moment_of,
)
from fateforger.cli.documents import echo, join_place, parse_json, read_document, read_lines, write_json
from fateforger.cli.options import (
    CommandCall,
    Group,
    Opened,
    add_person_option,
    add_store_options,
    find_owner,
    write_line_with_uid,
)
from fateforger.errors import BadInput, FateforgerError, MemoryUnavailable
from fateforger.memory.applicability import Answer, Context, decide_applicability, has_ended
from fateforger.memory.credentials import (
    CONTACTS_LEFT_OUT,
    REFUSED,
    holds_credentials,
    redact_credentials,
    without_private_data,
)
from fateforger.memory.documents import read_context, read_record, read_version, write_answer
from fateforger.memory.record import ConstraintRecord, describe_days
from fateforger.memory.retrieval import BY_SPELLING, NEAREST, NO_INDEX, RuleFilter, find_by_spelling, select_current
from fateforger.memory.versions import Version, list_history, select_newest
from fateforger.memory.violations import describe_limits, describe_times, needs_confirmation
from fateforger.memory.vocabulary import Scope, Source, Status
from fateforger.session.day import local_today
from fateforger.text import format_date, quote_title
from fateforger.values import replace

if TYPE_CHECKING:
    from fateforger.cli.constraint_changes import ChangeResult
    from fateforger.session.recall import ConstraintHistory


@click.command("list")
@add_person_option
@click.option("--all", "everything", is_flag=True, help="Also what was put away or declined.")
@click.option("--uid", metavar="UID", help="Every version of that one, oldest first.")
@click.option("--about", metavar="TEXT", help="Those in force whose words are near to TEXT, the nearest first.")
@add_filter_options
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The first N of them.")
@add_store_options
def list_command(
    call: CommandCall,
    /,
    user_id: str | None,
    everything: bool,
    uid: str | None,
    about: str | None,
    limit: int | None,
    **filters: Any,
) -> None:
    """The constraints of a person, each as it is now. With --about the search index is asked; where a program runs that
    has it to itself, everything is listed.
    """
    if about is not None and (everything or uid is not None):
        raise click.UsageError("--about is for what is in force; leave out --all and --uid.")
    wanted = RuleFilter.model_validate(filters)

    async def ask(opened: Opened) -> tuple[str, Sequence[Version], str | None]:
        person = user_id or await find_owner(opened)
        versions = await opened.store.constraints.of(person)
        if about is not None:
            return person, *await _search_versions(about, versions, opened, person)
        return person, _select_versions(versions, person, uid, everything=everything or bool(wanted.statuses)), None

    person, found, message = call.run(ask)
    settings = call.load_settings()
    today = local_today(settings.now or datetime.now(UTC), settings.time_zone)
    rows = [version for version in found if wanted.admits(version.record)][:limit]
    if message is not None and not call.as_json:
        echo(message, err=True)
    said = {} if about is None else {"message": message}
    document = {"constraints": [write_line_with_uid(version) for version in rows], **said}
    lines = [_format_line(version, today, settings.time_zone) for version in rows]
    call.print_result(document, lines or [_describe_nothing(person, uid, about)])


def _select_versions(versions: Sequence[Version], user_id: str, uid: str | None, *, everything: bool) -> list[Version]:
    if uid is not None:
        return list_history(versions, user_id, uid)
    mine = sorted(
        select_newest(versions, user_id).values(), key=lambda v: (v.retired, v.record.necessity.weakness, v.seq)
    )
    return [version for version in mine if everything or not version.retired]


async def _search_versions(
    text: str, versions: Sequence[Version], opened: Opened, user_id: str
) -> tuple[Sequence[Version], str | None]:
    """Return the current constraints that the index finds.

    While it is unavailable these are the ones with similar words, or all of them, with a reason.
    """
    from fateforger.app.memory import search_constraints  # noqa: PLC0415  heavy

    try:
        uids = await search_constraints(opened.settings, opened.store.constraints, user_id, text)
    except MemoryUnavailable as error:
        similar = find_by_spelling(text, versions, user_id, limit=NEAREST)
        if similar:
            return select_current(similar, versions, user_id), f"{error.message} {BY_SPELLING}"
        return _select_versions(versions, user_id, None, everything=False), f"{error.message} {NO_INDEX}"
    return select_current(uids, versions, user_id), None


def _describe_nothing(user_id: str, uid: str | None, about: str | None) -> str:
    if uid is not None:
        return f"{user_id} has no constraint {uid}."
    return "Nothing is written down." if about is None else "Nothing is written down about that."


def _format_line(version: Version, today: date, tz: str) -> str:
    record = version.record
    standing: dict[Any, str] = {"locked": "confirmed", "proposed": "not confirmed yet", "declined": "out of force"}
    last_day = _find_last_day(version, tz)
    days, times, limits = describe_days(record), describe_times(record), describe_limits(record, last_day)
    facts = (
        "ended" if has_ended(version, today, tz) and not version.retired else standing[record.status.value],
        format_date(version.updated_at.date()),
        "" if record.source is Source.USER else f"from {record.source.value}",
        "" if record.confidence is None else f"confidence {record.confidence:g}",
        "to be confirmed" if needs_confirmation(record) and not version.retired else "",
        days and f"on {days}",
        times,
        limits,
        f"tags {', '.join(record.topics)}" if record.topics else "",
    )
    return f"{record.necessity.value:<6} {record.name}  [{version.uid}]\n       {', '.join(filter(None, facts))}"


def _find_last_day(version: Version, tz: str) -> date | None:
    return version.record.lifecycle.count_from(local_today(version.updated_at, tz))


Versions = Callable[[str], Awaitable[Sequence["Version"]]]
"""Return the versions of a person's constraints."""


@click.command("query")
@click.option("--from", "source", metavar="FILE", help="Versions of constraints, one a line, or -; not the store's.")
@click.option("--batch", metavar="FILE", help="One context a line (JSON lines); one result document a line.")
@add_person_option
@click.option("--stage", metavar="STAGE", help="Where planning stands: COLLECT, CAPTURE, SKELETON, REFINE, REVIEW.")
@click.option("--date", "as_of", metavar="DATE", help="The planned day; by default today in --timezone.")
@click.option("--timezone", metavar="ZONE", help="Where the person is; by default UTC.")
@click.option("--event-types", metavar="CODES", help="What the day holds, like DW,M.")
@click.option("--session", "session_id", metavar="ID", help="Constraints of that session as well.")
@click.option("--types", "type_ids", metavar="KINDS", help="Only those rule kinds, like buffer,capacity.")
@click.option("--situation", metavar="LABELS", help="What is part of the day, for conditional constraints.")
@click.option("--k", type=int, help="How many there is room for; a must is never cut.")
@click.option("--explain", is_flag=True, help="In text, also those that do not apply, each with its reason.")
@add_store_options
def query_command(call: CommandCall, /, source: str | None, batch: str | None, explain: bool, **asked: Any) -> None:
    """The constraints that apply, best first, each with its reasons."""
    if batch is not None and any(value is not None for value in asked.values()):
        raise click.UsageError("With --batch each line says what is asked; leave out the options that ask.")
    if batch == source == "-":
        raise BadInput("Only one of --from and --batch can come from stdin.")
    settings = call.load_settings()

    async def answer(versions: Versions) -> None:
        if batch is not None:
            await _answer_lines(versions, batch, settings.now)
            return
        context = _build_context(_build_context_document(asked), settings.now)
        found = decide_applicability(await versions(context.user_id), context)
        if call.as_json:
            write_json(write_answer(found))
        else:
            _print_answer(found, explain=explain)

    async def look_up(opened: Opened) -> None:
        if batch is None and asked["user_id"] is None:
            asked["user_id"] = await find_owner(opened)
        await answer(opened.store.constraints.of)

    if source is None:
        call.run(look_up)
        return
    found = _read_versions(source)

    async def of(user_id: str) -> Sequence[Version]:
        return found.get(user_id, ())

    asyncio.run(answer(of))


def _read_versions(source: str) -> dict[str, list[Version]]:
    """Read versions by person, in the order of their instants; of one instant, the later line is newer."""
    found: dict[str, list[Version]] = {}
    for number, (line, where) in enumerate(read_lines(source)):
        try:
            version = read_version(parse_json(line, where), seq=number)
        except BadInput as error:
            raise BadInput(error.message, where=join_place(where, error.where)) from None
        found.setdefault(version.user_id, []).append(version)
    return found


async def _answer_lines(versions: Versions, batch: str, clock: datetime | None) -> None:
    """Answer each line. A bad line gets its error document in its place, so that lines of output and input match."""
    for line, where in read_lines(batch):
        try:
            context = _build_context(parse_json(line, where), clock)
            found = decide_applicability(await versions(context.user_id), context)
            write_json(write_answer(found))
        except FateforgerError as error:
            place = join_place(where, error.where)
            write_json({"error": {"kind": error.kind, "message": error.message, "where": place}})


def _build_context(document: Any, clock: datetime | None) -> Context:
    return read_context(_add_instant(document, clock))


AT_ONE_INSTANT = timedelta(microseconds=999)
"""A set clock does not advance, and writes under it count up by microseconds; this covers all of them."""


def _add_instant(document: Any, clock: datetime | None) -> Any:
    """Add an instant to a context that has none.

    It is that of the clock, if the clock was set. Otherwise the context sees all versions, and is about today if it
    names no day either.
    """
    if not isinstance(document, dict) or document.get("now") is not None:
        return document
    if clock is None and document.get("as_of") is not None:
        return document
    return {**document, "now": (datetime.now(UTC) if clock is None else clock + AT_ONE_INSTANT).isoformat()}


def _build_context_document(asked: Mapping[str, Any]) -> dict[str, Any]:
    lists = {"event_types", "type_ids", "situation"}
    if asked["user_id"] is None:
        raise click.UsageError("With --from, say whose constraints: --user ID (or --batch FILE).")
    return {
        name: [part.strip() for part in value.split(",") if part.strip()] if name in lists else value
        for name, value in asked.items()
        if value is not None
    }


def _print_answer(answer: Answer, *, explain: bool) -> None:
    if not answer.applicable:
        echo("No constraint applies.")
    for item in answer.applicable:
        echo(f"{item.record.necessity.value:<6} {item.record.name}  [{item.uid}]")
        echo(f"       {' '.join(item.reasons)}")
    for out in answer.excluded if explain else ():
        echo(f"not    {out.version.record.name}  [{out.uid}]\n       {out.reason}")


_WORDS = {
    "extracted": "said here",
    "stored": "stored",
    "waiting": "waits to be stored",
    "selected": "selected for the day",
    "set_aside": "set aside here",
    "applied": "applied",
}


@click.command("story")
@click.argument("session", metavar="SESSION")
@add_store_options
def story_command(call: CommandCall, session: str) -> None:
    """List what was selected, extracted, stored and applied in the conversation SESSION, constraint by constraint. Its
    id is in each line of the log about it.
    """
    from fateforger.session.recall import constraint_histories  # noqa: PLC0415  heavy

    async def read(opened: Opened) -> tuple[ConstraintHistory, ...]:
        found = await opened.store.sessions.load(session)
        if found is None:
            raise BadInput("There is no conversation with that id here.", where="session")
        return constraint_histories(found, await opened.store.constraints.of(found.user_id))

    chapters = call.run(read)
    lines = [
        f"{chapter.name or 'no longer known'}  [{chapter.uid}]\n"
        f"       {', '.join(_WORDS[event] for event in chapter.events)}"
        for chapter in chapters
    ] or ["No constraint had a part in that conversation."]
    documents = [{"uid": each.uid, "name": each.name, "events": list(each.events)} for each in chapters]
    call.print_result({"session": session, "constraints": documents}, lines)


_session = click.option("--session", "session_id", metavar="ID", help="The conversation it is said in.")


@click.command("add")
@click.argument("record", required=False)
@add_person_option
@_session
@click.option("--name", metavar="TEXT", help="In place of RECORD: what it is called.")
@click.option("--words", metavar="TEXT", help="With --name: it in the person's own words.")
@click.option("--necessity", type=click.Choice(["must", "should", "prefer"]), help="With --name: how binding it is.")
@add_limit_options
@add_store_options
def add_command(
    call: CommandCall,
    /,
    record: str | None,
    user_id: str | None,
    session_id: str | None,
    name: str | None,
    words: str | None,
    necessity: str | None,
    **limits: Any,
) -> None:
    """Write down the constraint in RECORD, a file with a constraint_record as JSON, or -. Where the same constraint is
    there already, this is its next version. Without a scope it lasts, or with --session counts in that session. What
    it contradicts gives way where that is clear, and is named where only the person can decide.
    """
    said = {"name": name, "description": words, "necessity": necessity, **build_limits(limits)}
    given = {field: value for field, value in said.items() if value is not None}
    if (record is None) == (name is None) or (given and record is not None):
        raise click.UsageError("Give a RECORD file (or - for stdin), or --name TEXT.")
    wanted = _check_record({"status": "locked", **given} if record is None else read_document(record), session_id)
    if record is None:
        wanted = with_moment_of(wanted, limits)
    from fateforger.cli.constraint_changes import add  # noqa: PLC0415  heavy

    deed = call.run(lambda opened: add(opened, user_id, wanted, session_id))
    done = "Noted" if deed.written else "That is written down already"
    last = _find_last_day(deed.version, call.load_settings().time_zone)
    until = "" if last is None else f" It is kept until {format_date(last)}."
    _print_change(call, deed, f"{done}: {_name_version(deed.version)}.{until}")


@click.command("archive")
@click.argument("uid")
@add_person_option
@click.option("--reason", metavar="TEXT", help="Why; kept with it.")
@click.option("--undo", is_flag=True, help="Bring it back instead.")
@add_store_options
def archive_command(call: CommandCall, uid: str, user_id: str | None, reason: str | None, undo: bool) -> None:
    """Put the constraint UID away. It applies no more, and is kept with its history; --undo brings it back."""
    from fateforger.cli.constraint_changes import archive, bring_back  # noqa: PLC0415  heavy

    if undo:
        if reason is not None:
            raise click.UsageError("--undo brings it back; leave out the reason.")
        deed = call.run(lambda opened: bring_back(opened, user_id, uid))
        sentence = "" if deed.written else f"That is in force already: {_name_version(deed.version)}."
        _print_change(call, deed, sentence)
        return
    if reason is not None and redact_credentials(reason)[1]:
        raise BadInput(REFUSED, where="reason")
    deed = call.run(lambda opened: archive(opened, user_id, uid, reason))
    done = "Put away" if deed.written else "That is out of force already"
    back = f"To bring it back: fateforger constraints archive {uid} --undo"
    whose = "" if user_id is None else f" --user {user_id}"
    _print_change(call, deed, f"{done}: {_name_version(deed.version)}. {back}{whose}")


@click.command("supersede")
@click.argument("uid")
@click.argument("record")
@add_person_option
@_session
@add_store_options
def supersede_command(call: CommandCall, uid: str, record: str, user_id: str | None, session_id: str | None) -> None:
    """Let the constraint in RECORD (a file, or -) take the place of UID on the days of its dates. UID is put away if no
    day is left to it; otherwise it stays in force on the others.
    """
    from fateforger.cli.constraint_changes import supersede  # noqa: PLC0415  heavy

    wanted = _check_record(read_document(record), session_id)
    deed = call.run(lambda opened: supersede(opened, user_id, uid, wanted, session_id))
    assert deed.old is not None  # noqa: S101  for the type checker: superseding is about one
    rest = "" if deed.old.retired else " On other days the old one stays in force."
    sentence = f"Noted: {_name_version(deed.version)}. It takes the place of {_name_version(deed.old)}.{rest}"
    _print_change(call, deed, sentence)


def _check_record(document: Any, session_id: str | None) -> ConstraintRecord:
    """Validate a record and fill in its scope. Raises ``BadInput``."""
    record = read_record(document)
    if holds_credentials(record):
        raise BadInput(REFUSED)
    kept = without_private_data(record)
    if kept != record:
        echo(CONTACTS_LEFT_OUT, err=True)
        record = kept
    if "scope" not in record.model_fields_set:
        record = replace(record, scope=Scope.PROFILE if session_id is None else Scope.SESSION)
    if record.scope is Scope.SESSION and session_id is None:
        raise BadInput("It is for one session only; say which one with --session.", where="scope")
    if record.status is Status.DECLINED:
        raise BadInput("It would be declined from the start; leave out its status.", where="status")
    return record


def _print_change(call: CommandCall, deed: ChangeResult, sentence: str) -> None:
    """Print a result; ``lines`` and ``questions`` are in the document if other constraints were affected."""
    said = {"lines": list(deed.lines), "questions": list(deed.questions)}
    told: dict[str, Any] = {name: sentences for name, sentences in said.items() if sentences}
    if deed.old is not None:
        told["superseded"] = write_line_with_uid(deed.old)
    document = {"written": deed.written, "constraint": write_line_with_uid(deed.version), **told}
    call.print_result(document, filter(None, [sentence, *deed.lines, *deed.questions]))


def _name_version(version: Version) -> str:
    return f"{quote_title(version.record.name)} [{version.uid}]"


@click.group("constraints", cls=Group)
def constraints_command() -> None:
    """Manage people's constraints, and list those that apply on a day.

    Without --user, they are those of the person whose calendar plans are written to.
    """


for door in (
    add_command,
    list_command,
    query_command,
    story_command,
    archive_command,
    supersede_command,
    import_command,
    export_command,
    migrate_command,
    reindex_command,
    verify_command,
    restore_command,
):
    constraints_command.add_command(door)
