"""Check the steps of a stage against the rules of the session (S56, S139)."""

from __future__ import annotations

from fateforger.errors import PlanInvalid
from fateforger.session.arrivals import double_bookings
from fateforger.session.gates import gate
from fateforger.session.guard import FORWARD, broken_rules, make_step, objections, record_steps, refusal, rules_about
from fateforger.session.keeping import broken_musts
from fateforger.session.model import Notice, Session
from fateforger.stages import Move
from fateforger.turn.model import Effect, GoBack, StageInput, StageOutput, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.values import replace

_ASKED = {Move.UNDO_LAST_UPDATE: "undo_change", Move.UNDO_SYNC: "undo_all", Move.RETRY: "try_again"}


def refuse_forbidden_move(stage: StageInput) -> StageOutput | None:
    """Return the refusal of a move that a rule forbids, with its name and remedy; ``None`` for any other move."""
    asked = _get_requested_action(stage)
    no = () if asked is None else objections(stage.session, asked)
    if not no:
        return None
    standing = gate(stage.session) if stage.asked is Move.PROCEED else None
    question = () if standing is None or standing.question is None else (standing.question,)
    return _refuse(stage.session, *refusal(no, *(() if standing is None else standing.missing), *question))


def guard_output(stage: StageInput, output: StageOutput) -> StageOutput:
    """Record the output's actions in the session's trace.

    If a rule forbids them, return the session as it was before, and the reason.
    """
    if output.session.notice is not None and output.session.notice.refused:
        return output
    asked = _get_requested_action(stage)
    actions = _actions(stage, output)
    steps = [make_step(stage.session, asked)] if asked is not None else []
    if actions:
        kept = ("musts_kept",) if "write" in actions and _keeps_musts(output.session) else ()
        steps.append(make_step(output.session, *actions, also=("one_message_per_turn", *kept)))
        no = broken_rules(stage.session, steps, rules_about(frozenset(actions)))
        if no:
            return _refuse(stage.session, *refusal(no))
    if not steps:
        return output
    return replace(output, session=record_steps(output.session, *steps))


def _keeps_musts(session: Session) -> bool:
    """Check whether the plan breaks no must and double-books no meeting without the person's consent.

    A plan without times is left to another rule.
    """
    try:
        return not broken_musts(session) and not double_bookings(session)
    except PlanInvalid:
        return True


def _get_requested_action(stage: StageInput) -> str | None:
    """Return the action of the move that the person asked for."""
    return FORWARD.get(stage.session.stage) if stage.asked is Move.PROCEED else _ASKED.get(stage.asked)


def _actions(stage: StageInput, output: StageOutput) -> tuple[str, ...]:
    """Return the actions beyond the move that was asked for."""
    asked = _get_requested_action(stage)
    onward = FORWARD.get(stage.session.stage) if output.move is Move.PROCEED is not stage.asked else None
    return tuple(name for name in (onward, *map(_action, output.effects)) if name not in {None, asked})


def _action(effect: Effect) -> str | None:
    match effect:
        case WriteCalendar():
            return "write"
        case UndoUpdate():
            return "undo_change"
        case UndoGroup():
            return "undo_all"
        case GoBack(redo=redo):
            return "redo_write" if redo else "undo_write"
        case _:
            return None


def _refuse(session: Session, *lines: str) -> StageOutput:
    return StageOutput(session=replace(session, notice=Notice(lines=lines, refused=True)))
