"""The one answer to whether a command or a move may run now, and if not, what is said (S56, S61, S139).

Its sources are the table of transitions (:mod:`fateforger.session.stages`), the stages that a command declares, and the
rules of ``workflows/timeboxing.yaml``. A session keeps its latest steps as a trace: the facts as each began, and the
actions done in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, assert_never

from fateforger.errors import PlanInvalid
from fateforger.planning.plan import TBPlan, resolve
from fateforger.session.checks import broken_musts, double_bookings, open_musts
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.base import PLANNED, SessionCommandBase
from fateforger.session.commands.day import TimeboxingCommitDate
from fateforger.session.commands.plan import RestoreChange
from fateforger.session.commands.thread import StageAction, TimeboxingUserReply
from fateforger.session.day import frame_mistake, on_calendar
from fateforger.session.frame import frame_in_force
from fateforger.session.messages import Notice, format_writes
from fateforger.session.model import Session, SessionStatus
from fateforger.session.overview import frame_words
from fateforger.session.stages import Move, StageGateOutput, TimeboxingStage, target
from fateforger.session.undone import NONE_UNDONE, find_undone
from fateforger.text import count_blocks, count_meetings, count_tasks, format_day, mark_message, ngettext
from fateforger.text import gettext as _
from fateforger.workflow.conformance import CheckedRule, StatedRule, Verdict, check, explain_refusal, suggest_remedy
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.rules import Rule, RuleKind, Vocabulary, names_in
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
"""Action of Continue at each stage that has a next one."""
_ACTIONS = {Move.UNDO_LAST_UPDATE: "undo_change", Move.UNDO_SYNC: "undo_all", Move.RETRY: "try_again"}
_OFFERS = {Move.UNDO_SYNC: "offer_undo", Move.UNDO_LAST_UPDATE: "offer_undo", Move.RETRY: "offer_to_try_again"}
_FAILED = frozenset({"partial", "failed"})


class Refusal(NamedTuple):
    """Answer that a command is not allowed now: a stable id, the sentence for the person, and what else to say."""

    id: str
    sentence: str
    more: tuple[str, ...] = ()
    warns: bool = True
    unread: str = ""

    @property
    def notice(self) -> Notice:
        return Notice(lines=(_(self.sentence), *self.more), refused=self.warns, code=self.id, unread=self.unread)


NO_MODEL = Refusal(
    "no-model",
    mark_message(
        "There is no language model connected, so I cannot read messages here;"
        " the buttons and forms on this card do everything."
    ),
    warns=False,
)
_WITHOUT_WORDS = {
    TimeboxingStage.SKELETON: mark_message("“Refine” lets you move, swap, add and remove blocks."),
    TimeboxingStage.REFINE: mark_message(
        "Use a block's menu to move, swap or remove it, and “Add block” to add another."
    ),
    TimeboxingStage.REVIEW_COMMIT: mark_message(
        "“How is it going?” lets you say what is late, done or not for today. “Back to refine” lets you move, swap and"
        " remove blocks."
    ),
}
"""Hints about the controls to use instead of words."""
OUT_OF_DATE = Refusal(
    "out-of-date", mark_message("That card was out of date, so I did nothing. This is where we are."), warns=False
)
OTHER_FORM = Refusal(
    "other-form", mark_message("That form belongs to another step; please use the newest card in this thread.")
)
_NOT_HERE = {
    Move.PROCEED: Refusal(
        "last-step", mark_message("This plan is on its way already; there is no further step. Back returns to Refine.")
    ),
    Move.BACK: Refusal("first-step", mark_message("This is the first step, so there is nothing to go back to.")),
    Move.UNDO_SYNC: Refusal(
        "undo-later", mark_message("Undo works in Refine and on the committed plan; go on to Refine first.")
    ),
}
"""Refusals of moves that the table of transitions does not list; the others are refused by the rule of their action."""


def find_refusal(session: Session, asked: SessionCommand | Move | type[SessionCommandBase]) -> Refusal | None:
    """Return why a command or move is not allowed now, or ``None`` if it is.

    A type of commands asks for the form that makes them.
    """
    if session.status is SessionStatus.CANCELLED:
        words = _("The plan for {day} is closed, so there is nothing to change here.", day=format_day(session.date))
        return Refusal("session-ended", words)
    if isinstance(asked, type):
        shown = PLANNED if asked.home is TimeboxingStage.REFINE else {asked.home}
        if asked.anywhere:
            shown = asked.accepted
        return None if asked.home is None or session.stage in shown else OTHER_FORM
    if isinstance(asked, TimeboxingUserReply):
        hint = _WITHOUT_WORDS.get(session.stage)
        more = () if hint is None else (_(hint),)
        return NO_MODEL._replace(more=more, unread="" if asked.withheld else asked.text)
    move = asked if isinstance(asked, Move) else get_requested_move(asked)
    if isinstance(asked, StageAction | TimeboxingCommitDate) and asked.seen not in {None, move_token(session, move)}:
        return OUT_OF_DATE
    if isinstance(asked, SessionCommandBase) and asked.home is not None and session.stage not in asked.accepted:
        return _refuse_elsewhere(session.stage, asked.home)
    if isinstance(asked, RestoreChange) and find_undone(session) is None:
        return Refusal("none-undone", NONE_UNDONE)
    return _refuse_move(session, move)


def is_offered(session: Session, move: Move) -> bool:
    """Check whether a move makes sense now, so that a card has a button for it (S54)."""
    if move is Move.STAY or (move is Move.REDO and session.stage is TimeboxingStage.DATE):
        return False
    return find_refusal(session, move) is None


def offered_moves(session: Session) -> tuple[Move, ...]:
    """Return the moves that make sense now."""
    return tuple(move for move in Move if is_offered(session, move))


def get_requested_move(command: SessionCommand) -> Move:
    """Return the move that a command asks for; ``STAY`` if the stage itself handles it."""
    match command:
        case StageAction(move=move):
            return move
        case TimeboxingCommitDate():
            return Move.PROCEED
        case _:
            return Move.STAY


def move_token(session: Session, move: Move) -> str:
    """Return the token of a move's button; it changes once the move has been carried out.

    That of Continue changes with what it accepts, too: an old card cannot commit a plan that it does not show.
    """
    match move:
        case Move.PROCEED:
            return f"{session.stage.value}.{_hash_accepted(session)}"
        case Move.UNDO_LAST_UPDATE:
            return f"{session.stage.value}.{len(session.sync.refine_undo)}"
        case Move.UNDO_SYNC:
            return f"{session.stage.value}.{session.sync.write_group}"
        case Move.STAY | Move.BACK | Move.REDO | Move.CANCEL | Move.RETRY:
            return session.stage.value
        case _:
            assert_never(move)


def _hash_accepted(session: Session) -> str:
    """Return a hash of what Continue accepts: the day, its hours, the tasks, or the plan.

    It uses no words of the person, so that it is the same in a redacted recording.
    """
    accepted: Any = None
    match session.stage:
        case TimeboxingStage.DATE:
            accepted = (session.date.isoformat(), session.tz)
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            accepted = frame_in_force(session).model_dump(mode="json")
        case TimeboxingStage.CAPTURE_INPUTS:
            accepted = [(task.id, task.minutes, task.one_thing) for task in session.day.inputs.tasks]
        case TimeboxingStage.SKELETON | TimeboxingStage.REFINE if session.planning.plan is not None:
            blocks = session.planning.plan.events
            accepted = [(block.key, block.type.value, block.timing.model_dump(mode="json")) for block in blocks]
        case _:
            pass
    return hashlib.sha256(json.dumps(accepted).encode()).hexdigest()[:12]


def _refuse_elsewhere(stage: TimeboxingStage, home: TimeboxingStage) -> Refusal:
    if home.number < stage.number:
        words = _("That belongs to the step “{heading}”, which we have left; Back leads there.", heading=home.heading)
        return Refusal("earlier-step", words)
    return Refusal("later-step", _("That belongs to the step “{heading}”, which comes later.", heading=home.heading))


def _refuse_move(session: Session, move: Move) -> Refusal | None:
    action = _get_action(session.stage, move)
    no = () if action is None else objections(session, action)
    if move is Move.PROCEED and no:
        state = describe_stage(session)
        question = () if state.question is None else (state.question,)
        return refuse_by_rules(no, *state.missing, *question)
    if no:
        return Refusal(no[0].stated.id, no[0].remedy)
    if target(session.stage, move) is not None:
        return None
    if action is None or move in _NOT_HERE:
        return _NOT_HERE[move]
    rule = rules_about(frozenset({action}))[0]
    return Refusal(rule.id, rule.remedy or suggest_remedy(rule.rule))


def _get_action(stage: TimeboxingStage, move: Move) -> str | None:
    return FORWARD.get(stage) if move is Move.PROCEED else _ACTIONS.get(move)


def refuse_by_rules(checked: Sequence[CheckedRule], *instead: str) -> Refusal:
    """Return the refusal of actions: the remedies (or ``instead``, if better), and the rules."""
    first, *more = explain_refusal(checked, *instead)
    return Refusal(checked[0].stated.id, first, tuple(more))


def take_steps(before: Session, after: Session, asked: Move, moved: Move, actions: Iterable[str]) -> Session | Refusal:
    """Return the session with what a turn does recorded in its trace, or the refusal if a rule forbids that.

    ``moved`` is the move that the turn makes, and ``actions`` are those of its effects.
    """
    first = _get_action(before.stage, asked)
    onward = FORWARD.get(before.stage) if moved is Move.PROCEED is not asked else None
    further = tuple(name for name in (onward, *actions) if name not in {None, first})
    steps = [] if first is None else [make_step(before, first)]
    if further:
        kept = ("musts_kept",) if "write" in further and _keeps_musts(after) else ()
        steps.append(make_step(after, *further, also=("one_message_per_turn", *kept)))
    no = broken_rules(before, steps, rules_about(frozenset(name for step in steps for name in step.do)))
    if no:
        return refuse_by_rules(no)
    return record_steps(after, *steps) if steps else after


def close_turn(before: Session, after: Session, facts: Collection[str]) -> tuple[Session, tuple[CheckedRule, ...]]:
    """Return the session with the end of its turn recorded, and the rules that the turn violated.

    A turn without any action is not recorded.
    """
    offers = dict.fromkeys(_OFFERS[move] for move in offered_moves(after) if move in _OFFERS)
    last = make_step(after, "end_turn", *offers, also=facts)
    broke = broken_rules(after, (last,), load_shipped(WORKFLOW).rules, closed=True)
    return (after if after.thread.trace == before.thread.trace else record_steps(after, last)), broke


def _keeps_musts(session: Session) -> bool:
    """Check whether the plan breaks no must and double-books no meeting without the person's consent.

    Musts that only they can judge have their answer. A plan without times is left to another rule.
    """
    try:
        return not (broken_musts(session) or double_bookings(session) or open_musts(session))
    except PlanInvalid:
        return True


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
        "something_failed": session.sync.problem is not None or _has_failed(session),
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
    checked = check(rules, (*past, *steps), vocabulary, closed=closed)
    return tuple(each for each in checked if each.blocks and _is_late(each, len(past)))


def record_steps(session: Session, *steps: Step) -> Session:
    """Return the session with these steps in its trace."""
    return session.with_thread(trace=(*session.thread.trace, *steps)[-MOST_STEPS:])


@lru_cache(maxsize=64)
def rules_about(actions: frozenset[str]) -> tuple[StatedRule, ...]:
    """Return the rules that mention one of these actions."""
    return tuple(stated for stated in load_shipped(WORKFLOW).rules if not actions.isdisjoint(stated.rule.names))


def _looks_back(rule: Rule, vocabulary: Vocabulary) -> bool:
    """Check whether the rule's verdict on a step depends on earlier steps."""
    if rule.kind is RuleKind.BEFORE:
        return any(vocabulary.kind_of(name) == "action" for name in names_in(rule.target))
    return rule.kind is RuleKind.ON


def _is_late(checked: CheckedRule, first: int) -> bool:
    """Check whether the rule is broken at that step or later."""
    steps = checked.violations if checked.verdict is Verdict.VIOLATED else checked.unknown
    return any(at >= first for at in steps)


@lru_cache(maxsize=64)
def _can_resolve(plan: TBPlan) -> bool:
    try:
        resolve(plan)
    except PlanInvalid:
        return False
    return True


class _Words(NamedTuple):
    """State of a stage, for people."""

    summary: tuple[str, ...]
    missing: tuple[str, ...] = ()
    question: str | None = None


def describe_stage(session: Session) -> StageGateOutput:
    """Return the state of the session's current stage.

    It is ready when no rule keeps it from going on.
    """
    words, forward, facts = _words(session), FORWARD.get(session.stage), known_facts(session)
    no = () if forward is None else objections(session, forward)
    if not no:
        return StageGateOutput(stage=session.stage, ready=True, summary=words.summary, facts=facts)
    missing = words.missing or tuple(_(each.remedy) for each in no)
    return StageGateOutput(
        stage=session.stage,
        ready=False,
        summary=words.summary,
        missing=missing,
        question=words.question,
        facts=facts,
    )


def is_committed(session: Session) -> bool:
    """Check whether the complete plan of a session is on the calendar."""
    report = session.sync.last_sync
    whole = report is None or report.status not in _FAILED | {"undone"}
    return session.stage is TimeboxingStage.REVIEW_COMMIT and session.sync.written is not None and whole


def _words(session: Session) -> _Words:
    match session.stage:
        case TimeboxingStage.DATE:
            return _Words((f"{format_day(session.date)}, {session.tz}",))
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
    return _Words(summary, (mistake,), _("When does your day start, and when does it end?"))


def _capture(session: Session) -> _Words:
    count = len(session.day.inputs.tasks)
    if not count:
        return _Words(
            (_("Nothing to do yet"),),
            (_("There is nothing on your list yet, so there is nothing to plan."),),
            _("What do you want to get done on {day}?", day=format_day(session.date)),
        )
    one = next((t for t in session.day.inputs.tasks if t.one_thing), None)
    summary = [count_tasks(count)]
    if one is not None:
        summary.append(_("The one thing: {title}", title=one.title))
    mistake = frame_mistake(session)
    return _Words(tuple(summary), () if mistake is None else (mistake,))


def _skeleton(session: Session) -> _Words:
    if session.planning.plan is None:
        return _Words(
            (_("No draft yet"),),
            (_("There is no draft of this day yet."),),
            _("Shall I draft it again? Redo step does that."),
        )
    summary = [block_words(session)]
    if session.planning.unplaced:
        summary.append(ngettext("{count} did not fit", "{count} did not fit", len(session.planning.unplaced)))
    return _Words(tuple(summary))


def _refine(session: Session) -> _Words:
    if session.planning.plan is not None and (session.planning.plan.events or session.sync.written):
        return _Words((block_words(session),))
    return _Words(
        (_("No blocks"),),
        (_("The plan has no blocks, so there is nothing to put on your calendar."),),
        _("Which block shall I add first?"),
    )


def block_words(session: Session) -> str:
    """Return a count like ``5 blocks``."""
    return count_blocks(len(session.planning.plan.events) if session.planning.plan else 0)


def calendar_words(session: Session) -> str:
    """Describe the state of the calendar in a few words."""
    if session.day.snapshot_error is not None and session.day.snapshot is None:
        return _("Calendar not read")
    if session.day.snapshot is None:
        return _("Calendar still loading")
    count = len(on_calendar(session).timed)
    return count_meetings(count) if count else _("No meetings")


def _counts(session: Session) -> str:
    report = session.sync.last_sync
    if report is None:
        return block_words(session)
    return format_writes(report.created, report.updated, report.deleted)


def _has_failed(session: Session) -> bool:
    report = session.sync.last_sync
    return session.stage is TimeboxingStage.REVIEW_COMMIT and report is not None and report.status in _FAILED
