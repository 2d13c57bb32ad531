"""Grade of a plan, its flaws, and the changes that were tested against them."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from fateforger.planning.patch import Patch
from fateforger.text import mark_message
from fateforger.values import Value

LABELS = (
    mark_message("Insufficient"),
    mark_message("Minimal"),
    mark_message("Okay"),
    mark_message("Detailed"),
    mark_message("Ultra"),
)
"""Names of the levels, from 0 to 4."""


class Criterion(StrEnum):
    """Criteria of the rubric, the most important first (S50, S206-S208)."""

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


class Finding(Value):
    """One flaw of a plan.

    ``criterion`` names the check, ``keys`` the blocks concerned, and ``text`` says it in a sentence. ``level`` is the
    level that the plan misses because of it. ``cause`` is the id of the constraint or task behind it, if there is
    one.
    """

    criterion: Criterion
    level: int = Field(ge=1, le=4)
    text: str
    keys: tuple[str, ...] = ()
    cause: str | None = None


class Quality(Value):
    """Grade of a plan, from 0 to 4 (S50).

    ``next_step`` is one sentence: how to reach the next level, or that nothing is left to do. ``findings`` are
    complete, the most important first.
    """

    level: int = Field(ge=0, le=4)
    label: str
    next_step: str
    findings: tuple[Finding, ...] = ()


class Fix(Value):
    """A tested change that improves a plan.

    The plan with the ``patch`` is valid, breaks no must, and has a higher level, or the same level with fewer
    findings. ``label`` is the text of its button. ``id`` is the same for the same change of the same blocks,
    regardless of their names.
    """

    id: str
    label: str = Field(min_length=1)
    criterion: Criterion
    keys: tuple[str, ...] = ()
    level: int = Field(ge=0, le=4)
    patch: Patch
