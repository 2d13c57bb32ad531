"""Derive a session's knowledge of its own writes after an undo or redo in the history. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fateforger.journal import OpState, Transaction
from fateforger.plan import TBPlan
from fateforger.session.frame import frame_mistake
from fateforger.session.model import Facts, RefineUpdate, Session, WriteCounts
from fateforger.session.overview import overview
from fateforger.session.skeleton import grade_session
from fateforger.sync.model import Verb
from fateforger.turn.constants import MOST_UNDO
from fateforger.values import replace


def dump_facts(facts: Facts | None) -> dict[str, Any]:
    """Return the journal's context for the facts before a write, which is stored next to the plan before it."""
    return {} if facts is None else {"facts_before": facts.model_dump(mode="json")}


def load_facts(transaction: Transaction) -> Facts | None:
    """Return the facts that :func:`dump_facts` stored in a transaction."""
    kept = transaction.context.get("facts_before")
    return None if kept is None else Facts.model_validate(kept)


def with_plan(session: Session, plan: TBPlan | None) -> Session:
    """Return the session with another plan, if there is one, and with its quality and overview updated."""
    if plan is None or plan == session.plan:
        return session
    session = replace(session, plan=plan)
    if frame_mistake(session) is None:
        session = grade_session(session)
    return replace(session, overview=overview(session))


def derive_writes(session: Session, history: Sequence[Transaction], *, replaced: bool) -> Session:
    """Return the session with its write group, write counts and undoable changes derived from ``history``.

    ``history`` is the history of the day, the newest first. With ``replaced`` the plan is another one now, so its
    unwritten changes are gone.
    """
    own = [t for t in reversed(history) if t.kind == "submit" and t.undoable and t.context.get("session") == session.id]
    group = own[-1].group if own else None
    written = _count_writes([t for t in own if t.group == group])
    return replace(
        session, write_group=group, written=written, refine_undo=_derive_changes(session, own, replaced=replaced)
    )


def _derive_changes(session: Session, own: Sequence[Transaction], *, replaced: bool) -> tuple[RefineUpdate, ...]:
    """Return the changes with all writes in effect, the redone ones, and finally the pending ones."""
    standing = {t.id for t in own}
    kept = [s for s in session.refine_undo if s.transactions and standing >= set(s.transactions)]
    known = {transaction: step for step in kept for transaction in step.transactions}
    steps: list[RefineUpdate] = []
    for transaction in own:
        step = known.get(transaction.id) or _restore_change(transaction)
        if step is not None:
            if step not in steps:
                steps.append(step)
        elif steps and transaction.context.get("deed") == "retry":
            steps[-1] = replace(steps[-1], transactions=(*steps[-1].transactions, transaction.id))
    waiting = [] if replaced else [s for s in session.refine_undo if not s.transactions]
    return (*steps, *waiting)[-MOST_UNDO:]


def _restore_change(transaction: Transaction) -> RefineUpdate | None:
    before = transaction.context.get("plan_before")
    if before is None:
        return None
    return RefineUpdate(
        plan_before=TBPlan.model_validate(before),
        transactions=(transaction.id,),
        sentence=str(transaction.context.get("said", "")),
        facts_before=load_facts(transaction),
    )


def _count_writes(transactions: Sequence[Transaction]) -> WriteCounts | None:
    done = [r.op.verb for t in transactions for r in t.records if r.state is OpState.APPLIED]
    written = WriteCounts(
        created=done.count(Verb.CREATE), updated=done.count(Verb.UPDATE), deleted=done.count(Verb.DELETE)
    )
    return None if written == WriteCounts() else written
