"""Extract constraints from a message: one structured reading of each reply, in any language (S1, S94, S101).

Nothing is stored here.
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fateforger.constraints import ConstraintRecord, compute_uid
from fateforger.constraints.kinds import (
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
from fateforger.constraints.record import DayRuleText
from fateforger.errors import BadInput
from fateforger.plan import ET
from fateforger.plan.mistakes import first_mistake
from fateforger.ports import Model, Role
from fateforger.session.commands import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.constants import EXTRACT_LIMIT
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts
from fateforger.turn.reading.rules import aspect_of
from fateforger.turn.reading.values import Clock, Spoken

_CLOSED = ConfigDict(frozen=True, extra="forbid")
MOST_CONSTRAINTS = 12
"""Limit on the constraints of one message."""


class WindowWords(BaseModel):
    """A time of day that is wanted or not."""

    model_config = _CLOSED
    kind: WindowKind
    start: Clock
    end: Clock


class ConstraintWords(BaseModel):
    """One rule, as far as the message says it. What it is about is always said, so that it can be found and what it
    contradicts can be told without looking at words (S188)."""

    model_config = _CLOSED
    name: Annotated[str, Field(min_length=1, max_length=300)]
    description: Annotated[str, Field(min_length=1, max_length=2000)]
    necessity: Necessity
    rule_kind: RuleKind | None
    slot: Slot | None
    dimension: Dimension
    domain: Domain
    windows: Annotated[tuple[WindowWords, ...], Field(max_length=10)]
    minutes_min: int | None
    minutes_max: int | None
    day_rule: DayRuleText | None
    start_date: Date | None
    end_date: Date | None
    days_of_week: tuple[Weekday, ...]
    recurrence: Annotated[str, Field(max_length=400)] | None
    event_types: tuple[ET, ...]
    topics: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=60)], ...], Field(min_length=1, max_length=6)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ConstraintInterpretation(BaseModel):
    """Whether there is something to remember, how far it reaches, and what. What is unclear is asked (S94). Of a
    message that ``holds_secret`` nothing is remembered."""

    model_config = _CLOSED
    should_extract: bool
    holds_secret: bool
    scope: Scope
    constraints: Annotated[tuple[ConstraintWords, ...], Field(max_length=MOST_CONSTRAINTS)]
    question: Spoken | None


async def interpret(reply: TimeboxingUserReply, session: Session, model: Model) -> ConstraintInterpretation:
    """Read a reply. Requests to start are not read (S101).

    Every rule in the answer is a valid record; if not, the model is asked again. Raises ``ModelError``.
    """
    prompt = prompt_for(
        "rules",
        Role.EXTRACT,
        ConstraintInterpretation,
        reply.text,
        facts=(("day", facts.day_facts(session, reply.at)),),
        tables=(facts.list_upcoming_days(reply.at, session.tz),),
    )

    def fits(interpretation: ConstraintInterpretation) -> None:
        build_records(interpretation, session)

    question = ModelQuestion(prompt, ConstraintInterpretation, seconds=EXTRACT_LIMIT, accept=fits)
    return (await ask(model, question)).value


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
            "timezone": session.tz,
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
        "aspect": aspect_of(words.slot, words.dimension, words.domain, words.rule_kind),
    }
    try:
        record = ConstraintRecord.model_validate(document)
    except ValidationError as error:
        raise BadInput(f"“{words.name[:80]}”: {first_mistake(error).sentence}") from None
    return record.with_uid(compute_uid(record, session.user_id, session.id))
