"""Describe rules for a day in plain words, and suggest what to do if one is violated."""

from __future__ import annotations

from typing import Protocol, assert_never

from fateforger.workflow.day_names import WEEKDAYS, DayName, parse_day_name
from fateforger.workflow.expressions import And, Atom, Expression, Not, Or
from fateforger.workflow.rules import Rule, RuleKind


class Clause(Protocol):
    """Formats a name, or its negation, as a clause."""

    def __call__(self, name: DayName, *, holds: bool) -> str: ...


_COUNTED = frozenset({"meeting", "commute", "habit", "break", "buffer", "plan_review"})
"""Words that take an article."""


def describe_day_rule(rule: Rule) -> str:
    """Describe a rule in a sentence, such as ``No meeting runs past 17:00.``"""
    target, activation = rule.target, rule.activation
    match rule.kind:
        case RuleKind.NEVER:
            both = isinstance(target, And)
            text = f"never at once: {_phrase(target, _now)}" if both else _phrase(target, _now, holds=False)
        case RuleKind.ALWAYS:
            text = f"for each block, {_phrase(target, _now)}"
        case RuleKind.BEFORE:
            text = f"{_when(activation)}, {_phrase(target, _by_then)}"
        case RuleKind.AFTER:
            text = f"{_when(activation)}, {_phrase(target, _later)}"
        case RuleKind.IF:
            text = f"{_when(activation)}, {_phrase(target, _now)}{_in_time(target, 'at that block or later')}"
        case RuleKind.ON:
            text = f"each time {_phrase(activation, _now)}, {_phrase(target, _now)}, there or before the next time"
        case _:
            assert_never(rule.kind)
    return f"{text[0].upper()}{text[1:]}."


def suggest_day_remedy(rule: Rule, *, ours: bool) -> str:
    """Suggest in one sentence what to do about blocks that violate a rule.

    ``ours`` is true if a block of the plan is among them.
    """
    if not ours:
        return "It is about what your calendar holds, so only you can move it there."
    match rule.kind:
        case RuleKind.NEVER:
            return "Move it, shorten it, or leave it out."
        case RuleKind.BEFORE:
            return "Put what it waits for before it, or move it back."
        case RuleKind.AFTER | RuleKind.ON:
            return "Put what has to follow behind it."
        case RuleKind.ALWAYS | RuleKind.IF:
            return "Change it, or leave it out."
        case _:
            assert_never(rule.kind)


def _when(activation: Expression | None) -> str:
    return f"when {_phrase(activation, _now)}"


def _in_time(target: Expression, words: str) -> str:
    known = _any_block(target)
    return f" {words}" if known else ""


def _any_block(expression: Expression) -> bool:
    match expression:
        case Atom(name):
            found = parse_day_name(name)
            return found is not None and found.aspect == "block"
        case Not(of):
            return _any_block(of)
        case And(parts) | Or(parts):
            return any(map(_any_block, parts))
        case _:
            assert_never(expression)


def _phrase(expression: Expression | None, clause: Clause, *, holds: bool = True) -> str:
    """Join the clauses of an expression. A negation of the whole is applied to the parts, as people phrase it."""
    match expression:
        case None:
            return ""
        case Atom(name):
            known = parse_day_name(name)
            return f"“{name}”" if known is None else clause(known, holds=holds)
        case Not(of):
            return _phrase(of, clause, holds=not holds)
        case And(parts) | Or(parts):
            joined = " and " if isinstance(expression, And) is holds else " or "
            return joined.join(_phrase(part, clause, holds=holds) for part in parts)
        case _:
            assert_never(expression)


def _now(name: DayName, *, holds: bool) -> str:
    which = _which(name, holds=holds)
    match name.aspect:
        case "block":
            return f"there is {which}"
        case "done":
            return f"{_one(name)} is {'' if holds else 'not '}over"
        case "after":
            return f"{which} runs past {_format_clock(name)}"
        case "before":
            return f"{which} begins before {_format_clock(name)}"
        case "longer":
            return f"{which} takes more than {name.number} minutes"
        case "weekday":
            return f"it is {'' if holds else 'not '}{WEEKDAYS[name.number].capitalize()}"


def _by_then(name: DayName, *, holds: bool) -> str:
    match name.aspect:
        case "block":
            return f"{_which(name, holds=holds)} came before it"
        case "done":
            return f"{_one(name)} is {'' if holds else 'not '}over by then"
        case _:
            return _now(name, holds=holds)


def _later(name: DayName, *, holds: bool) -> str:
    return f"{_now(name, holds=holds)} later on"


def _which(name: DayName, *, holds: bool) -> str:
    word = _word(name)
    return f"no {word}" if not holds else f"a {word}" if name.word in _COUNTED else word


def _one(name: DayName) -> str:
    return f"a {_word(name)}" if name.word in _COUNTED else f"some {_word(name)}"


def _word(name: DayName) -> str:
    return name.word.replace("_", " ")


def _format_clock(name: DayName) -> str:
    minutes = int(name.clock.total_seconds()) // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"
