"""Check a trace against all rules of a workflow. Checking never changes anything (K6); remedies are only suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fateforger.workflow.judging import Judgement, Verdict, combine_verdicts, judge
from fateforger.workflow.remedies import suggest_remedy
from fateforger.workflow.rules import Rule, RuleKind, write_rule
from fateforger.workflow.trace import Step, build_timeline
from fateforger.workflow.vocabulary import Vocabulary


class Necessity(StrEnum):
    """Binding force of a rule."""

    MUST = "must"
    """Steps that violate the rule, or might, given what is unknown, are blocked."""
    SHOULD = "should"
    """Steps that violate the rule are carried out and reported."""


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
    necessity: Necessity = Necessity.MUST


def wrap_rule(rule: Rule, text: str | None = None) -> StatedRule:
    """Wrap a rule that has no id of its own; its canonical text becomes its id."""
    return StatedRule(id=write_rule(rule), rule=rule, text=text or write_rule(rule))


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """Rule with its verdict."""

    stated: StatedRule
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict

    @property
    def kind(self) -> RuleKind:
        return self.stated.rule.kind

    @property
    def remedy(self) -> str:
        """Suggested fix, in one sentence."""
        return self.stated.remedy or suggest_remedy(self.stated.rule)

    @property
    def blocks(self) -> bool:
        """True if the rule is a must and is violated or cannot be decided."""
        stops = self.verdict in {Verdict.VIOLATED, Verdict.UNKNOWN}
        return stops and self.stated.necessity is Necessity.MUST


@dataclass(frozen=True, slots=True)
class Report:
    """Combined verdict, and the verdict of each rule."""

    verdict: Verdict
    rules: tuple[CheckedRule, ...]

    @property
    def violated_rules(self) -> tuple[CheckedRule, ...]:
        """Rules that are violated."""
        return tuple(each for each in self.rules if each.verdict is Verdict.VIOLATED)


def check(rules: Sequence[StatedRule], steps: Sequence[Step], vocabulary: Vocabulary, *, closed: bool = True) -> Report:
    """Judge each rule on a trace.

    A trace that is not ``closed`` may continue. Rules and steps may only use names of the vocabulary.
    """
    line = build_timeline(steps, vocabulary)
    checked = tuple(CheckedRule(each, judge(each.rule, line, closed=closed)) for each in rules)
    return Report(combine_verdicts(each.verdict for each in checked), checked)


def write_report(report: Report) -> dict[str, Any]:
    """Return the report as a JSON document.

    The shape is ``{"verdict","rules":[{"rule","verdict","violations":[steps],"remedy", ...}]}``. Steps are counted from
    0; ``remedy`` is null for a rule that passes.
    """
    return {"verdict": report.verdict.value, "rules": [_document(each) for each in report.rules]}


def _document(checked: CheckedRule) -> dict[str, Any]:
    judgement = checked.judgement
    return {
        "rule": checked.stated.text,
        "verdict": checked.verdict.value,
        "violations": list(judgement.violations),
        "remedy": None if checked.verdict.passes else checked.remedy,
        "id": checked.stated.id,
        "type": checked.kind.value,
        "necessity": checked.stated.necessity.value,
        "unknown": list(judgement.unknown),
        "pending": list(judgement.pending),
    }
