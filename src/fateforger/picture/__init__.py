"""The day as a picture: an SVG text, and the same in words. Pure: the same day is the same picture, to the letter."""

from fateforger.picture.model import DayView, Meeting, PlannedBlock, planned_blocks
from fateforger.picture.svg import draw
from fateforger.picture.words import describe

__all__ = ["DayView", "Meeting", "PlannedBlock", "describe", "draw", "planned_blocks"]
