"""Transactions of ops with their states, as the journal stores them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from fateforger.sync.model import EventImage, SyncOp, SyncPlan


class OpState(StrEnum):
    """``PENDING -> INFLIGHT -> APPLIED | SKIPPED | CONFLICT | FAILED | SUPERSEDED``.

    A probe that proves that an in-flight op did not happen leads back to ``PENDING``.
    """

    PENDING = "pending"
    INFLIGHT = "inflight"
    APPLIED = "applied"
    SKIPPED = "skipped"
    CONFLICT = "conflict"
    FAILED = "failed"
    SUPERSEDED = "superseded"

    @property
    def is_settled(self) -> bool:
        return self not in {OpState.PENDING, OpState.INFLIGHT}


class TxState(StrEnum):
    """``APPLYING -> COMMITTED | PARTIAL | PAUSED``.

    ``COMMITTED`` and ``PARTIAL`` can become ``UNDONE``, and return to their old state when the undo is undone.
    """

    APPLYING = "applying"
    COMMITTED = "committed"
    PARTIAL = "partial"
    PAUSED = "paused"
    UNDONE = "undone"


TxKind = Literal["submit", "undo"]
UNDOES = "undoes"
"""The name in a transaction's context of all transactions that an undo undoes, the newest first."""


class OpRecord(BaseModel):
    """An op of a transaction and its state. ``observed`` is the event as the calendar showed it afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    op: SyncOp
    state: OpState
    attempts: int = 0
    observed: EventImage | None = None
    error: str = ""


class Transaction(BaseModel):
    """One submit or undo.

    ``cause`` names the command that asked for it, so that a repeated command finds it. ``group`` ties together the
    transactions that one Undo undoes as a whole; ``undoes`` names the transaction that an undo undoes. ``context`` is
    data the caller wants to find again (the plan before and after).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    calendar: str
    day: Date
    tz: str
    kind: TxKind
    state: TxState
    created_at: datetime
    settled_at: datetime | None = None
    cause: str
    group: str
    undoes: str | None = None
    plan: SyncPlan
    records: tuple[OpRecord, ...]
    context: Mapping[str, Any] = {}

    @property
    def undoable(self) -> bool:
        """Check whether undoing it would do anything: settled, not undone, and at least one op took effect."""
        return self.state in {TxState.COMMITTED, TxState.PARTIAL} and any(
            r.state is OpState.APPLIED and r.op.verb in {"create", "update", "delete"} for r in self.records
        )
