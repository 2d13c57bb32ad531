"""Values that a store could not give back unchanged never get into one (S13)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import record_of, version_of

from fateforger.errors import BadInput
from fateforger.memory.documents import check_person, check_version


@pytest.mark.parametrize("user", ["*", "U1", " U1", "💣", "x" * 200, "' OR 1=1"])
def test_an_id_is_left_as_it_is(user: str) -> None:
    assert check_person(user) == user


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"a": ["\udfff"]}], ids=ascii)
def test_a_record_that_would_come_back_as_another_one_is_refused(value: Any) -> None:
    fine = version_of("c", scalar_params={"unknown_yet": [1, 2.5, None, "\x00 ü 🌙"]})
    assert check_version(fine) is fine
    record = fine.record.model_validate(record_of("c", scalar_params={"unknown_yet": value}))
    with pytest.raises(BadInput) as refused:
        check_version(fine.model_copy(update={"record": record}))
    assert refused.value.where == "constraint_record"
