"""Rule language: declare which actions must precede, follow, or never occur, and check a trace against them."""

from fateforger.workflow.cases import check_case
from fateforger.workflow.checking import CheckedRule, Necessity, Report, StatedRule, check, wrap_rule, write_report
from fateforger.workflow.expressions import And, Atom, Expression, Not, Or
from fateforger.workflow.judging import Judgement, Verdict, judge
from fateforger.workflow.loading import read_workflow
from fateforger.workflow.parsing import read_rule
from fateforger.workflow.rules import Rule, RuleKind, write_rule
from fateforger.workflow.shipped import list_shipped, load_shipped, read_shipped
from fateforger.workflow.trace import Step, build_timeline, read_step
from fateforger.workflow.vocabulary import AtomKind, Names, Vocabulary, declare_names
from fateforger.workflow.workflows import Workflow

__all__ = [
    "And",
    "Atom",
    "AtomKind",
    "CheckedRule",
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
    "build_timeline",
    "check",
    "check_case",
    "declare_names",
    "judge",
    "list_shipped",
    "load_shipped",
    "read_rule",
    "read_shipped",
    "read_step",
    "read_workflow",
    "wrap_rule",
    "write_report",
    "write_rule",
]
