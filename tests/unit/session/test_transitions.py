"""The one table of moves (S59)."""

from __future__ import annotations

import pytest

from fateforger.session.stages import TRANSITIONS, Move, TimeboxingStage, target
from fateforger.session.stages import TimeboxingStage as S


def test_the_table() -> None:
    """S54, S57, S59: every legal move, spelled out once more."""
    table = {(stage, move): goal for stage, moves in TRANSITIONS.items() for move, goal in moves.items()}
    assert table == {
        (S.DATE, Move.PROCEED): S.COLLECT_CONSTRAINTS,
        (S.COLLECT_CONSTRAINTS, Move.PROCEED): S.CAPTURE_INPUTS,
        (S.COLLECT_CONSTRAINTS, Move.BACK): S.DATE,
        (S.CAPTURE_INPUTS, Move.PROCEED): S.SKELETON,
        (S.CAPTURE_INPUTS, Move.BACK): S.COLLECT_CONSTRAINTS,
        (S.SKELETON, Move.PROCEED): S.REFINE,
        (S.SKELETON, Move.BACK): S.CAPTURE_INPUTS,
        (S.REFINE, Move.PROCEED): S.REVIEW_COMMIT,
        (S.REFINE, Move.BACK): S.SKELETON,
        (S.REFINE, Move.UNDO_LAST_UPDATE): S.REFINE,
        (S.REFINE, Move.UNDO_SYNC): S.REFINE,
        (S.REFINE, Move.RETRY): S.REFINE,
        (S.REVIEW_COMMIT, Move.BACK): S.REFINE,
        (S.REVIEW_COMMIT, Move.UNDO_SYNC): S.REFINE,
        (S.REVIEW_COMMIT, Move.RETRY): S.REVIEW_COMMIT,
    }


@pytest.mark.parametrize("stage", TimeboxingStage)
@pytest.mark.parametrize("move", [Move.STAY, Move.REDO, Move.CANCEL])
def test_moves_that_stay(stage: TimeboxingStage, move: Move) -> None:
    assert target(stage, move) is stage


def test_every_stage_can_be_reached_and_left() -> None:
    reached = {S.DATE}
    while more := {g for s in reached for g in TRANSITIONS[s].values()} - reached:
        reached |= more
    assert reached == set(S)


def test_numbers_and_headings() -> None:
    assert [stage.number for stage in S] == [0, 1, 2, 3, 4, 5]
    assert len({stage.heading for stage in S}) == 6
