"""The journal of calendar writes: what was written, when and why, and how to undo it."""

from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.journal.moves import begin_transaction, close_transaction, judge_transaction, move_record, with_records
from fateforger.journal.probe import Ended, Happened, NotYet, Verdict, judge, judge_answer
from fateforger.journal.standing import UndoScope, find_undo_scope
from fateforger.journal.undo import plan_undo

__all__ = [
    "Ended",
    "Happened",
    "NotYet",
    "OpRecord",
    "OpState",
    "Transaction",
    "TxState",
    "UndoScope",
    "Verdict",
    "begin_transaction",
    "close_transaction",
    "find_undo_scope",
    "judge",
    "judge_answer",
    "judge_transaction",
    "move_record",
    "plan_undo",
    "with_records",
]
