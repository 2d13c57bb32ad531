"""A person's constraints: the record, applicability, ranking and contradiction."""

from fateforger.constraints.applicability import Answer, decide_applicability
from fateforger.constraints.consolidation import find_consolidations
from fateforger.constraints.context import Context
from fateforger.constraints.contradiction import find_contradictions
from fateforger.constraints.exclusions import Excluded, Why
from fateforger.constraints.findings import Finding
from fateforger.constraints.flat import build_filter_fields
from fateforger.constraints.identity import compute_uid
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
from fateforger.constraints.rows import read_row
from fateforger.constraints.sections import build_sections
from fateforger.constraints.storable import check_person, check_version
from fateforger.constraints.supersession import mark_replacing, restore_replaced, retire_all_replaced
from fateforger.constraints.versions import Event, Version, build_eras, select_newest

__all__ = [
    "Answer",
    "Applicable",
    "ConstraintRecord",
    "Context",
    "Event",
    "Excluded",
    "Finding",
    "Version",
    "Why",
    "build_eras",
    "build_filter_fields",
    "build_sections",
    "check_person",
    "check_version",
    "compute_uid",
    "decide_applicability",
    "find_consolidations",
    "find_contradictions",
    "mark_replacing",
    "read_context",
    "read_record",
    "read_row",
    "read_version",
    "restore_replaced",
    "retire_all_replaced",
    "select_newest",
    "write_answer",
    "write_record",
    "write_version",
]
