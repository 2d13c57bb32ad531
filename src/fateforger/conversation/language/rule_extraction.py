"""Constraints in a message, read in one call in any language, and compared with earlier ones (S1, S94, S116, S173)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Annotated, Any

from pydantic import Field, ValidationError

from fateforger.conversation.language.answer_types import Clock, RuleLimits
from fateforger.conversation.language.answers import Spoken, aspect_of
from fateforger.conversation.language.message_commands import get_numbered
from fateforger.conversation.language.model_calls import ModelQuestion, ask, prompt_for, translate_for_job
from fateforger.conversation.language.tables import day_facts, list_statements, list_upcoming_days
from fateforger.errors import BadInput, first_mistake
from fateforger.limits import (
    MAX_COMPARED_RULES,
    MAX_READ_RULES,
    MAX_READ_WINDOWS,
    MAX_RECURRENCE_CHARS,
    MAX_TAG_CHARS,
    MAX_TITLE_CHARS,
    MAX_TOPICS,
    MAX_WORDS_CHARS,
)
from fateforger.memory.credentials import REFUSED, remove_private_data
from fateforger.memory.documents import merge_document
from fateforger.memory.record import ConstraintRecord, DayRuleText, compute_uid
from fateforger.memory.settings import with_said_moment
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import (
    Dimension,
    Domain,
    Necessity,
    RuleKind,
    Scope,
    Slot,
    Source,
    Status,
    Weekday,
    WindowKind,
)
from fateforger.planning.plan import ET
from fateforger.ports.model import Model, Role
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.stages import EXTRACT_LIMIT, UNDERSTAND_LIMIT
from fateforger.text import gettext as _
from fateforger.values import Value
from fateforger.workers.contradictions import Judge, Judgment
from fateforger.workers.lanes import TryLater
from fateforger.workers.memory import Interpret, format_understood_id


class WindowWords(Value):
    """A time of day that is wanted or not."""

    kind: WindowKind
    start: Clock
    end: Clock


class ConstraintWords(Value):
    """One rule, as far as the message says it. What it is about is always said, so that it can be found and what it
    contradicts can be told without looking at words (S188).
    """

    name: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]
    description: Annotated[str, Field(min_length=1, max_length=MAX_WORDS_CHARS)]
    necessity: Necessity
    rule_kind: RuleKind | None = None
    slot: Slot | None = None
    dimension: Dimension
    domain: Domain
    windows: Annotated[tuple[WindowWords, ...], Field(max_length=MAX_READ_WINDOWS)] = ()
    minutes_min: int | None = None
    minutes_max: int | None = None
    day_rule: DayRuleText | None = None
    start_date: Date | None = None
    end_date: Date | None = None
    days_of_week: tuple[Weekday, ...] = ()
    recurrence: Annotated[str, Field(max_length=MAX_RECURRENCE_CHARS)] | None = None
    event_types: tuple[ET, ...] = ()
    topics: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)], ...],
        Field(min_length=1, max_length=MAX_TOPICS),
    ]
    limits: RuleLimits | None = None
    confidence: Annotated[float, Field(ge=0, le=1)]


class ConstraintInterpretation(Value):
    """Whether there is something to remember, how far it reaches, and what. What is unclear is asked (S94). Of a
    message that ``holds_secret`` nothing is remembered.
    """

    should_extract: bool
    holds_secret: bool
    scope: Scope
    constraints: Annotated[tuple[ConstraintWords, ...], Field(max_length=MAX_READ_RULES)] = ()
    question: Spoken | None = None


async def interpret(reply: TimeboxingUserReply, session: Session, model: Model) -> ConstraintInterpretation:
    """Read a reply. Requests to start are not read (S101).

    Every rule in the answer is a valid record; if not, the model is asked again. Raises ``ModelError``.
    """
    prompt = prompt_for(
        "rules",
        Role.EXTRACT,
        ConstraintInterpretation,
        remove_private_data(reply.text),
        facts=(("day", day_facts(session, reply.at)),),
        tables=(list_upcoming_days(reply.at, session.tz),),
    )

    def fits(interpretation: ConstraintInterpretation) -> None:
        build_records(interpretation, session)

    question = ModelQuestion(prompt, ConstraintInterpretation, seconds=EXTRACT_LIMIT, accept=fits)
    return await ask(model, question)


def build_records(interpretation: ConstraintInterpretation, session: Session) -> tuple[ConstraintRecord, ...]:
    """Convert an interpretation to constraint records, proposed until confirmed, each with its uid (S5).

    Returns nothing if there was nothing to extract, or if the message holds a secret. Raises ``BadInput`` for an
    invalid record.
    """
    if not interpretation.should_extract or interpretation.holds_secret:
        return ()
    return tuple(_build_record(words, interpretation.scope, session) for words in interpretation.constraints)


def _build_record(words: ConstraintWords, scope: Scope, session: Session) -> ConstraintRecord:
    document: dict[str, Any] = {
        "name": words.name,
        "description": words.description,
        "necessity": words.necessity,
        "status": Status.PROPOSED,
        "source": Source.USER,
        "scope": scope,
        "confidence": words.confidence,
        "topics": words.topics,
        "applicability": {
            "start_date": words.start_date,
            "end_date": words.end_date,
            "days_of_week": words.days_of_week,
            "recurrence": words.recurrence,
        },
        "payload": {
            "rule_kind": words.rule_kind,
            "scalar_params": {"duration_min": words.minutes_min, "duration_max": words.minutes_max},
            "windows": [{"kind": w.kind, "start": w.start, "end": w.end} for w in words.windows],
            "day_rule": words.day_rule,
        },
        # A rule for the order of the day names its blocks itself.
        "applies_event_types": () if words.day_rule else words.event_types,
        "aspect_classification": aspect_of(words.slot, words.dimension, words.domain, words.rule_kind),
    }
    limits = words.limits or RuleLimits()
    try:
        record = ConstraintRecord.model_validate(merge_document(document, limits.to_fields()))
    except ValidationError as error:
        raise BadInput(f"“{words.name[:80]}”: {first_mistake(error).sentence}") from None
    record = with_said_moment(record, words.slot, limits.at)
    return record.with_uid(compute_uid(record, session.user_id, session.id))


log = logging.getLogger(__name__)


def build_interpreter(model: Model, *, seconds: float = UNDERSTAND_LIMIT) -> Interpret:
    """Return a function that interprets a reply with the model, within ``seconds`` at usual speed."""

    async def understand(reply: TimeboxingUserReply, session: Session) -> AddExtracted | None:
        try:
            with translate_for_job():
                async with asyncio.timeout(seconds * model.time_factor):
                    interpretation = await interpret(reply, session, model)
        except TimeoutError:
            raise TryLater("The language model took too long.") from None
        found = build_records(interpretation, session)
        trouble = _(REFUSED) if interpretation.holds_secret else None
        # The question may contain the secret, too.
        question = None if trouble else interpretation.question
        log.info("constraints extracted session=%s command=%s count=%d", session.id, reply.command_id, len(found))
        if not (found or question or trouble):
            return None
        return AddExtracted(
            command_id=format_understood_id(reply.command_id),
            session_id=session.id,
            of=reply.command_id,
            at=reply.at,
            records=found,
            question=question,
            trouble=trouble,
        )

    return understand


class ComparedWords(Value):
    """The rows of earlier statements that a new one contradicts, and of those that it says again in other words."""

    contradicts: Annotated[tuple[int, ...], Field(max_length=MAX_COMPARED_RULES)] = ()
    repeats: Annotated[tuple[int, ...], Field(max_length=MAX_COMPARED_RULES)] = ()


async def compare_statements(newer: Version, earlier: Sequence[Version], model: Model) -> Judgment:
    """Return the earlier statements that a new one contradicts or repeats, in their order. Raises ``ModelError``.

    A row that is said to be both counts as contradicted.
    """
    prompt = prompt_for("compare", Role.EXTRACT, ComparedWords, newer.record.words, tables=(list_statements(earlier),))

    def fits(words: ComparedWords) -> None:
        for number in (*words.contradicts, *words.repeats):
            get_numbered(earlier, number)

    question = ModelQuestion(prompt, ComparedWords, seconds=EXTRACT_LIMIT, accept=fits)
    words = await ask(model, question)
    contradicted, repeated = set(words.contradicts), set(words.repeats) - set(words.contradicts)
    return Judgment(
        contradicted=tuple(get_numbered(earlier, number) for number in sorted(contradicted)),
        repeated=tuple(get_numbered(earlier, number) for number in sorted(repeated)),
    )


def build_judge(model: Model) -> Judge:
    """Return a function that compares statements with the model."""

    async def judge(newer: Version, earlier: Sequence[Version]) -> Judgment:
        with translate_for_job():
            return await compare_statements(newer, earlier, model)

    return judge
