"""The level of a plan, and the findings that keep it from a higher one, as values."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from fateforger.ops import Patch

_FROZEN = ConfigDict(frozen=True, extra="forbid")
LABELS = ("Insufficient", "Minimal", "Okay", "Detailed", "Ultra")


class Criterion(StrEnum):
    """What the rubric looks at, the most important first (S50, S206-S208)."""

    WORK = "work"
    OVERLAP = "overlap"
    MEETING = "meeting"
    MUST = "must"
    UNPLACED = "unplaced"
    ONE_THING_EARLY = "one_thing_early"
    AFTER_DEEP = "after_deep"
    MEAL = "meal"
    SHOULD = "should"
    ONE_THING = "one_thing"
    FOCUS = "focus"
    SHALLOW = "shallow"
    DEEP_BLOCKS = "deep_blocks"
    BEFORE_DEEP = "before_deep"
    AFTER_MEAL = "after_meal"
    SHUTDOWN = "shutdown"
    WISH = "wish"


class Finding(BaseModel):
    """Something that would make the plan better: which criterion says so, the blocks that it is about by key, and a
    sentence. ``level`` is the one that the plan does not reach because of it. ``cause`` names the constraint or the
    task behind it, if one is."""

    model_config = _FROZEN
    criterion: Criterion
    level: int = Field(ge=1, le=4)
    text: str
    keys: tuple[str, ...] = ()
    cause: str | None = None


class Quality(BaseModel):
    """How good a plan is, 0 to 4 (S50). ``next_step`` is one sentence: what lifts it to the next level, or that nothing
    is left to do; ``findings`` are all that was found, the most important first."""

    model_config = _FROZEN
    level: int = Field(ge=0, le=4)
    label: str
    next_step: str
    findings: tuple[Finding, ...] = ()


class Fix(BaseModel):
    """A change that makes a plan better, tried: the plan with the ``patch`` is valid, breaks no must and has a higher
    level, or the same with fewer findings. ``label`` says what it does, as a button does; ``id`` is the same for the
    same change of the same blocks, whatever they are called."""

    model_config = _FROZEN
    id: str
    label: str = Field(min_length=1)
    criterion: Criterion
    keys: tuple[str, ...] = ()
    level: int = Field(ge=0, le=4)
    patch: Patch
