"""End transactions of the journal. Called inside one database transaction."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, exists, select, update

from fateforger.adapters.store.documents import JOURNAL_VERSION
from fateforger.adapters.store.journal_rows import OP, TX, UNDOABLE, UNSETTLED, read_state
from fateforger.errors import InternalError
from fateforger.journal.model import TxState

_OPEN = (TxState.APPLYING, TxState.PAUSED)
_HAS_OPEN_OPS = select(exists().where(OP.c.tx_id == bindparam("of_tx"), UNSETTLED))
_CLOSE = (
    update(TX)
    .where(TX.c.id == bindparam("of_tx"), TX.c.state.in_(_OPEN))
    .values(state=bindparam("new_state"), settled_at=bindparam("at"), schema_version=JOURNAL_VERSION)
)
_UNDO = update(TX).where(TX.c.id == bindparam("of_tx"), TX.c.state.in_(UNDOABLE)).values(state=TxState.UNDONE)
_STAND_AGAIN = (
    update(TX).where(TX.c.id == bindparam("of_tx"), TX.c.state == TxState.UNDONE).values(state=bindparam("new_state"))
)
_UNDOES = select(TX.c.undoes).where(TX.c.id == bindparam("of_tx"))


def close(connection: Connection, transaction_id: str, state: TxState, at: datetime) -> None:
    """Change the state of a transaction. Raises ``InternalError`` for a change that is not allowed."""
    this = {"of_tx": transaction_id}
    if state not in _OPEN and connection.execute(_HAS_OPEN_OPS, this).scalar_one():
        raise InternalError(f"Transaction {transaction_id} cannot be {state}: some of its ops have not ended.")
    if state is TxState.UNDONE:
        changed = connection.execute(_UNDO, this).rowcount
    else:
        changed = connection.execute(
            _CLOSE, this | {"new_state": state, "at": at if state in UNDOABLE else None}
        ).rowcount
        if not changed and state in UNDOABLE and connection.execute(_STAND_AGAIN, this | {"new_state": state}).rowcount:
            return
    if changed != 1:
        before = read_state(connection, transaction_id) or "unknown"
        raise InternalError(f"Transaction {transaction_id} is {before} and cannot become {state}.")
    undoes = connection.execute(_UNDOES, this).scalar() if state is TxState.COMMITTED else None
    if undoes is not None:
        connection.execute(_UNDO, {"of_tx": undoes})
