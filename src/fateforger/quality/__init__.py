"""Grade a plan, report its findings, and offer fixes.

All of this is advice: nothing here blocks a plan.
"""

from fateforger.quality.fixes import find_fixes
from fateforger.quality.grade import grade_plan
from fateforger.quality.model import LABELS, Criterion, Finding, Fix, Quality

__all__ = ["LABELS", "Criterion", "Finding", "Fix", "Quality", "find_fixes", "grade_plan"]
