"""How good a plan is, what is wrong with it, and what would make it better. Advice: nothing here stops anybody."""

from fateforger.quality.fixes import fixes
from fateforger.quality.grade import graded
from fateforger.quality.model import LABELS, Criterion, Finding, Fix, Quality

__all__ = ["LABELS", "Criterion", "Finding", "Fix", "Quality", "fixes", "graded"]
