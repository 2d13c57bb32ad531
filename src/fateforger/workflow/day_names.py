"""Names in a person's rules for their days, and the wording of such rules.

The names need no declaration: each one carries its meaning.

deep_work, meeting, admin ...        actions: such a block begins
admin_done                           state: such a block is over
meeting_after_17, _after_17_30       state: the block is one, and some of it lies after that time of day
deep_work_before_9, _before_9_15     state: the block is one, and some of it lies before that time of day
meeting_longer_than_60               state: the block is one, and lasts more minutes than that
monday ... sunday                    state: the day is one
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Literal, assert_never

from fateforger.planning.plan import ET
from fateforger.text import format_weekday, join_words, mark_message
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workflow.rules import And, Atom, AtomKind, Expression, Not, Or, Rule, RuleKind, names_in

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
KINDS = {
    **{et.name.lower(): et for et in ET},
    "admin": ET.SHALLOW_WORK,
    "rest": ET.REGENERATION,
    "break": ET.REGENERATION,
}
"""Kinds of blocks by the names that people write; some kinds have two."""
LONGEST = 24 * 60
Aspect = Literal["block", "done", "after", "before", "longer", "weekday"]


@dataclass(frozen=True, slots=True)
class DayName:
    """Meaning of a name: the ``kind`` of block, the ``word`` used for it, and the comparison.

    ``number`` is a weekday (Monday is 0) or minutes; ``clock`` is the offset from the start of the day.
    """

    aspect: Aspect
    kind: ET | None = None
    number: int = 0
    clock: timedelta = timedelta()
    word: str = ""


def parse_day_name(text: str) -> DayName | None:
    """Parse a name; return ``None`` if it has no meaning."""
    if text in WEEKDAYS:
        return DayName("weekday", number=WEEKDAYS.index(text))
    if text in KINDS:
        return DayName("block", KINDS[text], word=text)
    for kind, et in KINDS.items():
        if text.startswith(f"{kind}_"):
            found = _parse_comparison(et, text.removeprefix(f"{kind}_"))
            if found is not None:
                return replace(found, word=kind)
    return None


_COMPARISON = re.compile(
    r"(?P<done>done)|longer_than_(?P<minutes>\d{1,4})|(?P<how>after|before)_(?P<hour>\d{1,4})(_(?P<minute>\d{0,4}))?",
    re.ASCII,
)


def _parse_comparison(kind: ET, text: str) -> DayName | None:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        return None
    if found["done"]:
        return DayName("done", kind)
    if found["minutes"]:
        minutes = int(found["minutes"])
        return DayName("longer", kind, minutes) if minutes <= LONGEST else None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if minute > 59 or hour * 60 + minute > LONGEST:
        return None
    return DayName("after" if found["how"] == "after" else "before", kind, clock=timedelta(hours=hour, minutes=minute))


class DayNames:
    """Vocabulary of the names of a day."""

    def kind_of(self, name: str) -> AtomKind | None:
        """Return the kind of a name. See :meth:`Vocabulary.kind_of`."""
        found = parse_day_name(name)
        if found is None:
            return None
        return "action" if found.aspect == "block" else "state"

    def near(self, name: str) -> tuple[str, ...]:
        """Suggest similar names. See :meth:`Vocabulary.near`.

        The comparison that was written is kept if the result is a name.
        """
        for how, value in _HOW.items():
            written, found, rest = name.partition(how)
            for kind in get_close_matches(written, KINDS, n=1) if found else ():
                kept = f"{kind}{how}{rest}"
                return (kept if parse_day_name(kept) is not None else f"{kind}{how}{value}",)
        examples = [example for kind in KINDS for example in (kind, f"{kind}_done")]
        return tuple(get_close_matches(name, [*examples, *WEEKDAYS], n=1))


_HOW = {"_longer_than_": "60", "_after_": "17", "_before_": "9", "_done": ""}
"""Comparisons of a kind of block, with an example value for each."""


Tense = Literal["now", "by_then", "later"]
_NOUNS: Mapping[str, tuple[str, str]] = {
    "meeting": (mark_message("a meeting"), mark_message("no meeting")),
    "commute": (mark_message("a commute"), mark_message("no commute")),
    "deep_work": (mark_message("deep work"), mark_message("no deep work")),
    "shallow_work": (mark_message("shallow work"), mark_message("no shallow work")),
    "plan_review": (mark_message("a plan review"), mark_message("no plan review")),
    "habit": (mark_message("a habit"), mark_message("no habit")),
    "regeneration": (mark_message("regeneration"), mark_message("no regeneration")),
    "buffer": (mark_message("a buffer"), mark_message("no buffer")),
    "background": (mark_message("background"), mark_message("no background")),
    "admin": (mark_message("admin"), mark_message("no admin")),
    "rest": (mark_message("rest"), mark_message("no rest")),
    "break": (mark_message("a break"), mark_message("no break")),
}
"""Kinds of blocks in a clause, and their negation."""
_MONDAY = date(2024, 1, 1)


def describe_day_rule(rule: Rule) -> str:
    """Describe a rule in a sentence, such as ``No meeting runs past 17:00``."""
    target, activation = rule.target, rule.activation
    given = "" if activation is None else _phrase(activation, "now")
    match rule.kind:
        case RuleKind.NEVER:
            both = isinstance(target, And)
            clause = _phrase(target, "now", holds=both)
            text = _("never at once: {clause}", clause=clause) if both else clause
        case RuleKind.ALWAYS:
            text = _("for each block, {clause}", clause=_phrase(target, "now"))
        case RuleKind.BEFORE:
            text = _("when {given}, {clause}", given=given, clause=_phrase(target, "by_then"))
        case RuleKind.AFTER:
            text = _("when {given}, {clause}", given=given, clause=_phrase(target, "later"))
        case RuleKind.IF:
            clause = _phrase(target, "now")
            if _has_block(target):
                text = _("when {given}, {clause} at that block or later", given=given, clause=clause)
            else:
                text = _("when {given}, {clause}", given=given, clause=clause)
        case RuleKind.ON:
            clause = _phrase(target, "now")
            text = _("each time {given}, {clause}, there or before the next time", given=given, clause=clause)
        case _:
            assert_never(rule.kind)
    return f"{text[0].upper()}{text[1:]}."


def suggest_day_remedy(rule: Rule, *, ours: bool) -> str:
    """Suggest in one sentence what to do about blocks that violate a rule.

    ``ours`` is true if a block of the plan is among them.
    """
    if not ours:
        return _("It is about what your calendar holds, so only you can move it there.")
    return _(_REMEDIES[rule.kind])


_REMEDIES: Mapping[RuleKind, str] = {
    RuleKind.NEVER: mark_message("Move it, shorten it, or leave it out."),
    RuleKind.BEFORE: mark_message("Put what it waits for before it, or move it back."),
    RuleKind.AFTER: mark_message("Put what has to follow behind it."),
    RuleKind.ON: mark_message("Put what has to follow behind it."),
    RuleKind.ALWAYS: mark_message("Change it, or leave it out."),
    RuleKind.IF: mark_message("Change it, or leave it out."),
}


def _has_block(expression: Expression) -> bool:
    known = map(parse_day_name, names_in(expression))
    return any(name is not None and name.aspect == "block" for name in known)


def _phrase(expression: Expression, tense: Tense, *, holds: bool = True) -> str:
    """Join the clauses of an expression. A negation of the whole is applied to the parts, as people phrase it."""
    match expression:
        case Atom(name):
            known = parse_day_name(name)
            return f"“{name}”" if known is None else _clause(known, tense, holds=holds)
        case Not(of):
            return _phrase(of, tense, holds=not holds)
        case And(parts) | Or(parts):
            clauses = [_phrase(part, tense, holds=holds) for part in parts]
            if isinstance(expression, And) is holds:
                return join_words(clauses)
            return _("{first} or {last}", first=", ".join(clauses[:-1]), last=clauses[-1])
        case _:
            assert_never(expression)


def _clause(name: DayName, tense: Tense, *, holds: bool) -> str:
    """Return a clause about a name, or its negation."""
    if tense == "later":
        return _("{clause} later on", clause=_clause(name, "now", holds=holds))
    if name.aspect == "weekday":
        weekday = format_weekday(_MONDAY + timedelta(days=name.number))
        return _("it is {weekday}", weekday=weekday) if holds else _("it is not {weekday}", weekday=weekday)
    one, none = (_(noun) for noun in _NOUNS[name.word])
    which = one if holds else none
    clock = _format_clock(name)
    match name.aspect:
        case "block":
            return (
                _("{block} came before it", block=which) if tense == "by_then" else _("there is {block}", block=which)
            )
        case "done":
            text = _("{block} is over", block=one) if holds else _("{block} is not over", block=one)
            return _("{clause} by then", clause=text) if tense == "by_then" else text
        case "after":
            return _("{block} runs past {time}", block=which, time=clock)
        case "before":
            return _("{block} begins before {time}", block=which, time=clock)
        case "longer":
            return _("{block} takes more than {minutes} minutes", block=which, minutes=name.number)
        case _:
            assert_never(name.aspect)


def _format_clock(name: DayName) -> str:
    minutes = int(name.clock.total_seconds()) // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"
