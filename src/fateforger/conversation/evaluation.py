"""Evaluation of a language model: messages with their expected meaning, read with the real prompts, and the score.

A case is one message in one situation, with the part of each prompt's answer that matters. Each prompt is asked on its
own, and its answer is compared with the expected one as typed values.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from statistics import median
from typing import Any, TypeVar

from pydantic import BaseModel

from fateforger.conversation.evaluation_cases import (
    INTENTS,
    JUDGED,
    TEXTS,
    Case,
    Situation,
    dump_answer,
    is_empty,
    parse_answer,
    read_answer,
)
from fateforger.conversation.language.answers import PatchWords, Wish
from fateforger.conversation.language.message_reader import find_wishes, read_wish
from fateforger.conversation.language.opening_reader import ask_start
from fateforger.conversation.language.plan_ops import read_plan_change
from fateforger.conversation.language.queue_requests import ask_queue
from fateforger.conversation.language.rule_extraction import interpret
from fateforger.conversation.recordings import Exchange, ListeningModel, build_error, read_purpose
from fateforger.errors import BadInput, ModelError, ModelRejected, ModelTimedOut
from fateforger.planning.plan import TBPlan, resolve
from fateforger.ports.model import Model
from fateforger.session.commands.plan import ApplyPatch
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.edits import apply_edit
from fateforger.session.model import Session
from fateforger.session.pending import pending_questions
from fateforger.session.recall import nameable_constraints
from fateforger.text import speak
from fateforger.values import Value

_IN_ORDER = frozenset({"wishes", "also"})


class CaseResult(Value):
    """Result of one prompt of a case. ``mistakes`` is empty if the answer is right."""

    id: str
    prompt: str
    language: str
    kind: str
    message: str
    mistakes: tuple[str, ...]
    model: str
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


async def evaluate_prompt(case: Case, prompt: str, model: Model) -> CaseResult:
    """Ask one prompt of a case and score the answer.

    A request that the server refuses, or does not answer in time, counts as a mistake. Raises ``ModelError`` if the
    server cannot be used, and ``BadInput`` if the situation is not read with that prompt.
    """
    situation, listening = case.load_situation(), ListeningModel(model)
    loop = asyncio.get_running_loop()
    began = loop.time()
    with speak(case.language):
        trouble = await _read(case, prompt, situation, listening)
        seconds = loop.time() - began
        last = listening.exchanges[-1]
        if (asked := read_purpose(last.name)) != prompt:
            raise BadInput(f"In this situation a message is read with {asked}, not with {prompt}.", where=case.id)
        error = None if last.failure is None else build_error(last.failure)
        if error is not None and not isinstance(error, ModelRejected | ModelTimedOut):
            raise error
        mistakes = trouble[:1] or _find_mistakes(case, prompt, situation, last)
    done = [each.completion for each in listening.exchanges if each.completion is not None]
    return CaseResult(
        **case.model_dump(include={"id", "language", "kind", "message"}),
        prompt=prompt,
        mistakes=mistakes,
        model=done[-1].model if done else "",
        seconds=round(seconds, 3),
        prompt_tokens=_add(each.prompt_tokens for each in done),
        completion_tokens=_add(each.completion_tokens for each in done),
        cost=_add(each.cost for each in done),
    )


async def _read(case: Case, prompt: str, situation: Situation, model: Model) -> tuple[str, ...]:
    """Read the message as in a turn; return the reason if it came to nothing."""
    session = situation.session
    waiting = pending_questions(session, situation.proposals)
    reply = TimeboxingUserReply(
        command_id="evaluation",
        user_id=session.user_id,
        at=session.now or session.touched_at,
        session_id=session.id,
        text=case.words_for(prompt),
    )
    match prompt:
        case "decide":
            return (await find_wishes(reply, session, model, waiting)).trouble
        case "start" | "queue":
            asking = ask_start if prompt == "start" else ask_queue
            with suppress(ModelError):  # the exchange says what is wrong
                await asking(reply, session, model, situation.context)
            return ()
        case "rules":
            try:
                await interpret(reply, session, model)
            except ModelError as error:
                return (error.message,)
            return ()
        case _:
            wish = Wish(intent=INTENTS[prompt], number=None, words=None)
            listed = nameable_constraints(session, situation.memory)
            return (await read_wish(wish, reply, session, model, listed, waiting)).trouble


def _find_mistakes(case: Case, prompt: str, situation: Situation, exchange: Exchange) -> Sequence[str]:
    """Return the mistakes of an answer, compared with the most similar of the expected ones."""
    given = read_answer(prompt, exchange)
    if given is None:
        return ("There is no usable answer." if exchange.failure is None else exchange.failure.message,)
    pairs = (_pick(prompt, partial, given, situation.session) for partial in case.expected[prompt])
    return min((tuple(_compare(want, got, "", "", case.open)) for want, got in pairs), key=len)


def _pick(prompt: str, partial: Mapping[str, Any], given: BaseModel, session: Session) -> tuple[Any, Any]:
    """Return the expected and the given answer as values to compare."""
    expected = parse_answer(prompt, partial)
    if not (isinstance(given, PatchWords) and isinstance(expected, PatchWords)):
        return _select(dump_answer(expected, session), partial), dump_answer(given, session)
    want, got = (_describe_change(session, words) for words in (expected, given))
    return {name: value for name, value in want.items() if name != "question" or value}, got


def _select(value: Any, partial: Any) -> Any:
    """Return the parts of a value that a partial one names."""
    if isinstance(partial, Mapping):
        return {name: _select(value[name], part) for name, part in partial.items()}
    return [_select(*pair) for pair in zip(value, partial, strict=True)] if isinstance(partial, list) else value


def _describe_change(session: Session, words: PatchWords) -> dict[str, Any]:
    """Return the plan after a change, because many ops come to the same plan."""
    plan = session.planning.plan or TBPlan(date=session.date, tz=session.tz)
    change = read_plan_change(session, plan, words)
    if change.patch.ops:
        head = {"command_id": "evaluation", "user_id": session.user_id, "session_id": session.id}
        plan = apply_edit(session, ApplyPatch(**head, at=session.now or session.touched_at, patch=change.patch)).after
    blocks = [{"title": b.event.name, "start": f"{b.start:%H:%M}", "minutes": b.minutes} for b in resolve(plan)]
    return {"plan": blocks, "day": change.day, "question": words.question}


def _compare(want: Any, got: Any, name: str, where: str, ignored: frozenset[str]) -> Iterator[str]:
    """Yield each difference; an empty value is the same as none."""
    if isinstance(want, Mapping) or isinstance(got, Mapping):
        want, got = want or {}, got or {}
        for field in dict.fromkeys((*want, *got)):
            if ignored.isdisjoint({field, f"{name}.{field}"}) and (field in want or field not in JUDGED):
                inner = f"{where}.{field}" if where else field
                yield from _compare(want.get(field), got.get(field), field, inner, ignored)
    elif isinstance(want, list) or isinstance(got, list):
        pairs = _pair(want or [], got or [], name, ignored)
        for number, (one, other) in enumerate(pairs):
            if one is None or other is None:
                yield f"{where}[{number}]: {_write(one)} expected, {_write(other)} given"
            else:
                yield from _compare(one, other, name, f"{where}[{number}]", ignored)
    elif name in TEXTS and want and got:
        said, needed = _split_words(str(got)), _split_words(str(want))
        # Good readers differ on where a wish ends and the next begins.
        if len(needed & said) < (len(needed) / 2 if name == "words" else len(needed)):
            yield f"{where}: “{want}” expected, “{got}” given"
    elif not (is_empty(want) and is_empty(got)) and want != got:
        yield f"{where}: {_write(want)} expected, {_write(got)} given"


def _pair(want: list[Any], got: list[Any], name: str, ignored: frozenset[str]) -> Iterator[tuple[Any, Any]]:
    """Yield each expected row with the row given for it: the next one where the order counts, or the most similar."""
    left = list(got)
    for row in want:
        counts = [0 if name in _IN_ORDER else len(list(_compare(row, other, name, name, ignored))) for other in left]
        yield row, left.pop(min(range(len(left)), key=counts.__getitem__)) if left else None
    yield from ((None, row) for row in left)


def _write(value: Any) -> str:
    return "nothing" if is_empty(value) else f"“{value}”"


def _split_words(text: str) -> frozenset[str]:
    """Return the words of a text, whatever their case, accents and punctuation."""
    plain = (c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    parts = groupby(plain, key=lambda c: (c.isalpha(), c.isdigit()))
    return frozenset("".join(part) for (letters, digits), part in parts if letters or digits)


Number = TypeVar("Number", int, float)


def _add(numbers: Iterable[Number | None]) -> Number | None:
    """Return the sum of what is known, or ``None`` if nothing is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


_GROUPS = {"prompts": "prompt", "languages": "language", "kinds": "kind"}


def summarize(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Return accuracy, time, tokens and cost of all results together, and by prompt, language and kind."""
    groups = {
        name: {value: _count([each for each in results if getattr(each, field) == value]) for value in values}
        for name, field in _GROUPS.items()
        if (values := dict.fromkeys(getattr(each, field) for each in results))
    }
    return {**_count(results), **groups}


def _count(results: Sequence[CaseResult]) -> dict[str, Any]:
    right, seconds = sum(not each.mistakes for each in results), [each.seconds for each in results]
    return {
        "asked": len(results),
        "right": right,
        "accuracy": round(right / len(results), 4),
        "seconds": {"median": round(median(seconds), 3), "longest": max(seconds)},
        "tokens": {
            "prompt": _add(each.prompt_tokens for each in results),
            "completion": _add(each.completion_tokens for each in results),
        },
        "cost": _add(each.cost for each in results),
    }


def compare_results(first: Sequence[CaseResult], second: Sequence[CaseResult]) -> dict[str, Any]:
    """Return the summaries of two runs over the questions that both were asked, and those that only one got right.

    Raises ``BadInput`` if there is none.
    """
    runs = [{(each.id, each.prompt): each for each in results} for results in (first, second)]
    common = [key for key in runs[0] if key in runs[1]]
    if not common:
        raise BadInput("These two results have no question in common.")
    one, two = ([run[key] for key in common] for run in runs)
    pairs = list(zip(one, two, strict=True))
    return {
        "first": summarize(one),
        "second": summarize(two),
        "only_first": [f"{a.id} {a.prompt}" for a, b in pairs if b.mistakes and not a.mistakes],
        "only_second": [f"{a.id} {a.prompt}" for a, b in pairs if a.mistakes and not b.mistakes],
    }
