"""What a person told the planner once: the record, when it applies, what comes first, and what contradicts what."""

from fateforger.constraints.applicability import Answer, applicability
from fateforger.constraints.context import Context
from fateforger.constraints.exclusions import Excluded, Why
from fateforger.constraints.reading import (
    read_context,
    read_record,
    read_version,
    write_answer,
    write_record,
    write_version,
)
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Event, Version, eras, newest

__all__ = [
    "Answer",
    "Applicable",
    "ConstraintRecord",
    "Context",
    "Event",
    "Excluded",
    "Version",
    "Why",
    "applicability",
    "eras",
    "newest",
    "read_context",
    "read_record",
    "read_version",
    "write_answer",
    "write_record",
    "write_version",
]
