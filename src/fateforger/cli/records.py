"""``fateforger costs``, ``feedback``, ``replay``, ``person``, ``eval``: what is stored, and a model's score."""

from __future__ import annotations

import asyncio
import difflib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from fateforger.cli.documents import (
    echo,
    open_output,
    parse_json,
    print_result,
    read_document,
    read_lines,
    replace_file,
    write_json,
)
from fateforger.cli.options import (
    CommandCall,
    Group,
    Opened,
    add_store_options,
    as_json,
    check_person_option,
    load_settings,
    note_action,
)
from fateforger.errors import BadInput, first_mistake
from fateforger.text import format_count, quote_title, truncate

if TYPE_CHECKING:
    from fateforger.adapters.model.endpoint import Endpoint
    from fateforger.adapters.store.store import Store
    from fateforger.conversation.evaluation import CaseResult
    from fateforger.conversation.evaluation_cases import Case
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


Questions = Sequence[tuple["Case", str]]


@click.command("eval")
@click.option("--prompt", "prompts", multiple=True, metavar="NAME", help="Only this prompt; may be repeated.")
@click.option("--language", "languages", multiple=True, metavar="CODE", help="Only this language; may be repeated.")
@click.option("--cases", "own", metavar="FILE", help="Also use the cases in this file, one a line.")
@click.option(
    "--add",
    "recordings",
    multiple=True,
    metavar="TURN",
    help="Add recorded turns (a file or a directory) to --cases; ask nothing.",
)
@click.option("--compare", type=(str, str), metavar="A B", help="Compare two results of --json; ask nothing.")
@click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True, help="Requests at a time.")
@as_json
@click.pass_context
def eval_command(
    ctx: click.Context,
    prompts: tuple[str, ...],
    languages: tuple[str, ...],
    own: str | None,
    recordings: tuple[str, ...],
    compare: tuple[str, str] | None,
    parallel: int,
    as_json: bool,
) -> None:
    """Ask the language model of FATEFORGER_MODEL what several hundred messages in five languages mean, with the real
    prompts, and say how often it is right, by prompt and language, at what cost, and how fast.
    """
    from fateforger.conversation.evaluation import compare_results, summarize  # noqa: PLC0415  heavy

    if compare is not None:
        found = compare_results(*(_read_results(source) for source in compare))
        print_result(found, _format_comparison(found, compare), as_json=as_json)
        return
    if recordings:
        if own is None:
            raise click.UsageError("--add needs --cases FILE, the file to add to.")
        added = _add_recordings(recordings, own)
        line = f"{format_count(added, 'case')} added to {own}. Correct there what the model got wrong in those turns."
        print_result({"added": added, "file": own}, [line], as_json=as_json)
        return
    endpoint = _build_endpoint(ctx)
    results = asyncio.run(_ask_all(endpoint, _select_questions(prompts, languages, own), parallel))
    model = ", ".join(dict.fromkeys((endpoint.model, *endpoint.roles.values())))
    rows = [each.model_dump(mode="json") for each in results]
    document = {"model": model, **summarize(results), "results": rows}
    print_result(document, _format_run(document), as_json=as_json)


def _select_questions(prompts: Sequence[str], languages: Sequence[str], own: str | None) -> Questions:
    """Return the cases that are asked for, each with a prompt. Raises ``BadInput`` if there is none."""
    from fateforger.conversation.evaluation_cases import load_cases  # noqa: PLC0415  heavy

    cases = (*load_cases(), *(_read_cases(own) if own is not None else ()))
    questions = [
        (case, prompt)
        for case in cases
        for prompt in case.expected
        if prompt in (prompts or case.expected) and case.language in (languages or {case.language})
    ]
    if not questions:
        raise BadInput("There is no case for that prompt and language.")
    return questions


def _build_endpoint(ctx: click.Context) -> Endpoint:
    """Return the configured model. Raises ``BadInput`` if there is none."""
    from fateforger.app.models import build_endpoint  # noqa: PLC0415  heavy

    settings = load_settings(ctx)
    if settings.model is None:
        raise BadInput("No language model is configured; set FATEFORGER_MODEL and say where it is.", where="model")
    return build_endpoint(settings, settings.model)


async def _ask_all(endpoint: Endpoint, questions: Questions, parallel: int) -> list[CaseResult]:
    """Return the result of each question, in order. Raises ``ModelError`` if the server cannot be used."""
    from fateforger.adapters.model.client import open_model, probe_model  # noqa: PLC0415  heavy
    from fateforger.conversation.evaluation import evaluate_prompt  # noqa: PLC0415  heavy
    from fateforger.ports.model import Role  # noqa: PLC0415  heavy

    for role in {endpoint.model_for(role): role for role in Role}.values():
        await probe_model(endpoint, role)  # A wrong name or key is one error, and not several hundred mistakes.
    model, waiting = open_model(endpoint), iter(enumerate(questions))
    results: dict[int, CaseResult] = {}
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=len(questions), label=endpoint.model, file=sys.stderr, hidden=hidden) as bar:

        async def work() -> None:
            for place, (case, prompt) in waiting:
                results[place] = await evaluate_prompt(case, prompt, model)
                bar.update(1)

        try:
            await asyncio.gather(*(work() for _ in range(parallel)))
        finally:
            await model.aclose()
    return [results[place] for place in sorted(results)]


def _read_cases(source: str) -> Iterator[Case]:
    from fateforger.conversation.evaluation_cases import parse_case  # noqa: PLC0415  heavy

    yield from (parse_case(parse_json(line, where), where) for line, where in read_lines(source))


def _add_recordings(sources: Sequence[str], target: str) -> int:
    """Add the cases of recorded turns to a file and return their number. A case that is there stays as it is."""
    from fateforger.conversation.evaluation_cases import build_cases  # noqa: PLC0415  heavy
    from fateforger.conversation.recordings import parse_recorded_turn  # noqa: PLC0415  heavy

    kept = {case.id: case for case in _read_cases(target)} if Path(target).exists() else {}
    turns = [(file, parse_recorded_turn(read_document(file), file)) for file in iter_files(sources)]
    found = {case.id: case for file, turn in turns for case in build_cases(turn, Path(file).stem)}
    with replace_file(target) as write_line:
        for case in (found | kept).values():
            write_line(case.model_dump_json())
    return len(found.keys() - kept.keys())


def _read_results(source: str) -> list[CaseResult]:
    from fateforger.conversation.evaluation import CaseResult  # noqa: PLC0415  heavy

    document = read_document(source)
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise BadInput("This is no result of fateforger eval --json.", where=source)
    try:
        return [CaseResult.model_validate(each) for each in document["results"]]
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence, where=source) from None


_LONGEST = 100
"""Most characters of a message in the list of mistakes."""


def _format_run(found: Mapping[str, Any]) -> Iterator[str]:
    for each in found["results"]:
        if each["mistakes"]:
            yield f"✗ {each['id']} {each['prompt']}: {quote_title(each['message'], _LONGEST)}"
            yield from (f"  {mistake}" for mistake in each["mistakes"])
    yield f"{found['model']}, {format_count(found['asked'], 'question')}"
    yield from _format_groups(found)


def _format_comparison(found: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    for name, only in zip(names, ("only_first", "only_second"), strict=True):
        yield from (f"Only {name} is right: {each}" for each in found[only])
    yield f"{' → '.join(names)}, {format_count(found['first']['asked'], 'question')}"
    yield from _format_groups(found["first"], found["second"])


def _format_groups(*runs: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each prompt, language and kind, and one for all together."""
    for group in ("prompts", "languages", "kinds"):
        for name in runs[0][group]:
            yield _format_line(name, [run[group][name] for run in runs])
    yield _format_line("together", runs)


def _format_line(name: str, runs: Sequence[Mapping[str, Any]]) -> str:
    columns = (
        [f"{run['accuracy']:>6.1%} of {run['asked']}" for run in runs],
        [f"{run['seconds']['median']:.1f} s" for run in runs],
        [f"{run['tokens']['prompt'] or '?'} + {run['tokens']['completion'] or '?'} tokens" for run in runs],
        ["no price set" if run["cost"] is None else f"${run['cost']:.4f}" for run in runs],
    )
    return f"{name:<10}{', '.join(' → '.join(column) for column in columns)}"
