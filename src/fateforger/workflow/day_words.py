"""A person's rules for their days in words, and what to do about blocks that violate one.

Condition and consequence are messages of their own, because in some languages the verb has another place in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import assert_never

from fateforger.text import capitalize, format_weekday, join_words, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.workflow.day_rules import Aspect, DayName, parse_day_name
from fateforger.workflow.rules import And, Atom, Expression, Not, Or, Rule, RuleKind, names_in

_MONDAY = date(2024, 1, 1)
_NOUNS: Mapping[str, tuple[str, str]] = {
    "meeting": (mark_message("a meeting"), mark_message("no meeting")),
    "commute": (mark_message("a commute"), mark_message("no commute")),
    "deep_work": (mark_message("a block of deep work"), mark_message("no deep work")),
    "shallow_work": (mark_message("a block of shallow work"), mark_message("no shallow work")),
    "plan_review": (mark_message("a plan review"), mark_message("no plan review")),
    "habit": (mark_message("a habit"), mark_message("no habit")),
    "regeneration": (mark_message("some regeneration"), mark_message("no regeneration")),
    "buffer": (mark_message("a buffer"), mark_message("no buffer")),
    "background": (mark_message("a background block"), mark_message("no background block")),
    "admin": (mark_message("admin work"), mark_message("no admin work")),
    "rest": (mark_message("rest"), mark_message("no rest")),
    "break": (mark_message("a break"), mark_message("no break")),
}
"""Kinds of blocks, and their negation; both are used as subjects."""
_Clauses = Mapping[tuple[Aspect, bool], str]
"""Messages for a name, and for its negation."""
_CONDITIONS: _Clauses = {
    ("block", True): mark_message("there is {block}"),
    ("block", False): mark_message("there is {none}"),
    ("done", True): mark_message("{block} is over"),
    ("done", False): mark_message("{block} is not over yet"),
    ("after", True): mark_message("{block} runs past {time}"),
    ("after", False): mark_message("{none} runs past {time}"),
    ("before", True): mark_message("{block} begins before {time}"),
    ("before", False): mark_message("{none} begins before {time}"),
    ("longer", True): mark_message("{block} takes more than {minutes} minutes"),
    ("longer", False): mark_message("{none} takes more than {minutes} minutes"),
    ("weekday", True): mark_message("it is {weekday}"),
    ("weekday", False): mark_message("it is not {weekday}"),
}
_CONSEQUENCES: _Clauses = {
    ("block", True): mark_message("there must be {block}"),
    ("block", False): mark_message("there must be {none}"),
    ("done", True): mark_message("{block} must be over"),
    ("done", False): mark_message("{block} must not be over"),
    ("after", True): mark_message("{block} must run past {time}"),
    ("after", False): mark_message("{none} may run past {time}"),
    ("before", True): mark_message("{block} must begin before {time}"),
    ("before", False): mark_message("{none} may begin before {time}"),
    ("longer", True): mark_message("{block} must take more than {minutes} minutes"),
    ("longer", False): mark_message("{none} may take more than {minutes} minutes"),
    ("weekday", True): mark_message("it must be {weekday}"),
    ("weekday", False): mark_message("it must not be {weekday}"),
}
_BEFORE: _Clauses = {
    **_CONSEQUENCES,
    ("block", True): mark_message("{block} must come before it"),
    ("block", False): mark_message("{none} may come before it"),
    ("done", True): mark_message("{block} must be over by then"),
    ("done", False): mark_message("{block} must not be over by then"),
}
_AFTER: _Clauses = {
    **_CONSEQUENCES,
    ("block", True): mark_message("{block} must follow"),
    ("block", False): mark_message("{none} may follow"),
}
_BANS: Mapping[Aspect, str] = {
    "after": mark_message("{none} past {time}"),
    "before": mark_message("{none} before {time}"),
    "longer": mark_message("{none} of more than {minutes} minutes"),
}


def describe_day_rule(rule: Rule) -> str:
    """Describe a rule in a sentence, such as ``No meeting past 17:00``."""
    target, given = rule.target, rule.activation
    match rule.kind:
        case RuleKind.NEVER:
            text = _describe_ban(target)
        case RuleKind.ALWAYS if isinstance(target, Not):
            text = _describe_ban(target.of)
        case RuleKind.ALWAYS:
            text = _("at each block, {clause}", clause=_phrase(target, _CONSEQUENCES))
        case RuleKind.BEFORE:
            text = _put_under(given, _phrase(target, _BEFORE))
        case RuleKind.AFTER:
            text = _put_under(given, _phrase(target, _AFTER))
        case RuleKind.IF:
            clause = _phrase(target, _CONSEQUENCES)
            later = _("{clause}, at that block or a later one", clause=clause) if _has_block(target) else clause
            text = _put_under(given, later)
        case RuleKind.ON:
            clause = _phrase(target, _CONSEQUENCES)
            text = _(
                "each time {given}, {clause}, then or before the next time",
                given="" if given is None else _phrase(given, _CONDITIONS),
                clause=clause,
            )
        case _:
            assert_never(rule.kind)
    return f"{capitalize(text)}."


def _put_under(given: Expression | None, clause: str) -> str:
    """Return a consequence after its condition."""
    if given is None:
        return clause
    holds = not isinstance(given, Not)
    weekday = _find_weekday(given.of if isinstance(given, Not) else given)
    if weekday is None:
        return _("when {given}, {clause}", given=_phrase(given, _CONDITIONS), clause=clause)
    if holds:
        return _("on {weekday}s, {clause}", weekday=weekday, clause=clause)
    return _("on every day except {weekday}, {clause}", weekday=weekday, clause=clause)


def _describe_ban(target: Expression) -> str:
    """Describe what must never be: a kind of block, on a weekday or on all days, or anything else by its condition."""
    parts = target.parts if isinstance(target, Or) else (target,)
    phrases = [_find_ban(part) for part in parts]
    named = [phrase for phrase in phrases if phrase is not None]
    if len(named) == len(phrases):
        return join_words(named)
    return _("when {given}, this rule is broken", given=_phrase(target, _CONDITIONS))


def _find_ban(part: Expression) -> str | None:
    """Return such as ``no meeting past 17:00`` or ``no deep work on Fridays``; ``None`` for other expressions."""
    if isinstance(part, And):
        clauses = [clause for each in part.parts if (clause := _find_ban(each)) is not None]
        weekdays = [weekday for each in part.parts if (weekday := _find_weekday(each)) is not None]
        if len(clauses) != 1 or len(weekdays) != 1 or len(part.parts) != 2:
            return None
        return _("{clause} on {weekday}s", clause=clauses[0], weekday=weekdays[0])
    name = parse_day_name(part.name) if isinstance(part, Atom) else None
    if name is None or name.aspect not in {"block", *_BANS}:
        return None
    return _(_NOUNS[name.word][1]) if name.aspect == "block" else _(_BANS[name.aspect], **_fill(name))


def _find_weekday(expression: Expression) -> str | None:
    name = parse_day_name(expression.name) if isinstance(expression, Atom) else None
    return _name_weekday(name) if name is not None and name.aspect == "weekday" else None


def _has_block(expression: Expression) -> bool:
    known = map(parse_day_name, names_in(expression))
    return any(name is not None and name.aspect == "block" for name in known)


def _phrase(expression: Expression, clauses: _Clauses, *, holds: bool = True) -> str:
    """Join the clauses of an expression. A negation of the whole is applied to the parts, as people phrase it."""
    match expression:
        case Atom(name):
            known = parse_day_name(name)
            return quote_title(name) if known is None else _describe_name(known, clauses, holds=holds)
        case Not(of):
            return _phrase(of, clauses, holds=not holds)
        case And(parts) | Or(parts):
            phrases = [_phrase(part, clauses, holds=holds) for part in parts]
            if isinstance(expression, And) is holds:
                return join_words(phrases)
            return _("{first} or {last}", first=", ".join(phrases[:-1]), last=phrases[-1])
        case _:
            assert_never(expression)


def _describe_name(name: DayName, clauses: _Clauses, *, holds: bool) -> str:
    clause = _(clauses[name.aspect, holds], **_fill(name))
    elsewhere = clauses is _AFTER and name.aspect not in {"block", "weekday"}
    return _("{clause}, at a later block", clause=clause) if elsewhere else clause


def _fill(name: DayName) -> dict[str, object]:
    """Return the values of the placeholders of a clause."""
    one, none = map(_, _NOUNS[name.word]) if name.word else ("", "")
    return {
        "block": one,
        "none": none,
        "time": _format_clock(name),
        "minutes": name.number,
        "weekday": _name_weekday(name),
    }


def _name_weekday(name: DayName) -> str:
    return format_weekday(_MONDAY + timedelta(days=name.number)) if name.aspect == "weekday" else ""


def _format_clock(name: DayName) -> str:
    minutes = int(name.clock.total_seconds()) // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"


def suggest_day_remedy(rule: Rule, *, ours: bool) -> str:
    """Suggest in one sentence what to do about blocks that violate a rule.

    ``ours`` is true if a block of the plan is among them.
    """
    if not ours:
        return _("It is an event on your calendar, so only you can move it.")
    return _(_REMEDIES[rule.kind])


_REMEDIES: Mapping[RuleKind, str] = {
    RuleKind.NEVER: mark_message("Move it, shorten it, or leave it out."),
    RuleKind.BEFORE: mark_message("Put what it waits for before it, or move it back."),
    RuleKind.AFTER: mark_message("Put what has to follow after it."),
    RuleKind.ON: mark_message("Put what has to follow after it."),
    RuleKind.ALWAYS: mark_message("Change it, or leave it out."),
    RuleKind.IF: mark_message("Change it, or leave it out."),
}
