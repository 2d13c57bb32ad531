"""``fateforger costs``, ``feedback``, ``replay`` and ``person``: what is stored about models, turns and people."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import open_output, read_document
from fateforger.cli.options import (
    CommandCall,
    Group,
    Opened,
    add_store_options,
    as_json,
    check_person_option,
    note_action,
)
from fateforger.cli.output import echo, write_json
from fateforger.errors import BadInput
from fateforger.text import format_count, truncate

if TYPE_CHECKING:
    from fateforger.adapters.store.store import Store
    from fateforger.conversation.recordings import Difference
    from fateforger.ports.model import Spent
    from fateforger.ports.people import Counts


@click.command("costs")
@add_store_options
@click.option("--days", type=click.IntRange(1, 3660), default=30, show_default=True, help="How many days, with today.")
def costs_command(call: CommandCall, days: int) -> None:
    """Show the use and cost of language models, by day and role. Days end at midnight in
    FATEFORGER_TIME_ZONE; costs follow from FATEFORGER_MODEL_PRICES.
    """
    spent = call.run(lambda o: o.store.usage.since(o.today - timedelta(days=days - 1)))
    total = _sum_spent(spent)
    lines = [
        f"{each.day}  {each.role.value:<8} {each.model or '(no answer)':<28} {_format_counts(asdict(each))}"
        for each in spent
    ]
    if spent:
        lines.append(f"{'Together':<50}{_format_counts(total)}")
    else:
        lines = [f"No language model was asked anything {'today' if days == 1 else f'in the last {days} days'}."]
    call.print_result({"days": [_to_document(each) for each in spent], "total": total}, lines)


def _to_document(spent: Spent) -> dict[str, Any]:
    return {**asdict(spent), "day": spent.day.isoformat(), "role": spent.role.value}


def _sum_spent(spent: Sequence[Spent]) -> dict[str, Any]:
    names = ("calls", "failed", "uncounted", "unpriced", "prompt_tokens", "completion_tokens")
    counts = {name: sum(getattr(each, name) for each in spent) for name in names}
    return {**counts, "cost": round(sum(each.cost for each in spent), 9)}


def _format_counts(counts: dict[str, Any]) -> str:
    tokens = f"{counts['prompt_tokens']} + {counts['completion_tokens']} tokens"
    cost = "no price set" if counts["calls"] and counts["unpriced"] == counts["calls"] else f"${counts['cost']:.4f}"
    failed = f", {counts['failed']} without an answer" if counts["failed"] else ""
    answers = format_count(counts["calls"], "answer")
    return f"{answers}, {tokens}, {cost}{failed}"


@click.command("feedback")
@add_store_options
def feedback_command(call: CommandCall) -> None:
    """Every thumb up or down, oldest first, with its session, its turn and the versions of the prompts behind it."""
    ratings = call.run(lambda opened: opened.store.feedbacks.all())
    lines = [
        f"{'👍' if rating.helpful else '👎'} {rating.at:%Y-%m-%d %H:%M}Z  {rating.session_id}  {rating.turn}"
        f"  {', '.join(rating.prompts)}"
        for rating in ratings
    ] or ["Nobody has said anything yet."]
    call.print_result({"feedback": [rating.model_dump(mode="json") for rating in ratings]}, lines)


_WIDEST = 60
"""The most characters of a value on one line."""


@click.command("replay")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@as_json
def replay_command(sources: tuple[str, ...], as_json: bool) -> None:
    """Run recorded turns (files of FATEFORGER_RECORD, or directories of them) again with the recorded answers; no model
    and no calendar is asked. Exits with 0 when all go as they went, with 1 when one does not.
    """
    from fateforger.conversation.recordings import parse_recorded_turn  # noqa: PLC0415  heavy
    from fateforger.conversation.turn_runs import replay  # noqa: PLC0415  heavy

    async def run() -> list[tuple[str, tuple[Difference, ...]]]:
        return [(file, await replay(parse_recorded_turn(read_document(file), file))) for file in iter_files(sources)]

    replayed = asyncio.run(run())
    same = not any(found for _, found in replayed)
    if as_json:
        turns = [
            {"file": file, "same": not found, "differences": [asdict(d) for d in found]} for file, found in replayed
        ]
        write_json({"same": same, "turns": turns})
    else:
        for file, found in replayed:
            echo(f"{file}: {_count_differences(found)}")
            for difference in found:
                echo("\n".join(f"  {line}" for line in _format_difference(difference)))
    if not same:
        raise click.exceptions.Exit(1)


def iter_files(sources: Iterable[str]) -> Iterator[str]:
    """Yield the files, and those of each directory in the order of their names."""
    for source in sources:
        if not Path(source).is_dir():
            yield source
            continue
        found = sorted(str(path) for path in Path(source).glob("*.json"))
        if not found:
            raise BadInput("There is no recorded turn in that directory.", where=source)
        yield from found


def _count_differences(found: tuple[Difference, ...]) -> str:
    return format_count(len(found), "difference") if found else "the same."


def _format_difference(difference: Difference) -> Iterator[str]:
    """Yield one line, or a diff for texts of several lines."""
    was, now = difference.was, difference.now
    if isinstance(was, str) and isinstance(now, str) and ("\n" in was or "\n" in now):
        yield f"{difference.part} {difference.where}"
        changed = difflib.unified_diff(was.splitlines(), now.splitlines(), lineterm="", n=0)
        yield from (f"  {line}" for line in list(changed)[2:])
    else:
        yield f"{difference.part} {difference.where}: {_format_value(was)} -> {_format_value(now)}"


def _format_value(value: Any) -> str:
    return truncate(json.dumps(value, ensure_ascii=False), _WIDEST)


@click.group("person", cls=Group)
def person_command() -> None:
    """Export what is held about a person as one document, or erase it."""


@person_command.command("export")
@click.argument("user_id", metavar="USER", callback=check_person_option)
@click.option("--to", "target", metavar="FILE", default="-", help="Where to; by default stdout.")
@add_store_options
def export_command(call: CommandCall, user_id: str, target: str) -> None:
    """Everything that is held about USER (their Slack id) as one JSON document; docs/privacy.md says what is in it."""
    from fateforger.app.people import export_person  # noqa: PLC0415  heavy
    from fateforger.app.resources import read_instant  # noqa: PLC0415  heavy

    settings = call.load_settings()

    async def note(store: Store, person: str) -> None:
        await note_action(call.ctx, Opened(store, settings, read_instant(settings)), (person,))

    document = asyncio.run(export_person(settings, user_id, note))
    with open_output(target) as write_line:
        write_line(json.dumps(document, ensure_ascii=False, indent=1))
    counts = {kind: len(rows) for kind, rows in document["held"].items()}
    if target != "-":
        sentence = f"{_format_total(counts)} about {user_id} in {target}." if counts else _describe_nothing(user_id)
        call.print_result({"person": user_id, "counts": counts, "file": target}, [sentence])


@person_command.command("erase")
@click.argument("user_id", metavar="USER", callback=check_person_option)
@click.option("--apply", "apply", is_flag=True, help="Erase it; without this it is only listed.")
@add_store_options
def erase_command(call: CommandCall, user_id: str, apply: bool) -> None:
    """Erase everything that is held about USER (their Slack id), or list by kind how much that is.

    It may be repeated: a run that was cut off is completed by the next. A program that runs here need not be stopped.
    What is on the calendar and in Slack stays there.
    """
    from fateforger.app.people import count_held, erase_person, list_leftovers  # noqa: PLC0415  heavy
    from fateforger.ports.people import KINDS  # noqa: PLC0415  heavy

    settings = call.load_settings()
    follows, remains = False, ""
    if apply:
        erased, follows = asyncio.run(erase_person(settings, user_id))
        counts, remains = erased.counts, erased.remains
    else:
        counts = asyncio.run(count_held(settings, user_id))
    sentence = _describe_result(user_id, counts, apply=apply)
    stays = (*([remains] if remains else []), *list_leftovers(settings))
    outcome = {"person": user_id, "applied": apply, "counts": dict(counts), "index_follows": follows}
    lines = [*(f"{count:>7}  {KINDS[kind]}" for kind, count in counts.items()), sentence]
    if follows:
        lines.append("The program that runs here takes their rules out of the search index as soon as it can.")
    lines += stays if counts else ()
    call.print_result({**outcome, "message": sentence, "stays": list(stays)}, lines)


def _describe_nothing(user_id: str) -> str:
    return f"Nothing is held about {user_id}."


def _describe_result(user_id: str, counts: Counts, *, apply: bool) -> str:
    if not counts:
        return _describe_nothing(user_id)
    if apply:
        return f"Erased: {_format_total(counts)} about {user_id}. That it was done is noted, without who it was about."
    return f"{_format_total(counts)} about {user_id}. Nothing was erased; say so with --apply."


def _format_total(counts: Counts) -> str:
    return format_count(sum(counts.values()), "row")
