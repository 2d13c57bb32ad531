"""Legal state transitions of a task.

               ┌──────── release, a dead executor ────────┐
ACTIVE ──> RUNNING ──> DONE                                │
  ^ │         ├──────> WAITING ──> DONE | ACTIVE           │
  │ v         ├──────> FAILED ───> ACTIVE (retry)          │
PAUSED        └────────────────────────────────────────────┘

STOPPED can be reached from everything that has not ended, and ACTIVE from it (retry).
"""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.tasks.model import TaskState as S

MOVES: Mapping[S, frozenset[S]] = {
    S.ACTIVE: frozenset({S.RUNNING, S.PAUSED, S.STOPPED}),
    S.RUNNING: frozenset({S.DONE, S.WAITING, S.FAILED, S.ACTIVE, S.STOPPED}),
    S.WAITING: frozenset({S.DONE, S.ACTIVE, S.FAILED, S.STOPPED}),
    S.PAUSED: frozenset({S.ACTIVE, S.STOPPED}),
    S.FAILED: frozenset({S.ACTIVE, S.STOPPED}),
    S.STOPPED: frozenset({S.ACTIVE}),
    S.DONE: frozenset(),
}


def can_move(task: S, to: S) -> bool:
    """Check whether the transition is legal."""
    return to in MOVES[task]
