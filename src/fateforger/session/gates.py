"""Completeness of a stage by the rules of ``workflows/timeboxing.yaml``, and the moves on offer (S56, S61).

A session keeps its latest steps as a trace: the facts as each began, and the actions done in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

from fateforger.errors import PlanInvalid
from fateforger.planning.plan import TBPlan, resolve
from fateforger.session.day import day_words, frame_mistake, frame_words, on_calendar
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import Move, StageGateOutput, TimeboxingStage, target
from fateforger.text import format_count
from fateforger.workflow.conformance import CheckedRule, StatedRule, Verdict, check
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.rules import AtomKind, Rule, RuleKind, Vocabulary, names_in
from fateforger.workflow.trace import Step

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
    report = session.sync.last_sync
    told = {
        "session_active": session.status is SessionStatus.ACTIVE,
        "date_confirmed": session.stage is not TimeboxingStage.DATE,
        "frame_valid": frame_mistake(session) is None,
        "something_to_do": bool(session.day.inputs.tasks),
        "plan_drafted": session.planning.plan is not None,
        "plan_valid": session.planning.plan is not None and _can_resolve(session.planning.plan),
        "something_to_write": session.sync.written is not None
        or bool(session.planning.plan and session.planning.plan.events),
        "change_to_undo": bool(session.sync.refine_undo),
        "blocks_on_calendar": session.sync.written is not None,
        "something_failed": session.sync.problem is not None or (report is not None and report.status in _FAILED),
        "sync_failed": report is not None and report.status == "partial" and session.sync.written is not None,
        "write_stopped": session.sync.problem is not None,
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
    past = session.thread.trace if any(_looks_back(each.rule, vocabulary) for each in rules) else ()
    report = check(rules, (*past, *steps), vocabulary, closed=closed)
    return tuple(each for each in report.rules if each.blocks and _is_late(each, len(past)))


def all_rules() -> tuple[StatedRule, ...]:
    """Return all rules of the workflow."""
    return load_shipped(WORKFLOW).rules


def record_steps(session: Session, *steps: Step) -> Session:
    """Return the session with these steps in its trace."""
    return session.with_thread(trace=(*session.thread.trace, *steps)[-MOST_STEPS:])


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


_UNFINISHED = frozenset({"partial", "failed", "undone"})


class _Words(NamedTuple):
    """State of a stage, for people."""

    summary: tuple[str, ...]
    missing: tuple[str, ...] = ()
    question: str | None = None


def gate(session: Session) -> StageGateOutput:
    """Return the state of the session's current stage.

    It is ready when no rule keeps it from going on.
    """
    words, forward = _words(session), FORWARD.get(session.stage)
    no = () if forward is None else objections(session, forward)
    if not no:
        return StageGateOutput(stage=session.stage, ready=True, summary=words.summary)
    missing = words.missing or tuple(each.remedy for each in no)
    return StageGateOutput(
        stage=session.stage, ready=False, summary=words.summary, missing=missing, question=words.question
    )


def is_committed(session: Session) -> bool:
    """Check whether the complete plan of a session is on the calendar."""
    report = session.sync.last_sync
    whole = report is None or report.status not in _UNFINISHED
    return session.stage is TimeboxingStage.REVIEW_COMMIT and session.sync.written is not None and whole


def _words(session: Session) -> _Words:
    match session.stage:
        case TimeboxingStage.DATE:
            return _Words((f"{day_words(session.date)}, {session.tz}",))
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return _collect(session)
        case TimeboxingStage.CAPTURE_INPUTS:
            return _capture(session)
        case TimeboxingStage.SKELETON:
            return _skeleton(session)
        case TimeboxingStage.REFINE:
            return _refine(session)
        case TimeboxingStage.REVIEW_COMMIT:
            return _Words((_counts(session),))
        case _:
            assert_never(session.stage)


def _collect(session: Session) -> _Words:
    summary, mistake = (frame_words(session), calendar_words(session)), frame_mistake(session)
    if mistake is None:
        return _Words(summary)
    return _Words(summary, (mistake,), "When does your day start, and when does it end?")


def _capture(session: Session) -> _Words:
    count = len(session.day.inputs.tasks)
    if not count:
        return _Words(
            ("Nothing to do yet",),
            ("There is nothing on your list yet, so there is nothing to plan.",),
            f"What do you want to get done on {day_words(session.date)}?",
        )
    one = next((t for t in session.day.inputs.tasks if t.one_thing), None)
    summary = [format_count(count, "task")]
    if one is not None:
        summary.append(f"The one thing: {one.title}")
    mistake = frame_mistake(session)
    return _Words(tuple(summary), () if mistake is None else (mistake,))


def _skeleton(session: Session) -> _Words:
    if session.planning.plan is None:
        return _Words(
            ("No draft yet",), ("There is no draft of this day yet.",), "Shall I draft it again? Redo step does that."
        )
    summary = [block_words(session)]
    if session.planning.unplaced:
        summary.append(f"{len(session.planning.unplaced)} did not fit")
    return _Words(tuple(summary))


def _refine(session: Session) -> _Words:
    if session.planning.plan is not None and (session.planning.plan.events or session.sync.written):
        return _Words((block_words(session),))
    return _Words(
        ("No blocks",),
        ("The plan has no blocks, so there is nothing to put on your calendar.",),
        "Which block shall I add first?",
    )


def block_words(session: Session) -> str:
    """Return a count like ``5 blocks``."""
    return format_count(len(session.planning.plan.events) if session.planning.plan else 0, "block")


def calendar_words(session: Session) -> str:
    """Describe the state of the calendar in a few words."""
    if session.day.snapshot_error is not None and session.day.snapshot is None:
        return "Calendar not read"
    if session.day.snapshot is None:
        return "Calendar still loading"
    count = len(on_calendar(session).timed)
    return format_count(count, "meeting") if count else "No meetings"


def _counts(session: Session) -> str:
    report = session.sync.last_sync
    if report is None:
        return block_words(session)
    return f"{report.created} created, {report.updated} updated, {report.deleted} deleted"


def offered_moves(session: Session) -> tuple[Move, ...]:
    """Return the moves that make sense now, each legal by the table; cards show buttons for them (S54)."""
    if session.status is SessionStatus.CANCELLED:
        return ()
    return tuple(m for m in Move if target(session.stage, m) is not None and _makes_sense(session, m))


def move_token(session: Session, move: Move) -> str:
    """Return the token of a move's button; it changes once the move has been carried out."""
    match move:
        case Move.UNDO_LAST_UPDATE:
            return f"{session.stage.value}.{len(session.sync.refine_undo)}"
        case Move.UNDO_SYNC:
            return f"{session.stage.value}.{session.sync.write_group}"
        case Move.STAY | Move.PROCEED | Move.BACK | Move.REDO | Move.CANCEL | Move.RETRY:
            return session.stage.value
        case _:
            assert_never(move)


def _makes_sense(session: Session, move: Move) -> bool:
    match move:
        case Move.STAY:
            return False
        case Move.PROCEED:
            return gate(session).ready
        case Move.UNDO_LAST_UPDATE:
            return bool(session.sync.refine_undo)
        case Move.UNDO_SYNC:
            return session.sync.written is not None
        case Move.RETRY:
            return session.sync.problem is not None or _has_failed(session)
        case Move.BACK | Move.CANCEL:
            return True
        case Move.REDO:
            return session.stage is not TimeboxingStage.DATE
        case _:
            assert_never(move)


def _has_failed(session: Session) -> bool:
    at_review = session.stage is TimeboxingStage.REVIEW_COMMIT
    return at_review and session.sync.last_sync is not None and session.sync.last_sync.status in _FAILED
