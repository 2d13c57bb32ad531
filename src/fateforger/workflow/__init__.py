"""Rule language: declare which actions must precede, follow, or never occur, and check a trace against them."""

from fateforger.workflow.cases import check_case
from fateforger.workflow.checking import Checked, Necessity, Report, StatedRule, check, wrap_rule, write_report
from fateforger.workflow.expressions import And, Atom, Expression, Not, Or
from fateforger.workflow.judging import Judgement, Verdict, judge
from fateforger.workflow.loading import read_workflow
from fateforger.workflow.parsing import read_rule
from fateforger.workflow.rules import Rule, RuleKind, write_rule
from fateforger.workflow.shipped import shipped, shipped_names, shipped_text
from fateforger.workflow.trace import Step, read_step, timeline
from fateforger.workflow.vocabulary import AtomKind, Names, Vocabulary, declared
from fateforger.workflow.workflows import Workflow

__all__ = [
    "And",
    "Atom",
    "AtomKind",
    "Checked",
    "Expression",
    "Judgement",
    "Names",
    "Necessity",
    "Not",
    "Or",
    "Report",
    "Rule",
    "RuleKind",
    "StatedRule",
    "Step",
    "Verdict",
    "Vocabulary",
    "Workflow",
    "check",
    "check_case",
    "declared",
    "judge",
    "read_rule",
    "read_step",
    "read_workflow",
    "shipped",
    "shipped_names",
    "shipped_text",
    "timeline",
    "wrap_rule",
    "write_report",
    "write_rule",
]
