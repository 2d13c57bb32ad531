"""Check a finished turn against the rules of the session, and add it to the session's trace. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fateforger.coordinator.messages import ROOT
from fateforger.session.guard import all_rules, broken_rules, make_step, record_steps, refusal
from fateforger.session.model import Notice, Outgoing, Session
from fateforger.session.moves import offered_moves
from fateforger.stages import Move
from fateforger.sync.model import EventImage, OwnedId
from fateforger.turn.model import Effect, TurnOutcome, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.values import replace
from fateforger.workflow import CheckedRule

_WRITES = (WriteCalendar, UndoUpdate, UndoGroup)
_OFFERS = {
    Move.UNDO_SYNC: "offer_undo",
    Move.UNDO_LAST_UPDATE: "offer_undo",
    Move.RETRY: "offer_to_try_again",
}


def end_turn(
    before: Session, outcome: TurnOutcome, after: Session, messages: Sequence[Outgoing]
) -> tuple[Session, tuple[CheckedRule, ...]]:
    """Return the session with the end of its turn recorded, and the rules that the turn violated.

    ``after`` is the session with the effects of ``outcome`` applied. A turn without any action is not recorded.
    """
    holds = {
        "one_message_per_turn": sum(not message.beside and message.slot != ROOT for message in messages) <= 1,
        "foreign_event_changed": _only_writes(outcome.effects)
        and _find_foreign(outcome.session) != _find_foreign(after),
    }
    offers = dict.fromkeys(_OFFERS[move] for move in offered_moves(after) if move in _OFFERS)
    last = make_step(after, "end_turn", *offers, also=tuple(name for name, so in holds.items() if so))
    broke = broken_rules(after, (last,), all_rules(), closed=True)
    return (after if after.trace == before.trace else record_steps(after, last)), broke


def report_violations(session: Session, broke: Sequence[CheckedRule]) -> Session:
    """Return the session with a notice of the rules that its turn violated."""
    lines = () if session.notice is None else session.notice.lines
    return replace(session, notice=Notice(lines=(*lines, *refusal(broke))))


def _only_writes(effects: Sequence[Effect]) -> bool:
    """Check whether all effects are writes: only those can have changed the session's knowledge of the calendar."""
    return bool(effects) and all(isinstance(effect, _WRITES) for effect in effects)


def _find_foreign(session: Session) -> Mapping[str, EventImage]:
    events = () if session.snapshot is None else session.snapshot.events
    return {event.id: event for event in events if not OwnedId.is_one(event.id)}
