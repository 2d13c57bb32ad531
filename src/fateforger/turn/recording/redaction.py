"""Redact a recorded run so that it can still be replayed.

Text written by people is replaced in the input and in the model's answers; everything else follows from running the
turn again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, assert_never, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from fateforger.errors import BadInput, UserError
from fateforger.plan import zone
from fateforger.ports import Completion
from fateforger.session.commands import ResolveConflict
from fateforger.session.model import Question, Session
from fateforger.session.questions import token
from fateforger.session.skeleton import basis
from fateforger.turn.answers import extract_json
from fateforger.turn.model import TurnInput
from fateforger.turn.recording.values import AnyRun, DraftRun, Exchange, OpeningRun, Run
from fateforger.values import replace
from fateforger.workflow.days import read_day_rule

M = TypeVar("M", bound=BaseModel)
Hide = Callable[[str], str]

KEPT = frozenset(
    {
        *("id", "key", "after", "event_id", "session_id", "command_id", "task_id", "user_id", "series_id", "op_id"),
        *("channel", "thread_ts", "handled", "asked", "seen", "newest", "transaction", "transactions", "group"),
        *("write_group", "draft_basis", "basis", "version", "tz", "color_id", "event_type"),
        *("uid", "uids", "supersedes", "supersedes_uids", "set_aside", "put_aside", "taken_up", "cause", "of", "write"),
        *(
            "timezone",
            "recurrence",
            "day_rule",
            "applies_stages",
            "Session.brakes",
            "Session.trace",
            "CheckedInputs.rules",
            "CheckedInputs.meetings",
            "Session.overrun",
            "HeldChange.also",
            "HeldChange.meetings",
            "near",
            "SettleConstraints.keep",
            "MemoryView.only",
            "Clash.let_go",
            "Finding.keys",
            "Session.brought",
            "Session.settled",
            "Facts.settled",
            "CatchUp.brought",
            "BringAlong.task_ids",
            "BringAlong.settled",
            "Fix.keys",
            "ApplyFix.fix",
            "Replan.missed",
            "Replan.done",
            "Replan.not_today",
        ),
    }
)
"""Fields that never hold a person's words, such as ids and zones. All other texts except literals are redacted."""
OURS = frozenset({"ffu", "ffg", "ffd", "ffo"})
"""Private event properties that this program writes."""


def redact_input(turn: TurnInput, hide: Hide) -> TurnInput:
    """Redact the input of a turn."""
    hidden, session = _model(turn, hide), _session(turn.session, hide)
    command = hidden.command
    if isinstance(command, ResolveConflict) and command.seen is not None:
        command = replace(command, seen=_redact_seen(command.seen, turn.session, session))
    # Validate the changed input as if it had just come in.
    hidden = replace(hidden, session=session, command=command)
    return TurnInput.model_validate_json(hidden.model_dump_json())


def redact_run(run: AnyRun, schemas: Sequence[Mapping[str, Any] | None], hide: Hide) -> AnyRun:
    """Redact the input and the model's answers of a run. ``schemas`` are those of the answers.

    The results have to be recomputed from them.
    """
    answers = [redact_answer(e, schema, hide) for e, schema in zip(run.exchanges, schemas, strict=True)]
    changes: dict[str, Any] = {"exchanges": tuple(answers)}
    match run:
        case Run():
            changes["input"] = redact_input(run.input, hide)
        case OpeningRun():
            queue = tuple(_model(task, hide) for task in run.queue)
            changes |= {"reply": _model(run.reply, hide), "session": _session(run.session, hide), "queue": queue}
        case DraftRun():
            changes |= {
                "session": _session(run.session, hide),
                "instead_of": None if run.instead_of is None else _model(run.instead_of, hide),
            }
        case _:
            assert_never(run)
    return run.model_copy(update=changes)


def redact_answer(exchange: Exchange, schema: Mapping[str, Any] | None, hide: Hide) -> Exchange:
    """Redact an answer except for the values that its schema fixes.

    The exchange keeps its original prompt, which the caller has to replace with the prompt of the redacted run.
    """
    if exchange.completion is None:
        return exchange
    text = _answer(exchange.completion.text, frozenset(_collect_fixed(schema or {})), hide)
    fields = {name: getattr(exchange.completion, name) for name in Completion.__slots__ if name != "text"}
    return replace(exchange, completion=Completion(text=text, **fields))


def _session(session: Session, hide: Hide) -> Session:
    return _with_basis(_model(session, hide), session)


def _model(value: M, hide: Hide) -> M:
    return value.model_copy(update={n: _value(n, getattr(value, n), hide) for n in _open_fields(type(value))})


@cache
def _open_fields(kind: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields that may hold text written by a person."""
    return tuple(
        name
        for name, field in kind.model_fields.items()
        if name not in KEPT and f"{kind.__name__}.{name}" not in KEPT and not _is_literal(field.annotation)
    )


def _is_literal(annotation: Any) -> bool:
    """Check whether a field holds a literal or nothing."""
    if get_origin(annotation) in {Union, UnionType}:
        return all(part is NoneType or _is_literal(part) for part in get_args(annotation))
    return get_origin(annotation) is Literal


def _value(name: str, value: Any, hide: Hide) -> Any:
    if type(value) is str:
        return hide(value)
    if isinstance(value, BaseModel):
        return _model(value, hide)
    if isinstance(value, tuple):
        return tuple(_value(name, each, hide) for each in value)
    if not isinstance(value, Mapping):
        return value
    match name:
        case "properties":
            return {key: known for key, known in value.items() if key in OURS}
        case "fetched":
            return {key: _value(name, each, hide) for key, each in value.items()}
        case _:
            return {}


def _with_basis(session: Session, original: Session) -> Session:
    """Keep a draft current: its basis is recomputed from the redacted session."""
    try:
        was, now = basis(original), basis(session)
    except UserError:
        return session  # An invalid frame has no basis.
    if session.draft_basis == was:
        session = replace(session, draft_basis=now)
    if session.sketch is not None and session.sketch.basis == was:
        session = replace(session, sketch=replace(session.sketch, basis=now))
    return session


def _redact_seen(seen: str, original: Session, session: Session) -> str:
    """Return the token of the questions that a button referred to, for the redacted session."""
    pairs = list(zip(original.questions, session.questions, strict=True))
    opened = [pair for pair in pairs if pair[0].answer is None]
    for group in ([pair] for pair in pairs), [opened], [pairs]:
        for chosen in group:
            was, now = _sides(chosen)
            if token(was) == seen:
                return token(now)
    return seen


def _sides(pairs: Sequence[tuple[Question, Question]]) -> tuple[list[Question], list[Question]]:
    return [was for was, _ in pairs], [now for _, now in pairs]


# --- answers of a model ---


def _answer(text: str, fixed: frozenset[str], hide: Hide) -> str:
    """Redact an answer. JSON keeps its structure; text around it, or text that is not JSON, is redacted as a whole."""
    try:
        value = extract_json(text)
    except ValueError:
        return hide(text)
    return json.dumps(_redact_json(value, fixed, hide), ensure_ascii=False)


def _redact_json(value: Any, fixed: frozenset[str], hide: Hide) -> Any:
    if isinstance(value, str):
        return value if value in fixed or _is_of_a_fixed_form(value) or _is_day_rule(value) else hide(value)
    if isinstance(value, list):
        return [_redact_json(each, fixed, hide) for each in value]
    if isinstance(value, dict):
        return {name if name in fixed else hide(name): _redact_json(each, fixed, hide) for name, each in value.items()}
    return value


def _collect_fixed(schema: Any) -> Iterator[str]:
    """Yield the names and values that a schema contains."""
    if isinstance(schema, list):
        for part in schema:
            yield from _collect_fixed(part)
    elif isinstance(schema, Mapping):
        yield from schema.get("properties", {})
        yield from (value for value in schema.get("enum", ()) if isinstance(value, str))
        if isinstance(schema.get("const"), str):
            yield schema["const"]
        for part in schema.values():
            yield from _collect_fixed(part)


def _is_day_rule(text: str) -> bool:
    """Check whether a text is a rule for the order of the day, which consists of fixed names only."""
    try:
        read_day_rule(text)
    except BadInput:
        return False
    return True


def _is_of_a_fixed_form(text: str) -> bool:
    """Check whether a text is a time, a date, a duration or a zone."""
    if len(text) > 64 or not text.isascii():
        return False
    if ":" in text or "-" in text:
        for form in (datetime, date, time):
            with contextlib.suppress(ValueError):
                form.fromisoformat(text)
                return True
    try:
        if text.startswith("P"):
            _DURATION.validate_python(text)
            return True
        return zone(text).key == text
    except ValueError:
        return False


_DURATION = TypeAdapter(timedelta)
