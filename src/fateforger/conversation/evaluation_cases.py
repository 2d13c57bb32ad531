"""Cases of the evaluation: messages in a situation with their expected answers, shipped ones and recorded ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from fateforger.conversation.language.answer_types import build_schema, read_reference
from fateforger.conversation.language.answers import (
    AnswerWords,
    DayWords,
    Decision,
    Intent,
    MemoryWish,
    MemoryWords,
    PatchWords,
    QueueWords,
    ReplanWords,
    StartWords,
)
from fateforger.conversation.language.message_reader import merge_wishes
from fateforger.conversation.language.model_calls import extract_json
from fateforger.conversation.language.rule_extraction import ConstraintInterpretation
from fateforger.conversation.language.tables import OutsideContext
from fateforger.conversation.recordings import Exchange, OpeningRun, RecordedTurn, Run, read_purpose
from fateforger.conversation.turn_values import MemoryReading, TurnInput, begin_turn
from fateforger.errors import BadInput, first_mistake
from fateforger.memory.versions import Version
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.pending import WaitingProposal
from fateforger.session.recall import nameable_constraints
from fateforger.text import list_languages
from fateforger.values import Value, replace

ANSWERS: Mapping[str, type[BaseModel]] = {
    "start": StartWords,
    "queue": QueueWords,
    "decide": Decision,
    "facts": DayWords,
    "date": DayWords,
    "patch": PatchWords,
    "replan": ReplanWords,
    "rules": ConstraintInterpretation,
    "memory": MemoryWords,
    "ask": AnswerWords,
}
"""Prompts that can be evaluated, each with the type of its answer."""
INTENTS = {
    "queue": Intent.WORK,
    "facts": Intent.ANSWER,
    "date": Intent.ANSWER,
    "patch": Intent.CHANGE,
    "replan": Intent.REPLAN,
    "memory": Intent.MEMORY,
    "ask": Intent.ASK,
}
"""Intent of the wish that each prompt reads."""
TEXTS = frozenset(
    {"title", "words", "answer", "question", "notes", "context", "reason", "name", "description", "people", "place"}
    | {"after", "items", "done_when", "criteria", "files", "tags", "search", "box", "project"}
)
"""Fields with free text, of which the expected words have to be there."""
JUDGED = TEXTS - {"title", "people", "place", "after", "items", "box"} | {
    *("depth", "kind", "best", "workflow", "simple", "language", "necessity", "rule_kind", "dimension", "domain"),
    *("topics", "event_types", "confidence", "recurrence", "slot", "scope", "type", "wants", "changes", "haste"),
}
"""Fields on which good readers differ: they count only where a case expects something of them."""


class Situation(Value):
    """Everything that a message is read with: session, queue and other context, rules to name, and proposals."""

    session: Session
    context: OutsideContext = OutsideContext()
    memory: tuple[Version, ...] = ()
    proposals: tuple[WaitingProposal, ...] = ()


Expected = Annotated[
    tuple[dict[str, Any], ...], BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value])
]
"""Answers that are right; where there is only one, the list may be left out."""


class Case(Value):
    """A message with its expected answers by prompt.

    An answer names only what it says: fields that are left out have to be empty, apart from those on which good readers
    differ. Fields named in ``open`` may hold anything.
    """

    id: str = Field(min_length=1)
    language: str
    kind: Literal["single", "mixed", "vague", "hostile", "voice", "typos", "recorded"]
    situation: str | Situation
    message: str = Field(min_length=1)
    expected: dict[str, Expected] = Field(min_length=1)
    open: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _check_answers(self) -> Self:
        if self.language not in list_languages():
            raise ValueError(f"there is no language {self.language}; they are {', '.join(list_languages())}")
        if unknown := self.expected.keys() - ANSWERS.keys():
            raise ValueError(f"there is no prompt {min(unknown)}; they are {', '.join(ANSWERS)}")
        for prompt, answers in self.expected.items():
            for answer in answers:
                parse_answer(prompt, answer)
        self.load_situation()
        return self

    def load_situation(self) -> Situation:
        """Return the situation, with titles in the language of the case if it has only a name."""
        return (
            self.situation if isinstance(self.situation, Situation) else load_situation(self.situation, self.language)
        )

    def words_for(self, prompt: str) -> str:
        """Return the part of the message that this prompt reads: that of its wish, if the message has several."""
        wishes = self.expected["decide"][0].get("wishes", ()) if "decide" in self.expected else ()
        parts = [wish.get("words") for wish in wishes if wish.get("intent") == INTENTS.get(prompt)]
        return "\n".join(part for part in parts if part) or self.message


def parse_answer(prompt: str, partial: Mapping[str, Any]) -> BaseModel:
    """Return an answer in which the required fields that a partial one leaves out are empty.

    Raises ``ValueError`` with the mistake.
    """
    schema = build_schema(ANSWERS[prompt])
    try:
        return ANSWERS[prompt].model_validate(_fill(partial, schema, schema.get("$defs", {})))
    except ValidationError as error:
        mistake = first_mistake(error)
        raise ValueError(f"{mistake.sentence} (at {prompt}.{mistake.where})") from None


def _fill(value: Any, schema: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Return a value with what its schema requires; ``...`` is one that is missing."""
    if "$ref" in schema:
        return _fill(value, kinds[read_reference(schema)], kinds)
    if "anyOf" in schema:
        given = next(each for each in schema["anyOf"] if each.get("type") != "null")
        return None if value is ... else _fill(value, given, kinds)
    if value is ...:
        least = ["…"] * int(schema.get("minItems", 0))
        usual = {"boolean": False, "array": least, "string": "…", "number": 1, "integer": 0}[schema["type"]]
        return "00:00" if "pattern" in schema else schema.get("enum", [usual])[0]
    if isinstance(value, list):
        return [_fill(each, schema.get("items", {}), kinds) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "discriminator" in schema:
        named = schema["discriminator"]["mapping"].get(value.get(schema["discriminator"]["propertyName"]))
        return _fill(value, {"$ref": named}, kinds) if named else value
    fields = schema.get("properties", {})
    names = (*value, *(name for name in schema.get("required", ()) if name not in value))
    return {name: _fill(value.get(name, ...), fields.get(name, {}), kinds) for name in names}


_DATA = files("fateforger.conversation") / "cases"


@cache
def load_situation(name: str, language: str) -> Situation:
    """Return a situation by its name, with its titles in a language. Raises ``ValueError`` if there is none."""
    document = _load_situations()
    if name not in document["situations"] or language not in document["titles"]:
        raise ValueError(f"there is no situation {name} in the language {language}")
    text = Template(json.dumps(document["situations"][name])).substitute(document["titles"][language])
    return Situation.model_validate_json(text)


@cache
def _load_situations() -> Any:
    return json.loads((_DATA / "situations.json").read_text("utf-8"))


def load_cases() -> Iterator[Case]:
    """Yield the cases that come with the program."""
    for code in _load_situations()["titles"]:
        with (_DATA / f"{code}.jsonl").open(encoding="utf-8") as lines:
            yield from (parse_case(json.loads(line), f"{code}.jsonl") for line in lines)


def parse_case(document: Any, where: str) -> Case:
    """Parse a case. Raises ``BadInput`` with the mistake."""
    try:
        return Case.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=f"{where}, {mistake.where}" if mistake.where else where) from None


def read_answer(prompt: str, exchange: Exchange) -> BaseModel | None:
    """Return the answer of a model as its type, or ``None`` if there is none that can be used."""
    try:
        text = "" if exchange.completion is None else exchange.completion.text
        return ANSWERS[prompt].model_validate(extract_json(text))
    except ValueError:
        return None


def dump_answer(answer: BaseModel, session: Session) -> Any:
    """Return an answer as JSON, with everything that is carried out alike written alike."""
    if isinstance(answer, StartWords):
        answer = replace(answer, also=merge_wishes(answer.also))
    match answer:
        case Decision(wishes=wishes):
            answer = replace(answer, wishes=merge_wishes(wishes))
        case MemoryWords(wish=MemoryWish.GET):
            answer = replace(answer, wish=MemoryWish.LIST)
        case DayWords(date=day, tz=tz):
            day, tz = None if day == session.date else day, None if tz == session.tz else tz
            answer = replace(answer, date=day, tz=tz)
    return answer.model_dump(mode="json")


def is_empty(value: Any) -> bool:
    return value is None or value is False or value == ""


def build_cases(turn: RecordedTurn, name: str) -> Iterator[Case]:
    """Yield the cases of a recorded turn: each message with what the model answered then.

    Of a message with several wishes only the decision is kept, since later wishes are read in a changed session. Raises
    ``BadInput`` if the words in the recording are pseudonyms.
    """
    if turn.titles == "redacted":
        raise BadInput(
            "The words in this recording are pseudonyms, which no model can read; record with"
            " FATEFORGER_RECORD_TITLES=keep.",
            where=name,
        )
    for number, run in enumerate(turn.runs, 1):
        match run:
            case OpeningRun(reply=reply):
                situation = Situation(session=run.session, context=run.context)
            case Run(input=TurnInput(command=TimeboxingUserReply() as reply) as given):
                memory, session = given.memory or MemoryReading(), begin_turn(given)
                listed = nameable_constraints(session, memory.versions)
                context = given.context or OutsideContext()
                situation = Situation(session=session, context=context, memory=listed, proposals=given.proposals)
            case _:
                continue
        answers = {
            prompt: answer
            for exchange in run.exchanges
            if (prompt := read_purpose(exchange.name)) in ANSWERS
            and (answer := read_answer(prompt, exchange)) is not None
        }
        decision = answers.get("decide")
        if isinstance(decision, Decision) and len(merge_wishes(decision.wishes)) > 1:
            answers = {"decide": decision}
        if answers:
            yield Case(
                id=f"{name}-{number}",
                language=situation.session.options.language,
                kind="recorded",
                situation=situation,
                message=reply.text,
                expected={
                    prompt: (_strip(dump_answer(answer, situation.session)),) for prompt, answer in answers.items()
                },
            )


def _strip(value: Any) -> Any:
    """Return an answer without what is empty and without fields on which good readers differ."""
    if isinstance(value, list):
        return [_strip(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    inner = {name: _strip(each) for name, each in value.items() if name not in JUDGED}
    return {name: each for name, each in inner.items() if not (is_empty(each) or each in ([], {}))}
