"""``fateforger eval``: how well the configured language model understands messages, and at what cost."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from fateforger.cli.documents import parse_json, print_result, read_document, read_lines, replace_file
from fateforger.cli.options import as_json, load_settings
from fateforger.cli.records import iter_files
from fateforger.errors import BadInput
from fateforger.planning.validation import first_mistake
from fateforger.text import format_count, quote_title

if TYPE_CHECKING:
    from fateforger.adapters.model.endpoint import Endpoint
    from fateforger.conversation.evaluation import CaseResult
    from fateforger.conversation.evaluation_cases import Case

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
    from fateforger.adapters.model.client import open_model  # noqa: PLC0415  heavy
    from fateforger.adapters.model.probe import probe_model  # noqa: PLC0415  heavy
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
