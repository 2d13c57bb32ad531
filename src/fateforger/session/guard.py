"""Check a session's next actions and turn results against the rules of ``workflows/timeboxing.yaml``.

A session keeps its latest steps as a trace: the facts as each began, and the actions done in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from fateforger.errors import PlanInvalid
from fateforger.plan import TBPlan, resolve
from fateforger.session.frame import frame_mistake
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import TimeboxingStage
from fateforger.values import replace
from fateforger.workflow import (
    AtomKind,
    CheckedRule,
    Rule,
    RuleKind,
    StatedRule,
    Step,
    Verdict,
    Vocabulary,
    check,
    load_shipped,
)
from fateforger.workflow.expressions import names_in

WORKFLOW = "timeboxing"
MOST_STEPS = 16
"""Number of steps that a session remembers."""
FORWARD = {
    TimeboxingStage.DATE: "confirm_date",
    TimeboxingStage.COLLECT_CONSTRAINTS: "confirm_frame",
    TimeboxingStage.CAPTURE_INPUTS: "draft",
    TimeboxingStage.SKELETON: "refine",
    TimeboxingStage.REFINE: "commit",
}
"""Action of Proceed at each stage that has a next one."""
_FAILED = frozenset({"partial", "failed"})


def make_step(session: Session, *actions: str, also: Collection[str] = ("one_message_per_turn",)) -> Step:
    """Return the next step: the actions, and the facts as it begins.

    ``also`` are facts that a session does not know itself; by default, that each turn so far had one message.
    """
    return Step(do=actions, true=(*known_facts(session), *also))


def known_facts(session: Session) -> tuple[str, ...]:
    """Return the states of the workflow that hold, as far as a session knows them."""
    report = session.last_sync
    told = {
        "session_active": session.status is SessionStatus.ACTIVE,
        "date_confirmed": session.stage is not TimeboxingStage.DATE,
        "frame_valid": frame_mistake(session) is None,
        "something_to_do": bool(session.inputs.tasks),
        "plan_drafted": session.plan is not None,
        "plan_valid": session.plan is not None and _can_resolve(session.plan),
        "something_to_write": session.written is not None or bool(session.plan and session.plan.events),
        "change_to_undo": bool(session.refine_undo),
        "blocks_on_calendar": session.written is not None,
        "something_failed": session.problem is not None or (report is not None and report.status in _FAILED),
        "sync_failed": report is not None and report.status == "partial" and session.written is not None,
        "write_stopped": session.problem is not None,
    }
    return tuple(name for name, holds in told.items() if holds)


def objections(session: Session, *actions: str) -> tuple[CheckedRule, ...]:
    """Return the rules that forbid these actions now: musts that they break or may break."""
    return broken_rules(session, (make_step(session, *actions),), rules_about(frozenset(actions)))


def broken_rules(
    session: Session, steps: Sequence[Step], rules: Sequence[StatedRule], *, closed: bool = False
) -> tuple[CheckedRule, ...]:
    """Return the must-rules that these further steps of the session break, or may break.

    With ``closed``, no more steps follow.
    """
    vocabulary = load_shipped(WORKFLOW).vocabulary
    past = session.trace if any(_looks_back(each.rule, vocabulary) for each in rules) else ()
    report = check(rules, (*past, *steps), vocabulary, closed=closed)
    return tuple(each for each in report.rules if each.blocks and _is_late(each, len(past)))


def all_rules() -> tuple[StatedRule, ...]:
    """Return all rules of the workflow."""
    return load_shipped(WORKFLOW).rules


def record_steps(session: Session, *steps: Step) -> Session:
    """Return the session with these steps in its trace."""
    return replace(session, trace=(*session.trace, *steps)[-MOST_STEPS:])


def refusal(checked: Sequence[CheckedRule], *instead: str) -> tuple[str, ...]:
    """Return the refusal for a person: the remedies (or ``instead``, if better), and the rules."""
    remedies = instead or tuple(each.remedy for each in checked)
    return (*dict.fromkeys(remedies), *(f"Rule: {each.stated.title or each.stated.text}." for each in checked))


@lru_cache(maxsize=64)
def rules_about(actions: frozenset[str]) -> tuple[StatedRule, ...]:
    """Return the rules that mention one of these actions."""
    return tuple(stated for stated in load_shipped(WORKFLOW).rules if not actions.isdisjoint(stated.rule.names))


def _looks_back(rule: Rule, vocabulary: Vocabulary) -> bool:
    """Check whether the rule's verdict on a step depends on earlier steps."""
    if rule.kind is RuleKind.BEFORE:
        return any(vocabulary.kind_of(name) is AtomKind.ACTION for name in names_in(rule.target))
    return rule.kind is RuleKind.ON


def _is_late(checked: CheckedRule, first: int) -> bool:
    """Check whether the rule is broken at that step or later."""
    steps = checked.judgement.violations if checked.verdict is Verdict.VIOLATED else checked.judgement.unknown
    return any(at >= first for at in steps)


@lru_cache(maxsize=64)
def _can_resolve(plan: TBPlan) -> bool:
    try:
        resolve(plan)
    except PlanInvalid:
        return False
    return True
