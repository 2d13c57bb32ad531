"""Grade a plan, report its findings, and offer fixes.

All of this is advice: nothing here blocks a plan.
"""

from fateforger.quality.fixes import fixes
from fateforger.quality.grade import graded
from fateforger.quality.model import LABELS, Criterion, Finding, Fix, Quality

__all__ = ["LABELS", "Criterion", "Finding", "Fix", "Quality", "fixes", "graded"]
