"""The journal of calendar writes: what was written, when and why, and how to undo it."""

from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.journal.moves import begun, closed, moved, verdict_on, with_records
from fateforger.journal.probe import Ended, Happened, NotYet, Verdict, answered, judge
from fateforger.journal.standing import Way, way_back
from fateforger.journal.undo import plan_undo

__all__ = [
    "Ended",
    "Happened",
    "NotYet",
    "OpRecord",
    "OpState",
    "Transaction",
    "TxState",
    "Verdict",
    "Way",
    "answered",
    "begun",
    "closed",
    "judge",
    "moved",
    "plan_undo",
    "verdict_on",
    "way_back",
    "with_records",
]
