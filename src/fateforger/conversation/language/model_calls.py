"""Calls of a language model: prompts from templates, answers that validate, and the cost (S70, S92, S93, S221)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NoReturn, TypeVar
from unicodedata import category

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel, ValidationError
from toon_format import encode

from fateforger.conversation.language.answer_types import build_schema, describe_type
from fateforger.errors import (
    ModelAuthFailed,
    ModelBusy,
    ModelError,
    ModelRejected,
    ModelTimedOut,
    ModelUnusable,
    StoreError,
    UserError,
    first_mistake,
)
from fateforger.limits import MAX_ANSWER_CHARS, MAX_PROMPT_MESSAGE_CHARS
from fateforger.metrics import MODEL_CALLS, MODEL_TOKENS
from fateforger.ports.clock import Clock
from fateforger.ports.model import TOO_LATE, Completion, Model, Prompt, Role, Spent, Usage
from fateforger.ports.traces import trace
from fateforger.session.day import local_today
from fateforger.text import clean_text, current_language, list_languages, mark_message, name_language
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.lanes import TryLater
from fateforger.workers.supervisor import BackgroundTasks

VERSIONS: Mapping[str, int] = {
    "ask": 9,
    "compare": 2,
    "date": 11,
    "decide": 13,
    "decompose": 4,
    "draft": 8,
    "facts": 13,
    "memory": 14,
    "patch": 16,
    "queue": 3,
    "replan": 10,
    "rules": 10,
    "start": 16,
}
"""Increase a version with each change of a template, its includes, or its tables. Recorded turns name the version."""
POLICY_VERSION = 1

Row = Mapping[str, object]
Table = tuple[str, Sequence[Row], int]
"""Name, rows, and the number of rows that are not shown."""


def prompt_for(
    name: str,
    role: Role,
    answer: type[BaseModel],
    message: str,
    *,
    facts: Sequence[tuple[str, Row]] = (),
    tables: Sequence[Table] = (),
) -> Prompt:
    """Return the prompt of a template.

    The system text is the same for every call of that name, so that a provider can cache it; whatever differs is in the
    user message. ``facts`` are single rows, ``tables`` lists.
    """
    rows = [("write_in", {"language": name_language(current_language())}), *facts]
    data = "\n".join([encode({key: _clean_row(row)}) for key, row in rows] + [_table(table) for table in tables])
    message = clean_text(message)
    said = message if len(message) <= MAX_PROMPT_MESSAGE_CHARS else f"{message[:MAX_PROMPT_MESSAGE_CHARS]}… (cut)"
    user = _template("user.j2").render(mark=_mark(data + said), tables=data, message=said)
    return Prompt(
        f"{name}/{VERSIONS[name]}",
        role,
        system_text(name, answer),
        user.strip(),
        build_schema(answer),
        describe_answer(answer),
    )


@cache
def system_text(name: str, answer: type[BaseModel]) -> str:
    """Return the constant system text of a prompt, which asks for that type of answer."""
    languages = ", ".join(list_languages())
    text = _template(f"{name}.j2").render(
        answer=describe_answer(answer), policy_version=POLICY_VERSION, languages=languages
    )
    return str(text).strip()


def describe_answer(answer: type[BaseModel]) -> str:
    """Return the end of a system text, which a model that reads the JSON schema does not need."""
    return f"Its type:\n{describe_type(answer)}"


def _table(table: Table) -> str:
    """Encode a table as ``name[N]{a,b}:`` with one row per line (S92), and the number of rows that are not shown."""
    name, rows, more = table
    text = encode({name: [_clean_row(row) for row in rows]})
    return f"{text}\n({more} more are not shown.)" if more else text


def _clean_row(row: Row) -> dict[str, object]:
    """Return a row without what a model would read and a person would not see."""
    return {name: clean_text(value) if isinstance(value, str) else value for name, value in row.items()}


def _mark(text: str) -> str:
    """Return a delimiter that cannot occur in the data, because it is a hash of it."""
    return f"=== {hashlib.sha256(text.encode()).hexdigest()[:16]} ==="


@cache
def _template(name: str) -> Any:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    # The output is plain text for a model, not markup; escaping would only garble it.
    loader = PackageLoader("fateforger.conversation", "prompts")
    return Environment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  plain text for a model
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


_FENCE = "```"
_DECODER = json.JSONDecoder(
    object_hook=lambda found: {name: _strip_invisible(value) for name, value in found.items()},
    parse_constant=lambda name: _reject(f"{name} is not a number that JSON knows"),
)
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional control characters, which reorder the text that follows them."""


def extract_json(text: str) -> Any:
    """Parse the first JSON object or list in a model's answer.

    Raises ``ValueError`` with a sentence that the model can act on. A second object is an error, because there is no
    way to tell which one is right.
    """
    if len(text) > MAX_ANSWER_CHARS:
        _reject("The answer is far too long")
    body = _strip_fence(text.strip().lstrip("\ufeff"))
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0:
        _reject("There is no JSON in the answer; answer with one JSON object and nothing else")
    try:
        value, end = _DECODER.raw_decode(body, start)
    except json.JSONDecodeError as error:
        _reject(f"The JSON breaks off or is malformed at character {error.pos}: {error.msg}")
    except RecursionError:
        _reject("The JSON is nested too deeply")
    if body.find("{", end) >= 0:
        _reject("There is more than one JSON object; answer with exactly one")
    return value


def _strip_invisible(value: Any) -> Any:
    """Strip invisible characters from a string, because a calendar or database may reject them.

    Other values are returned unchanged.
    """
    if not isinstance(value, str):
        return value
    return "".join(c for c in value if c in "\n\t" or (c not in _TURNING and category(c) not in {"Cc", "Cs"}))


def _strip_fence(text: str) -> str:
    """Return the text inside the first pair of fences, or the whole text if there is none."""
    before, fence, rest = text.partition(_FENCE)
    if not fence or "{" in before or "[" in before:
        return text
    inside, fence, after = rest.partition(_FENCE)
    return inside if not fence else f"{inside}{after}"


def _reject(sentence: str) -> NoReturn:
    raise ValueError(f"{sentence}.")


UNUSABLE = mark_message("The language model gave no answer that I can use.")
T = TypeVar("T", bound=BaseModel)
QUOTED = 4_000
"""Length, in characters, to which a wrong answer is cut when it is sent back to the model."""


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[T]):
    """Question to a model, with the type of its answer.

    ``seconds`` limits all tries together, at usual speed, and ``tries`` their number. A wrong answer is sent back with
    its mistake. ``accept`` may reject a well-formed answer by raising ``UserError``, whose message is sent back too.
    """

    prompt: Prompt
    answer: type[T]
    seconds: float
    tries: int = 2
    accept: Callable[[T], object] | None = None


async def ask(model: Model, question: ModelQuestion[T]) -> T:
    """Ask a model and return its answer as a value.

    Raises ``ModelUnusable`` if no try gave a usable answer. Any other ``ModelError`` is raised at once: the adapter has
    already retried transient errors, and asking again would not help.
    """
    prompt, mistake = question.prompt, ""
    try:
        async with asyncio.timeout(question.seconds * model.time_factor) as deadline:
            for _try in range(question.tries):
                left = (deadline.when() or 0) - asyncio.get_running_loop().time()
                completion = await model.complete(prompt, seconds=left)
                try:
                    return _parse_answer(completion.text, question)
                except ValueError as error:
                    mistake = str(error)
                prompt = replace(prompt, history=(*prompt.history, (completion.text[:QUOTED], mistake)))
    except TimeoutError:
        raise ModelTimedOut(_(TOO_LATE)) from None
    log.warning("an answer to %s cannot be used: %s", question.prompt.name, mistake)
    raise ModelUnusable(_(UNUSABLE), where=question.prompt.name)


def _parse_answer(text: str, question: ModelQuestion[T]) -> T:
    """Parse and validate an answer. Raises ``ValueError`` with the one mistake to fix."""
    try:
        value = question.answer.model_validate(_drop_nulls(extract_json(text)))
    except ValidationError as error:
        mistake = first_mistake(error)
        raise ValueError(f"{mistake.sentence} (at {mistake.where or 'the top'})") from None
    if question.accept is not None:
        try:
            question.accept(value)
        except UserError as error:
            raise ValueError(error.message) from None
    return value


def _drop_nulls(value: Any) -> Any:
    """Return a value without its fields that are null; each may be left out, and models often write null instead."""
    if isinstance(value, list):
        return [_drop_nulls(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _drop_nulls(part) for name, part in value.items() if part is not None}
    return value


@contextmanager
def translate_for_job() -> Iterator[None]:
    """Translate the errors of a model into those of a job: it is tried again, unless the model refuses."""
    try:
        yield
    except (ModelAuthFailed, ModelRejected) as error:
        # The message may quote the model, and thereby the person's own words.
        raise UserError(f"The language model refuses ({type(error).__name__}).") from None
    except ModelError as error:
        wait = error.retry_after if isinstance(error, ModelBusy) else None
        raise TryLater(f"The language model gave no answer ({type(error).__name__}).", wait) from None


log = logging.getLogger(__name__)


class CountingModel:
    """A model that passes requests on and adds up their cost in the background.

    No request waits for the sums, and a persistent failure to store them is logged once. ``tz`` is the time zone of a
    day.
    """

    def __init__(self, model: Model, usage: Usage, clock: Clock, *, tz: str) -> None:
        self._model = model
        self._usage = usage
        self._clock = clock
        self._tz = tz
        self._adding = BackgroundTasks()
        self._complained = False

    @property
    def time_factor(self) -> float:
        return self._model.time_factor

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        try:
            with trace("model", prompt=prompt.name.partition("/")[0]):
                completion = await self._model.complete(prompt, seconds=seconds)
        except (ModelError, asyncio.CancelledError) as error:
            self._count(prompt, None)
            if isinstance(error, ModelAuthFailed | ModelRejected):
                # The person is told, too, but only whoever runs the program can change its settings.
                log.warning(
                    "the server refused %s (%s): check FATEFORGER_MODEL and those after it", prompt.name, error.kind
                )
            raise
        self._count(prompt, completion)
        return completion

    async def aclose(self) -> None:
        """Wait for the sums, and close the model's connections."""
        await self._adding.close(seconds=None)
        await self._model.aclose()

    def _count(self, prompt: Prompt, completion: Completion | None) -> None:
        MODEL_CALLS.labels(prompt.name.partition("/")[0], "failed" if completion is None else "ok").inc()
        if completion is not None:
            MODEL_TOKENS.labels("sent").inc(completion.prompt_tokens or 0)
            MODEL_TOKENS.labels("received").inc(completion.completion_tokens or 0)
        self._adding.start(self._add(self._spent(prompt, completion)), name="adding up the cost of a model")

    def _spent(self, prompt: Prompt, completion: Completion | None) -> Spent:
        today = local_today(self._clock.now(), self._tz)
        if completion is None:
            return Spent(day=today, role=prompt.role, model="", failed=1)
        return Spent(
            day=today,
            role=prompt.role,
            model=completion.model,
            calls=1,
            uncounted=int(completion.prompt_tokens is None or completion.completion_tokens is None),
            unpriced=int(completion.cost is None),
            prompt_tokens=completion.prompt_tokens or 0,
            completion_tokens=completion.completion_tokens or 0,
            cost=completion.cost or 0.0,
        )

    async def _add(self, spent: Spent) -> None:
        try:
            await self._usage.add(spent)
        except StoreError as error:
            if not self._complained:
                log.warning("what language models cost cannot be added up for now: %s", error.message)
            self._complained = True
        else:
            self._complained = False
