"""A rule about the order of the day in a form: its text, the names it may use, and its errors."""

from __future__ import annotations

from fateforger.constraints.day_clashes import find_clashing
from fateforger.constraints.record import ConstraintRecord, Payload
from fateforger.constraints.versions import Version
from fateforger.constraints.wording import join_words, quote_name
from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.session.cards import FormField, FormSubmission, Note, TextField
from fateforger.session.rulebook import RuleBook
from fateforger.values import replace
from fateforger.workflow.day_names import KINDS, WEEKDAYS
from fateforger.workflow.day_words import describe_day_rule
from fateforger.workflow.days import read_day_rule
from fateforger.workflow.rules import write_rule

DAY_RULE = "day_rule"
"""The name of the field, and the value that chooses this kind of rule."""
LABEL = "The order of the day, in rule words"
MOST_LETTERS = 1_000
NEEDED = "Please write the rule, like “NEVER: meeting_after_17”."
EXAMPLES = (
    "**Like this**\n"
    "`BEFORE deep_work: admin_done` – deep work waits until some admin is over\n"
    "`AFTER meeting: break` – each meeting has a break behind it\n"
    "`NEVER: meeting_after_17` – no meeting runs past 17:00\n"
    "`IF friday THEN NOT deep_work_after_15` – an easy Friday afternoon"
)
_ALIKE = {et: [name for name, kind in KINDS.items() if kind is et] for et in KINDS.values()}
NAMES = (
    f"**Kinds of blocks:** {', '.join(' or '.join(names) for names in _ALIKE.values())}\n"
    "**Of each kind also:** `…_done` (one is over), `…_after_17` or `…_after_17_30`, `…_before_9`, "
    "`…_longer_than_60` (minutes)\n"
    f"**Days:** {', '.join(WEEKDAYS)}\n"
    "**Rules:** BEFORE x: y · AFTER x: y · ALWAYS: x · NEVER: x · IF x THEN y · ON x: INVOKE y; "
    "join with AND, OR, NOT and ( )"
)


def build_day_rule_fields(before: ConstraintRecord | None) -> tuple[FormField, ...]:
    """Return the field for the rule, with examples and all names below it."""
    return (
        TextField(
            name=DAY_RULE,
            label="The rule",
            value="" if before is None else before.payload.day_rule or "",
            placeholder="NEVER: meeting_after_17",
            max_length=MOST_LETTERS,
        ),
        Note(text=EXAMPLES),
        Note(text=NAMES),
    )


def read_day_rule_payload(filled: Filled, base: Payload) -> Payload | None:
    """Return the payload with the typed rule; ``None``, with an error at the field, if it is invalid."""
    typed = filled.text(DAY_RULE, MOST_LETTERS, needed=NEEDED)
    if filled.errors.get(DAY_RULE):
        return None
    try:
        rule = read_day_rule(typed)
    except BadInput as error:
        place = "" if error.where is None else f"At {error.where}: "
        filled.errors[DAY_RULE] = f"{place}{error.message}"
        return None
    return replace(base, day_rule=write_rule(rule))


def describe_payload_rule(payload: Payload | None) -> str:
    """Return a rule about the order of the day in plain words; empty if there is none."""
    if payload is None or payload.day_rule is None:
        return ""
    return describe_day_rule(read_day_rule(payload.day_rule)).rstrip(".")


def find_clash(book: RuleBook, record: ConstraintRecord, given: FormSubmission, but: str | None = None) -> str | None:
    """Return the message for a rule that contradicts rules in force, with the texts of all of them.

    ``but`` is the uid of the rule that it replaces, or its own. Returns ``None`` without a contradiction.
    """
    there = [version for version in book.newest.values() if not version.retired and version.uid != but]
    session_id = None if book.session is None else book.session.id
    new = Version(
        user_id=given.user_id,
        record=record.with_uid(but or "new"),
        created_at=given.at,
        updated_at=given.at,
        session_id=session_id,
    )
    for group in find_clashing([*there, new], about=new.uid):
        others = [quote_name(version.record.payload.day_rule or "") for version in group if version is not new]
        text = quote_name(record.payload.day_rule or "")
        one = "your rule" if len(others) == 1 else "your rules"
        texts = join_words(others)
        return f"{text} and {one} {texts} cannot be kept together. Change this one, or archive the other first."
    return None
