"""The text of rules (S126-S132, S143; S169, part 1, criterion 1): precedence, and each mistake with its line, column and
one sentence."""

from __future__ import annotations

import pytest

from fateforger.errors import BadInput
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import NAMING, And, Atom, Not, Or, Rule, RuleKind, declare_names, write_rule

NAMES = declare_names(["a", "b", "plan-agent", "notes.md"], ["p", "q", "größe_ok"])
a, b, p, q = map(Atom, "abpq")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("BEFORE a: p", Rule(RuleKind.BEFORE, p, a)),
        ("AFTER a: b", Rule(RuleKind.AFTER, b, a)),
        ("ALWAYS: p", Rule(RuleKind.ALWAYS, p)),
        ("NEVER: a", Rule(RuleKind.NEVER, a)),
        ("IF p THEN b", Rule(RuleKind.IF, b, p)),
        ("ON p: INVOKE plan-agent", Rule(RuleKind.ON, Atom("plan-agent"), p)),
        ("ALWAYS: p OR q AND NOT p", Rule(RuleKind.ALWAYS, Or((p, And((q, Not(p))))))),
        ("ALWAYS: (p OR q) AND NOT (p AND q)", Rule(RuleKind.ALWAYS, And((Or((p, q)), Not(And((p, q))))))),
        ("ALWAYS: NOT NOT p", Rule(RuleKind.ALWAYS, Not(Not(p)))),
        ("BEFORE a OR b: p AND (q AND p)", Rule(RuleKind.BEFORE, And((p, q, p)), Or((a, b)))),
        ("  BEFORE  a :\n p ", Rule(RuleKind.BEFORE, p, a)),
        ("ON p: PROCEED_TO a OR b", Rule(RuleKind.ON, Or((a, b)), p)),
        ("ALWAYS: größe_ok", Rule(RuleKind.ALWAYS, Atom("größe_ok"))),
        ("NEVER: notes.md", Rule(RuleKind.NEVER, Atom("notes.md"))),
    ],
)
def test_what_a_text_means(text: str, rule: Rule) -> None:
    """S126-S132: NOT binds tightest, then AND, then OR."""
    assert read_rule(text, NAMES) == rule
    assert read_rule(write_rule(rule), NAMES) == rule


BEGIN = "A rule begins with BEFORE, AFTER, ALWAYS, NEVER, IF or ON, not with"


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("", "1, column 1", f"{BEGIN} the end."),
        ("a", "1, column 1", f"{BEGIN} “a”."),
        ("before a: p", "1, column 1", "Write BEFORE in capitals."),
        ("BEFORE a p", "1, column 10", "There should be “:” here, not “p”; it goes BEFORE x: y."),
        ("BEFORE: p", "1, column 7", "There should be a state or an action here, not “:”."),
        ("AFTER a:", "1, column 9", "There should be a state or an action here, not the end."),
        ("ALWAYS p", "1, column 8", "There should be “:” here, not “p”; it goes ALWAYS: x."),
        ("NEVER: ", "1, column 7", "There should be a state or an action here, not the end."),
        ("IF p: a", "1, column 5", "There should be “THEN” here, not “:”; it goes IF x THEN y."),
        ("IF p then a", "1, column 6", "Write THEN in capitals."),
        ("ON p: a", "1, column 7", "There should be “INVOKE” here, not “a”; it goes ON x: INVOKE y."),
        ("ON p: PROCEED_TO q", "1, column 18", "PROCEED_TO needs an action, and “q” is a state."),
        ("ON p: proceed_to a", "1, column 7", "Write PROCEED_TO in capitals."),
        ("BEFORE a²: p", "1, column 9", f"I cannot read “²” here: {NAMING}."),
        ("BEFORE pru\u0308fen: p", "1, column 11", f"I cannot read “\u0308” here: {NAMING}."),
        # R6, R7: a name of the wrong kind, also in a part of the target.
        (
            "IF p THEN a AND p",
            "1, column 17",
            "After THEN come only states or only actions, and “p” is a state; please make it two rules.",
        ),
        (
            "IF a THEN NOT p OR (p AND\n a)",
            "2, column 2",
            "After THEN come only states or only actions, and “a” is an action; please make it two rules.",
        ),
        ("ON a: INVOKE p", "1, column 14", "INVOKE needs an action, and “p” is a state."),
        ("ON p: INVOKE a OR NOT p", "1, column 23", "INVOKE needs an action, and “p” is a state."),
        ("ALWAYS: (p", "1, column 11", "A “)” is missing here, before the end."),
        ("ALWAYS: p)", "1, column 10", "The rule should end here, or go on with AND or OR, but there is “)”."),
        ("ALWAYS: p q", "1, column 11", "The rule should end here, or go on with AND or OR, but there is “q”."),
        ("ALWAYS: p and q", "1, column 11", "Write AND in capitals."),
        ("ALWAYS: p AND", "1, column 14", "There should be a state or an action here, not the end."),
        ("ALWAYS: THEN", "1, column 9", "There should be a state or an action here, not “THEN”."),
        ("BEFORE a:\n  r", "2, column 3", "Nothing is declared with the name “r”."),
        (
            "ALWAYS: plan-agen",
            "1, column 9",
            "Nothing is declared with the name “plan-agen”. Did you mean plan-agent?",
        ),
        (
            "ALWAYS: p & q",
            "1, column 11",
            f"I cannot read “&” here: {NAMING}.",
        ),
        (
            "ALWAYS: " + "(" * 100 + "p" + ")" * 100,
            "1, column 70",
            "This is nested too deeply to be understood; please make it several rules.",
        ),
        (
            "ALWAYS: p" + " OR p" * 1_000,
            "1, column 1",
            "This rule is longer than 4000 characters; please make it several.",
        ),
    ],
)
def test_a_mistake_is_shown_where_it_is(text: str, where: str, sentence: str) -> None:
    """S126-S131: a parse error with line (and column) on misuse."""
    with pytest.raises(BadInput) as raised:
        read_rule(text, NAMES)
    assert (raised.value.where, raised.value.message) == (f"line {where}", sentence)


def test_a_declared_name_may_look_like_a_keyword_in_small_letters() -> None:
    names = declare_names(["before", "on"], ["not"])
    rule = Rule(RuleKind.BEFORE, And((Not(Atom("not")), Atom("on"))), Atom("before"))
    assert read_rule("BEFORE before: NOT not AND on", names) == rule


@pytest.mark.parametrize(
    ("actions", "states", "sentence"),
    [
        (["a"], ["a"], "“a” is declared both as an action and as a state; it can be one of them."),
        (["AND"], [], "“AND” cannot be a name: "),
        ([], ["two words"], "“two words” cannot be a name: "),
        ([""], [], "“” cannot be a name: "),
    ],
)
def test_names_are_declared_once_and_are_names(actions: list[str], states: list[str], sentence: str) -> None:
    """S143: undeclared atoms are an error, so declarations have to be right."""
    with pytest.raises(BadInput) as raised:
        declare_names(actions, states)
    assert raised.value.message.startswith(sentence)
