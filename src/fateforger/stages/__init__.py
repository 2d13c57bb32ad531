"""Planning stages and the table of transitions between them."""

from fateforger.stages.model import Move, StageGateOutput, TimeboxingStage
from fateforger.stages.transitions import TRANSITIONS, target

__all__ = ["TRANSITIONS", "Move", "StageGateOutput", "TimeboxingStage", "target"]
