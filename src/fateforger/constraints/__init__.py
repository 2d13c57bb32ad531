"""A person's constraints: the record, applicability, ranking and contradiction."""

from fateforger.constraints.applicability import Answer, applicability
from fateforger.constraints.consolidation import consolidation
from fateforger.constraints.context import Context
from fateforger.constraints.contradiction import contradictions
from fateforger.constraints.exclusions import Excluded, Why
from fateforger.constraints.findings import Finding
from fateforger.constraints.flat import filter_fields
from fateforger.constraints.identity import uid_for
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
from fateforger.constraints.sections import sections
from fateforger.constraints.storable import check_person, check_version
from fateforger.constraints.supersession import given_back, given_way, replacing
from fateforger.constraints.versions import Event, Version, eras, newest

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
    "applicability",
    "check_person",
    "check_version",
    "consolidation",
    "contradictions",
    "eras",
    "filter_fields",
    "given_back",
    "given_way",
    "newest",
    "read_context",
    "read_record",
    "read_row",
    "read_version",
    "replacing",
    "sections",
    "uid_for",
    "write_answer",
    "write_record",
    "write_version",
]
