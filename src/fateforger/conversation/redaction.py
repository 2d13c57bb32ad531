"""Redaction of recordings before they are stored; a redacted turn can still be replayed.

Secrets are always removed, and people's words unless they are to be kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import count, groupby
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, assert_never, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

from fateforger.conversation.language.model_calls import extract_json
from fateforger.conversation.language.plan_ops import is_block_name
from fateforger.conversation.recordings import AnyRun, DraftRun, Exchange, OpeningRun, RecordedTurn, Run
from fateforger.conversation.turn_values import TurnInput
from fateforger.errors import BadInput
from fateforger.masks import Scrubber
from fateforger.planning.timing import zone
from fateforger.ports.model import Completion, Prompt
from fateforger.session.commands.plan import ResolveConflict
from fateforger.session.conflicts import question_token
from fateforger.session.draft import carry_basis
from fateforger.session.model import Question, Session
from fateforger.values import replace, replace_named
from fateforger.workflow.day_rules import read_day_rule

CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


class Pseudonyms:
    """Replaces letters and digits word by word.

    Everything between words stays, so that a text is cut, quoted and laid out as before. The ``key`` is never stored;
    without it, a pseudonym cannot be confirmed by guessing words.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def text(self, text: str) -> str:
        """Replace the words of a text."""
        return "".join(
            self._word("".join(part)) if wordlike else "".join(part) for wordlike, part in groupby(text, _is_wordlike)
        )

    def _word(self, word: str) -> str:
        plain = word.lower()
        if len(plain) != len(word):  # The lower case of some letters has two characters; such a word keeps its case.
            plain = word
        if plain not in self._given:
            self._given[plain] = self._mint(plain)
            self._taken.add(self._given[plain])
        return "".join(c.upper() if old.isupper() else c for old, c in zip(word, self._given[plain], strict=True))

    def _mint(self, word: str) -> str:
        """Create a pseudonym. Two words share one only if there are more words of that length than pseudonyms."""
        tries = range(200) if len(word) < 3 else count()
        made = ""
        for attempt in tries:
            made = _spell(word, self._stream(word, attempt))
            if made not in self._taken:
                break
        return made

    def _stream(self, word: str, attempt: int) -> bytes:
        stream = b""
        while len(stream) < len(word):
            seed = f"{attempt}/{len(stream)}/{word}".encode("utf-8", "surrogatepass")
            stream += hmac.digest(self._key, seed, hashlib.sha256)
        return stream


def _is_wordlike(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _spell(word: str, stream: bytes) -> str:
    made = ""
    for place, (char, byte) in enumerate(zip(word, stream, strict=False)):
        letters = VOWELS if place % 2 else CONSONANTS
        made += str(byte % 10) if char.isdigit() else letters[byte % len(letters)]
    return made


M = TypeVar("M", bound=BaseModel)
Hide = Callable[[str], str]

KEPT = frozenset(
    {
        *("id", "key", "after", "event_id", "session_id", "command_id", "task_id", "user_id", "series_id", "op_id"),
        *("channel", "thread_ts", "handled", "asked", "seen", "newest", "transaction", "transactions", "group"),
        *("write_group", "draft_basis", "basis", "version", "tz", "color_id", "event_type", "language"),
        *("uid", "uids", "supersedes", "supersedes_uids", "set_aside", "put_aside", "taken_up", "cause", "of", "write"),
        *(
            "timezone",
            "recurrence",
            "day_rule",
            "applies_stages",
            "SyncState.brakes",
            "ThreadState.trace",
            "CheckedInputs.rules",
            "CheckedInputs.meetings",
            "Planning.overrun",
            "HeldChange.also",
            "HeldChange.meetings",
            "near",
            "SettleConstraints.keep",
            "AllowedMeeting.rule",
            "AllowedMeeting.meeting",
            "MemoryToolResult.only",
            "Clash.let_go",
            "Finding.keys",
            "OpenWork.brought",
            "OpenWork.settled",
            "Facts.settled",
            "CatchUp.brought",
            "BringAlong.task_ids",
            "BringAlong.settled",
            "Fix.keys",
            "ApplyFix.fix",
            "Replan.missed",
            "Replan.done",
            "Replan.not_today",
            "Button.action",
            "Button.target",
            "RecentTalk.wrote",
            "OpenPlan.step",
        ),
    }
)
"""Fields that never hold a person's words, such as ids and zones. All other texts except literals are redacted."""
OURS = frozenset({"ffu", "ffg", "ffd", "ffo"})
"""Private event properties that this program writes."""


def redact_input(turn: TurnInput, hide: Hide) -> TurnInput:
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
    run = replace(run, exchanges=tuple(answers))
    match run:
        case Run():
            return replace(run, input=redact_input(run.input, hide))
        case OpeningRun():
            context = _model(run.context, hide)
            return replace(run, reply=_model(run.reply, hide), session=_session(run.session, hide), context=context)
        case DraftRun():
            over = None if run.instead_of is None else _model(run.instead_of, hide)
            return replace(run, session=_session(run.session, hide), instead_of=over)
        case _:
            assert_never(run)


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
    return carry_basis(session, _model(session, hide))


def _model(value: M, hide: Hide) -> M:
    return replace_named(value, {n: _value(n, getattr(value, n), hide) for n in _open_fields(type(value))})


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


def _redact_seen(seen: str, original: Session, session: Session) -> str:
    """Return the token of the questions that a button referred to, for the redacted session."""
    pairs = list(zip(original.sync.questions, session.sync.questions, strict=True))
    opened = [pair for pair in pairs if pair[0].answer is None]
    for group in ([pair] for pair in pairs), [opened], [pairs]:
        for chosen in group:
            was, now = _sides(chosen)
            if question_token(was) == seen:
                return question_token(now)
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
    """Check whether a text is a time, a date, a duration, a zone, or the name of a block in a prompt."""
    if is_block_name(text):
        return True
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


SECRET = "[secret]"  # noqa: S105  the replacement of a secret


class Redaction:
    """Redacts recordings.

    ``secrets`` are the tokens, keys and passwords that must not appear in a file. With a ``key``, people's words are
    replaced by pseudonyms; without one they are kept.
    """

    def __init__(self, *, secrets: Sequence[str] = (), key: bytes | None = None) -> None:
        self._scrubber = Scrubber(secrets, mask=SECRET)
        self._key = key

    def redact_turn(self, turn: RecordedTurn, prompts: Sequence[Sequence[Prompt]]) -> RecordedTurn:
        """Return the turn with redacted inputs and answers, or the turn itself if there is nothing to redact.

        ``prompts`` are the requests of each run. The outputs have to be produced again, by running it with the same
        answers.
        """
        if self._key is None and not self._has_secret(turn):
            return turn
        hide = self._hide()
        told = zip(turn.runs, prompts, strict=True)
        runs = tuple(redact_run(run, [prompt.schema for prompt in asked], hide) for run, asked in told)
        return replace(turn, titles="kept" if self._key is None else "redacted", runs=runs)

    def redact_document(self, document: str) -> str:
        """Return the document without secrets; a last check before writing."""
        return self._scrubber.scrub(document)

    def _has_secret(self, turn: RecordedTurn) -> bool:
        text = turn.model_dump_json()
        return self._scrubber.scrub(text) != text

    def _hide(self) -> Hide:
        if self._key is not None:
            return Pseudonyms(self._key).text  # leaves nothing of a secret either
        return self._scrubber.scrub
