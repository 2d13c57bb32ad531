"""All rules of a workflow on one trace. It checks and changes nothing (K6): what to do instead is said, not done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fateforger.workflow.judging import Judgement, Verdict, judge, weightiest
from fateforger.workflow.remedies import remedy_for
from fateforger.workflow.rules import Rule, RuleKind, write_rule
from fateforger.workflow.trace import Step, timeline
from fateforger.workflow.vocabulary import Vocabulary


class Necessity(StrEnum):
    """How binding a rule is."""

    MUST = "must"
    """What breaks it, or may break it for all that is known, is not done."""
    SHOULD = "should"
    """What breaks it is done, and said."""


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule as somebody stated it. ``id`` is what a workflow that inherits it calls it; ``title`` and ``remedy`` are
    for people."""

    id: str
    rule: Rule
    text: str
    title: str | None = None
    remedy: str | None = None
    necessity: Necessity = Necessity.MUST


def stated(rule: Rule, text: str | None = None) -> StatedRule:
    """A rule without an id or words of its own; its text is its id."""
    return StatedRule(id=write_rule(rule), rule=rule, text=text or write_rule(rule))


@dataclass(frozen=True, slots=True)
class Checked:
    """A rule with its verdict."""

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
        """What to do, in one sentence."""
        return self.stated.remedy or remedy_for(self.stated.rule)

    @property
    def blocks(self) -> bool:
        """Whether the trace must not come about: the rule is a must, and is broken or cannot be told to be kept."""
        stops = self.verdict in {Verdict.VIOLATED, Verdict.UNKNOWN}
        return stops and self.stated.necessity is Necessity.MUST


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict of all rules together, and each with its own."""

    verdict: Verdict
    rules: tuple[Checked, ...]

    @property
    def violated(self) -> tuple[Checked, ...]:
        """The rules that are broken."""
        return tuple(each for each in self.rules if each.verdict is Verdict.VIOLATED)


def check(rules: Sequence[StatedRule], steps: Sequence[Step], vocabulary: Vocabulary, *, closed: bool = True) -> Report:
    """The verdict of each rule on a trace. A trace that is not ``closed`` may go on. The names of the rules and of the
    steps are those of the vocabulary."""
    line = timeline(steps, vocabulary)
    checked = tuple(Checked(each, judge(each.rule, line, closed=closed)) for each in rules)
    return Report(weightiest(each.verdict for each in checked), checked)


def write_report(report: Report) -> dict[str, Any]:
    """``{"verdict","rules":[{"rule","verdict","violations":[steps],"remedy", ...}]}``; steps are counted from 0, and
    there is a remedy where there is something to mend."""
    return {"verdict": report.verdict.value, "rules": [_document(each) for each in report.rules]}


def _document(checked: Checked) -> dict[str, Any]:
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
