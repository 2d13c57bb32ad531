"""Picture of a day: an SVG text, and a description in words.

Pure functions: the same day yields the same text.
"""

from fateforger.picture.model import DayView, Meeting, PlannedBlock, planned_blocks
from fateforger.picture.svg import draw
from fateforger.picture.words import describe

__all__ = ["DayView", "Meeting", "PlannedBlock", "describe", "draw", "planned_blocks"]
