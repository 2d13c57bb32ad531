"""Parser of the text of a rule.

The grammar, loosest binding first:

rule    =  (BEFORE | AFTER) any ":" any  |  (ALWAYS | NEVER) ":" any  |  IF any THEN any
        |  ON any ":" (INVOKE | PROCEED_TO) any
any     =  every { OR every }
every   =  one { AND one }
one     =  NOT one  |  "(" any ")"  |  name
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

from fateforger.errors import BadInput
from fateforger.limits import MAX_RULE_CHARS, MAX_RULE_DEPTH
from fateforger.workflow.rules import (
    KEYWORDS,
    KIND_WORDS,
    NAMING,
    Atom,
    Expression,
    Not,
    Rule,
    RuleKind,
    Vocabulary,
    all_of,
    any_of,
    is_name,
    is_name_letter,
    is_name_start,
    suggest_names,
)

BEGINNINGS = "BEFORE, AFTER, ALWAYS, NEVER, IF or ON"


class Place(NamedTuple):
    """Position in a text; both numbers count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class _Token(NamedTuple):
    text: str
    at: int


PlaceOf = Callable[[int], Place]
"""Maps an offset in the text of a rule to its position."""


def read_rule(text: str, vocabulary: Vocabulary, place_of: PlaceOf | None = None, *, any_kind: bool = False) -> Rule:
    """Parse a rule. Raises :class:`BadInput` with one sentence and the line and column of the mistake.

    ``any_kind`` accepts a state after INVOKE, and states mixed with actions after THEN, as earlier versions did.
    """
    reader = _Reader(text, vocabulary, place_of or (lambda offset: place_in(text, offset)))
    rule = reader.rule()
    if not any_kind:
        reader.check_kinds(rule.kind)
    return rule


def place_in(text: str, offset: int) -> Place:
    before = text[:offset]
    return Place(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


class _Reader:
    def __init__(self, text: str, vocabulary: Vocabulary, place_of: PlaceOf) -> None:
        self._place_of = place_of
        self._vocabulary = vocabulary
        if len(text) > MAX_RULE_CHARS:
            self._fail(f"This rule is longer than {MAX_RULE_CHARS} characters; please make it several.", 0)
        self._tokens = self._split(text)
        self._next = 0
        self._target = 0
        """Position of the first token of the target."""

    def rule(self) -> Rule:
        first = self._take()
        if first.text not in set(RuleKind):
            self._fail(f"A rule begins with {BEGINNINGS}, not with {_quote_token(first)}.", first.at)
        kind = RuleKind(first.text)
        activation = None if kind in {RuleKind.ALWAYS, RuleKind.NEVER} else self._any(0)
        self._expect("THEN" if kind is RuleKind.IF else ":", kind)
        if kind is RuleKind.ON:
            self._expect("PROCEED_TO" if self._peek().text == "PROCEED_TO" else "INVOKE", kind)
        self._target = self._next
        target = self._any(0)
        rest = self._take()
        if rest.text:
            self._fail(
                f"The rule should end here, or go on with AND or OR, but there is {_quote_token(rest)}.", rest.at
            )
        return Rule(kind, target, activation)

    def check_kinds(self, kind: RuleKind) -> None:
        """Refuse a state after INVOKE or PROCEED_TO, and states mixed with actions after THEN (R6, R7)."""
        if kind not in {RuleKind.IF, RuleKind.ON}:
            return
        first: str | None = None
        for token in self._tokens[self._target :]:
            name_kind = self._vocabulary.kind_of(token.text)
            if name_kind is None:
                continue
            if kind is RuleKind.ON and name_kind == "state":
                word = self._tokens[self._target - 1].text
                self._fail(f"{word} needs an action, and {_quote_token(token)} is a state.", token.at)
            first = first or name_kind
            if name_kind != first:
                self._fail(
                    f"After THEN come only states or only actions, and {_quote_token(token)} is"
                    f" {KIND_WORDS[name_kind]}; please make it two rules.",
                    token.at,
                )

    def _any(self, depth: int) -> Expression:
        return any_of(self._several("OR", lambda: self._every(depth)))

    def _every(self, depth: int) -> Expression:
        return all_of(self._several("AND", lambda: self._one(depth)))

    def _several(self, joined_by: str, part: Callable[[], Expression]) -> list[Expression]:
        parts = [part()]
        while self._peek().text == joined_by:
            self._take()
            parts.append(part())
        return parts

    def _one(self, depth: int) -> Expression:
        token = self._take()
        if depth > MAX_RULE_DEPTH:
            self._fail("This is nested too deeply to be understood; please make it several rules.", token.at)
        if token.text == "NOT":
            return Not(self._one(depth + 1))
        if token.text == "(":
            inner = self._any(depth + 1)
            closing = self._take()
            if closing.text != ")":
                self._fail(f"A “)” is missing here, before {_quote_token(closing)}.", closing.at)
            return inner
        return self._name(token)

    def _name(self, token: _Token) -> Expression:
        if not is_name(token.text):
            self._fail(f"There should be a state or an action here, not {_quote_token(token)}.", token.at)
        if self._vocabulary.kind_of(token.text) is None:
            meant = suggest_names(token.text, self._vocabulary)
            self._fail(f"Nothing is declared with the name {_quote_token(token)}.{meant}", token.at)
        return Atom(token.text)

    def _expect(self, text: str, kind: RuleKind) -> None:
        token = self._take()
        if token.text != text:
            self._fail(f"There should be “{text}” here, not {_quote_token(token)}; it goes {_FORMS[kind]}.", token.at)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        keyword = token.text.upper()
        if keyword in KEYWORDS and keyword != token.text and self._vocabulary.kind_of(token.text) is None:
            self._fail(f"Write {keyword} in capitals.", token.at)
        return token

    def _split(self, text: str) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            end = at + 1
            if text[at] not in ":()":
                if not is_name_start(text[at]):
                    self._fail(f"I cannot read “{text[at]}” here: {NAMING}.", at)
                while end < len(text) and is_name_letter(text[end]):
                    end += 1
            tokens.append(_Token(text[at:end], at))
            at = end
        return [*tokens, _Token("", len(text.rstrip()))]

    def _fail(self, sentence: str, at: int) -> NoReturn:
        raise BadInput(sentence, where=str(self._place_of(at)))


_FORMS = {
    RuleKind.BEFORE: "BEFORE x: y",
    RuleKind.AFTER: "AFTER x: y",
    RuleKind.ALWAYS: "ALWAYS: x",
    RuleKind.NEVER: "NEVER: x",
    RuleKind.IF: "IF x THEN y",
    RuleKind.ON: "ON x: INVOKE y",
}


def _quote_token(token: _Token) -> str:
    return f"“{token.text}”" if token.text else "the end"
