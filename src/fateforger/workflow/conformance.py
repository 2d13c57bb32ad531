"""Conformance of a trace to rules: a verdict for each rule, with a remedy for each violation.

A check never changes anything (K6); remedies are only suggested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple, assert_never

from pydantic import BaseModel, ConfigDict

from fateforger.errors import BadInput, validate
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import (
    And,
    Atom,
    Expression,
    Not,
    Or,
    Rule,
    RuleKind,
    Vocabulary,
    declare_names,
    find_conflicts,
    names_in,
    write_rule,
)
from fateforger.workflow.trace import (
    Step,
    Timeline,
    Truth,
    build_timeline,
    mark_eventually,
    mark_now_or_eventually,
    mark_yesterday,
    negate,
    next_until,
    read_step,
    steps_in,
    truth_of,
)


class Verdict(StrEnum):
    """Verdict, from the heaviest to the lightest."""

    VIOLATED = "violated"
    """Final, even if the trace continues."""
    UNKNOWN = "unknown"
    """Depends on facts that are not known."""
    PENDING = "pending"
    """Not yet satisfied, but still possible; only for a trace that may continue."""
    SATISFIED = "satisfied"
    VACUOUS = "vacuous"
    """The rule was never activated."""

    @property
    def passes(self) -> bool:
        """True if there is nothing to object to."""
        return self in {Verdict.SATISFIED, Verdict.VACUOUS}


WEIGHT = {verdict: weight for weight, verdict in enumerate(Verdict)}


def combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the heaviest verdict, or vacuous if there are none."""
    return min(verdicts, key=WEIGHT.__getitem__, default=Verdict.VACUOUS)


class _Answer(NamedTuple):
    """Steps at which the target certainly comes, certainly fails, or is still awaited; elsewhere it is unknown."""

    comes: int
    fails: int
    waits: int = 0


def _judge(stated: StatedRule, timeline: Timeline, *, closed: bool) -> CheckedRule:
    full = timeline.full
    activation, answer = _find_activations(stated.rule, timeline, closed=closed)
    violated = activation.sure & answer.fails
    pending = activation.sure & answer.waits
    satisfied = activation.sure & answer.comes
    unknown = activation.maybe & ~(answer.comes | violated | pending) & full
    verdicts = (
        (Verdict.VIOLATED, violated),
        (Verdict.UNKNOWN, unknown),
        (Verdict.PENDING, pending),
        (Verdict.SATISFIED, satisfied),
    )
    verdict = next((verdict for verdict, steps in verdicts if steps), Verdict.VACUOUS)
    if not violated | unknown | pending:
        return CheckedRule(stated, verdict)
    return CheckedRule(stated, verdict, *(steps_in(steps, timeline.numbers) for steps in (violated, unknown, pending)))


def _find_activations(rule: Rule, timeline: Timeline, *, closed: bool) -> tuple[Truth, _Answer]:
    """Return the steps that activate the rule, and the outcome of its target at each step."""
    full = timeline.full
    if rule.activation is None:
        wanted = truth_of(rule.target, timeline.values, full)
        held = negate(wanted, full) if rule.kind is RuleKind.NEVER else wanted
        return Truth(full, full), _at_once(held, full)
    activation = truth_of(rule.activation, timeline.values, full)
    if rule.kind is RuleKind.BEFORE:
        return activation, _at_once(truth_of(rule.target, timeline.beforehand, full), full)
    target = truth_of(rule.target, timeline.values, full)
    match rule.kind:
        case RuleKind.AFTER:
            reached = Truth(mark_eventually(target.sure, full), mark_eventually(target.maybe, full))
            return activation, _in_time(reached, full, closed=closed)
        case RuleKind.IF:
            if not _has_action(rule.target, timeline):
                return activation, _at_once(target, full)
            reached = Truth(mark_now_or_eventually(target.sure, full), mark_now_or_eventually(target.maybe, full))
            return activation, _in_time(reached, full, closed=closed)
        case RuleKind.ON:
            if all(map(timeline.is_action, names_in(rule.activation))):
                firing = activation
            else:
                firing = Truth(
                    activation.sure & ~mark_yesterday(activation.maybe),
                    activation.maybe & ~mark_yesterday(activation.sure),
                )
            return firing, _before_the_next(firing, target, full, closed=closed)
        case RuleKind.ALWAYS | RuleKind.NEVER:
            raise ValueError(f"{rule.kind} has no activation")
        case _:
            assert_never(rule.kind)


def _at_once(held: Truth, full: int) -> _Answer:
    return _Answer(held.sure, full & ~held.maybe)


def _in_time(reached: Truth, full: int, *, closed: bool) -> _Answer:
    missing = full & ~reached.maybe
    return _Answer(reached.sure, missing) if closed else _Answer(reached.sure, 0, missing)


def _before_the_next(firing: Truth, target: Truth, full: int, *, closed: bool) -> _Answer:
    """Evaluate a target that must come in the same step, or later but before the next firing."""
    quiet = negate(firing, full)
    sure = next_until(quiet.sure, target.sure & quiet.sure, full, at_end=False)
    maybe = next_until(quiet.maybe, target.maybe & quiet.maybe, full, at_end=False)
    comes = target.sure | sure
    may_come = target.maybe | maybe
    if closed:
        return _Answer(comes, full & ~may_come)
    # In a trace that continues, a target that is still open at the end may come later.
    left_open = next_until(quiet.sure, 0, full, at_end=True)
    may_be_left_open = next_until(quiet.maybe, 0, full, at_end=True)
    return _Answer(comes, full & ~(may_come | may_be_left_open), left_open & ~may_come)


def _has_action(expression: Expression, timeline: Timeline) -> bool:
    return any(map(timeline.is_action, names_in(expression)))


def suggest_remedy(rule: Rule) -> str:
    """Suggest a fix in one sentence."""
    return _fill(_REMEDIES, rule)


def describe_rule(rule: Rule) -> str:
    """Return a title for a rule that has none."""
    return _fill(_TITLES, rule)


def _fill(sentences: Mapping[RuleKind, str], rule: Rule) -> str:
    activation = "" if rule.activation is None else describe_expression(rule.activation)
    return _(sentences[rule.kind], target=describe_expression(rule.target), activation=activation)


_REMEDIES: Mapping[RuleKind, str] = {
    RuleKind.BEFORE: mark_message("See to {target} before {activation}."),
    RuleKind.AFTER: mark_message("See to {target} after {activation}."),
    RuleKind.ALWAYS: mark_message("See to {target} in every step."),
    RuleKind.NEVER: mark_message("Leave out {target}."),
    RuleKind.IF: mark_message("See to {target} whenever there is {activation}."),
    RuleKind.ON: mark_message("Each time there is {activation}, go on with {target} before it comes again."),
}
_TITLES: Mapping[RuleKind, str] = {
    RuleKind.BEFORE: mark_message("{target} before {activation}"),
    RuleKind.AFTER: mark_message("{target} after {activation}"),
    RuleKind.ALWAYS: mark_message("{target} at all times"),
    RuleKind.NEVER: mark_message("never {target}"),
    RuleKind.IF: mark_message("{target} whenever {activation}"),
    RuleKind.ON: mark_message("{target} each time {activation} begins"),
}
_WORDS = str.maketrans("_-", "  ")


def word_name(name: str) -> str:
    """Return the name of a state or an action as words."""
    return name.translate(_WORDS)


def describe_expression(expression: Expression, *, inside: bool = False) -> str:
    """Describe an expression in words, with names in quotation marks."""
    match expression:
        case Atom(name):
            return f"“{word_name(name)}”"
        case Not(of):
            return _("not {words}", words=describe_expression(of, inside=True))
        case And(parts):
            text = join_words(describe_expression(part, inside=True) for part in parts)
        case Or(parts):
            *first, last = (describe_expression(part, inside=True) for part in parts)
            text = _("{first} or {last}", first=", ".join(first), last=last)
        case _:
            assert_never(expression)
    return f"({text})" if inside else text


Necessity = Literal["must", "should"]
"""Binding force of a rule.

Steps that violate a must, or might, given what is unknown, are blocked. Those that violate a should are carried out and
reported.
"""


@dataclass(frozen=True, slots=True)
class StatedRule:
    """Rule with the text in which it was stated.

    A workflow that inherits the rule refers to it by ``id``. ``title`` and ``remedy`` are shown to people.
    """

    id: str
    rule: Rule
    text: str
    title: str | None = None
    remedy: str | None = None
    necessity: Necessity = "must"


def wrap_rule(rule: Rule, text: str | None = None) -> StatedRule:
    """Wrap a rule that has no id of its own; its canonical text becomes its id."""
    return StatedRule(id=write_rule(rule), rule=rule, text=text or write_rule(rule))


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """Rule with its verdict.

    The steps (counted from 0) at which the rule was activated are grouped by their own verdict.
    """

    stated: StatedRule
    verdict: Verdict
    violations: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

    @property
    def remedy(self) -> str:
        """Suggested fix, in one sentence."""
        return self.stated.remedy or suggest_remedy(self.stated.rule)

    @property
    def blocks(self) -> bool:
        """True if the rule is a must and is violated or cannot be decided."""
        stops = self.verdict in {Verdict.VIOLATED, Verdict.UNKNOWN}
        return stops and self.stated.necessity == "must"


def check(
    rules: Sequence[StatedRule], steps: Sequence[Step], vocabulary: Vocabulary, *, closed: bool = True
) -> tuple[CheckedRule, ...]:
    """Judge each rule on a trace.

    A trace that is not ``closed`` may continue. Rules and steps may only use names of the vocabulary.
    """
    line = build_timeline(steps, vocabulary)
    return tuple(_judge(each, line, closed=closed) for each in rules)


def explain_refusal(checked: Iterable[CheckedRule], *instead: str) -> tuple[str, ...]:
    """Return, for a person, what to do (or ``instead``, if better), and the rules behind it."""
    found = list(checked)
    remedies = instead or tuple(
        _(each.stated.remedy) if each.stated.remedy else suggest_remedy(each.stated.rule) for each in found
    )
    return tuple(dict.fromkeys((*remedies, *name_rules(found))))


def name_rules(checked: Iterable[CheckedRule]) -> tuple[str, ...]:
    """Return a sentence with the title of each rule."""
    titles = (_(each.stated.title) if each.stated.title else describe_rule(each.stated.rule) for each in checked)
    return tuple(_("Rule: {title}.", title=title) for title in titles)


def write_report(checked: Sequence[CheckedRule]) -> dict[str, Any]:
    """Return the report as a JSON document.

    The shape is ``{"verdict","rules":[{"rule","verdict","violations":[steps],"remedy", ...}]}``. Steps are counted from
    0; ``remedy`` is null for a rule that passes.
    """
    rules = [
        {
            "rule": each.stated.text,
            "verdict": each.verdict.value,
            "violations": list(each.violations),
            "remedy": None if each.verdict.passes else each.remedy,
            "id": each.stated.id,
            "type": each.stated.rule.kind.value,
            "necessity": each.stated.necessity,
            "unknown": list(each.unknown),
            "pending": list(each.pending),
        }
        for each in checked
    ]
    return {"verdict": combine_verdicts(each.verdict for each in checked).value, "rules": rules}


class _Case(BaseModel):
    """Input document. A null field counts as not given."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    rules: list[str]
    actions: list[str] | None = None
    states: list[str] | None = None
    closed: bool | None = None
    trace: list[Any]


def check_case(document: object) -> dict[str, Any]:
    """Check a case and return its report.

    The case is ``{"rules":[text],"actions":[..],"states":[..],"closed":bool,"trace":[steps]}``. The report lists pairs
    of rules that no trace can satisfy in the field ``"conflicts"``, by position; such pairs are not refused. Raises
    :class:`BadInput`.
    """
    if not isinstance(document, Mapping):
        raise BadInput("A case is a JSON object with rules, actions, states, closed and trace.")
    case = validate(_Case, document)
    vocabulary = declare_names(case.actions or (), case.states or ())
    rules = [wrap_rule(_rule(text, vocabulary, at), text) for at, text in enumerate(case.rules)]
    steps = [read_step(step, vocabulary, f"trace, step {at}") for at, step in enumerate(case.trace)]
    report = write_report(check(rules, steps, vocabulary, closed=case.closed is not False))
    clashing = find_conflicts([each.rule for each in rules])
    return {**report, "conflicts": [list(pair) for pair in clashing]}


def _rule(text: str, vocabulary: Vocabulary, at: int) -> Rule:
    try:
        return read_rule(text, vocabulary)
    except BadInput as error:
        raise BadInput(error.message, where=f"rule {at}, {error.where}") from None
