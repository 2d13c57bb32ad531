"""Safety checks: reasons to stop and ask before anything is written.

A calendar that lost everything, or a plan that drops most of the day, is more likely a wrong calendar, a partial answer
or a slip than an intention. An incomplete snapshot is an error instead of a question: nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.errors import CalendarIncomplete
from fateforger.sync.model import Ledger, SafetyCheck, SafetyCheckKind, Snapshot, Standing, SyncOp, Verb
from fateforger.sync.ownership import Owned, Proof, Sides
from fateforger.sync.words import list_titles

_MANY = 4
_MOST = 0.5
_EMPTIED = 2
_ACTING = frozenset({Verb.CREATE, Verb.DELETE, Verb.ADOPT})


def require_whole(snapshot: Snapshot, ledger: Ledger) -> None:
    """Check that every block we hold was seen or requested by id; absence from a window proves nothing.

    Raises :class:`~fateforger.errors.CalendarIncomplete`.
    """
    seen = {event.id for event in snapshot.events} | snapshot.fetched.keys()
    for head in ledger.heads:
        if head.event_id not in seen and head.standing in {Standing.HELD, Standing.RELEASED}:
            raise CalendarIncomplete(
                f"I could not find out what became of “{head.base.summary}”, so I changed nothing."
            )


def run_safety_checks(
    ops: Sequence[SyncOp], sides: Sides, ledger: Ledger, spares: Sequence[Owned]
) -> tuple[SafetyCheck, ...]:
    """Return all safety checks that these ops trigger."""
    brakes: list[SafetyCheck] = []
    held = [head for head in ledger.heads if head.standing is Standing.HELD]
    gone = [head for head in held if head.event_id not in sides.live]
    gone.sort(key=lambda head: (head.base.start, head.key))
    acting = bool(gone) and any(op.verb in _ACTING or _asks_about_deletion(op) for op in ops)
    if acting and len(gone) == len(held) >= _EMPTIED:
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.EMPTIED_CALENDAR,
                sentence=f"All {len(held)} blocks that I wrote are gone from your calendar:"
                f" {list_titles([head.base.summary for head in gone])}.",
            )
        )
    elif acting and len(held) >= _MANY and len(gone) > _MOST * len(held):
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.VANISHED_BLOCKS,
                sentence=f"{len(gone)} of the {len(held)} blocks that I wrote are gone from your calendar:"
                f" {list_titles([head.base.summary for head in gone])}.",
            )
        )
    ours = [o for o in sides.owned if o.proof is not Proof.MARKED]
    deletes = [op for op in ops if op.verb is Verb.DELETE]
    if len(ours) >= _MANY and len(deletes) > _MOST * len(ours):
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.MASS_DELETION,
                sentence=f"This would delete {len(deletes)} of my {len(ours)} blocks from your calendar:"
                f" {list_titles([op.summary for op in deletes])}.",
            )
        )
    if spares:
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.DUPLICATE_BLOCK,
                sentence=f"Your calendar shows {list_titles([o.event.summary for o in spares])} twice.",
            )
        )
    return tuple(brakes)


def _asks_about_deletion(op: SyncOp) -> bool:
    """Check whether the op asks about a deleted block that the plan changed.

    Before the person is asked about it, the calendar has to look like one that a person keeps.
    """
    held = op.head_before is not None and op.head_before.standing is Standing.HELD
    return op.verb is Verb.SKIP and op.before is None and held
